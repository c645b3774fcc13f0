from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import false_discovery_control, kendalltau, norm, t

from benchprism.metrics.items.strata import holm, mean_intervals, rank_agreement, spreads_of_means
from benchprism.metrics.proportions import wilson_interval


def rng() -> np.random.Generator:
    return np.random.default_rng(7)


def test_means_leave_missing_scores_out() -> None:
    scores = np.array([[0.2, np.nan], [0.4, 1.0], [0.9, np.nan]])
    found = mean_intervals(scores)
    assert found.means == pytest.approx([0.5, 1.0])
    assert found.items.tolist() == [3, 1]


def test_zero_or_one_gets_wilson_s_interval() -> None:
    scores = np.array([[1.0], [1.0], [0.0], [1.0]])
    found = mean_intervals(scores)
    exact = wilson_interval(3, 4)
    assert (found.low[0], found.high[0]) == pytest.approx((exact.low, exact.high))


def test_all_right_is_not_certainty() -> None:
    found = mean_intervals(np.ones((6, 1)))
    assert found.high[0] == 1.0
    assert found.low[0] == pytest.approx(6 / (6 + 1.959964**2), abs=1e-6)  # Wilson at 6 of 6


def test_the_effective_number_of_items_by_hand() -> None:
    # p = .5 and s² = .04 for three items: n* = 3 * .25 / .04 * (1.96 / 4.3027)² = 3.8906.
    found = mean_intervals(np.array([[0.3], [0.5], [0.7]]))
    z, number = norm.ppf(0.975), 18.75 * (norm.ppf(0.975) / t.ppf(0.975, 2)) ** 2
    assert number == pytest.approx(3.8906, abs=1e-3)
    reach = z * math.sqrt(0.25 / number + z**2 / (4 * number**2)) / (1 + z**2 / number)
    assert (found.low[0], found.high[0]) == pytest.approx((0.5 - reach, 0.5 + reach))


def test_the_interval_of_many_items_is_near_the_normal_one() -> None:
    scores = rng().uniform(size=(400, 1))
    found = mean_intervals(scores)
    reach = 1.96 * scores.std() / 20
    assert found.low[0] == pytest.approx(scores.mean() - reach, abs=0.002)
    assert found.high[0] == pytest.approx(scores.mean() + reach, abs=0.002)


def test_items_that_are_all_alike_leave_no_doubt() -> None:
    found = mean_intervals(np.full((4, 1), 0.25))
    assert (found.low[0], found.high[0]) == pytest.approx((0.25, 0.25))


@given(arrays(np.int64, st.tuples(st.integers(2, 9), st.just(3)), elements=st.integers(0, 7)))
def test_intervals_hold_their_mean_and_stay_in_range(right: np.ndarray) -> None:
    found = mean_intervals(right / 7)
    assert (found.low >= -1e-12).all()
    assert (found.low <= found.means + 1e-12).all()
    assert (found.means <= found.high + 1e-12).all()
    assert (found.high <= 1 + 1e-12).all()


def test_the_interval_of_few_items_covers_the_true_mean() -> None:
    draws = np.random.default_rng(1)
    samples = [mean_intervals(draws.beta(2, 1, (8, 1))) for _ in range(400)]
    covered = np.mean([one.low[0] <= 2 / 3 <= one.high[0] for one in samples])
    assert 0.92 < covered < 0.98


@pytest.mark.parametrize("scores", [np.empty((0, 1)), np.array([[0.3]]), np.array([[np.nan]])])
def test_too_few_items_have_no_interval(scores: np.ndarray) -> None:
    found = mean_intervals(scores)
    assert math.isnan(found.low[0])
    assert math.isnan(found.high[0])


def test_the_spread_is_between_the_extreme_means() -> None:
    scores = np.array([0.2, 0.4, 0.9, 0.7, 0.5])
    first, second = [0, 0, 1, 1, 2], [1, -1, 0, 1, -1]
    found = spreads_of_means(scores, np.array([first, second]).T, rng=rng())
    assert [one.spread for one in found] == pytest.approx([0.8 - 0.3, 0.9 - 0.45])


def test_chance_is_that_of_all_orders() -> None:
    scores = np.array([0.0, 0.1, 0.5, 0.6, 1.0])
    strata = np.array([[0], [0], [0], [1], [1]])
    orders = itertools.permutations(scores)
    spreads = [abs(np.mean(order[:3]) - np.mean(order[3:])) for order in orders]
    observed = abs(np.mean(scores[:3]) - np.mean(scores[3:]))
    exact = np.mean([spread >= observed - 1e-12 for spread in spreads])
    (found,) = spreads_of_means(scores, strata, rng=rng(), replicates=5000)
    assert found.p_value == pytest.approx(exact, abs=0.02)
    assert found.by_chance == pytest.approx(np.quantile(spreads, 0.95), abs=1e-9)


def test_one_stratum_has_no_spread() -> None:
    codes = np.array([[0, -1, 0], [0, -1, 1]])
    one, none, two = spreads_of_means(np.array([0.1, 0.9]), codes, rng=rng())
    assert all(math.isnan(n) for n in (one.spread, none.spread, one.by_chance, none.p_value))
    assert two.spread == pytest.approx(0.8)


def test_the_same_ranking_agrees_whatever_the_level() -> None:
    easy = np.array([[0.9, 0.8, 0.7, 0.6]])
    found = rank_agreement(easy, easy / 2, rng=rng())
    assert found.models == 4
    assert found.tau == 1.0


def test_tau_is_between_the_means_of_the_strata() -> None:
    scores = rng().uniform(size=(30, 8))
    first, second = scores[:12], scores[12:]
    expected = kendalltau(first.mean(axis=0), second.mean(axis=0)).statistic
    found = rank_agreement(first, second, rng=rng())
    assert found.tau == pytest.approx(expected)
    assert found.chance_low <= found.chance_high


@pytest.mark.parametrize("second", [np.array([[0.5, 0.5, 0.5]]), np.array([[0.1, np.nan, np.nan]])])
def test_no_ranking_no_agreement(second: np.ndarray) -> None:
    found = rank_agreement(np.array([[0.1, 0.2, 0.3]]), second, rng=rng())
    assert math.isnan(found.tau)


def test_holm_by_hand() -> None:
    # Sorted .01 .02 .03 .5 times 4 3 2 1 gives .04 .06 .06 .5; nothing is tested where NaN.
    given = np.array([0.03, np.nan, 0.01, 0.5, 0.02])
    assert holm(given) == pytest.approx([0.06, np.nan, 0.04, 0.5, 0.06], nan_ok=True)


def test_holm_is_at_least_as_strict_as_benjamini_and_hochberg() -> None:
    given = rng().uniform(size=20)
    assert (holm(given) >= false_discovery_control(given) - 1e-12).all()
