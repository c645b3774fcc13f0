from __future__ import annotations

from typing import Any

from .conftest import Reader, WriteLines

SPEC = {"spec": {"completion_fns": ["gpt-4"], "base_eval": "sums", "run_id": "r1", "split": "dev"}}


def event(kind: str, sample: str, **data: Any) -> dict[str, Any]:
    return {"run_id": "r1", "event_id": 0, "sample_id": sample, "type": kind, "data": data}


def test_matches_errors_and_the_final_report(read: Reader, write_lines: WriteLines) -> None:
    asked = [{"role": "system", "content": "Add."}, {"role": "user", "content": "2+2?"}]
    events = [
        SPEC,
        event("sampling", "sums.dev.0", prompt=asked, sampled=["4"]),
        event("match", "sums.dev.0", correct=True, expected="4", picked="4"),
        event("raw_sample", "sums.dev.1", input="3+3?"),
        event("sampling", "sums.dev.1", prompt="3+3?", sampled="7"),
        event("match", "sums.dev.1", correct=False, expected="6", picked="7"),
        event("error", "sums.dev.2", type="TimeoutError", message="too slow"),
        {"final_report": {"accuracy": 0.5, "boostrap_std": 0.1}},
    ]
    reading = read("openai-evals", write_lines("log.jsonl", events))
    run = reading.run
    assert (run.run, run.model, run.benchmark, run.metric) == ("r1", "gpt-4", "sums", "accuracy")
    assert [row["status"] for row in reading.rows] == ["scored", "scored", "errored"]
    assert reading.scores() == [1.0, 0.0, None]
    assert [row["question"] for row in reading.rows[:2]] == ["2+2?", "3+3?"]
    assert [row["response"] for row in reading.rows[:2]] == ["4", "7"]
    assert reading.means() == {("accuracy", ""): 0.5}
    assert not reading.findings
    assert not list(reading.sums().findings())


def test_metrics_and_repeats(read: Reader, write_lines: WriteLines) -> None:
    events = [SPEC, event("metrics", "s", f1=0.5), event("metrics", "s", f1=1.0)]
    reading = read("openai-evals", write_lines("log.jsonl", events))
    assert [(row["trial"], row["score"]) for row in reading.rows] == [(0, 0.5), (1, 1.0)]
    assert reading.kinds == ["unfinished"]
