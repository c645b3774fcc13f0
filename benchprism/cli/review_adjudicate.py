"""``benchprism review adjudicate``: send what people differ on to one who decides."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from benchprism.cli.options import HERE, JsonOption, ProjectOption
from benchprism.cli.output import counted, print_json, print_table, say
from benchprism.cli.ratings import AttributeOption
from benchprism.cli.review_pull import HomeOption, review_access
from benchprism.cli.review_push import send_all, show_pushed, tell_strangers, tell_versions
from benchprism.project import Project, find_project
from benchprism.records.errors import BenchprismError

if TYPE_CHECKING:
    import pyarrow as pa

    from benchprism.annotate.ledger.current import Current
    from benchprism.annotate.review.argilla.comparison import Delivery
    from benchprism.annotate.review.argilla.deliveries import Standpoint
    from benchprism.annotate.review.judging.adjudication import Conflict


def register(group: typer.Typer) -> None:
    """Add the command to ``benchprism review``."""
    group.command()(adjudicate)


def adjudicate(
    name: Annotated[
        str, typer.Option(help="The review's name; the project's when not given.")
    ] = "",
    attribute: AttributeOption = None,
    with_models: Annotated[
        bool,
        typer.Option("--with-models", help="Also where people differ from the annotations."),
    ] = False,
    lead: Annotated[str, typer.Option(help="Assign all of it to this user.")] = "",
    anonymous: Annotated[
        bool, typer.Option("--anonymous", help="Show how many gave each value, not who.")
    ] = False,
    suggest: Annotated[
        bool, typer.Option("--suggest", help="Fill in the value that consolidation makes so far.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="List the conflicts, and send nothing.")
    ] = False,
    home: HomeOption = None,
    project: ProjectOption = HERE,
    json: JsonOption = False,
) -> None:
    """Send the items on which people differ to a dataset of their own, NAME-conflicts.

    Each shows who said what. What is submitted there is a decision: after the next pull it wins in
    consolidation, and the item is no longer in conflict.

    Example: benchprism review adjudicate --lead alice
    """
    from benchprism.annotate.review.argilla.client import Argilla
    from benchprism.annotate.review.argilla.comparison import compare
    from benchprism.annotate.review.project_id import project_id

    opened = find_project(project)
    work = _Work.of(opened, attribute or [], with_models=with_models)
    if not work.found or dry_run:
        _list(work, anonymous=anonymous, as_json=json)
        if work.found and lead:
            _tell_stranger(opened, home, lead)
        return
    delivery = work.delivery(
        name or opened.settings.project, lead, anonymous=anonymous, suggest=suggest
    )
    access = review_access(opened, home)
    with Argilla(access) as argilla:
        found = compare(argilla, [delivery], project_id(opened.review, make=True))
        tell_versions(found)
        tell_strangers(argilla, {lead} if lead else set())
        send_all(argilla, opened, work.known, found)
    show_pushed(found, access.api_url, json=json, dry_run=False)


def _tell_stranger(project: Project, home: Path | None, lead: str) -> None:
    """Say that the lead cannot log in; to list conflicts, no server need run."""
    from benchprism.annotate.review.argilla.client import Argilla

    with suppress(BenchprismError), Argilla(review_access(project, home)) as argilla:
        tell_strangers(argilla, {lead})


@dataclass(frozen=True, slots=True)
class _Work:
    """What is in conflict, and what it is found in."""

    known: Standpoint
    said: Sequence[Current]
    values: pa.Table
    """The consolidated values, those of people among them."""
    found: Sequence[Conflict]

    @classmethod
    def of(cls, project: Project, attributes: Sequence[str], *, with_models: bool) -> _Work:
        """Find the conflicts of a project."""
        from benchprism.annotate.consolidation.consolidate import consolidate
        from benchprism.annotate.gold.layout import known_attribute
        from benchprism.annotate.ledger.current import current_annotations
        from benchprism.annotate.ledger.store import Ledger
        from benchprism.annotate.review.argilla.deliveries import standpoint
        from benchprism.annotate.review.judging.adjudication import conflicts
        from benchprism.cli.gather import project_catalogue
        from benchprism.records.items.store import project_items

        items, catalogue = project_items(project.items), project_catalogue(project)
        for name in attributes:
            known_attribute(catalogue, name)
        settings = project.settings.consolidation
        known = standpoint(items, project.ledger, catalogue, settings)
        with Ledger(project.ledger) as ledger:
            said = current_annotations(ledger, catalogue, items)
        values = consolidate(said, items, settings).values
        beside = known.values if with_models else None
        return cls(known, said, values, conflicts(said, items, beside, attributes))

    def delivery(self, name: str, lead: str, *, anonymous: bool, suggest: bool) -> Delivery:
        """What is sent: an item a case, with all that it is in conflict about."""
        from benchprism.annotate.review.argilla.comparison import Delivery
        from benchprism.annotate.review.judging.adjudication import (
            SUFFIX,
            adjudication_cases,
            adjudication_form,
        )

        made = adjudication_cases(
            self.found,
            self.known.items,
            self.values,
            self.said,
            lead=lead,
            anonymous=anonymous,
            suggest=suggest,
        )
        form = adjudication_form(self.known.catalogue, self.found)
        return Delivery(f"{name}{SUFFIX}", form, "adjudication", lambda: made)

    def item(self, conflict: Conflict) -> str:
        """The id of the item of a conflict."""
        return str(self.known.items["item_id"][conflict.row].as_py())


def _list(work: _Work, *, anonymous: bool, as_json: bool) -> None:
    items = len({conflict.row for conflict in work.found})
    if as_json:
        print_json([_data(work, conflict, anonymous=anonymous) for conflict in work.found])
    elif work.found:
        numbers = Counter(conflict.attribute.id for conflict in work.found)
        print_table(["attribute", "items in conflict"], numbers.items())
    say(f"{counted(items, 'item')} with a conflict that is not decided; nothing was sent.")


def _data(work: _Work, conflict: Conflict, *, anonymous: bool) -> dict[str, Any]:
    said = [
        {"value": value, "by": len(names) if anonymous else names} for value, names in conflict.said
    ]
    return {"item": work.item(conflict), "attribute": conflict.attribute.id, "said": said}
