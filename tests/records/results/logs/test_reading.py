"""Finding logs, telling their formats apart, and going on when one of them cannot be read."""

from __future__ import annotations

import os
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
        "b.jsonl": "encoding",
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
    assert len([event for event in read_logs(tmp_path) if isinstance(event, LogBatch)]) == 1


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


STAMP = "2026-11-29T15-12-12.704052"


@pytest.mark.parametrize(
    ("name", "content", "format_name", "kind"),
    [
        (f"samples_t_{STAMP}.jsonl", b"", "lm-eval", "layout"),
        (f"samples_t_{STAMP}.jsonl", b" \n\n", "lm-eval", "layout"),
        (f"samples_t_{STAMP}.jsonl", b'"text"\n3\n', "lm-eval", "layout"),
        (f"samples_t_{STAMP}.jsonl", '{"doc_id": 0}\n'.encode("utf-16"), "lm-eval", "encoding"),
        ("u_samples.jsonl", b"", "every-eval-ever", "layout"),
        ("reviews/m/gsm8k_main.jsonl", b"\xff\xfe", "evalscope", "encoding"),
        ("x.eval", b"", "inspect", "truncated"),
    ],
)
def test_a_damaged_log_is_told_by_its_name(
    name: str, content: bytes, format_name: str, kind: str, tmp_path: Path
) -> None:
    path = tmp_path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    assert list(find_logs(tmp_path)) == [Log(path, format_name)]
    findings = [event for event in read_log(Log(path, format_name)) if event]
    assert kind in [event.kind for event in findings if isinstance(event, LogFinding)]
    assert not any(isinstance(event, LogBatch) for event in findings)


@pytest.mark.parametrize(
    ("name", "content", "kind"),
    [
        ("a.csv", "item_id,m1,m2\n".encode("utf-16"), "encoding"),
        ("a.json", '{"é": 1}'.encode("latin-1"), "encoding"),
        ("a.parquet", b"PAR1 and no more", "truncated"),
        ("a.parquet", b"", "truncated"),
        ("a.csv", b"", "unknown"),
        ("a.txt", b"\xff\xfe", "unknown"),
    ],
)
def test_what_cannot_be_read_as_its_ending_says(
    name: str, content: bytes, kind: str, tmp_path: Path
) -> None:
    (tmp_path / name).write_bytes(content)
    (found,) = find_logs(tmp_path)
    assert isinstance(found, LogFinding)
    assert (found.kind, found.file) == (kind, str(tmp_path / name))


def test_pipes_are_not_waited_for_and_links_are_followed_once(tmp_path: Path) -> None:
    logs, elsewhere = tmp_path / "logs", tmp_path / "elsewhere"
    logs.mkdir()
    elsewhere.mkdir()
    os.mkfifo(logs / "a.jsonl")
    (elsewhere / "b.csv").write_text("item_id,m1,m2\n1,1,0\n", encoding="utf-8")
    (logs / "linked").symlink_to(elsewhere)
    (elsewhere / "back").symlink_to(logs)
    pipe, table = find_logs(logs)
    assert isinstance(pipe, LogFinding)
    assert "a pipe" in pipe.found
    assert table == Log(logs / "linked" / "b.csv", "wide")
    with pytest.raises(InputError, match="is a pipe or a device"):
        list(find_logs(logs / "a.jsonl"))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"doc_id": ' + "1" * 5000 + "}\n", "a number with more than 4,300 digits"),
        ("[" * 100_000 + "\n", "nested too deeply"),
        ('{"doc_id": 1,}\n', "is not JSON ("),
        ('{"doc": 1}\n', "laid out as lm-eval (no 'doc_id')"),
    ],
)
def test_a_line_that_cannot_be_read_is_described_without_code(
    text: str, said: str, tmp_path: Path
) -> None:
    path = tmp_path / f"samples_t_{STAMP}.jsonl"
    path.write_text('{"doc_id": 0, "doc": {"question": "a"}, "acc": 1}\n' + text, encoding="utf-8")
    events = list(read_log(Log(path, "lm-eval")))
    told = "\n".join(str(event) for event in events if isinstance(event, LogFinding))
    assert said in told
    assert "sys." not in told
    assert "Error" not in told
    assert [event.table.num_rows for event in events if isinstance(event, LogBatch)] == [1]
