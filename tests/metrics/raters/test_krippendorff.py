from __future__ import annotations

import itertools
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from benchprism.metrics.raters.krippendorff import Scale, alpha_statistic, krippendorff_alpha
from benchprism.metrics.raters.patterns import Ratings, patterns, replicated

SCALES: tuple[Scale, ...] = ("nominal", "ordinal", "interval")

# Krippendorff, "Computing Krippendorff's alpha-reliability" (2011), section C: four observers,
# twelve units, values 1 to 5.
PUBLISHED = """
    1 2 3 3 2 1 4 1 2 . . .
    1 2 3 3 2 2 4 1 2 5 . 3
    . 3 3 3 2 3 4 2 2 5 1 .
    1 2 3 3 2 4 4 1 2 5 1 .
"""


def published() -> Ratings:
    rows = [line.split() for line in PUBLISHED.strip().splitlines()]
    return np.array([[-1 if cell == "." else int(cell) - 1 for cell in row] for row in rows]).T


def point(ratings: Ratings, values: int, scale: Scale) -> float:
    rng = np.random.default_rng(0)
    return krippendorff_alpha(ratings, values=values, scale=scale, rng=rng, replicates=2).estimate


def slow_alpha(ratings: Ratings, scale: Scale) -> float:
    """Alpha from its definition, pair by pair."""
    units = [[int(value) for value in row if value >= 0] for row in ratings]
    units = [unit for unit in units if len(unit) > 1]
    pooled = Counter(value for unit in units for value in unit)
    number = sum(pooled.values())

    def distance(a: int, b: int) -> float:
        if scale == "nominal":
            return float(a != b)
        if scale == "interval":
            return float((a - b) ** 2)
        between = sum(pooled[value] for value in range(min(a, b), max(a, b) + 1))
        return (between - (pooled[a] + pooled[b]) / 2) ** 2

    observed = sum(
        distance(a, b) / (len(unit) - 1)
        for unit in units
        for a, b in itertools.permutations(unit, 2)
    )
    expected = sum(
        count * (other - (a == b)) * distance(a, b)
        for a, count in pooled.items()
        for b, other in pooled.items()
    )
    return 1 - observed / (expected / (number - 1)) if expected else float("nan")


@pytest.mark.parametrize(
    ("scale", "value"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)]
)
def test_the_published_example(scale: Scale, value: float) -> None:
    assert round(point(published(), 5, scale), 3) == value


def test_two_raters_worked_by_hand() -> None:
    # Values 0 0 | 0 1 | 2 2 | 1 1: n = 3, 3, 2 of 8.
    # Nominal: coincidences off the diagonal o_01 + o_10 = 2; sum of n_c n_k over c != k is
    # 64 - 9 - 9 - 4 = 42; alpha = 1 - 7 * 2 / 42.
    # Interval: observed 2 * 1; expected 2 * (3*3*1 + 3*2*4 + 3*2*1) = 78; alpha = 1 - 7 * 2 / 78.
    # Ordinal: mid-ranks 1.5, 4.5, 7: distances 9, 30.25, 6.25; observed 2 * 9 = 18; expected
    # 2 * (9*9 + 6*30.25 + 6*6.25) = 600; alpha = 1 - 7 * 18 / 600.
    ratings = np.array([[0, 0], [0, 1], [2, 2], [1, 1]])
    assert point(ratings, 3, "nominal") == pytest.approx(1 - 14 / 42)
    assert point(ratings, 3, "interval") == pytest.approx(1 - 14 / 78)
    assert point(ratings, 3, "ordinal") == pytest.approx(1 - 126 / 600)


def test_systematic_disagreement_is_below_zero() -> None:
    # Two items, 0 1 and 1 0: observed 4, expected 2 * 2 * 2 / 3; alpha = 1 - 4 / (8 / 3).
    assert point(np.array([[0, 1], [1, 0]]), 2, "nominal") == pytest.approx(-0.5)


@given(
    ratings=arrays(
        np.int8, array_shapes(min_dims=2, max_dims=2, max_side=7), elements=st.integers(-1, 4)
    )
)
@settings(deadline=None, max_examples=150)
@pytest.mark.parametrize("scale", SCALES)
def test_any_table_agrees_with_the_definition(scale: Scale, ratings: Ratings) -> None:
    if ((ratings >= 0).sum(axis=1) < 2).all():
        return
    assert point(ratings, 5, scale) == pytest.approx(slow_alpha(ratings, scale), nan_ok=True)


@pytest.mark.parametrize("scale", SCALES)
def test_replicates_equal_alpha_of_the_drawn_items(scale: Scale) -> None:
    rng = np.random.default_rng(3)
    truth = rng.integers(0, 4, 60)[:, None]
    ratings = np.where(rng.random((60, 3)) < 0.3, rng.integers(0, 4, (60, 3)), truth)
    found = patterns(np.sort(ratings, axis=1), 4)
    drawn = replicated(
        found.items,
        alpha_statistic(found.counts(4), scale),
        rng=np.random.default_rng(5),
        replicates=8,
    )
    again = np.random.default_rng(5).multinomial(60, found.items / 60, 8)
    loop = [slow_alpha(np.repeat(found.rows, weights, axis=0), scale) for weights in again]
    assert drawn == pytest.approx(loop, abs=1e-12)


def test_rater_columns_beyond_the_range_of_an_integer_code() -> None:
    # Forty raters of nine values have 10^40 rows: no integer holds them all.
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 9, 50)[:, None]
    ratings = np.where(rng.random((50, 40)) < 0.2, rng.integers(0, 9, (50, 40)), truth)
    assert point(ratings, 9, "nominal") == pytest.approx(slow_alpha(ratings, "nominal"))


def test_an_unknown_scale_is_refused() -> None:
    with pytest.raises(KeyError, match="ratio"):
        point(published(), 5, "ratio")  # type: ignore[arg-type]
