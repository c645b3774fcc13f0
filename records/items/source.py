"""A source: the rows of a benchmark as they were read, before anything is made of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from .cells import Cells, column_names


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a source."""

    place: str
    """Where it stands, for errors: ``line 7``."""
    cells: Cells


@dataclass(frozen=True)
class Source:
    """The rows of one file, or of one split of a Hub dataset, in their order."""

    name: str
    """The file or the dataset, for errors."""
    revision: str
    """``sha256:...`` of the file, or the dataset's commit."""
    rows: Sequence[Row]
    subset: str = ""
    """The part that every row belongs to, where no column tells."""
    split: str | None = None
    """The Hub dataset's split; a file does not tell."""
    gated: bool = False
    """Whether the Hub gives the dataset only to those who accept its terms."""

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The columns, nested ones by their path."""
        return column_names(row.cells for row in self.rows)
