from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from benchprism.records.results.logs import Log, LogBatch, read_log

from .conftest import Reader, Reading


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
        ("12:30", "m2", 1.0),
        ("None", "m1", None),
        ("None", "m2", 0.0),
    ]
    assert {row["benchmark"] for row in reading.rows} == {"quiz"}
    assert [row["subset"] for row in reading.rows] == ["a", "a", "b", "b", "b", "b"]
    assert reading.kinds == ["columns", "missing_scores"]
    assert "the 2 columns 'm1', 'm2' taken as models" in reading.findings[0].found


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


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "t.csv"
    path.write_text(text, encoding="utf-8")
    return path


def models_of(reading: Reading) -> set[str]:
    return {row["model"] for row in reading.rows}


@pytest.mark.parametrize("second", ["m1", " m1", ""])
def test_columns_of_one_name_are_refused(read: Reader, tmp_path: Path, second: str) -> None:
    """The last one would win, and a contradiction between them would never be seen."""
    other = "" if second == "" else "m3"
    reading = read("wide", written(tmp_path, f"item_id,m1,{second},{other}\n1,1,0,1\n"))
    assert not reading.batches
    assert reading.kinds == ["layout"]
    assert "wanted each column named once" in str(reading.findings[0])


def test_columns_of_one_name_in_parquet_are_refused(read: Reader, tmp_path: Path) -> None:
    columns = [pa.array(["1"]), pa.array([1.0]), pa.array([0.0])]
    pq.write_table(pa.Table.from_arrays(columns, ["id", "m", "m"]), tmp_path / "t.parquet")
    assert read("wide", tmp_path / "t.parquet").kinds == ["layout"]


def test_columns_without_a_number_are_left_aside_and_the_others_named(
    read: Reader, tmp_path: Path
) -> None:
    text = "id,subject,difficulty,m1,m2,none\n1,math,0.3,1,False,\n2,law,0.7,,true,n/a\n"
    reading = read("wide", written(tmp_path, text))
    assert models_of(reading) == {"difficulty", "m1", "m2"}
    assert [row["score"] for row in reading.rows] == [0.3, 1.0, 0.0, 0.7, None, 1.0]
    said = [finding.found for finding in reading.findings if finding.kind == "columns"]
    assert said == [
        "the 2 columns 'subject', 'none' left aside",
        "the 3 columns 'difficulty', 'm1', 'm2' taken as models",
    ]
    assert not any(finding.is_fault for finding in reading.findings)


def test_only_the_models_that_are_asked_for(tmp_path: Path) -> None:
    path = written(tmp_path, "id,year,m1,m2\n1,2020,1,0\n2,2021,0,0\n")
    events = list(read_log(Log(path, "wide"), ("m1", "m2")))
    rows = [
        row for event in events if isinstance(event, LogBatch) for row in event.table.to_pylist()
    ]
    assert [(row["model"], row["score"]) for row in rows] == [
        ("m1", 1.0),
        ("m2", 0.0),
        ("m1", 0.0),
        ("m2", 0.0),
    ]


def test_numbers_that_are_no_scores_refuse_the_table(read: Reader, tmp_path: Path) -> None:
    reading = read("wide", written(tmp_path, "id,year,m1,m2\n1,2020,1,0\n2,2021,0,0\n"))
    assert not reading.batches
    assert "the column 'year'" in reading.findings[0].found
    assert "('year' has 2020 to 2021)" in reading.findings[0].found
    assert "--model" in reading.findings[0].mend


def test_a_table_without_numbers(read: Reader, tmp_path: Path) -> None:
    reading = read("wide", written(tmp_path, "id,m1,m2\n1,yes,no\n"))
    assert reading.kinds == ["values"]
    assert "no number in the 2 columns 'm1', 'm2'" in str(reading.findings[0])


def test_rows_with_more_or_fewer_cells_are_left_out(read: Reader, tmp_path: Path) -> None:
    """One separator too many would shift every score to the next model."""
    text = "id,m1,m2\n1,1,0\n2,a,1,0\n3,1\n4,0,1\n"
    reading = read("wide", written(tmp_path, text))
    assert [(row["doc_id"], row["score"]) for row in reading.rows] == [
        ("1", 1.0),
        ("1", 0.0),
        ("4", 0.0),
        ("4", 1.0),
    ]
    faults = [finding for finding in reading.findings if finding.is_fault]
    assert [(fault.found, fault.line) for fault in faults] == [
        ("4 cells", 3),
        ("other numbers of cells in 1 more of the rows", None),
    ]
