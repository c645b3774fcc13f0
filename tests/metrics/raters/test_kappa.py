from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from benchprism.metrics.raters.kappa import Weights, cohen_kappa, fleiss_kappa
from benchprism.metrics.raters.patterns import Ratings


def cohen(ratings: Ratings, values: int, weights: Weights = "none") -> float:
    rng = np.random.default_rng(0)
    return cohen_kappa(ratings, values=values, weights=weights, rng=rng, replicates=2).estimate


def fleiss(ratings: Ratings, values: int) -> float:
    rng = np.random.default_rng(0)
    return fleiss_kappa(ratings, values=values, rng=rng, replicates=2).estimate


def of_table(table: list[list[int]]) -> Ratings:
    cells = [
        [row, column]
        for row, counts in enumerate(table)
        for column, count in enumerate(counts)
        for _ in range(count)
    ]
    return np.array(cells)


def of_counts(counts: list[list[int]]) -> Ratings:
    return np.array([np.repeat(np.arange(len(row)), row) for row in counts])


def slow_cohen(ratings: Ratings, weights: Weights) -> float:
    """Kappa as mean disagreement within items over that of all pairs of ratings."""
    pairs = [(int(a), int(b)) for a, b in ratings if a >= 0 and b >= 0]
    if not pairs:
        return float("nan")

    def weight(a: int, b: int) -> float:
        return {"none": float(a != b), "linear": abs(a - b), "quadratic": (a - b) ** 2}[weights]

    observed = sum(weight(a, b) for a, b in pairs) / len(pairs)
    crossed = itertools.product([a for a, _ in pairs], [b for _, b in pairs])
    expected = sum(weight(a, b) for a, b in crossed) / len(pairs) ** 2
    return 1 - observed / expected if expected else float("nan")


def test_cohen_worked_by_hand() -> None:
    # Agreement 35 / 50; by chance (25 * 30 + 25 * 20) / 2500 = .5; kappa = (.7 - .5) / .5.
    assert cohen(of_table([[20, 5], [10, 15]]), 2) == pytest.approx(0.4)


def test_weighted_kappa_worked_by_hand() -> None:
    # Margins 10, 5, 5 and 8, 6, 6 of 20; five items are one step off, one item two steps.
    # Linear: observed 5 + 2 = 7; by chance
    # (10 * (6 + 2 * 6) + 5 * (8 + 6) + 5 * (2 * 8 + 6)) / 20 = 18.
    # Quadratic: observed 5 + 4 = 9; by chance
    # (10 * (6 + 4 * 6) + 5 * (8 + 6) + 5 * (4 * 8 + 6)) / 20 = 28.
    table = of_table([[7, 2, 1], [1, 3, 1], [0, 1, 4]])
    assert cohen(table, 3, "linear") == pytest.approx(1 - 7 / 18)
    assert cohen(table, 3, "quadratic") == pytest.approx(1 - 9 / 28)


def test_a_rater_with_one_single_value_agrees_by_chance_alone() -> None:
    assert cohen(np.array([[0, 0], [0, 1], [0, 0]]), 2) == 0


def test_disagreement_on_everything_is_minus_one() -> None:
    assert cohen(np.array([[0, 1], [1, 0]]), 2) == -1


def test_cohen_wants_two_columns() -> None:
    with pytest.raises(ValueError, match="ratings by 3 raters; wanted two columns"):
        cohen(np.zeros((4, 3), dtype=np.int64), 2)


@given(ratings=arrays(np.int64, (12, 2), elements=st.integers(-1, 3)))
@settings(deadline=None, max_examples=100)
@pytest.mark.parametrize("weights", ["none", "linear", "quadratic"])
def test_any_table_agrees_with_the_definition(weights: Weights, ratings: Ratings) -> None:
    assert cohen(ratings, 4, weights) == pytest.approx(slow_cohen(ratings, weights), nan_ok=True)


def test_fleiss_of_a_known_example() -> None:
    # Fourteen raters, ten subjects, five values: P = .378, P_e = .213, kappa = .210.
    counts = [
        [0, 0, 0, 0, 14],
        [0, 2, 6, 4, 2],
        [0, 0, 3, 5, 6],
        [0, 3, 9, 2, 0],
        [2, 2, 8, 1, 1],
        [7, 7, 0, 0, 0],
        [3, 2, 6, 3, 0],
        [2, 5, 3, 2, 2],
        [6, 5, 2, 1, 0],
        [0, 2, 2, 3, 7],
    ]
    found = fleiss_kappa(of_counts(counts), values=5, rng=np.random.default_rng(0))
    assert round(found.estimate, 3) == 0.210
    assert round(found.raw, 3) == 0.378
    assert np.round(np.square(found.prevalence).sum(), 3) == 0.213


def test_fleiss_with_unequal_numbers_of_ratings_worked_by_hand() -> None:
    # P = (1 + 1/3 + 1) / 3 = 7/9; shares 4/7 and 3/7: P_e = 25/49; the last item has no pair.
    ratings = np.array([[0, 0, -1], [0, 0, 1], [1, -1, 1], [1, -1, -1]])
    assert fleiss(ratings, 2) == pytest.approx((7 / 9 - 25 / 49) / (1 - 25 / 49))


def test_fleiss_of_two_raters_is_scotts_pi() -> None:
    # Margins pooled: 45 and 55 of 100; P_e = .505; P = .7.
    assert fleiss(of_table([[15, 10], [5, 20]]), 2) == pytest.approx((0.7 - 0.505) / 0.495)
