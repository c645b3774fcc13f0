from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from benchprism.records.errors import InputError
from benchprism.records.results.store import (
    RESULTS_SCHEMA,
    TIDY_SCHEMA,
    ResultsFile,
    read_results,
    write_results,
)

TABLE = pa.Table.from_pylist(
    [{"benchmark": "a", "item_id": "1", "model": "m", "score": None}], schema=TIDY_SCHEMA
)


def test_tables_come_back_by_name_in_order(tmp_path: Path) -> None:
    for name in ("z.parquet", "a.parquet"):
        write_results(tmp_path / "results" / name, TABLE)
    found = read_results(tmp_path / "results")
    assert list(found) == ["a.parquet", "z.parquet"]
    assert found["a.parquet"].read().to_pylist() == [
        {**TABLE.to_pylist()[0], "trial": 0, "metric": None, "filter": None, "run": None,
         "source_format": None}
    ]  # fmt: skip


def test_what_is_written_has_the_schema(tmp_path: Path) -> None:
    row = {"benchmark": "a", "item_id": "1", "model": "m", "score": 1.0, "trial": 2, "run": "r"}
    table = pa.Table.from_pylist([row])
    coded = table.set_column(2, "model", table["model"].dictionary_encode())
    write_results(tmp_path / "a.parquet", coded)
    file = ResultsFile(tmp_path / "a.parquet")
    assert file.read().cast(RESULTS_SCHEMA).to_pylist()[0] | row == file.read().to_pylist()[0]
    assert file.distinct("model") == {"m"}
    assert file.has_trials


def test_a_table_of_an_earlier_version_is_read(tmp_path: Path) -> None:
    pq.write_table(TABLE, tmp_path / "a.parquet")
    (file,) = read_results(tmp_path).values()
    assert not file.has_trials
    assert file.read(TIDY_SCHEMA.names).to_pylist() == TABLE.to_pylist()


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
