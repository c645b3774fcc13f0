"""Tidy results: a CSV or Parquet table with a row for each benchmark, item and model."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from pathlib import Path
from typing import NoReturn

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv
import pyarrow.parquet as pq

from ..errors import InputError, suggestion
from .store import TIDY_SCHEMA

_KEYS = ("benchmark", "item_id", "model")
_MISSING = ["", "nan", "na", "n/a", "null", "none"]


def read_tidy(
    path: Path, *, columns: Mapping[str, str] | None = None, benchmark: str | None = None
) -> pa.Table:
    """Read a tidy results table.

    Args:
        path: a ``.csv`` or ``.parquet`` file. Further columns are left aside.
        columns: the file's own name for ``benchmark``, ``item_id``, ``model`` or ``score``, where
            it has another.
        benchmark: the benchmark of all rows, for a file that does not name it or names another.

    Returns:
        A table with ``TIDY_SCHEMA``, rows in their order. Empty cells and NaN are missing
        scores; true and false are 1 and 0.

    Raises:
        InputError: the file cannot be read, lacks a column, or holds a score outside [0, 1] or a
            row without benchmark, item or model.
    """
    is_csv = _is_csv(path)
    names = _csv_columns(path) if is_csv else _parquet_columns(path)
    source = _sources(path, names, columns or {}, benchmark)
    raw = (_read_csv if is_csv else _read_parquet)(path, list(source.values()))
    found = {field: raw[name] for field, name in source.items()}
    if benchmark is not None:
        found["benchmark"] = _renamed(path, found.get("benchmark"), benchmark, raw.num_rows)
    texts = {field: _text(path, source.get(field, field), found[field]) for field in _KEYS}
    scores = _scores(path, source["score"], found["score"])
    return pa.table({**texts, "score": scores}, schema=TIDY_SCHEMA)


def _is_csv(path: Path) -> bool:
    if path.suffix.lower() not in {".csv", ".parquet"}:
        raise InputError(
            f"{path} has the ending {path.suffix!r}",
            wanted="a .csv or .parquet file of results",
            mend="save the table as one of these",
        )
    return path.suffix.lower() == ".csv"


def _sources(
    path: Path, names: list[str], columns: Mapping[str, str], benchmark: str | None
) -> dict[str, str]:
    """Find the file's column for each of ours."""
    for field in columns:
        if field not in TIDY_SCHEMA.names:
            raise InputError(
                f"a mapping for the unknown column {field!r}",
                wanted="one of benchmark, item_id, model, score",
                mend=suggestion(field, TIDY_SCHEMA.names),
            )
    found = {}
    for field in TIDY_SCHEMA.names:
        name = columns.get(field, field)
        if name in names:
            if names.count(name) > 1:
                _refuse(path, f"two columns {name!r}", "each column once", "rename one of them")
            found[field] = name
        elif field != "benchmark" or benchmark is None or field in columns:
            _lacks(path, field, name, names)
    return found


def _lacks(path: Path, field: str, name: str, names: list[str]) -> NoReturn:
    option = f"--map {field}=COLUMN" + (" or --benchmark NAME" if field == "benchmark" else "")
    known = [column for column in names if column]
    raise InputError(
        f"{path} has no column {name!r}",
        wanted="the columns benchmark, item_id, model and score",
        mend=f"{suggestion(name, known)} (say which with {option})" if known else "add a header",
    )


def _csv_columns(path: Path) -> list[str]:
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            return next(csv.reader(file), [])
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise _unreadable(path, error) from error


def _parquet_columns(path: Path) -> list[str]:
    try:
        names: list[str] = pq.read_schema(path).names
    except (OSError, pa.ArrowException) as error:
        raise _unreadable(path, error) from error
    return names


def _read_csv(path: Path, names: list[str]) -> pa.Table:
    """Read some columns as text: a type is never guessed from what the cells look like."""
    try:
        return pacsv.read_csv(
            path,
            parse_options=pacsv.ParseOptions(newlines_in_values=True),
            convert_options=pacsv.ConvertOptions(
                include_columns=names, column_types=dict.fromkeys(names, pa.string())
            ),
        )
    except (OSError, pa.ArrowException) as error:
        raise _unreadable(path, error) from error


def _read_parquet(path: Path, names: list[str]) -> pa.Table:
    try:
        return pq.read_table(path, columns=names)
    except (OSError, pa.ArrowException) as error:
        raise _unreadable(path, error) from error


def _renamed(
    path: Path, column: pa.ChunkedArray | None, benchmark: str, rows: int
) -> pa.ChunkedArray:
    """One benchmark for all rows; several of them are not made one."""
    distinct = [] if column is None else pc.unique(column).to_pylist()
    if len(distinct) > 1:
        _refuse(
            path,
            f"{len(distinct)} benchmarks ({distinct[0]!r}, {distinct[1]!r}, ...)",
            "rows of a single benchmark to rename",
            "leave out --benchmark",
        )
    return pa.chunked_array([pa.repeat(benchmark, rows)])


def _text(path: Path, name: str, column: pa.ChunkedArray) -> pa.ChunkedArray:
    """A column of names or ids as text; whole numbers keep their digits."""
    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    if not (
        pa.types.is_integer(kind) or pa.types.is_string(kind) or pa.types.is_large_string(kind)
    ):
        _refuse(path, f"the column {name!r} of type {kind}", "text or whole numbers", "convert it")
    text = column.cast(kind).cast(pa.string())
    empty = pc.fill_null(pc.equal(text, ""), True)
    row = pc.index(empty, True).as_py()
    if row >= 0:
        _refuse(path, f"no {name!r} in row {row + 1}", "one in every row", "fill it in")
    return text


def _scores(path: Path, name: str, column: pa.ChunkedArray) -> pa.ChunkedArray:
    kind = column.type
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        scores = _numbers(path, name, column.cast(pa.string()))
    elif pa.types.is_boolean(kind):
        scores = column.cast(pa.int8()).cast(pa.float64())
    elif pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_null(kind):
        scores = column.cast(pa.float64())
    else:
        _refuse(path, f"the column {name!r} of type {kind}", "numbers", "convert it")
    scores = pc.if_else(pc.is_nan(scores), None, scores)
    outside = pc.fill_null(pc.or_(pc.less(scores, 0.0), pc.greater(scores, 1.0)), False)
    row = pc.index(outside, True).as_py()
    if row >= 0:
        _refuse(
            path,
            f"the score {scores[row].as_py()!r} in row {row + 1}",
            "scores between 0 and 1, or an empty cell",
            "divide by the highest possible score (per cent by 100)",
        )
    return scores


def _numbers(path: Path, name: str, column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Read text as numbers, with the usual words for missing, true and false."""
    words = pc.utf8_lower(pc.utf8_trim_whitespace(column))
    words = pc.if_else(pc.is_in(words, pa.array(_MISSING)), None, words)
    words = pc.if_else(pc.equal(words, "true"), "1", words)
    words = pc.if_else(pc.equal(words, "false"), "0", words)
    try:
        return words.cast(pa.float64())
    except pa.ArrowInvalid:
        row = next(row for row, word in enumerate(words.to_pylist()) if not _is_number(word))
        found = f"the score {column[row].as_py()!r} in row {row + 1}"
        _refuse(path, found, "a number, or an empty cell", f"mend the column {name!r}")


def _is_number(word: str | None) -> bool:
    try:
        float(word or 0)
    except ValueError:
        return False
    return True


def _refuse(path: Path, found: str, wanted: str, mend: str) -> NoReturn:
    raise InputError(f"{path}: {found}", wanted=wanted, mend=mend)


def _unreadable(path: Path, error: Exception) -> InputError:
    reason = getattr(error, "strerror", None) or str(error).splitlines()[0].rstrip(".")
    return InputError(
        f"{path} cannot be read ({reason})",
        wanted="a CSV file in UTF-8 with a header, or a Parquet file",
        mend="check the path and how the file was saved",
    )
