"""Krippendorff's alpha: agreement of any number of raters, with missing ratings."""

from __future__ import annotations

from typing import Literal

import numpy as np

from .agreement import Agreement, assess, beyond_chance, pairable_patterns, unordered
from .patterns import Floats, Ratings, Statistic, checked

Scale = Literal["nominal", "ordinal", "interval"]


def krippendorff_alpha(
    ratings: Ratings,
    *,
    values: int,
    scale: Scale,
    rng: np.random.Generator,
    level: float = 0.95,
    replicates: int = 1000,
) -> Agreement:
    """Krippendorff's alpha, with a bootstrap interval over items.

    Tells how far above chance raters agree, however many they are and whoever rated what. The
    scale says how much a disagreement weighs.

    Formula: ``alpha = 1 - D_o / D_e``, with ``o_ck`` the pairs of ratings (c, k) of one item, each
    counted ``1 / (m - 1)`` times in an item of m ratings, ``n_c`` the ratings c, ``n`` all of them,

    - ``D_o = sum_ck o_ck d_ck / n`` and ``D_e = sum_ck n_c n_k d_ck / (n (n - 1))``;
    - ``d_ck``: nominal 1 for c != k, interval ``(c - k)^2``, ordinal
      ``(n_c / 2 + n_between + n_k / 2)^2``: ratings that lie between the two count, not the size
      of a step.

    Args:
        ratings: (N, R) items by raters, values coded 0 to ``values`` - 1 in their order, -1 where
            there is none. Items with fewer than two ratings are left out.
        values: how many values there are.
        scale: how much a disagreement weighs.
        rng: the source of the draws.
        level: confidence level of the interval.
        replicates: of the bootstrap; items are drawn, raters stay.

    Returns:
        An ``Agreement``; the estimate is at most 1: 1 is perfect, 0 what chance gives, below 0 is
        systematic disagreement. NaN with its reason for fewer than two raters, without an item
        that two of them rated, and when every rating has the same value. The interval is the
        expanded percentile interval of ``patterns.estimate``.

    Source: K. Krippendorff, "Computing Krippendorff's alpha-reliability" (2011), University of
    Pennsylvania; the interval resamples items, and not pairs of ratings as he proposes.

    >>> ratings = np.array([[0, 0], [0, 0], [1, 1], [1, 0]] * 10)
    >>> found = krippendorff_alpha(
    ...     ratings, values=2, scale="nominal", rng=np.random.default_rng(0)
    ... )
    >>> f"{found.estimate:.3f} from {found.interval.low:.1f} to {found.interval.high:.1f}"
    '0.473 from 0.2 to 0.8'
    >>> found.raw, found.prevalence
    (0.75, (0.625, 0.375))
    """
    coded = checked(ratings, values)
    found = pairable_patterns(unordered(coded), values)
    counts = found.counts(values)
    return assess(
        coded,
        found.items,
        counts,
        alpha_statistic(counts, scale),
        rng=rng,
        level=level,
        replicates=replicates,
    )


def alpha_statistic(counts: Floats, scale: Scale) -> Statistic:
    """Alpha of weights of the patterns.

    Args:
        counts: (P, V) how many raters of a pattern gave each value, at least two in all.
        scale: how much a disagreement weighs.
    """
    if scale == "ordinal":
        return _ordinal(counts)
    places = np.arange(counts.shape[1], dtype=np.float64)
    squares = (places[:, None] - places) ** 2
    return alpha_of_distances(counts, {"nominal": np.sign(squares), "interval": squares}[scale])


def alpha_of_distances(counts: Floats, distances: Floats) -> Statistic:
    """Alpha under fixed distances between values, of weights of the patterns.

    Args:
        counts: (P, V) how many raters of a pattern gave each value, at least two in all.
        distances: (V, V) symmetric, 0 on the diagonal.
    """
    within = ((counts @ distances) * counts).sum(axis=1) / (counts.sum(axis=1) - 1)

    def alpha(weights: Floats) -> Floats:
        given = weights @ counts
        expected = ((given @ distances) * given).sum(axis=1) / (given.sum(axis=1) - 1)
        return beyond_chance(weights @ within, expected)

    return alpha


def _ordinal(counts: Floats) -> Statistic:
    """Alpha under squared distances of mid-ranks, which depend on the weights themselves.

    Ranks are taken from their mean, ``n / 2``, so that equal ratings differ by exactly 0.
    """
    number = counts.sum(axis=1)

    def alpha(weights: Floats) -> Floats:
        given = weights @ counts
        total = given.sum(axis=1)
        ranks = np.cumsum(given, axis=1) - given / 2 - total[:, None] / 2
        within = number * (ranks**2 @ counts.T) - (ranks @ counts.T) ** 2
        observed = (weights / (number - 1) * within).sum(axis=1)
        return beyond_chance(observed, total / (total - 1) * (given * ranks**2).sum(axis=1))

    return alpha
