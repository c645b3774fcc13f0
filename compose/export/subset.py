"""What is exported: a composed subset with everything that is told of its sources."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ...prompts.catalogue import Catalogue
from ...records.items.record import ItemKind
from .licences import Licence
from .sources import Paper, ScoringRule

CONFIGS: tuple[ItemKind, ...] = ("multiple_choice", "generative")
"""The configurations of an exported dataset, in the order of the card: one for a kind of item."""
SPLIT = "test"
WITHHELD = (
    "question", "context", "choices", "answer_index", "answer_text", "accepted_answers", "source",
)  # fmt: skip
"""Of an item's own columns, what is left out where only ids may be passed on."""
REPOSITORY = "ORG/NAME"
"""Stands for the repository's name as long as there is none."""


@dataclass(frozen=True, slots=True)
class ExportedSource:
    """A benchmark that items were taken from."""

    benchmark: str
    """The name that it has in the project."""
    preset: str | None
    """The preset that it was read by."""
    title: str
    dataset: str | None
    """The Hub repository: of the items, or of the benchmark where they came from a file."""
    config: str | None
    """The configuration of the dataset; none where there is one only, or a file."""
    configs: tuple[str, ...]
    """The configurations by which the subsets go, where each subset is one (BBH)."""
    split: str | None
    revisions: tuple[str, ...]
    """Commit of the dataset, or ``sha256:...`` of the file that was read."""
    file: str | None
    """The file's name, where the items were not read from the Hub."""
    items: int
    """How many are in the subset."""
    licence: Licence
    gated: bool
    """The Hub gives it only to those who accept its terms."""
    stated_licence: str
    """In the words of the project."""
    url: str | None
    """Its page."""
    paper: Paper | None
    """The one to cite."""
    rules: Mapping[ItemKind, ScoringRule]
    """How the benchmark judges answers, for each kind of item that it has here."""


@dataclass(frozen=True, slots=True)
class AgreementFigure:
    """How far annotators agree on one attribute."""

    attribute: str
    between: str
    """Who: ``models``, ``people``, ``passes``."""
    annotators: tuple[str, ...]
    items: int
    """That at least two of them gave a value of."""
    raw: float
    """Share of pairs that agree; NaN when there are none."""
    alpha: float
    """Krippendorff's; NaN when it is undefined."""
    reason: str | None
    """Why it is undefined."""


@dataclass(frozen=True, slots=True, eq=False)
class ExportedSubset:
    """A subset on its way out. What is written depends on nothing else."""

    name: str
    description: str
    items: pa.Table
    """``tables.export_schema``: all items, whatever their kind; without texts when ``ids_only``."""
    sources: tuple[ExportedSource, ...]
    """In the order of their benchmarks' names."""
    catalogue: Catalogue | None
    """The catalogue behind the attributes."""
    criteria: Mapping[str, Any]
    """Resolved."""
    lock: Mapping[str, Any]
    """With people numbered, unless their names are to be told."""
    composed: pa.Table
    """The items as they were composed, by which the subset can be taken up again; without
    ``WITHHELD`` when ``ids_only``."""
    excluded: pa.Table
    """``composer.EXCLUDED_SCHEMA``."""
    ids_only: bool = False
    """Texts and keys are left out."""
    repo_id: str = REPOSITORY
    agreement: tuple[AgreementFigure, ...] = ()
    judgement: Mapping[str, Any] | None = None
    """What models' results say of it; as ``judgement.json`` has it."""

    def table(self, config: ItemKind) -> pa.Table:
        """The items of one configuration, in their order; may be empty."""
        return self.items.filter(pc.equal(self.items["kind"], config))

    @property
    def configs(self) -> tuple[ItemKind, ...]:
        """The configurations that have items."""
        found = {*self.items["kind"].unique().to_pylist()}
        return tuple(config for config in CONFIGS if config in found)

    @property
    def attributes(self) -> tuple[str, ...]:
        """The ids of the catalogue's attributes, in its order."""
        return () if self.catalogue is None else tuple(a.id for a in self.catalogue)

    def source(self, benchmark: str) -> ExportedSource:
        """The source of a benchmark's items."""
        return next(source for source in self.sources if source.benchmark == benchmark)


def data_file(config: ItemKind) -> str:
    """Where the items of a configuration lie in the folder."""
    return f"data/{config}/{SPLIT}-00000-of-00001.parquet"
