"""Rows of a Parquet file, a few at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from .findings import LogFinding

_ROWS = 512


def parquet_rows(
    path: Path, columns: Sequence[str] | None = None
) -> Iterator[dict[str, Any] | LogFinding]:
    """Yield rows as records; a damaged file ends with a finding."""
    try:
        with pq.ParquetFile(path) as file:
            for batch in file.iter_batches(batch_size=_ROWS, columns=columns):
                yield from batch.to_pylist()
    except (pa.ArrowException, OSError) as error:
        yield damaged(path, error)


def damaged(path: Path, error: Exception) -> LogFinding:
    """Say that a Parquet file cannot be read from some place on."""
    return LogFinding(
        "truncated",
        str(path),
        f"a damaged Parquet file ({str(error)[:80]})",
        wanted="a whole Parquet file",
        mend="copy the file again; the rows before the damage are read",
    )
