"""Public per-item results, added by the command: accuracies and inversions by plain counting."""

from __future__ import annotations

import csv
from collections import defaultdict
from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from benchprism.metrics.alignment import families_of, item_inversions
from benchprism.records.results.matrix import Outcomes, outcomes
from benchprism.records.results.store import read_results

Run = Callable[..., Any]
DATA = Path(__file__).parent / "data" / "results"
DEMO = Path(__file__).parents[1] / "benchprism" / "demo" / "results.parquet"

Ladder = dict[str, float]
TABLES: list[tuple[Path, list[str], dict[str, int], list[Ladder]]] = [
    (DATA / "gsm8k_gpt3.parquet", [], {"GSM8K": 4}, [
        {"6b_finetuning": 6, "175b_finetuning": 175},
        {"6b_verification": 6, "175b_verification": 175},
    ]),
    (DATA / "lawbench.parquet", [], {"LawBench-1-2": 51, "LawBench-2-4": 51}, [
        {"llama-7b": 7, "llama-13b": 13, "llama-30b": 30, "llama-65b": 65},
        {"llama-2-7b-chat": 7, "llama-2-13b-chat": 13, "llama-2-70b-chat": 70},
        {"vicuna-7b-hf": 7, "vicuna-13b-hf": 13, "vicuna-33b-hf": 33},
    ]),
    (DATA / "eq_bench.parquet", ["--penalties"], {"EQ-Bench-v2": 86}, [
        {"Qwen__Qwen-7B-Chat": 7, "Qwen__Qwen-14B-Chat": 14, "Qwen__Qwen-72B-Chat": 72},
    ]),
    (DEMO, [], {"cruxeval": 36, "gsm8k": 44}, [
        {"gemma-2-2b-it": 2, "gemma-2-9b-it": 9, "gemma-2-27b-it@together": 27},
        {"Meta-Llama-3.1-8B-Instruct": 8, "Meta-Llama-3.1-70B-Instruct": 70,
         "Llama-3.1-405B-Inst@sambanova": 405},
    ]),
]  # fmt: skip


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "benchprism.yaml").write_text("project: p\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def added(project: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., dict[str, Outcomes]]:
    """Add a table with the command, and lay its results out."""

    def adding(path: Path, *options: str) -> dict[str, Outcomes]:
        import sys

        from benchprism.cli.main import main

        monkeypatch.setattr(sys, "argv", ["benchprism", "results", "add", str(path), *options])
        with pytest.raises(SystemExit) as end:
            main()
        assert end.value.code == 0
        return {own.benchmark: own for own in outcomes(read_results(project / "results"))}

    return adding


def plain(path: Path) -> dict[str, dict[str, dict[str, float]]]:
    """Scores by benchmark, model and item, read row by row."""
    found: dict[str, dict[str, dict[str, float]]] = defaultdict(lambda: defaultdict(dict))
    for row in pq.read_table(path).to_pylist():
        score = row.get("correct", row.get("score"))
        if score is not None and score == score:
            found[row["benchmark"]][row["model"]][str(row["item_id"])] = float(score)
    return found


@pytest.mark.parametrize(("path", "options", "models", "ladders"), TABLES)
def test_accuracies_and_inversions(
    path: Path, options: list[str], models: dict[str, int], ladders: list[Ladder],
    added: Callable[..., dict[str, Outcomes]],
) -> None:  # fmt: skip
    found = added(path, *options)
    assert {name: len(own.models) for name, own in found.items()} == models
    for benchmark, by_model in plain(path).items():
        own = found[benchmark]
        means = np.nanmean(own.scores.astype(float), axis=0)
        for model, scores in by_model.items():
            wanted = sum(scores.values()) / len(scores)
            assert means[own.models.index(model)] == pytest.approx(wanted, abs=1e-9)
        for ladder in ladders:
            if set(ladder) <= set(own.models):
                assert inversions(own, ladder) == counted(by_model, ladder)


def inversions(own: Outcomes, ladder: Ladder) -> tuple[int, int]:
    """Inverted and compared pairs, as the metric counts them."""
    columns = [own.models.index(model) for model in ladder]
    families = families_of(["f"] * len(ladder), list(ladder.values()))
    found = item_inversions(own.scores[:, columns], families)
    return int(found.inverted.sum()), int(found.compared.sum())


def counted(by_model: dict[str, dict[str, float]], ladder: Ladder) -> tuple[int, int]:
    """The same by loops over pairs of models and items."""
    inverted = compared = 0
    ranked = sorted(ladder, key=lambda model: ladder[model])
    for weaker, stronger in combinations(ranked, 2):
        for item in by_model[weaker].keys() & by_model[stronger].keys():
            compared += 1
            inverted += by_model[stronger][item] < by_model[weaker][item]
    return inverted, compared


def test_gpt_3_on_gsm8k_in_the_known_order(added: Callable[..., dict[str, Outcomes]]) -> None:
    """Verification lifts the 6B model above the fine-tuned 175B one (Cobbe et al., 2021)."""
    own = added(DATA / "gsm8k_gpt3.parquet")["GSM8K"]
    right = dict(zip(own.models, own.scores.sum(axis=0).tolist(), strict=True))
    assert sorted(right.items(), key=lambda pair: pair[1]) == [
        ("6b_finetuning", 286), ("175b_finetuning", 458),
        ("6b_verification", 515), ("175b_verification", 742),
    ]  # fmt: skip


def test_eq_bench_is_scored_below_zero_as_it_is(
    added: Callable[..., dict[str, Outcomes]], tmp_path: Path
) -> None:
    own = added(DATA / "eq_bench.parquet", "--penalties")["EQ-Bench-v2"]
    assert np.nanmin(own.scores) == pytest.approx(-3.330264, abs=1e-6)
    assert int(np.isfinite(own.scores).sum()) == 14598
    gpt4 = own.scores[:, own.models.index("gpt-4-0613")]
    assert float(np.nanmean(gpt4)) == pytest.approx(0.758272, abs=1e-6)


def test_a_csv_copy_gives_the_same(
    added: Callable[..., dict[str, Outcomes]], tmp_path: Path
) -> None:
    table = pq.read_table(DATA / "lawbench.parquet")
    path = tmp_path / "law.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(table.column_names)
        writer.writerows(zip(*table.to_pydict().values(), strict=True))
    by_csv = added(path)
    (tmp_path / "results" / "law.parquet").unlink()
    for name, own in added(DATA / "lawbench.parquet").items():
        assert own.item_ids == by_csv[name].item_ids
        assert np.array_equal(own.scores, by_csv[name].scores)
