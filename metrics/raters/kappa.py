"""Kappa: agreement of two raters (Cohen), or of as many as there are (Fleiss)."""

from __future__ import annotations

from typing import Literal

import numpy as np

from .agreement import (
    Agreement,
    agreeing_pairs,
    assess,
    beyond_chance,
    pairable_patterns,
    unordered,
)
from .patterns import Floats, Ratings, Statistic, checked

Weights = Literal["none", "linear", "quadratic"]


def cohen_kappa(
    ratings: Ratings,
    *,
    values: int,
    weights: Weights = "none",
    rng: np.random.Generator,
    level: float = 0.95,
    replicates: int = 1000,
) -> Agreement:
    """Cohen's kappa of two raters, weighted for levels if so wished.

    Tells how far above chance two raters agree, chance being each one's own habit: a rater who
    often says "yes" is expected to agree with another by saying "yes".

    Formula: ``kappa = 1 - sum_ij w_ij n_ij / sum_ij w_ij n_i. n_.j / n`` with n_ij the items that
    the first rater gave i and the second j, n_i. and n_.j each rater's totals, and ``w_ij``

    - none: 1 for i != j;
    - linear: ``|i - j|``;
    - quadratic: ``(i - j)^2``; a level that nobody gave is a step all the same.

    Args:
        ratings: (N, 2) items by two raters, values coded 0 to ``values`` - 1 in their order, -1
            where there is none. Items that one of them did not rate are left out.
        values: how many values there are.
        weights: how much a disagreement weighs; linear and quadratic are for levels.
        rng: the source of the draws.
        level: confidence level of the interval.
        replicates: of the bootstrap; items are drawn, raters stay.

    Returns:
        An ``Agreement``; the estimate is in [-1, 1]: 1 is perfect, 0 what chance gives. NaN with
        its reason without an item that both rated, and when both give one single value to all. The
        interval is the expanded percentile interval of ``patterns.estimate``.

    Raises:
        ValueError: there are not two columns.

    Source: J. Cohen, "A coefficient of agreement for nominal scales", Educational and
    Psychological Measurement 20 (1960), 37-46; "Weighted kappa", Psychological Bulletin 70 (1968),
    213-220.

    >>> ratings = np.repeat([[0, 0], [0, 1], [1, 0], [1, 1]], [20, 5, 10, 15], axis=0)
    >>> found = cohen_kappa(ratings, values=2, rng=np.random.default_rng(0))
    >>> f"{found.estimate:.2f} from {found.interval.low:.1f} to {found.interval.high:.1f}"
    '0.40 from 0.1 to 0.6'
    """
    coded = checked(ratings, values)
    if coded.shape[1] != 2:
        raise ValueError(f"ratings by {coded.shape[1]!r} raters; wanted two columns")
    found = pairable_patterns(coded, values)
    first, second = np.eye(values)[found.rows.T]
    return assess(
        coded,
        found.items,
        first + second,
        _cohen(first, second, _disagreement(values, weights)),
        rng=rng,
        level=level,
        replicates=replicates,
    )


def _disagreement(values: int, weights: Weights) -> Floats:
    places = np.arange(values, dtype=np.float64)
    steps = np.abs(places[:, None] - places)
    return {"none": np.sign(steps), "linear": steps, "quadratic": steps**2}[weights]


def _cohen(first: Floats, second: Floats, disagreement: Floats) -> Statistic:
    within = ((first @ disagreement) * second).sum(axis=1)

    def kappa(weights: Floats) -> Floats:
        expected = ((weights @ first @ disagreement) * (weights @ second)).sum(axis=1)
        return beyond_chance(weights @ within * weights.sum(axis=1), expected)

    return kappa


def fleiss_kappa(
    ratings: Ratings,
    *,
    values: int,
    rng: np.random.Generator,
    level: float = 0.95,
    replicates: int = 1000,
) -> Agreement:
    """Fleiss' kappa of any number of raters, who need not be the same for each item.

    Tells how far above chance raters agree, chance being the habit of all raters together.

    Formula: ``kappa = (P - P_e) / (1 - P_e)`` with P the raw agreement (``raw_agreement``),
    ``P_e = sum_v p_v^2`` and p_v the share of the value among all ratings. Fleiss has the same
    number of ratings for each item. Here numbers may differ: P stays the mean of the items' shares
    of agreeing pairs, each item counting once, and p_v the share among all ratings, each rating
    counting once; with equal numbers this is his kappa.

    Args:
        ratings: (N, R) items by raters, values coded 0 to ``values`` - 1, -1 where there is none.
            Items with fewer than two ratings are left out.
        values: how many values there are.
        rng: the source of the draws.
        level: confidence level of the interval.
        replicates: of the bootstrap; items are drawn, raters stay.

    Returns:
        An ``Agreement``; the estimate is at most 1: 1 is perfect, 0 what chance gives. It differs
        from nominal alpha by a correction for few ratings alone. NaN with its reason for fewer
        than two raters, without an item that two of them rated, and when every rating has the same
        value. The interval is the expanded percentile interval of ``patterns.estimate``.

    Source: J. L. Fleiss, "Measuring nominal scale agreement among many raters", Psychological
    Bulletin 76 (1971), 378-382.

    >>> ratings = np.array([[0, 0, 0], [0, 0, 1], [1, 1, 1], [1, 1, 0]] * 5)
    >>> found = fleiss_kappa(ratings, values=2, rng=np.random.default_rng(0))
    >>> round(found.estimate, 4), round(found.raw, 4), found.prevalence
    (0.3333, 0.6667, (0.5, 0.5))
    """
    coded = checked(ratings, values)
    found = pairable_patterns(unordered(coded), values)
    counts = found.counts(values)
    return assess(
        coded,
        found.items,
        counts,
        _fleiss(counts),
        rng=rng,
        level=level,
        replicates=replicates,
    )


def _fleiss(counts: Floats) -> Statistic:
    disagreeing = 1.0 - agreeing_pairs(counts)

    def kappa(weights: Floats) -> Floats:
        given = weights @ counts
        total = given.sum(axis=1)
        by_chance = 1.0 - (given**2).sum(axis=1) / total**2
        return beyond_chance(weights @ disagreeing / weights.sum(axis=1), by_chance)

    return kappa
