"""What annotators said about a project's items, as the commands that judge annotators read it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from benchprism.project import Project
from benchprism.records.errors import InputError, suggestion

if TYPE_CHECKING:
    import pyarrow as pa

    from benchprism.annotate.consolidation.agreement import Resampling
    from benchprism.annotate.consolidation.consolidate import Consolidation
    from benchprism.annotate.consolidation.rating_matrix import RatingMatrix
    from benchprism.annotate.ledger.standing import Standing
    from benchprism.prompts.catalogue import Catalogue

AttributeOption = Annotated[
    list[str] | None, typer.Option(help="Only this attribute; may be given again.")
]
ReplicatesOption = Annotated[int, typer.Option(min=2, max=1_000_000, help="Bootstrap replicates.")]
SeedOption = Annotated[
    int | None, typer.Option(min=0, help="Seed of the bootstrap; the project's if none.")
]


@dataclass(frozen=True, slots=True, eq=False)
class Ratings:
    """What annotators said about a project's items."""

    items: pa.Table
    catalogue: Catalogue
    matrices: Sequence[RatingMatrix]
    """One an attribute, in the catalogue's order."""
    consolidation: Consolidation
    standing: Standing

    @property
    def annotators(self) -> list[str]:
        """Everyone who gave a value."""
        return sorted({name for matrix in self.matrices for name in matrix.annotators})

    def of(self, attributes: Collection[str]) -> list[RatingMatrix]:
        """The ratings of some attributes; of all when none are named.

        Raises:
            InputError: the catalogue has no such attribute.
        """
        from benchprism.annotate.gold.layout import known_attribute

        for name in attributes:
            known_attribute(self.catalogue, name)
        return [m for m in self.matrices if not attributes or m.attribute.id in attributes]

    def replay_notes(self, annotators: Collection[str]) -> list[str]:
        """Say which of the annotators only replay what was recorded."""
        everyone = self.standing.annotators
        replayed = [one.annotator for one in everyone if one.replayed]
        replayed = [name for name in replayed if name in annotators]
        if not replayed:
            return []
        return [f"{', '.join(replayed)}: a REPLAY of recorded annotations; no model was asked"]


def project_ratings(project: Project) -> Ratings:
    """Read what annotators said, and consolidate it."""
    from benchprism.annotate.consolidation.consolidate import consolidate
    from benchprism.annotate.consolidation.rating_matrix import rating_matrix
    from benchprism.annotate.ledger.current import current_annotations
    from benchprism.annotate.ledger.standing import standing
    from benchprism.annotate.ledger.store import Ledger
    from benchprism.cli.gather import project_catalogue
    from benchprism.records.items.store import project_items

    catalogue, items = project_catalogue(project), project_items(project.items)
    with Ledger(project.ledger) as ledger:
        columns = current_annotations(ledger, catalogue, items)
        now = standing(ledger)
    return Ratings(
        items=items,
        catalogue=catalogue,
        matrices=[rating_matrix(column, items.num_rows) for column in columns],
        consolidation=consolidate(columns, items, project.settings.consolidation),
        standing=now,
    )


def known_annotators(names: Sequence[str], known: Sequence[str]) -> list[str]:
    """Check names of annotators.

    Raises:
        InputError: nobody of this name gave a value.
    """
    for name in names:
        if name not in known:
            raise InputError(
                f"no values by {name!r}",
                wanted="an annotator as 'benchprism annotate status' names it",
                mend=suggestion(name, known) if known else "annotate first",
            )
    return list(dict.fromkeys(names))


def resampling(project: Project, replicates: int, seed: int | None) -> Resampling:
    """How intervals are made, with the project's seed where none is given."""
    from benchprism.annotate.consolidation.agreement import Resampling

    return Resampling(project.settings.seed if seed is None else seed, replicates)
