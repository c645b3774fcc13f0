from __future__ import annotations

from pathlib import Path

import pytest

from benchprism.records.results.logs import json_files
from benchprism.records.results.logs.batches import BATCH_ROWS, BATCH_TEXT, batches
from benchprism.records.results.logs.content import Content
from benchprism.records.results.logs.findings import LogFinding
from benchprism.records.results.logs.json_files import json_array, json_lines
from benchprism.records.results.logs.runs import LogBatch, LogRun, Sample

RUN = LogRun(run="r", model="m", benchmark="b", source_format="f", source_file="file")


def sizes(samples: list[Sample]) -> list[int]:
    events = batches(RUN, samples)
    return [event.table.num_rows for event in events if isinstance(event, LogBatch)]


def test_batches_are_bounded_by_rows_and_by_text() -> None:
    assert sizes([Sample(str(at), {"acc": 1}) for at in range(BATCH_ROWS + 1)]) == [BATCH_ROWS, 1]
    long = Content(question="x" * (BATCH_TEXT // 2))
    assert sizes([Sample(str(at), {"acc": 1}, content=long) for at in range(5)]) == [3, 2]


def test_the_first_metric_is_the_headline_where_the_log_states_none() -> None:
    samples = [Sample("1", {}), Sample("2", {"em": 1, "f1": 0.5}, filter="strict")]
    (batch,) = batches(RUN, samples)
    assert isinstance(batch, LogBatch)
    assert (batch.run.metric, batch.run.filter) == ("em", "strict")


def test_nothing_is_clamped() -> None:
    (batch, finding) = batches(RUN, [Sample("1", {"acc": 1.5}), Sample("2", {"acc": -0.5})])
    assert isinstance(batch, LogBatch)
    assert isinstance(finding, LogFinding)
    assert batch.table["score"].to_pylist() == [None, None]
    assert batch.table["raw_score"].to_pylist() == [1.5, -0.5]
    assert "from -0.5 to 1.5" in finding.found


def test_a_list_of_any_size_is_read_element_by_element(tmp_path: Path) -> None:
    path = tmp_path / "list.json"
    texts = ["x" * size for size in (1, 2**20 - 5, 2**20, 3 * 2**20)]
    path.write_text('[\n  {"a": "' + '"},\n  {"a": "'.join(texts) + '"}\n]\n', encoding="utf-8")
    records = [record for record in json_array(path) if not isinstance(record, LogFinding)]
    assert [len(record.value["a"]) for record in records] == [len(text) for text in texts]
    assert [record.line for record in records] == [2, 3, 4, 5]


def test_a_line_without_end_is_not_taken_into_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(json_files, "RECORD_LIMIT", 1000)
    path = tmp_path / "endless.jsonl"
    path.write_bytes(b'{"a": 1}\n' + b" " * 1100)
    first, finding = json_lines(path)
    assert not isinstance(first, LogFinding)
    assert isinstance(finding, LogFinding)
    assert (finding.kind, finding.line) == ("too_large", 2)
