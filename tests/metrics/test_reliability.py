from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import kendalltau

from benchprism.metrics.alignment import ItemInversions
from benchprism.metrics.bootstrap.draws import Draw, chosen, draw_half, rest
from benchprism.metrics.bootstrap.over_items import ItemSample, item_columns
from benchprism.metrics.bootstrap.resampling import stream
from benchprism.metrics.reliability import (
    bootstrap_stability,
    mean_tau_between,
    split_half_reliability,
)
from benchprism.metrics.stability import stability


def sample(scores: NDArray[np.float64], groups: NDArray[np.intp] | None = None) -> ItemSample:
    none = np.zeros(len(scores), dtype=np.int64)
    places = np.arange(scores.shape[1])
    columns = item_columns("b", scores, places, ItemInversions(none, none), groups)
    return ItemSample((columns,), scores.shape[1])


def simulated(items: int, models: int = 20, seed: int = 0) -> NDArray[np.float64]:
    rng = np.random.default_rng(seed)
    return (rng.random((items, models)) < np.linspace(0.3, 0.8, models)).astype(float)


def test_each_split_is_that_of_a_plain_loop() -> None:
    scores = simulated(41)
    (found,) = split_half_reliability(sample(scores), splits=30, seed=5)
    halves = chosen(stream(5, "b\0halves", 0), 41, 20, 30).astype(bool)
    pairs = [(scores[half].mean(axis=0), scores[~half].mean(axis=0)) for half in halves]
    taus = [kendalltau(*pair).statistic for pair in pairs]
    correlation = np.mean([np.corrcoef(*pair)[0, 1] for pair in pairs])
    assert found.tau == pytest.approx(np.mean(taus))
    assert found.coefficient == pytest.approx(2 * correlation / (1 + correlation))


def test_the_coefficient_is_about_cronbachs_alpha() -> None:
    """Alpha is the mean of all split-half coefficients (for items that vary alike)."""
    scores = simulated(400)
    (found,) = split_half_reliability(sample(scores), splits=200)
    items = scores.var(axis=1, ddof=1).sum()
    alpha = 400 / 399 * (1 - items / scores.sum(axis=0).var(ddof=1))
    assert found.coefficient == pytest.approx(alpha, abs=0.01)


def test_more_items_are_more_reliable() -> None:
    taus = [split_half_reliability(sample(simulated(n)))[0].tau for n in (40, 400, 4000)]
    assert taus == sorted(taus)
    assert taus[-1] > 0.9


def test_groups_are_not_torn_apart() -> None:
    groups = np.repeat(np.arange(30), 3)
    draw = draw_half(sample(simulated(90), groups).benchmarks[0], np.random.default_rng(0), 8)
    by_group = draw.weights.reshape(8, 30, 3)
    assert (by_group == by_group[:, :, :1]).all()
    assert draw.sizes.tolist() == [45] * 8
    assert (draw.weights + rest(draw).weights == 1).all()


def test_undefined() -> None:
    alone = split_half_reliability(sample(simulated(20, models=1)))[0]
    assert math.isnan(alone.tau)
    assert math.isnan(alone.coefficient)
    equal = split_half_reliability(sample(np.ones((20, 5))))[0]
    assert math.isnan(equal.tau)
    single = split_half_reliability(sample(simulated(1)))[0]
    assert math.isnan(single.coefficient)


def test_halves_that_do_not_agree_have_no_coefficient() -> None:
    """Equal models: what one half has more the other has less, and the formula passes -1."""
    rng = np.random.default_rng(0)
    scores = np.stack([rng.permutation(np.repeat([0.0, 1.0], 10)) for _ in range(5)], axis=1)
    (found,) = split_half_reliability(sample(scores))
    assert found.tau < 0
    assert math.isnan(found.coefficient)


def test_stability_is_that_of_the_plain_function() -> None:
    scores = simulated(150)
    (found,) = bootstrap_stability(sample(scores))
    assert found == pytest.approx(stability(scores, np.random.default_rng(0)), abs=0.03)


def test_mean_of_taus_by_hand() -> None:
    # tau of 1-2 is 1, of 1-3 and 2-3 it is 1/3.
    rankings = np.array([[1, 2, 3], [1, 2, 3], [1, 3, 2]])
    assert float(mean_tau_between(rankings)) == pytest.approx(5 / 9)
    assert math.isnan(float(mean_tau_between(np.ones((3, 4)))))


def test_sizes_of_draws() -> None:
    assert Draw(np.ones((2, 3), dtype=np.float32), None).sizes.tolist() == [3, 3]
    assert chosen(np.random.default_rng(0), 4, 0, 2).sum() == 0
    assert chosen(np.random.default_rng(0), 4, 4, 2).sum() == 8
