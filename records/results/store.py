"""Results tables on disk: one Parquet file for each file of results that was added."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from ..errors import InputError
from ..files import replacing

TIDY_SCHEMA = pa.schema(
    [
        ("benchmark", pa.string()),
        ("item_id", pa.string()),
        ("model", pa.string()),
        ("score", pa.float64()),
    ]
)
"""One row a benchmark, item and model. A score is in [0, 1]; null is missing, not wrong."""


def write_results(path: Path, table: pa.Table) -> None:
    """Write a results table, whole or not at all."""
    with replacing(path) as temporary:
        pq.write_table(table.cast(TIDY_SCHEMA), temporary, compression="zstd")


def read_results(folder: Path) -> dict[str, pa.Table]:
    """Read every results table of a project, by file name in the order of their names.

    Raises:
        InputError: there is none, or a file is no results table.
    """
    tables = {path.name: _read(path) for path in sorted(folder.glob("*.parquet"))}
    if not tables:
        raise InputError(
            f"no results in {folder}",
            wanted="scores of models on items",
            mend="add them with 'benchprism results add FILE'",
        )
    return tables


def _read(path: Path) -> pa.Table:
    try:
        table = pq.read_table(path)
    except (OSError, pa.ArrowException) as error:
        raise _unreadable(path, "not a whole Parquet file") from error
    if not table.schema.equals(TIDY_SCHEMA):
        raise _unreadable(path, f"it has the columns {', '.join(table.column_names)}")
    return table


def _unreadable(path: Path, reason: str) -> InputError:
    return InputError(
        f"{path} cannot be read ({reason})",
        wanted="a file that 'benchprism results add' wrote",
        mend="move it away, and add its source with 'benchprism results add FILE'",
    )
