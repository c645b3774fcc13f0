"""Files that benchmarks' own programs write: EQ-Bench, IFBench, ZeroEval."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchprism.records.items.record import content_hash

from .conftest import Reader


def test_eq_bench_keeps_its_punishing_scores(data: Path, read: Reader) -> None:
    path = data / "eq_bench/NousResearch__Llama-2-7b-chat-hf_eqbench_v2_results.json"
    reading = read("eq-bench", path)
    assert (reading.run.model, reading.run.benchmark) == (
        "NousResearch/Llama-2-7b-chat-hf",
        "eqbench_v2",
    )
    rows = {row["doc_id"]: row for row in reading.rows if row["metric"] == "first_pass_score"}
    assert len(rows) == 171
    assert rows["1"]["raw_score"] == -1.6567769159498429
    assert rows["1"]["score"] == pytest.approx(-0.16567769159498429, abs=1e-12)
    assert rows["109"]["raw_score"] == -6.1601
    assert not reading.findings


def test_ifbench_finds_the_item_by_its_prompt(data: Path, read: Reader) -> None:
    reading = read("ifeval", data / "ifbench/sample-model/eval_results_strict.jsonl")
    assert (reading.run.model, reading.run.filter) == ("sample-model", "strict")
    assert reading.scores("prompt_level") == [0, 0, 0, 0, 1, 1, 0, 0]
    row = reading.rows[0]
    assert row["item_hashes"] == [content_hash(row["question"], "", [])]
    assert reading.kinds == ["model_name"]


def test_zero_eval_has_replies_without_scores(data: Path, read: Reader) -> None:
    reading = read("zero-eval", data / "zero_eval/numersense-v2/Meta-Llama-3-70B-Instruct.json")
    assert reading.run.model == "meta-llama/Meta-Llama-3-70B-Instruct"
    assert [row["status"] for row in reading.rows] == ["unscored"] * 3
    assert reading.rows[0]["source_id"] == "0#('13.11', '13.8')"
    assert reading.kinds == ["not_scored"]
