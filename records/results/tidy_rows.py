"""The rows of a tidy table, a part at a time: ``.csv``, ``.tsv``, ``.jsonl`` or ``.parquet``.

No type is guessed: the cells of a CSV file are text, and the values of a JSON line what they are.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq

from ..errors import InputError
from .logs.findings import LogFinding
from .logs.json_files import json_lines

ENDINGS = (".csv", ".tsv", ".jsonl", ".parquet")
_ROWS = 2**18
_BLOCK = 2**24
"""Bytes of a CSV file that are read at once."""


def columns_of(path: Path) -> list[str]:
    """Read the names of a table's columns.

    Raises:
        InputError: the file cannot be read, or is of another kind.
    """
    ending = path.suffix.lower()
    if ending not in ENDINGS:
        raise InputError(
            f"{path} has the ending {path.suffix!r}",
            wanted=f"a table of results: {', '.join(ENDINGS)}",
            mend="save the table as one of these",
        )
    try:
        if ending == ".parquet":
            names: list[str] = pq.read_schema(path).names
            return names
        if ending == ".jsonl":
            with path.open(encoding="utf-8-sig") as file:
                return list(json.loads(file.readline()))
        with path.open(encoding="utf-8-sig", newline="") as file:
            return next(csv.reader(file, delimiter=_delimiter(path)), [])
    except (OSError, ValueError, csv.Error, pa.ArrowException) as error:
        raise unreadable(path, error) from error


def count_rows(path: Path) -> int | None:
    """How many rows a table has, where that is known without reading it."""
    if path.suffix.lower() != ".parquet":
        return None
    try:
        return int(pq.read_metadata(path).num_rows)
    except (OSError, pa.ArrowException):
        return None


def row_batches(path: Path, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
    """Read some columns, a part of the rows at a time.

    Raises:
        InputError: the file cannot be read.
    """
    ending = path.suffix.lower()
    read = {".parquet": _parquet, ".jsonl": _json_lines}.get(ending, _csv)
    try:
        yield from read(path, columns)
    except (OSError, pa.ArrowException) as error:
        raise unreadable(path, error) from error


def _parquet(path: Path, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
    schema = pq.read_schema(path)
    texts = [name for name in columns if pa.types.is_string(schema.field(name).type)]
    with pq.ParquetFile(path, read_dictionary=texts) as file:
        yield from file.iter_batches(batch_size=_ROWS, columns=list(columns))


def _csv(path: Path, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
    with pacsv.open_csv(
        path,
        read_options=pacsv.ReadOptions(block_size=_BLOCK),
        parse_options=pacsv.ParseOptions(delimiter=_delimiter(path), newlines_in_values=True),
        convert_options=pacsv.ConvertOptions(
            include_columns=list(columns), column_types=dict.fromkeys(columns, pa.string())
        ),
    ) as reader:
        yield from reader


def _json_lines(path: Path, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
    rows: list[list[object]] = []
    for line in json_lines(path):
        if isinstance(line, LogFinding):
            raise InputError(f"{line.file}: {line.found}", wanted=line.wanted, mend=line.mend)
        if not isinstance(line.value, dict):
            raise unreadable(path, ValueError(f"line {line.line} is no JSON object"))
        rows.append([line.value.get(name) for name in columns])
        if len(rows) == _ROWS:
            yield _as_text(rows, columns)
            rows = []
    if rows:
        yield _as_text(rows, columns)


def _as_text(rows: Sequence[Sequence[object]], columns: Sequence[str]) -> pa.RecordBatch:
    texts = [[_text(value) for value in column] for column in zip(*rows, strict=True)]
    return pa.RecordBatch.from_arrays([pa.array(own, pa.string()) for own in texts], list(columns))


def _text(value: object) -> str | None:
    return value if value is None or isinstance(value, str) else json.dumps(value)


def _delimiter(path: Path) -> str:
    return "\t" if path.suffix.lower() == ".tsv" else ","


def unreadable(path: Path, error: Exception) -> InputError:
    """Say that a table cannot be read."""
    reason = getattr(error, "strerror", None) or str(error).splitlines()[0].rstrip(".")
    return InputError(
        f"{path} cannot be read ({reason})",
        wanted="a CSV, TSV or JSON lines file in UTF-8, or a Parquet file",
        mend="check the path and how the file was saved",
    )
