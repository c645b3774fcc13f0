from __future__ import annotations

import math

import numpy as np
import pytest

from benchprism.metrics.raters.kappa import cohen_kappa
from benchprism.metrics.raters.krippendorff import krippendorff_alpha
from benchprism.metrics.raters.patterns import Floats, Ratings, estimate, patterns


def test_patterns_and_their_items_give_the_table_back() -> None:
    ratings = np.random.default_rng(0).integers(-1, 3, (500, 3))
    found = patterns(ratings, 3)
    assert (found.rows[found.of_item] == ratings).all()
    assert found.items.sum() == 500
    assert len(np.unique(found.rows, axis=0)) == len(found.rows)


def test_counts_leave_out_missing_ratings() -> None:
    found = patterns(np.array([[0, 2, 2], [-1, 1, -1]]), 3)
    assert found.counts(3).tolist() == [[0, 1, 0], [1, 0, 2]]


def mean_of(scores: Floats, *, level: float = 0.95, seed: int = 0) -> tuple[float, float]:
    items = np.ones(len(scores), dtype=np.int64)

    def mean(weights: Floats) -> Floats:
        return np.asarray(weights @ scores / len(scores))

    rng = np.random.default_rng(seed)
    return estimate(items, mean, rng=rng, level=level, replicates=4000).interval


def test_the_interval_of_a_mean_is_students() -> None:
    # The expanded percentile interval was made to meet the t interval of a mean.
    scores = np.random.default_rng(1).normal(size=15)
    reach = 2.145 * scores.std(ddof=1) / math.sqrt(15)
    low, high = mean_of(scores)
    assert low == pytest.approx(scores.mean() - reach, abs=0.08)
    assert high == pytest.approx(scores.mean() + reach, abs=0.08)


def test_a_higher_level_gives_a_wider_interval() -> None:
    scores = np.random.default_rng(1).normal(size=30)
    narrow, wide = mean_of(scores, level=0.8), mean_of(scores, level=0.99)
    assert wide[0] < narrow[0] < narrow[1] < wide[1]


def test_one_item_has_no_interval() -> None:
    assert math.isnan(mean_of(np.array([1.0]))[0])


def test_the_same_generator_gives_the_same_interval() -> None:
    scores = np.random.default_rng(1).normal(size=30)
    assert mean_of(scores, seed=4) == mean_of(scores, seed=4)
    assert mean_of(scores, seed=4) != mean_of(scores, seed=5)


def test_many_patterns_are_worked_off_in_parts_with_the_same_draws() -> None:
    scores = np.random.default_rng(1).normal(size=3000)
    items = np.ones(3000, dtype=np.int64)
    at_once = []

    def mean(weights: Floats) -> Floats:
        at_once.append(len(weights))
        return np.asarray(weights @ scores / 3000)

    found = estimate(items, mean, rng=np.random.default_rng(0), level=0.95, replicates=2000)
    assert len(at_once) == 3
    assert sum(at_once[1:]) == 2000
    weights = np.random.default_rng(0).multinomial(3000, items / 3000, 2000)
    spread = (weights @ scores / 3000).std()
    assert found.interval.high - found.interval.low == pytest.approx(3.92 * spread, rel=0.1)


def ratings_of(rng: np.random.Generator, items: int, raters: int) -> Ratings:
    """Four values, right nine times in ten or drawn like a fresh item."""
    truth = rng.choice(4, items, p=[0.4, 0.3, 0.2, 0.1])[:, None]
    guess = rng.choice(4, (items, raters), p=[0.4, 0.3, 0.2, 0.1])
    return np.where(rng.random((items, raters)) < 0.2, guess, truth)


@pytest.mark.parametrize("coefficient", ["alpha", "kappa"])
def test_intervals_cover_the_true_agreement(coefficient: str) -> None:
    # Both ratings are the item's own value with probability .8^2; otherwise at least one is a
    # fresh draw and agreement is what chance gives: the true coefficient is .64.
    rng = np.random.default_rng(2)
    below = above = 0
    for _ in range(400):
        ratings = ratings_of(rng, 80, 2)
        if coefficient == "alpha":
            found = krippendorff_alpha(ratings, values=4, scale="nominal", rng=rng, replicates=300)
        else:
            found = cohen_kappa(ratings, values=4, rng=rng, replicates=300)
        below += found.interval.high < 0.64
        above += found.interval.low > 0.64
    assert 0.92 <= 1 - (below + above) / 400 <= 0.98
    assert max(below, above) / 400 <= 0.06
