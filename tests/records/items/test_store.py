from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from benchprism.records.errors import InputError
from benchprism.records.items.building import build_items
from benchprism.records.items.mapping import ColumnMapping
from benchprism.records.items.record import ITEM_SCHEMA, Item, items_table
from benchprism.records.items.source import Row, Source
from benchprism.records.items.store import (
    Provenance,
    benchmark_files,
    project_items,
    read_items,
    read_provenance,
    write_items,
)

MAPPING = ColumnMapping(question="q", answer="k", coding="free")


def items(benchmark: str) -> list[Item]:
    return build_items(
        benchmark, [Source("f", "sha256:0", [Row("line 1", {"q": "ü", "k": "x"})])], MAPPING
    )


def test_what_is_written_is_read(tmp_path: Path) -> None:
    path = tmp_path / "items" / "b.parquet"
    provenance = Provenance(preset=None, licence="CC BY-SA 4.0", domain="Mathematik für alle")
    write_items(path, items("b"), provenance)
    assert read_items(path).equals(items_table(items("b")))
    assert read_provenance(path) == provenance
    write_items(path, read_items(path), {"preset": "x"})
    assert read_provenance(path) == {"preset": "x"}
    assert [one.name for one in path.parent.iterdir()] == ["b.parquet"]


def test_a_project_is_read_in_the_order_of_names(tmp_path: Path) -> None:
    for name in ("b", "a", "a.b", "c"):
        write_items(tmp_path / f"{name}.parquet", items(name), {"preset": name})
    table = project_items(tmp_path)
    assert table.column("benchmark").to_pylist() == ["a", "a.b", "b", "c"]
    assert table.schema.equals(ITEM_SCHEMA, check_metadata=True)
    assert project_items(tmp_path, ["c", "a"]).column("benchmark").to_pylist() == ["a", "c"]
    assert list(benchmark_files(tmp_path, ["b"])) == ["b"]
    with pytest.raises(InputError, match="'d' is not in the project"):
        project_items(tmp_path, ["d"])


def test_a_project_without_items_says_how_to_add_some(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="benchprism items add mmlu"):
        project_items(tmp_path / "items")


def test_a_file_that_is_no_items_table_is_one_sentence(tmp_path: Path) -> None:
    damaged, foreign, missing = (tmp_path / f"{name}.parquet" for name in "abc")
    damaged.write_bytes(b"PAR1")
    pq.write_table(pa.table({"a": [1]}), foreign)
    for path, sentence in (
        (damaged, "not a whole Parquet file"),
        (foreign, "is not a table of items"),
        (missing, "cannot be read"),
    ):
        with pytest.raises(InputError, match=sentence) as error:
            read_items(path)
        assert str(path) in str(error.value)
    assert read_provenance(foreign) == {}
    for path in (damaged, missing):
        with pytest.raises(InputError, match="cannot be read"):
            read_provenance(path)
