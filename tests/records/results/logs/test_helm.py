from __future__ import annotations

import json
import shutil
from pathlib import Path

from benchprism.records.items.record import content_hash

from .conftest import Reader

MMLU = "helm/mmlu-subject=philosophy,model=openai_gpt2"


def test_a_run_folder(data: Path, read: Reader) -> None:
    reading = read("helm", data / MMLU)
    run = reading.run
    assert (run.model, run.benchmark, run.subset) == ("openai/gpt2", "mmlu", "philosophy")
    assert (run.metric, run.filter, run.n_shot) == ("exact_match", "test", 5)
    row = next(row for row in reading.rows if row["doc_id"] == "id147")
    assert (row["response"], row["choice_index"]) == (" D", 3)
    question = "What does the notion of “meaning in life” refer to?"
    choices = ["external meaning", "god's plan", "internalmeaning", "meaning in an afterlife"]
    assert row["item_hashes"][0] == content_hash(question, "", choices)


def test_splits_are_not_mixed(data: Path, read: Reader) -> None:
    reading = read("helm", data / MMLU)
    assert len(reading.scores("exact_match", "test")) == 9
    assert len(reading.scores("exact_match", "valid")) == 1
    assert {row["metric"] for row in reading.rows} == {"exact_match", "quasi_exact_match"}


def test_failures_perturbations_and_missing_states(
    data: Path, read: Reader, tmp_path: Path
) -> None:
    folder = tmp_path / "run"
    shutil.copytree(data / MMLU, folder)
    stats = json.loads((folder / "per_instance_stats.json").read_text("utf-8"))
    stats[1]["perturbation"] = {"name": "typos"}
    stats[2]["stats"][-1]["count"] = 0
    (folder / "per_instance_stats.json").write_text(json.dumps(stats), "utf-8")
    state = json.loads((folder / "scenario_state.json").read_text("utf-8"))
    state["request_states"][0]["result"]["success"] = False
    (folder / "scenario_state.json").write_text(json.dumps(state), "utf-8")
    rows = read("helm", folder).rows
    failed = state["request_states"][0]["instance"]["id"]
    assert {row["status"] for row in rows if row["doc_id"] == failed} == {"errored"}
    perturbed = [row for row in rows if row["filter"].endswith("/typos")]
    assert {row["doc_id"] for row in perturbed} == {stats[1]["instance_id"]}
    assert {row["question"] for row in perturbed} == {None}
    assert [row["status"] for row in rows].count("unscored") == 1


def test_a_folder_that_lacks_a_file(data: Path, read: Reader, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    shutil.copytree(data / MMLU, folder)
    (folder / "run_spec.json").unlink()
    reading = read("helm", folder)
    assert not reading.batches
    assert reading.kinds == ["unreadable"]
    assert "run_spec.json" in str(reading.findings[0])
