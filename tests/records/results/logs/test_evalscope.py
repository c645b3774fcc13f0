from __future__ import annotations

from pathlib import Path
from typing import Any

from benchprism.records.items.record import content_hash

from .conftest import Reader, WriteLines

TOY = "evalscope/20261129_154042/reviews/alpha/{}.jsonl"
QWEN = "evalscope/qwen-plus/reviews/qwen-plus/{}.jsonl"


def review(index: int, **fields: Any) -> dict[str, Any]:
    score = {"value": {"acc": 1.0}, "prediction": "4", "extracted_prediction": "4"}
    sample = {"score": {**score, **fields}, "sample_id": index, "group_id": index // 2}
    messages = [{"role": "user", "content": "2+2?"}]
    return {"index": index, "target": "4", "messages": messages, "sample_score": sample}


def test_repeats_are_trials_of_one_item(data: Path, read: Reader) -> None:
    reading = read("evalscope", data / TOY.format("general_mcq_toy"))
    run = reading.run
    assert (run.run, run.model, run.version) == ("20261129_154042", "alpha", "1.14.1")
    assert (run.benchmark, run.subset, run.metric) == ("general_mcq", "toy", "accuracy")
    assert [(row["doc_id"], row["trial"]) for row in reading.rows[:3]] == [
        ("0", 0),
        ("0", 1),
        ("1", 0),
    ]
    row = reading.rows[0]
    assert (row["source_id"], row["choice_index"], row["response"]) == ("astro-0", 0, "ANSWER: A")
    choices = ["Venus", "Mercury", "Mars", "Earth"]
    assert row["item_hashes"][0] == content_hash("Which planet is closest to the Sun?", "", choices)


def test_a_metric_that_failed_is_not_zero(data: Path, read: Reader) -> None:
    """The log writes bleu as 0.0 and says beside it that bleu could not be computed."""
    reading = read("evalscope", data / TOY.format("general_qa_toy"))
    statuses = {row["metric"]: row["status"] for row in reading.rows}
    assert {statuses[f"bleu-{n}"] for n in (1, 2, 3, 4)} == {"errored"}
    assert statuses["Rouge-L-R"] == "scored"
    assert reading.run.metric == "Rouge-L-R"


def test_the_question_is_found_among_examples_and_instructions(data: Path, read: Reader) -> None:
    (row, *_) = read("evalscope", data / QWEN.format("gsm8k_main")).rows
    question = (
        "A robe takes 2 bolts of blue fiber and half that much white fiber.  "
        "How many bolts in total does it take?"
    )
    assert content_hash(question, "", []) in row["item_hashes"]


def test_repeats_before_they_were_numbered(read: Reader, write_lines: WriteLines) -> None:
    path = write_lines("w/reviews/m/gsm8k_main.jsonl", [review(index) for index in range(4)])
    reading = read("evalscope", path)
    assert [(row["doc_id"], row["trial"]) for row in reading.rows] == [
        ("0", 0),
        ("0", 1),
        ("1", 0),
        ("1", 1),
    ]
    assert (reading.run.model, reading.run.benchmark) == ("m", "gsm8k_main")


def test_a_review_that_failed_is_errored(read: Reader, write_lines: WriteLines) -> None:
    path = write_lines("w/reviews/m/d_s.jsonl", [review(0, status="error"), review(2, value={})])
    assert [row["status"] for row in read("evalscope", path).rows] == ["errored", "unscored"]


def test_reviews_of_0_x(read: Reader, write_lines: WriteLines) -> None:
    rows = [
        {
            "answer_id": "a1",
            "raw_input": {"input": "2+2?", "A": "3", "B": "4", "C": "5", "D": "6", "target": "B"},
            "subset_name": "math",
            "index": 7,
            "choices": [
                {
                    "message": {"role": "assistant", "content": f"It is {answer}"},
                    "review": {"gold": "B", "pred": answer, "result": answer == "B"},
                }
                for answer in ("B", "C")
            ],
            "reviewed": True,
            "review_id": "r1",
        }
    ]
    reading = read("evalscope", write_lines("w/reviews/m/mmlu_math.jsonl", rows))
    assert reading.scores() == [1.0, 0.0]
    assert [(row["doc_id"], row["trial"]) for row in reading.rows] == [("7", 0), ("7", 1)]
    assert reading.rows[0]["item_hashes"][0] == content_hash("2+2?", "", ["3", "4", "5", "6"])
    assert reading.rows[1]["response"] == "It is C"
