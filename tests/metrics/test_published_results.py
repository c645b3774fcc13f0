"""Published results of real models, item by item, against plain counts."""

from __future__ import annotations

from collections import defaultdict
from itertools import combinations
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from benchprism.metrics.comparison import compare_models
from benchprism.metrics.evidence import ItemScores
from benchprism.metrics.score_benchmarks import score_items
from benchprism.metrics.scorecard import BenchmarkScore, Model, ScoreSettings

DATA = Path(__file__).parent.parent / "data" / "per_item" / "scores.parquet"
POINTS = ScoreSettings(replicates=0)

Cells = dict[tuple[str, str], float]


@pytest.fixture(scope="module")
def rows() -> dict[str, Cells]:
    """Scores by benchmark, of (item, model)."""
    found: dict[str, Cells] = defaultdict(dict)
    columns = pq.read_table(DATA, columns=["benchmark", "item_id", "model", "score"]).to_pydict()
    for benchmark, item, model, score in zip(*columns.values(), strict=True):
        if score is not None and score == score:
            found[benchmark][item, model] = score
    return found


@pytest.fixture(scope="module")
def models() -> list[Model]:
    table = pq.read_table(DATA, columns=["model", "family", "size"]).to_pydict()
    sizes = {
        model: (family, None if size is None or size != size else size)
        for model, family, size in zip(*table.values(), strict=True)
    }
    return [Model(name, family, size) for name, (family, size) in sorted(sizes.items())]


def matrix(benchmark: str, cells: Cells) -> ItemScores:
    items = sorted({item for item, _ in cells})
    names = sorted({model for _, model in cells})
    scores = np.full((len(items), len(names)), np.nan)
    for (item, model), score in cells.items():
        scores[items.index(item), names.index(model)] = score
    return ItemScores(benchmark, "d", tuple(names), scores)


@pytest.fixture(scope="module")
def scored(rows: dict[str, Cells], models: list[Model]) -> dict[str, BenchmarkScore]:
    given = [matrix(benchmark, cells) for benchmark, cells in rows.items()]
    card = score_items(given, models, settings=POINTS)
    return {score.benchmark: score for score in card.benchmarks}


def test_the_tables_are_as_published(scored: dict[str, BenchmarkScore]) -> None:
    assert {name: (score.items, score.models) for name, score in scored.items()} == {
        "crux": (800, 51), "gsm": (1319, 44), "LawBench-1-2": (500, 51), "LawBench-2-4": (500, 51),
        "gsm8k-gpt3": (1319, 4), "EQ-Bench-v2": (171, 86),
    }  # fmt: skip


def test_accuracies_are_plain_means(
    rows: dict[str, Cells], scored: dict[str, BenchmarkScore]
) -> None:
    for benchmark, cells in rows.items():
        own: dict[str, list[float]] = defaultdict(list)
        for (_, model), score in cells.items():
            own[model].append(score)
        wanted = {model: sum(scores) / len(scores) for model, scores in own.items()}
        assert scored[benchmark].accuracies == pytest.approx(wanted, abs=1e-9)


def test_inversions_are_a_plain_count(
    rows: dict[str, Cells], models: list[Model], scored: dict[str, BenchmarkScore]
) -> None:
    for benchmark, cells in rows.items():
        items = {item for item, _ in cells}
        present = {model for _, model in cells}
        inverted = compared = 0
        for one, other in combinations([m for m in models if m.name in present], 2):
            if one.family != other.family or one.size is None or other.size is None:
                continue
            if one.size == other.size:
                continue
            weaker, stronger = sorted((one, other), key=lambda model: model.size or 0)
            for item in items:
                low, high = cells.get((item, weaker.name)), cells.get((item, stronger.name))
                if low is not None and high is not None:
                    compared += 1
                    inverted += high < low
        found = scored[benchmark]
        assert compared > 0
        assert sum(family.inverted or 0 for family in found.families) == inverted
        assert found.inversion_rate == pytest.approx(inverted / compared, abs=1e-12)


def test_gpt3_on_gsm8k_has_the_known_order(
    rows: dict[str, Cells], scored: dict[str, BenchmarkScore]
) -> None:
    """Verification beats fine-tuning by more than thirty times the parameters do."""
    accuracies = scored["gsm8k-gpt3"].accuracies
    assert sorted(accuracies, key=lambda model: -accuracies[model]) == [
        "175b_verification", "6b_verification", "175b_finetuning", "6b_finetuning",
    ]  # fmt: skip
    given = matrix("gsm8k-gpt3", rows["gsm8k-gpt3"])
    columns = {name: given.scores[:, place] for place, name in enumerate(given.models)}
    found = compare_models(
        columns["6b_verification"], columns["175b_finetuning"], np.random.default_rng(0)
    )
    assert found.interval.low > 0
    assert found.p_value < 0.01
    assert found.difference < 0.06


def test_few_models_and_single_families_are_said(scored: dict[str, BenchmarkScore]) -> None:
    warnings = scored["gsm8k-gpt3"].warnings
    assert "only 4 models: a ranking of so few says little" in warnings
    assert not scored["crux"].warnings
