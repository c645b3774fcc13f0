"""A CSV of the items for people: safe to open in a spreadsheet, and read back as it was."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.csv as csv

from ...records.sheets import guarded, unguarded

_BOM = b"\xef\xbb\xbf"
"""Without it, a spreadsheet does not take the text for UTF-8."""


def write_sheet(path: Path, table: pa.Table) -> None:
    """Write a table as CSV in UTF-8: texts quoted and guarded, lists as JSON, missing empty."""
    columns = [
        pa.array(map(_cell, column.to_pylist()), pa.string()) if _as_text(column.type) else column
        for column in table.columns
    ]
    with path.open("wb") as file:
        file.write(_BOM)
        csv.write_csv(pa.table(columns, names=table.column_names), file)


def read_sheet(path: Path, schema: pa.Schema) -> pa.Table:
    """Read back what ``write_sheet`` wrote of a table with ``schema``."""
    data = path.read_bytes()
    types = {field.name: pa.string() if _as_text(field.type) else field.type for field in schema}
    table = csv.read_csv(
        io.BytesIO(data),
        read_options=csv.ReadOptions(block_size=len(data) + 1),
        parse_options=csv.ParseOptions(newlines_in_values=True),
        convert_options=csv.ConvertOptions(
            column_types=types,
            null_values=[""],
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
        ),
    )
    columns = [_read_column(table[field.name], field.type) for field in schema]
    return pa.table(columns, schema=schema)


def _as_text(type_: pa.DataType) -> bool:
    return bool(pa.types.is_string(type_) or pa.types.is_list(type_))


def _cell(value: str | list[str] | None) -> str | None:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, list) else guarded(value)


def _read_column(column: pa.ChunkedArray, type_: pa.DataType) -> pa.ChunkedArray | pa.Array:
    if pa.types.is_list(type_):
        read = (None if cell is None else json.loads(cell) for cell in column.to_pylist())
        return pa.array(read, type_)
    return pa.array(map(unguarded, column.to_pylist()), type_) if _as_text(type_) else column
