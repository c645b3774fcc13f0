from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from benchprism.records.items.record import content_hash

from .conftest import Reader, WriteJson, WriteLines

MATH = (
    "every_eval_ever/data/toysubj_math/models/tiny-gpt2-s1/"
    "e2c653d2-d8d9-48c3-936d-40c6aa62162b_samples.jsonl"
)


def row(sample_id: str, score: object, **fields: Any) -> dict[str, Any]:
    return {
        "schema_version": "0.3.0",
        "evaluation_id": "e",
        "model_id": "org/model",
        "evaluation_name": "quiz",
        "sample_id": sample_id,
        "interaction_type": "single_turn",
        "input": {"raw": f"question {sample_id}", "reference": ["1"]},
        "output": {"raw": ["reply"]},
        "answer_attribution": [],
        "evaluation": {"score": score, "is_correct": False},
        **fields,
    }


def aggregates(**config: Any) -> dict[str, Any]:
    result = {
        "evaluation_name": "quiz",
        "source_data": {"dataset_name": "quiz", "source_type": "other"},
        "metric_config": {"metric_name": "points", **config},
        "score_details": {"score": 7.5},
    }
    return {
        "schema_version": "0.3.0",
        "eval_library": {"name": "mine", "version": "1"},
        "evaluation_results": [result],
    }


def test_the_item_is_found_in_the_prompt(data: Path, read: Reader) -> None:
    reading = read("every-eval-ever", data / MATH)
    row = reading.rows[0]
    assert row["item_hashes"][0] == content_hash("What is 7 times 8?", "", ["54", "56", "64", "48"])
    assert (row["doc_id"], row["choice_index"], row["response"]) == ("0", 2, "C")
    assert (reading.run.model, reading.run.version) == ("models/tiny-gpt2-s1", "lm_eval 0.4.13")


def test_scores_are_placed_on_the_stated_range(
    read: Reader, write_lines: WriteLines, write_json: WriteJson
) -> None:
    write_json("u.json", aggregates(lower_is_better=False, min_score=0, max_score=10))
    reading = read("every-eval-ever", write_lines("u_samples.jsonl", [row("a", 5), row("b", 10)]))
    assert reading.scores() == [0.5, 1.0]
    assert [one["raw_score"] for one in reading.rows] == [5.0, 10.0]
    assert reading.run.metric == "points"


def test_where_lower_is_better_the_range_is_turned(
    read: Reader, write_lines: WriteLines, write_json: WriteJson
) -> None:
    write_json("u.json", aggregates(lower_is_better=True, min_score=0, max_score=10))
    reading = read("every-eval-ever", write_lines("u_samples.jsonl", [row("a", 0), row("b", 7.5)]))
    assert reading.scores() == [1.0, 0.25]
    write_json("v.json", aggregates(lower_is_better=True))
    unbounded = read("every-eval-ever", write_lines("v_samples.jsonl", [row("a", 0.5)]))
    assert unbounded.scores() == [None]
    assert unbounded.kinds == ["scale"]


def test_rows_that_repeat_a_sample_are_trials(read: Reader, write_lines: WriteLines) -> None:
    rows = [row("a", 1.0), row("b", 0.0), row("a", 0.0), row("a", 1.0, metadata={"trial": "7"})]
    reading = read("every-eval-ever", write_lines("u_samples.jsonl", rows))
    assert [(one["doc_id"], one["trial"]) for one in reading.rows] == [
        ("a", 0),
        ("b", 0),
        ("a", 1),
        ("a", 7),
    ]


def test_missing_and_errored(read: Reader, write_lines: WriteLines) -> None:
    rows = [row("a", None), row("b", 0.0, error="time out"), row("c", 1.0)]
    reading = read("every-eval-ever", write_lines("u_samples.jsonl", rows))
    assert [one["status"] for one in reading.rows] == ["unscored", "errored", "scored"]


def test_rows_of_several_benchmarks_are_kept_apart(read: Reader, write_lines: WriteLines) -> None:
    rows = [row("a", 1.0), row("a", 0.0, evaluation_name="other")]
    reading = read("every-eval-ever", write_lines("u_samples.jsonl", rows))
    assert [batch.run.benchmark for batch in reading.batches] == ["quiz", "other"]
    assert [one["trial"] for one in reading.rows] == [0, 0]


@pytest.mark.parametrize("checksum", ["0" * 64, None])
def test_a_changed_file_is_said(
    checksum: str | None, read: Reader, write_lines: WriteLines, write_json: WriteJson
) -> None:
    whole = aggregates(min_score=0, max_score=10)
    whole["detailed_evaluation_results"] = {"hash_algorithm": "sha256", "checksum": checksum}
    write_json("u.json", whole)
    reading = read("every-eval-ever", write_lines("u_samples.jsonl", [row("a", 1)]))
    assert reading.kinds == (["mismatch"] if checksum else [])


def test_aggregates_alone(data: Path, read: Reader) -> None:
    path = data / "every_eval_ever/demo/98ea850e-7019-4728-a558-8b1819ec47c2.json"
    assert read("every-eval-ever", path).kinds == ["aggregates"]


@pytest.mark.parametrize(("schema", "kinds"), [("0.2.1", []), ("0.3.9", []), ("1.0", ["version"])])
def test_an_unknown_schema_is_said(
    schema: str, kinds: list[str], read: Reader, write_lines: WriteLines, write_json: WriteJson
) -> None:
    own = aggregates(lower_is_better=False, min_score=0, max_score=1)
    own["evaluation_results"][0]["score_details"]["score"] = 0.5
    write_json("u.json", {**own, "schema_version": schema})
    reading = read("every-eval-ever", write_lines("u_samples.jsonl", [row("a", 0.5)]))
    assert reading.scores() == [0.5]
    assert reading.kinds == kinds
