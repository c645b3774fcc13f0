"""A small CSV table that a person wrote: cells by line and column, errors that name both."""

from __future__ import annotations

import csv
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..errors import InputError, suggestion


@dataclass(frozen=True, slots=True)
class Grid:
    """The cells of a CSV file, white space around them removed."""

    path: Path
    columns: tuple[str, ...]
    rows: Mapping[int, tuple[str, ...]]
    """Cells of each row, by the file's line, counted from 1."""

    @property
    def lines(self) -> list[int]:
        """Lines of the rows."""
        return list(self.rows)

    def where(self, line: int, column: str | None = None) -> str:
        """Name a row or a cell for an error."""
        return f"{self.path}, line {line}" + (f", column {column!r}" if column else "")

    def text(self, line: int, column: str) -> str:
        """A cell's text; empty when there is none."""
        return self.rows[line][self.columns.index(column)]

    def number(self, line: int, column: str) -> float | None:
        """A cell's number; none when it is empty.

        Raises:
            InputError: it is not a finite number.
        """
        text = self.text(line, column)
        if not text:
            return None
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not math.isfinite(value):
            raise InputError(
                f"{self.where(line, column)}: {text!r}",
                wanted="a number, or an empty cell",
                mend="mend the cell",
            )
        return value


def read_grid(path: Path, *, needed: Sequence[str] = ()) -> Grid:
    """Read a CSV file with a header.

    Args:
        path: the file, in UTF-8, with commas.
        needed: columns that have to be there.

    Raises:
        InputError: the file cannot be read, a column is missing or there twice, or a row does not
            have as many cells as the header.
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(file)
            header = tuple(cell.strip() for cell in next(reader, []))
            rows: dict[int, tuple[str, ...]] = {}
            for row in reader:
                if any(row):
                    rows[reader.line_num] = tuple(cell.strip() for cell in row)
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        reason = getattr(error, "strerror", None) or "not CSV in UTF-8"
        raise InputError(
            f"{path} cannot be read ({reason})",
            wanted="a CSV file with a header",
            mend="check the path and how the file was saved",
        ) from error
    grid = Grid(path, header, rows)
    _check(grid, needed)
    return grid


def _check(grid: Grid, needed: Sequence[str]) -> None:
    for column in needed:
        if column not in grid.columns:
            raise InputError(
                f"{grid.path} has no column {column!r}",
                wanted=f"the columns {', '.join(needed)}",
                mend=suggestion(column, grid.columns) if grid.columns else "add a header",
            )
    twice = [column for column in grid.columns if grid.columns.count(column) > 1]
    if twice or "" in grid.columns:
        raise InputError(
            f"{grid.path} has the column {(twice or [''])[0]!r} twice"
            if twice
            else f"{grid.path} has a column without a name",
            wanted="each column named once in the header",
            mend="mend the header",
        )
    for line, row in grid.rows.items():
        if len(row) != len(grid.columns):
            raise InputError(
                f"{grid.where(line)}: {len(row)} cells",
                wanted=f"{len(grid.columns)}, as the header has",
                mend="add or remove commas, or quote cells that hold one",
            )
    if not grid.rows:
        raise InputError(
            f"{grid.path} has no rows", wanted="a header and rows", mend="check the file"
        )
