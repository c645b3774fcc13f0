"""Results tables on disk: one Parquet file for each source of results that was added."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from ..errors import InputError
from ..files import listed, replacing

TIDY_SCHEMA = pa.schema(
    [
        ("benchmark", pa.string()),
        ("item_id", pa.string()),
        ("model", pa.string()),
        ("score", pa.float64()),
    ]
)
"""What every results table has. Null is a missing score, not a wrong answer."""

RESULTS_SCHEMA = pa.schema(
    [
        *TIDY_SCHEMA,
        ("trial", pa.int32()),
        ("metric", pa.string()),
        ("filter", pa.string()),
        ("run", pa.string()),
        ("source_format", pa.string()),
    ]
)
"""One row a benchmark, item, model and trial.

- ``score``: 1 is best and 0 is worst or nothing; below 0 only where a metric takes points off.
- ``trial``: 0-based repeat; a model's score on an item is the mean over its trials.
- ``metric``, ``filter``, ``run``: the log's own names; null for tables that do not say.
"""

_NAMES = tuple(field.name for field in RESULTS_SCHEMA if field.type == pa.string())
_GROUP_ROWS = 2**20
LAYOUT = {"compression": "zstd", "max_rows_per_page": _GROUP_ROWS, "data_page_size": 2**23}
"""How tables are written: few large pages, and no marks for nulls in columns without one, are read
three times as fast as what Parquet writers do by default."""


@dataclass(frozen=True)
class ResultsFile:
    """A results table on disk, read in parts."""

    path: Path

    @cached_property
    def metadata(self) -> Any:
        """The file's Parquet metadata.

        Raises:
            InputError: it is no results table.
        """
        try:
            metadata = pq.read_metadata(self.path)
        except (OSError, pa.ArrowException) as error:
            raise _unreadable(self.path, "not a whole Parquet file") from error
        names = metadata.schema.to_arrow_schema().names
        if not set(TIDY_SCHEMA.names) <= set(names):
            raise _unreadable(self.path, f"it has the columns {', '.join(names)}")
        return metadata

    @cached_property
    def has_trials(self) -> bool:
        """Whether an item comes more than once for a model."""
        names = self.metadata.schema.names
        if "trial" not in names:
            return False
        at = names.index("trial")
        chunks = [self.metadata.row_group(group).column(at) for group in self._groups]
        if all(chunk.is_stats_set and chunk.statistics.max == 0 for chunk in chunks):
            return False
        return any(pc.max(part()["trial"]).as_py() for part in self.parts(["trial"]))

    @property
    def names(self) -> list[str]:
        """The names of the columns."""
        names: list[str] = self.metadata.schema.names
        return names

    def constant(self, column: str) -> tuple[str | None] | None:
        """The only text of a column, null where there is none; nothing when it is not known."""
        if column not in self.names:
            return (None,)
        at = self.names.index(column)
        found = set()
        for group in self._groups:
            chunk = self.metadata.row_group(group).column(at)
            marks = chunk.statistics if chunk.is_stats_set else None
            if marks is None or (marks.null_count and marks.num_values) or marks.min != marks.max:
                return None
            found.add(marks.min)
        return (found.pop(),) if len(found) == 1 else None

    def distinct(self, column: str) -> set[str]:
        """The texts of a column."""
        parts = (pc.unique(part()[column]).to_pylist() for part in self.parts([column]))
        return {text for texts in parts for text in texts}

    def parts(self, columns: list[str]) -> list[Callable[[], pa.Table]]:
        """Readers of parts, in the order of the rows; texts come as dictionaries.

        A reader raises ``InputError`` when the file is damaged.
        """
        return [partial(self._part, group, columns) for group in self._groups]

    @property
    def _groups(self) -> list[int]:
        groups = range(self.metadata.num_row_groups)
        return [group for group in groups if self.metadata.row_group(group).num_rows]

    def _part(self, group: int, columns: list[str]) -> pa.Table:
        with self._open() as file:
            return _checked(self.path, lambda: file.read_row_group(group, columns, False))

    def _open(self) -> pq.ParquetFile:
        texts = [name for name in _NAMES if name in self.metadata.schema.names]
        return _checked(
            self.path,
            lambda: pq.ParquetFile(self.path, metadata=self.metadata, read_dictionary=texts),
        )

    def read(self, columns: list[str] | None = None) -> pa.Table:
        """Read all rows of some columns."""
        with self._open() as file:
            return _checked(self.path, lambda: file.read(columns))


def write_results(path: Path, table: pa.Table) -> None:
    """Write a results table, whole or not at all.

    Columns of ``RESULTS_SCHEMA`` that the table lacks are filled: trial 0, no metric, filter, run
    or format.
    """
    columns = {field.name: _column(table, field) for field in RESULTS_SCHEMA}
    fields = [
        pa.field(name, column.type, nullable=column.null_count > 0)
        for name, column in columns.items()
    ]
    whole = pa.table(list(columns.values()), schema=pa.schema(fields))
    with replacing(path) as temporary:
        pq.write_table(whole, temporary, row_group_size=_GROUP_ROWS, **LAYOUT)


def _column(table: pa.Table, field: pa.Field) -> pa.ChunkedArray | pa.Array:
    if field.name not in table.column_names:
        fill = pa.scalar(0 if field.name == "trial" else None, field.type)
        return pa.repeat(fill, len(table))
    column = table[field.name]
    is_coded = pa.types.is_dictionary(column.type) and column.type.value_type == field.type
    return column if is_coded else column.cast(field.type)


def read_results(folder: Path) -> dict[str, ResultsFile]:
    """Find every results table of a project, by file name in the order of their names.

    Raises:
        InputError: there is none, or a file is no results table.
    """
    files = {path.name: ResultsFile(path) for path in listed(folder, "*.parquet")}
    if not files:
        raise InputError(
            f"no results in {folder}",
            wanted="scores of models on items",
            mend="add them with 'benchprism results add FILE'",
        )
    for file in files.values():
        _ = file.metadata
    return files


def _checked(path: Path, read: Callable[[], Any]) -> Any:
    try:
        return read()
    except (OSError, pa.ArrowException) as error:
        raise _unreadable(path, "not a whole Parquet file") from error


def _unreadable(path: Path, reason: str) -> InputError:
    return InputError(
        f"{path} cannot be read ({reason})",
        wanted="a file that 'benchprism results add' wrote",
        mend="move it away, and add its source with 'benchprism results add FILE'",
    )
