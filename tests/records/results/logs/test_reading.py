"""Finding logs, telling their formats apart, and going on when one of them cannot be read."""

from __future__ import annotations

import shutil
from collections import Counter
from pathlib import Path

import pytest

from benchprism.records.errors import InputError
from benchprism.records.results.logs import (
    FORMATS,
    TIDY,
    Log,
    LogBatch,
    LogFinding,
    find_logs,
    read_log,
    read_logs,
)
from benchprism.records.results.record import RESULT_SCHEMA


def test_every_sample_is_told_apart(data: Path) -> None:
    found = list(find_logs(data))
    formats = Counter(log.format for log in found if isinstance(log, Log))
    assert formats == {
        "lm-eval": 11,
        "inspect": 9,
        "every-eval-ever": 5,
        "evalscope": 6,
        "helm": 2,
        "lighteval": 1,
        "opencompass": 1,
        "eq-bench": 1,
        "ifeval": 1,
        "zero-eval": 1,
    }
    unknown = [finding for finding in found if isinstance(finding, LogFinding)]
    assert sorted(Path(finding.file).name for finding in unknown) == [
        "README.md",
        "log_invalid.txt",
    ]
    assert {finding.kind for finding in unknown} == {"unknown"}


def test_every_row_has_the_schema_and_an_honest_status(data: Path) -> None:
    for event in read_logs(data):
        if not isinstance(event, LogBatch):
            continue
        assert event.table.schema == RESULT_SCHEMA
        for row in event.table.select(["score", "status", "doc_id"]).to_pylist():
            assert (row["score"] is not None) == (row["status"] == "scored")
            assert row["doc_id"]


def test_one_bad_file_stops_nothing(data: Path, tmp_path: Path) -> None:
    shutil.copytree(data / "helm", tmp_path / "helm")
    (tmp_path / "a.eval").write_bytes(b"PK\x03\x04 not an archive")
    (tmp_path / "b.jsonl").write_bytes('{"doc_id": 0, "doc": {}, "acc": 1}'.encode("utf-16"))
    (tmp_path / "c.csv").write_text("task,score\nmmlu,0.5\n", encoding="utf-8")
    (tmp_path / "details_x|0.parquet").write_bytes(b"PAR1 and no more")
    (tmp_path / "empty.json").touch()
    (tmp_path / "deep.json").write_text("[" * 100_000, encoding="utf-8")
    events = list(read_logs(tmp_path))
    assert sum(event.table.num_rows for event in events if isinstance(event, LogBatch)) == 40
    kinds = {Path(e.file).name: e.kind for e in events if isinstance(e, LogFinding)}
    assert kinds == {
        "a.eval": "truncated",
        "b.jsonl": "unknown",
        "c.csv": "unknown",
        "details_x|0.parquet": "truncated",
        "empty.json": "unknown",
        "deep.json": "unknown",
    }


def test_a_log_read_in_the_wrong_format_is_a_finding(data: Path) -> None:
    path = data / "eq_bench/NousResearch__Llama-2-7b-chat-hf_eqbench_v2_results.json"
    for name in FORMATS:
        if name != "eq-bench":
            events = list(read_log(Log(path, name)))
            assert events
            assert any(isinstance(event, LogFinding) for event in events)
            assert not any(
                score is not None
                for event in events
                if isinstance(event, LogBatch)
                for score in event.table["score"].to_pylist()
            )


def test_a_format_can_be_forced(data: Path, tmp_path: Path) -> None:
    path = data / "inspect/log_invalid.txt"
    assert list(find_logs(path, format_name="inspect")) == [Log(path, "inspect")]
    only = [log for log in find_logs(data, format_name="helm") if isinstance(log, Log)]
    assert {log.format for log in only} == {"helm"}
    assert len(only) == 2


def test_tables(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("benchmark,item_id,model,score\nb,1,m,1\n", encoding="utf-8")
    (tmp_path / "b.csv").write_text("item_id,m1,m2\n1,1,0\n", encoding="utf-8")
    (tmp_path / ".hidden.csv").write_text("item_id,m1,m2\n1,1,0\n", encoding="utf-8")
    assert list(find_logs(tmp_path)) == [
        Log(tmp_path / "a.csv", TIDY),
        Log(tmp_path / "b.csv", "wide"),
    ]
    assert len(list(read_logs(tmp_path))) == 1


@pytest.mark.parametrize(("path", "name"), [("nowhere", None), (".", "lm_eval")])
def test_wrong_usage_is_an_input_error(path: str, name: str | None, tmp_path: Path) -> None:
    with pytest.raises(InputError) as error:
        list(find_logs(tmp_path / path, format_name=name))
    assert name is None or "did you mean 'lm-eval'?" in str(error.value)


def test_an_empty_file_is_said(tmp_path: Path) -> None:
    path = tmp_path / "samples_t_2026-01-01T00-00-00.000000.jsonl"
    path.touch()
    events = list(read_log(Log(path, "lm-eval")))
    assert [event.kind for event in events if isinstance(event, LogFinding)][-1] == "layout"
