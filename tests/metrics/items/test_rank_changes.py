from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import rankdata

from benchprism.metrics.alignment import ItemInversions
from benchprism.metrics.bootstrap.over_items import item_columns
from benchprism.metrics.items.rank_changes import Standing, rank_changes, ranks

Floats = NDArray[np.float64]


def changes(
    scores: Floats,
    codes: NDArray[np.int64],
    benchmarks: NDArray[np.int64] | None = None,
    groups: NDArray[np.intp] | None = None,
) -> list[Standing]:
    items, models = scores.shape
    none = np.zeros(items, dtype=np.int64)
    columns = item_columns("b", scores, np.arange(models), ItemInversions(none, none), groups)
    return rank_changes(
        columns,
        scores,
        codes,
        int(codes.max()) + 1,
        benchmarks=none if benchmarks is None else benchmarks,
        replicates=400,
    )


def test_ranks_are_scipys_from_the_best() -> None:
    accuracies = np.random.default_rng(0).integers(0, 5, (6, 9)) / 5
    assert ranks(accuracies) == pytest.approx(rankdata(-accuracies, axis=1))


def test_accuracy_and_rank_on_each_value() -> None:
    scores = np.array([[1, 0, 1], [1, 0, 0], [0, 1, 1], [0, 1, 0]], dtype=float)
    first, second = changes(scores, np.array([0, 0, 1, 1]))
    assert first.accuracy.tolist() == [1, 0, 0.5]
    assert first.rank.tolist() == [1, 3, 2]
    assert second.rank.tolist() == [3, 1, 2]
    assert (first.items, second.items) == (2, 2)
    assert first.expected_rank[2] == pytest.approx(2, abs=0.2)


def simulated(special: float) -> tuple[Floats, NDArray[np.int64]]:
    """Twenty models; the first is better by ``special`` on items of kind 1, worse on kind 0."""
    rng = np.random.default_rng(1)
    codes = np.arange(600) % 2
    chance = np.tile(np.linspace(0.3, 0.7, 20), (600, 1))
    chance[:, 0] = np.where(codes == 1, 0.5 + special, 0.5 - special)
    return (rng.random(chance.shape) < chance).astype(float), codes


def test_a_change_beyond_noise_is_marked_and_noise_is_not() -> None:
    kind0, kind1 = changes(*simulated(0.25))
    assert kind1.p_values[0] < 0.05
    assert kind1.rank[0] < kind1.expected_rank[0]
    assert kind0.p_values[0] < 0.05
    plain = changes(*simulated(0.0))
    assert min(own.p_values.min() for own in plain) > 0.05


def test_a_benchmarks_own_difference_is_not_the_attributes() -> None:
    """The first model is good on one benchmark, where one value is frequent."""
    rng = np.random.default_rng(2)
    benchmarks = np.arange(800) // 400
    codes = (rng.random(800) < np.where(benchmarks == 1, 0.85, 0.15)).astype(np.int64)
    chance = np.tile(np.linspace(0.25, 0.75, 20), (800, 1))
    chance[:, 0] = np.where(benchmarks == 1, 0.8, 0.2)
    scores = (rng.random(chance.shape) < chance).astype(float)
    within = changes(scores, codes, benchmarks)
    assert min(own.p_values[0] for own in within) > 0.05
    naive = changes(scores, codes)
    assert min(own.p_values[0] for own in naive) < 0.05


def test_intervals_hold_the_rank() -> None:
    for own in changes(*simulated(0.1)):
        assert (own.rank_low <= own.rank).all()
        assert (own.rank <= own.rank_high).all()
        assert (own.accuracy_low <= own.accuracy).all()


def test_groups_are_dealt_out_as_wholes() -> None:
    """Ten copies of each item are no more evidence than one."""
    scores, codes = simulated(0.12)
    few, kinds = scores[:60], codes[:60]
    groups = np.repeat(np.arange(60), 10)
    copied = changes(np.repeat(few, 10, axis=0), np.repeat(kinds, 10), groups=groups)
    alone = changes(few, kinds)
    for own, other in zip(copied, alone, strict=True):
        assert own.rank.tolist() == other.rank.tolist()
        assert own.p_values == pytest.approx(other.p_values, abs=0.35)
    naive = changes(np.repeat(few, 10, axis=0), np.repeat(kinds, 10))
    assert sum(own.p_values.sum() for own in naive) < sum(own.p_values.sum() for own in copied)


def test_items_without_a_value_and_models_without_scores() -> None:
    scores = np.random.default_rng(0).integers(0, 2, (40, 4)).astype(float)
    scores[:, 3] = np.nan
    codes = np.array([0, 1, -1, -1] * 10)
    first, second = changes(scores, codes)
    assert (first.items, second.items) == (10, 10)
    assert np.isnan(first.rank[3])
    assert np.isnan(first.p_values[3])
    assert sorted(first.rank[:3].tolist())[0] >= 1
