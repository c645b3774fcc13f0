"""Accuracy in the strata of a benchmark: what one number for all its items hides."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri, stdtrit

from ..consistency import tau_matrix
from ..counting.division import ratio

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
_AT_ONCE = 250
"""Replicates that are held in memory together."""


@dataclass(frozen=True, slots=True, eq=False)
class MeanIntervals:
    """Means over items, one a column, with their intervals."""

    means: Floats
    low: Floats
    high: Floats
    items: Codes
    """Items with a value, one count a column."""


def mean_intervals(scores: Floats, *, level: float = 0.95) -> MeanIntervals:
    """Mean over the items of a stratum, with an interval for another sample of items.

    Tells how far the items that happen to be in a stratum fix the accuracy there.

    Formula: Wilson's interval at the mean p with an effective number of items. For scores that are
    all 0 or 1 that is their number n. Otherwise it is ``n p (1 - p) / s² * (z / t)²`` with s² the
    items' variance and t the quantile of Student's distribution with n - 1 degrees of freedom: an
    item's mean over many models is worth more than one outcome, and less than as many.

    Args:
        scores: items by columns (models, families, or one mean over models), in [0, 1]; NaN where
            a column has no score for an item.
        level: confidence level, between 0 and 1.

    Returns:
        Means and intervals, all in [0, 1]. A mean without any score is NaN; so is an interval of a
        single item whose score is neither 0 nor 1.

    Source: E. L. Korn and B. I. Graubard, "Confidence intervals for proportions with small
    expected number of positive counts estimated from survey data", Survey Methodology 24 (1998),
    193-201, with Wilson's interval as in N. Dean and M. Pagano, Journal of Survey Statistics and
    Methodology 3 (2015), 484-503.

    >>> found = mean_intervals(np.array([[0.0], [1.0], [1.0], [1.0]]))
    >>> f"{found.means[0]:.2f} {found.low[0]:.2f} {found.high[0]:.2f}"
    '0.75 0.30 0.95'
    """
    present = ~np.isnan(scores)
    items = present.sum(axis=0)
    filled = np.where(present, scores, 0.0)
    means = ratio(filled.sum(axis=0), items)
    squares = np.where(present, (scores - means) ** 2, 0.0).sum(axis=0)
    binary = np.where(present, (scores == 0) | (scores == 1), True).all(axis=0)
    effective = np.where(binary, items, _effective_items(means, squares, items, level))
    low, high = _wilson_ends(means, effective.astype(float), level)
    return MeanIntervals(means, low, high, items)


def _effective_items(means: Floats, squares: Floats, items: Codes, level: float) -> Floats:
    """Items that would fix the mean as well if each gave one outcome; NaN for a single item."""
    quantile = stdtrit(np.maximum(items - 1, 1), (1 + level) / 2)
    with np.errstate(divide="ignore", invalid="ignore"):
        number = items * means * (1 - means) * (items - 1) / squares
        effective: Floats = number * (_normal_quantile(level) / quantile) ** 2
    return np.where(items > 1, effective, np.nan)


def _wilson_ends(means: Floats, number: Floats, level: float) -> tuple[Floats, Floats]:
    """Ends of Wilson's interval; ``number`` may be any positive number or infinite."""
    with np.errstate(divide="ignore", invalid="ignore"):
        reach = _normal_quantile(level) ** 2 / number
    centre = (means + reach / 2) / (1 + reach)
    width = np.sqrt(reach * means * (1 - means) + reach**2 / 4) / (1 + reach)
    low = np.where(means == 0, 0.0 * width, centre - width)
    high = np.where(means == 1, 1.0 + 0.0 * width, centre + width)
    return low, high


def _normal_quantile(level: float) -> float:
    return float(ndtri((1 + level) / 2))


@dataclass(frozen=True, slots=True)
class Spread:
    """How far apart the strata of a benchmark lie, beside what chance alone would give."""

    spread: float
    """Highest minus lowest mean of a stratum."""
    by_chance: float
    """The spread that 95 of 100 random assignments of the items to the strata stay under."""
    p_value: float
    """Share of random assignments with at least this spread."""


def spreads_of_means(
    scores: Floats, strata: Codes, *, rng: np.random.Generator, replicates: int = 2000
) -> list[Spread]:
    """Distance between the easiest and the hardest stratum, and its reference by chance.

    Tells whether an attribute divides a benchmark into parts of different difficulty, or whether
    the same distance would be seen with the items shuffled among strata of these sizes.

    Formula: ``max_k mean(scores | k) - min_k mean(scores | k)``; ``by_chance`` is its 95 %
    quantile and ``p_value = (1 + #{shuffled >= observed}) / (1 + replicates)`` over random
    permutations of the scores.

    Args:
        scores: (n,) one number an item (the mean over models), without NaN.
        strata: (n, a) the stratum of each item by each of a attributes, coded from 0 without
            gaps; -1 for an item that is in no stratum, and is shuffled with the others.
        rng: the source of the permutations; one permutation serves all attributes.
        replicates: how many permutations.

    Returns:
        One spread an attribute, in the scores' unit: 0 when all strata have the same mean. NaN in
        all three with fewer than two strata: nothing can differ.

    Source: the permutation test of E. J. G. Pitman, "Significance tests which may be applied to
    samples from any populations", JRSS Supplement 4 (1937), 119-130, with this statistic.

    >>> scores, strata = np.array([1.0, 1.0, 0.0, 0.0]), np.array([[0], [0], [1], [1]])
    >>> spreads_of_means(scores, strata, rng=np.random.default_rng(0))[0].spread
    1.0
    """
    counts = strata.max(axis=0, initial=-1) + 1
    averages = [_averages(codes, count) for codes, count in zip(strata.T, counts, strict=True)]
    ends = np.cumsum(counts)[:-1]
    stacked = np.concatenate([*averages, np.empty((len(scores), 0))], axis=1)
    observed = _spreads(scores[None, :], stacked, ends)[0]
    chance = np.empty((replicates, len(counts)))
    for start in range(0, replicates, _AT_ONCE):
        orders = np.tile(scores, (min(_AT_ONCE, replicates - start), 1))
        chance[start : start + len(orders)] = _spreads(
            rng.permuted(orders, axis=1, out=orders), stacked, ends
        )
    reached = (chance >= observed - 1e-12).sum(axis=0)
    limits = np.quantile(chance, 0.95, axis=0)
    return [
        Spread(float(spread), float(limit), (1 + int(times)) / (1 + replicates))
        if count > 1
        else Spread(math.nan, math.nan, math.nan)
        for spread, limit, times, count in zip(observed, limits, reached, counts, strict=True)
    ]


def _averages(codes: Codes, count: int) -> Floats:
    """The matrix that turns scores into the means of strata."""
    member = codes[:, None] == np.arange(count)
    averages: Floats = member / np.maximum(member.sum(axis=0), 1)
    return averages


def _spreads(scores: Floats, averages: Floats, ends: Codes) -> Floats:
    """Highest minus lowest mean for rows of scores, by attribute; 0 without strata."""
    means = np.split(scores @ averages, ends, axis=1)
    return np.stack(
        [np.ptp(part, axis=1) if part.size else part.sum(axis=1) for part in means], axis=1
    )


FEWEST_MODELS = 3


@dataclass(frozen=True, slots=True)
class RankAgreement:
    """Kendall's tau-b between the rankings of two strata, beside random parts of their sizes."""

    models: int
    tau: float
    chance_low: float
    """The middle 95 of 100 random splits of the same items lie from here to ``chance_high``."""
    chance_high: float


def rank_agreement(
    first: Floats, second: Floats, *, rng: np.random.Generator, replicates: int = 500
) -> RankAgreement:
    """Whether two strata rank the models alike, and how alike random parts of their size would.

    Tells whether a leaderboard over the whole benchmark stands for both strata. Small strata
    disagree by chance alone; the reference shows by how much.

    Formula: tau-b between the models' mean scores in the two strata; the reference is the same
    number over ``replicates`` random splits of the pooled items into parts of the same sizes.

    Args:
        first: scores of one stratum, items by models; NaN where a score is missing.
        second: scores of the other, the same models.
        rng: the source of the splits.
        replicates: how many splits.

    Returns:
        tau-b from -1 (reversed) to 1 (the same ranking), with the 2.5 % and 97.5 % quantiles of
        the reference. NaN when fewer than three models have scores in both strata, or when all
        models score the same in one of them.

    Source: M. G. Kendall, "The treatment of ties in ranking problems", Biometrika 33 (1945).

    >>> easy, hard = np.array([[0.1, 0.5, 0.9]]), np.array([[0.2, 0.1, 0.4]])
    >>> round(rank_agreement(easy, hard, rng=np.random.default_rng(0)).tau, 3)
    0.333
    """
    scored = ~(np.isnan(first).all(axis=0) | np.isnan(second).all(axis=0))
    models = int(scored.sum())
    if models < FEWEST_MODELS:
        return RankAgreement(models, math.nan, math.nan, math.nan)
    pooled = np.vstack([first[:, scored], second[:, scored]])
    member = (np.arange(len(pooled)) < len(first)).astype(np.float32)[None, :]
    tau = _taus(pooled, member)[0]
    chance = np.empty(replicates)
    for start in range(0, replicates, _AT_ONCE):
        splits = np.tile(member, (min(_AT_ONCE, replicates - start), 1))
        chance[start : start + len(splits)] = _taus(pooled, rng.permuted(splits, axis=1))
    known = chance[~np.isnan(chance)]
    low, high = np.quantile(known, [0.025, 0.975]) if len(known) else (math.nan, math.nan)
    return RankAgreement(models, float(tau), float(low), float(high))


def _taus(pooled: Floats, members: NDArray[np.float32]) -> Floats:
    """tau-b between the items that are members and the others, for rows of membership."""
    present = ~np.isnan(pooled)
    filled, counted = np.where(present, pooled, 0.0), present.astype(float)
    means = [ratio(side @ filled, side @ counted) for side in (members, 1 - members)]
    # Sums in another order differ in the last bits; models that are equal have to stay tied.
    rounded = np.round(np.stack(means, axis=1), 10)
    return tau_matrix(rounded)[:, 0, 1]


def holm(p_values: Floats) -> Floats:
    """Adjust p-values for having looked at several attributes (Holm's step-down method).

    Tells which of several findings stand when one counts how many were looked for.

    Formula: for the sorted values ``p_(1) <= ... <= p_(m)``: the running maximum of
    ``min(1, (m - i + 1) * p_(i))``.

    Args:
        p_values: one an attribute; NaN where nothing was tested, which is not counted.

    Returns:
        Adjusted values, at least as large as given, at most 1; NaN where the input is.

    Source: S. Holm, "A simple sequentially rejective multiple test procedure", Scandinavian
    Journal of Statistics 6 (1979), 65-70.

    >>> holm(np.array([0.01, 0.04])).tolist()
    [0.02, 0.04]
    """
    adjusted = np.full(p_values.shape, np.nan)
    tested = np.flatnonzero(~np.isnan(p_values))
    order = tested[np.argsort(p_values[tested], kind="stable")]
    steps = p_values[order] * np.arange(len(order), 0, -1)
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(steps))
    return adjusted
