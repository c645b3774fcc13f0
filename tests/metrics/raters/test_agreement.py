from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from benchprism.metrics.raters.agreement import Agreement, prevalence, raw_agreement
from benchprism.metrics.raters.kappa import cohen_kappa, fleiss_kappa
from benchprism.metrics.raters.krippendorff import krippendorff_alpha
from benchprism.metrics.raters.patterns import Ratings


def alpha(ratings: Ratings, values: int = 3) -> Agreement:
    rng = np.random.default_rng(0)
    return krippendorff_alpha(ratings, values=values, scale="nominal", rng=rng)


def cohen(ratings: Ratings, values: int = 3) -> Agreement:
    return cohen_kappa(ratings, values=values, rng=np.random.default_rng(0))


def fleiss(ratings: Ratings, values: int = 3) -> Agreement:
    return fleiss_kappa(ratings, values=values, rng=np.random.default_rng(0))


Coefficient = Callable[[Ratings], Agreement]
COEFFICIENTS: list[Coefficient] = [alpha, cohen, fleiss]


def test_raw_agreement_is_the_mean_share_of_agreeing_pairs() -> None:
    # 1 of 1 pair, 1 of 3 pairs, 0 of 1 pair; the last item has no pair.
    ratings = np.array([[0, 0, -1], [1, 1, 2], [-1, 0, 1], [2, -1, -1]])
    assert raw_agreement(ratings) == pytest.approx((1 + 1 / 3 + 0) / 3)


def test_raw_agreement_without_a_pair_is_undefined() -> None:
    assert math.isnan(raw_agreement(np.array([[0, -1], [-1, 1]])))
    assert math.isnan(raw_agreement(np.empty((0, 2), dtype=np.int64)))


def test_prevalence_counts_the_ratings_of_pairable_items() -> None:
    ratings = np.array([[0, 0, -1], [1, 1, 2], [3, -1, -1]])
    assert prevalence(ratings, values=4) == pytest.approx((2 / 5, 2 / 5, 1 / 5, 0))


def test_prevalence_without_a_pair_is_undefined() -> None:
    assert all(math.isnan(share) for share in prevalence(np.array([[0, -1]]), values=2))


@pytest.mark.parametrize("coefficient", COEFFICIENTS)
def test_a_coefficient_stands_beside_raw_agreement_prevalence_and_counts(
    coefficient: Coefficient,
) -> None:
    ratings = np.array([[0, 0], [0, 1], [1, 1], [2, -1], [-1, -1]])
    found = coefficient(ratings)
    assert found.raw == pytest.approx(2 / 3)
    assert found.prevalence == pytest.approx((0.5, 0.5, 0))
    assert (found.items, found.raters, found.pairable) == (5, 2, 3)


@pytest.mark.parametrize("coefficient", COEFFICIENTS)
def test_one_single_value_leaves_raw_agreement_alone_defined(coefficient: Coefficient) -> None:
    found = coefficient(np.full((20, 2), 1))
    assert math.isnan(found.estimate)
    assert found.interval == pytest.approx((math.nan, math.nan), nan_ok=True)
    assert found.reason == "every rating has the same value"
    assert found.raw == 1
    assert found.prevalence == (0, 1, 0)


@pytest.mark.parametrize("coefficient", COEFFICIENTS)
@pytest.mark.parametrize(
    ("ratings", "reason"),
    [
        ([[0, -1], [1, -1]], "fewer than two raters"),
        ([[-1, -1]], "fewer than two raters"),
        ([[0, -1], [-1, 1]], "no item has ratings of two raters"),
    ],
)
def test_without_a_pair_the_reason_says_why(
    coefficient: Coefficient, ratings: list[list[int]], reason: str
) -> None:
    found = coefficient(np.array(ratings))
    assert math.isnan(found.estimate)
    assert math.isnan(found.raw)
    assert found.reason == reason
    assert found.pairable == 0


@pytest.mark.parametrize("coefficient", COEFFICIENTS)
def test_no_items_at_all_is_undefined(coefficient: Coefficient) -> None:
    found = coefficient(np.empty((0, 2), dtype=np.int64))
    assert math.isnan(found.estimate)
    assert found.items == 0


@pytest.mark.parametrize("coefficient", COEFFICIENTS)
def test_perfect_agreement_is_one_and_has_no_interval(coefficient: Coefficient) -> None:
    found = coefficient(np.repeat([[0, 0], [1, 1], [2, 2]], 10, axis=0))
    assert found.estimate == 1
    assert math.isnan(found.interval.low)
    assert found.reason == "no interval: all resamples are alike"


@pytest.mark.parametrize("coefficient", COEFFICIENTS)
def test_a_value_on_one_item_in_a_hundred_allows_no_interval(coefficient: Coefficient) -> None:
    found = coefficient(np.array([[0, 0]] * 98 + [[0, 1], [1, 1]]))
    assert found.estimate == pytest.approx(2 / 3, abs=0.01)
    assert math.isnan(found.interval.low)
    # A resample lacks both items with probability .98^100 = .13.
    assert found.reason is not None
    assert "% of the resamples hold one single value" in found.reason


@pytest.mark.parametrize("coefficient", COEFFICIENTS)
@pytest.mark.parametrize(
    ("ratings", "message"),
    [
        (np.array([[0, 1], [2, 7]]), r"rating 7 of item 1 by rater 1; wanted 0 to 2"),
        (np.array([[0, -2]]), r"rating -2 of item 0 by rater 1"),
        (np.array([[0.0, 1.0]]), r"type 'float64'; wanted a table of integers"),
        (np.array([[True, False]]), r"type 'bool'; wanted a table of integers"),
        (np.array([0, 1]), r"shape \(2,\)"),
    ],
)
def test_what_is_no_table_of_ratings_is_refused(
    coefficient: Coefficient, ratings: Ratings, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        coefficient(ratings)
