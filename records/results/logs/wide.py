"""Wide tables: a row for each item and a column for each model, or the other way round.

The first column names the rows. It is called ``item_id``, ``item``, ``id``, ``doc_id`` or
``question_id``, or ``model`` when the rows are models. Columns ``benchmark`` and ``subset`` say
what an item is of; every other column holds scores.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from .batches import batches
from .content import Content
from .findings import LogFinding, not_laid_out
from .parquet_rows import parquet_rows
from .runs import LogBatch, LogRun, Sample

FORMAT = "wide"
ITEM_NAMES = ("item_id", "item", "id", "doc_id", "question_id")
MODEL_NAMES = ("model", "model_name", "model_id")
_ABOUT = ("benchmark", "subset")
_METRIC = "score"


def read(path: Path) -> Iterator[LogBatch | LogFinding]:
    """Read one wide table, ``.csv``, ``.tsv`` or ``.parquet``."""
    names = header_of(path)
    if not is_wide(names):
        found = f"the columns {', '.join(names[:4])}, ..."
        raise not_laid_out(path, "a wide table, whose first column is item_id or model", found)
    for benchmark, rows in _by_benchmark(_rows(path), path.stem):
        run = LogRun(
            run=path.stem,
            model="",
            benchmark=benchmark,
            source_format=FORMAT,
            source_file=str(path),
            metric=_METRIC,
        )
        yield from batches(run, _samples(rows, names))


def is_wide(names: Sequence[str]) -> bool:
    """Tell whether columns are those of a wide table."""
    if not names or names[0].lower() not in (*ITEM_NAMES, *MODEL_NAMES):
        return False
    others = {name.lower() for name in names[1:]}
    is_tidy = bool(others & {*ITEM_NAMES, *MODEL_NAMES}) or bool(others & {"score", "correct"})
    return not is_tidy and len(others - set(_ABOUT)) >= 2


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


def _delimiter(path: Path) -> str:
    return "\t" if path.suffix.lower() == ".tsv" else ","


_Row = dict[str, Any]


def _rows(path: Path) -> Iterator[_Row | LogFinding]:
    if path.suffix.lower() == ".parquet":
        yield from parquet_rows(path)
        return
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            yield from csv.DictReader(file, delimiter=_delimiter(path))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        yield LogFinding(
            "encoding" if isinstance(error, UnicodeDecodeError) else "truncated",
            str(path),
            f"a table that cannot be read to its end ({error})",
            wanted="CSV in UTF-8",
            mend="save the table again as UTF-8",
        )


def _by_benchmark(
    rows: Iterator[_Row | LogFinding], default: str
) -> Iterator[tuple[str, Iterator[_Row | LogFinding]]]:
    """Split rows where the benchmark changes; a finding goes with the rows before it."""
    held: list[_Row | LogFinding] = []
    current = default

    def group(first: _Row | LogFinding) -> Iterator[_Row | LogFinding]:
        yield first
        for row in rows:
            if isinstance(row, dict) and _benchmark(row, default) != current:
                held.append(row)
                return
            yield row

    held.extend([row for row in [next(rows, None)] if row is not None])
    while held:
        first = held.pop()
        current = _benchmark(first, default) if isinstance(first, dict) else current
        yield current, group(first)


def _benchmark(row: _Row, default: str) -> str:
    return str(row.get("benchmark") or default)


def _samples(
    rows: Iterator[_Row | LogFinding], names: Sequence[str]
) -> Iterator[Sample | LogFinding]:
    key, are_models = names[0], names[0].lower() in MODEL_NAMES
    scored = [name for name in names[1:] if name.lower() not in _ABOUT]
    for row in rows:
        if isinstance(row, LogFinding):
            yield row
            continue
        for name in scored:
            item, model = (name, row[key]) if are_models else (row[key], name)
            yield Sample(
                doc_id=str(item),
                scores={_METRIC: row.get(name)},
                content=Content(source_id=str(item)),
                subset=str(row.get("subset") or ""),
                model=str(model),
            )
