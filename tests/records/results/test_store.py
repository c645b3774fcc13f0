from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from benchprism.records.errors import InputError
from benchprism.records.results.store import TIDY_SCHEMA, read_results, write_results

TABLE = pa.Table.from_pylist(
    [{"benchmark": "a", "item_id": "1", "model": "m", "score": None}], schema=TIDY_SCHEMA
)


def test_tables_come_back_by_name_in_order(tmp_path: Path) -> None:
    for name in ("z.parquet", "a.parquet"):
        write_results(tmp_path / "results" / name, TABLE)
    found = read_results(tmp_path / "results")
    assert list(found) == ["a.parquet", "z.parquet"]
    assert found["a.parquet"].equals(TABLE)


def test_no_results(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="benchprism results add FILE"):
        read_results(tmp_path / "results")


def test_a_file_that_is_no_results_table(tmp_path: Path) -> None:
    pq.write_table(pa.table({"x": [1]}), tmp_path / "a.parquet")
    with pytest.raises(InputError, match=r"a.parquet cannot be read \(it has the columns x\)"):
        read_results(tmp_path)
    (tmp_path / "a.parquet").write_bytes(b"")
    with pytest.raises(InputError, match="not a whole Parquet file"):
        read_results(tmp_path)
