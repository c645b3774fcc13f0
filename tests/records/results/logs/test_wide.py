from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from .conftest import Reader


def test_a_column_for_each_model(read: Reader, tmp_path: Path) -> None:
    path = tmp_path / "quiz.csv"
    path.write_text(
        "item_id,subset,m1,m2\n007,a,1,0.5\n12:30,b,,true\nNone,b,NaN,0\n", encoding="utf-8"
    )
    reading = read("wide", path)
    assert [(row["doc_id"], row["model"], row["score"]) for row in reading.rows] == [
        ("007", "m1", 1.0),
        ("007", "m2", 0.5),
        ("12:30", "m1", None),
        ("12:30", "m2", None),
        ("None", "m1", None),
        ("None", "m2", 0.0),
    ]
    assert {row["benchmark"] for row in reading.rows} == {"quiz"}
    assert [row["subset"] for row in reading.rows] == ["a", "a", "b", "b", "b", "b"]
    assert reading.kinds == ["missing_scores", "values"]
    assert "'true'" in reading.findings[1].found


def test_a_column_for_each_item(read: Reader, tmp_path: Path) -> None:
    path = tmp_path / "t.tsv"
    path.write_text("model\tq1\tq2\nm\t1\t0\n", encoding="utf-8")
    rows = read("wide", path).rows
    assert [(row["doc_id"], row["model"], row["score"]) for row in rows] == [
        ("q1", "m", 1.0),
        ("q2", "m", 0.0),
    ]


def test_several_benchmarks(read: Reader, tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    columns = {"id": [1, 2, 3], "benchmark": ["a", "a", "b"], "m1": [1, 0, 1], "m2": [0, 0, None]}
    pq.write_table(pa.table(columns), path)
    reading = read("wide", path)
    assert [batch.run.benchmark for batch in reading.batches] == ["a", "b"]
    assert [batch.table.num_rows for batch in reading.batches] == [4, 2]
    assert reading.scores() == [1.0, 0.0, 0.0, 0.0, 1.0, None]


def test_a_table_of_another_kind(read: Reader, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("name,a,b\nx,1,2\n", encoding="utf-8")
    reading = read("wide", path)
    assert reading.kinds == ["layout"]
    assert "first column is item_id or model" in str(reading.findings[0])


def test_a_wrong_encoding(read: Reader, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(b"id,m1,m2\n" + b"q,1,0\n" * 3 + "é,1,0\n".encode("latin-1"))
    assert "encoding" in read("wide", path).kinds
