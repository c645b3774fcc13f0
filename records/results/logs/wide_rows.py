"""The rows of a wide table, ``.csv``, ``.tsv`` or ``.parquet``, by the names of its columns."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from .findings import LogFinding
from .parquet_rows import parquet_rows

Row = dict[str, Any]


def header_of(path: Path) -> list[str]:
    """Read the names of a table's columns; none when they cannot be read."""
    try:
        if path.suffix.lower() == ".parquet":
            names: list[str] = pq.read_schema(path).names
            return names
        with path.open(encoding="utf-8-sig", errors="replace", newline="") as file:
            return next(csv.reader(file, delimiter=_delimiter(path)), [])
    except (OSError, csv.Error, pa.ArrowException):
        return []


def wide_rows(path: Path, names: Sequence[str]) -> Iterator[Row | LogFinding]:
    """Yield the rows below the header; one that has more or fewer cells is left out and said.

    Args:
        path: the table.
        names: its columns, each named once.
    """
    if path.suffix.lower() == ".parquet":
        yield from parquet_rows(path)
        return
    misfits = 0
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(file, delimiter=_delimiter(path))
            next(reader, None)
            for cells in reader:
                if len(cells) == len(names):
                    yield dict(zip(names, cells, strict=True))
                elif cells:
                    misfits += 1
                    if misfits == 1:
                        yield _misfit(path, f"{len(cells)} cells", len(names), reader.line_num)
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        yield _unreadable(path, error)
    if misfits > 1:
        yield _misfit(path, f"other numbers of cells in {misfits - 1} more of the rows", len(names))


def _misfit(path: Path, found: str, wanted: int, line: int | None = None) -> LogFinding:
    return LogFinding(
        "layout",
        str(path),
        found,
        wanted=f"{wanted}, as the header has",
        mend="add or remove separators, or quote cells that hold one; the other rows are read",
        line=line,
    )


def _unreadable(path: Path, error: Exception) -> LogFinding:
    is_encoding = isinstance(error, UnicodeDecodeError)
    why = "bytes that are not UTF-8" if is_encoding else str(error)
    return LogFinding(
        "encoding" if is_encoding else "truncated",
        str(path),
        f"a table that cannot be read to its end ({why})",
        wanted="CSV in UTF-8",
        mend="save the table again as UTF-8",
    )


def _delimiter(path: Path) -> str:
    return "\t" if path.suffix.lower() == ".tsv" else ","
