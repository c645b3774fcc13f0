"""Standard errors: how far the items at hand fix the difference of two models."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from .bootstrap.groups import summed_by_group
from .counting.division import ratio
from .scores import Scores, is_complete, known

Floats = NDArray[np.float64]
MOST_MODELS = 1000
"""Differences of every two of more models are not looked at: a typical one needs fewer."""
_NO_NOISE = 1e-12
"""A variance that is so small a share of its parts is the rounding error of none."""


def difference_errors(scores: Scores, groups: NDArray[np.intp] | None = None) -> Floats:
    """Standard error of the difference in accuracy of every two models.

    Tells how large a difference chance in the choice of items makes between two models, each over
    the items that it has. It is smaller where these are the same, since most items are right or
    wrong for both.

    Formula: ``SE_ij = sqrt(G/(G-1) * sum over groups g of (r_gi - r_gj)^2)`` with ``r_gi`` the sum
    over the group's items of (score - accuracy of i) / number of scores of i. An item on its own is
    a group; with right and wrong this is the standard error behind McNemar's test.

    Args:
        scores: (n, m) scores of m models on n items, in [0, 1], NaN where there is none.
        groups: (n,) items that belong together, from 0; none when each stands for itself.

    Returns:
        (m, m), symmetric, in accuracy: 0 for two models whose scores differ by the same on every
        item, as by nothing. NaN for a model without scores, or fewer than two groups.

    Source: K.-Y. Liang and S. L. Zeger, "Longitudinal data analysis using generalized linear
    models", Biometrika 73 (1986), for the sum by groups.

    >>> difference_errors(np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 1.0]]))[0, 1].round(3)
    np.float64(0.408)
    """
    seen = known(scores)
    counts = seen.sum(axis=0)
    means = ratio(np.where(seen, scores, 0).sum(axis=0, dtype=np.float64), counts)
    influence = np.where(seen, scores - means, 0.0) / np.where(counts, counts, np.nan)
    sums = summed_by_group(influence, groups)
    if len(sums) < 2:
        return np.full((scores.shape[1],) * 2, np.nan)
    products = sums.T @ sums * len(sums) / (len(sums) - 1)
    own = np.diagonal(products)
    return _root(own[:, None] + own - 2 * products, own[:, None] + own)


def paired_errors(scores: Scores, groups: NDArray[np.intp] | None = None) -> Floats:
    """Standard error of the difference of every two models on the items that both have.

    Tells how large a difference chance makes in a paired test of two models, which looks at no
    other items. Where no score is missing it is ``difference_errors``.

    Formula: as there, over the items with scores of both.

    Args:
        scores: as there.
        groups: as there.

    Returns:
        (m, m), as there; NaN for two models with fewer than two items (groups) in common, and on
        the diagonal where a score is missing.

    Source: as there.

    >>> scores = np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 1.0], [1.0, np.nan]])
    >>> paired_errors(scores)[0, 1].round(3)
    np.float64(0.408)
    """
    if is_complete(scores):
        return difference_errors(scores, groups)
    seen = known(scores)
    filled = np.where(seen, scores, 0).astype(np.float64)
    models = scores.shape[1]
    errors = np.full((models, models), np.nan)
    for one in range(models - 1):
        both = seen[:, one, None] & seen[:, one + 1 :]
        differences = np.where(both, filled[:, one, None] - filled[:, one + 1 :], 0.0)
        number = both.sum(axis=0)
        deviations = np.where(both, differences - ratio(differences.sum(axis=0), number), 0.0)
        units = (summed_by_group(both.astype(np.float64), groups) > 0).sum(axis=0)
        squares = (summed_by_group(deviations, groups) ** 2).sum(axis=0)
        share = ratio(units, units - 1)
        variance = share * ratio(squares, number**2)
        found = _root(variance, share * ratio((differences**2).sum(axis=0), number**2))
        errors[one, one + 1 :] = errors[one + 1 :, one] = found
    return errors


def _root(variance: Floats, parts: Floats) -> Floats:
    """Root of a variance that is a difference of its parts; exactly 0 where only rounding is left.

    The square of a difference of equal columns may come out a hair below 0, or above it.
    """
    return np.sqrt(np.where(variance <= _NO_NOISE * parts, 0.0, variance))


def typical_error(errors: Floats) -> float:
    """Median standard error over the pairs of models that have one above 0; NaN without any.

    Two models whose scores differ by the same on every item, as by nothing, show no noise. That is
    no evidence that there is none.
    """
    upper = errors[np.triu_indices(len(errors), 1)]
    defined = upper[upper > 0]
    return float(np.median(defined)) if len(defined) else math.nan


def share_apart(scores: Scores) -> float:
    """Share of the pairs of models that have no item in common; NaN for fewer than two models.

    Args:
        scores: (n, m), NaN where there is none.

    >>> round(share_apart(np.array([[1.0, 0.0, np.nan], [np.nan, np.nan, 1.0]])), 3)
    0.667
    """
    models = scores.shape[1]
    if models < 2:
        return math.nan
    if is_complete(scores):
        return 0.0 if len(scores) else 1.0
    seen = known(scores).astype(np.float32)
    return float((seen.T @ seen == 0)[np.triu_indices(models, 1)].mean())


def detectable_difference(error: float, *, level: float = 0.95, power: float = 0.8) -> float:
    """Minimum detectable difference: what a test of two models on these items would usually find.

    Tells whether a benchmark, or a subset, is large enough for the differences that matter.

    Formula: ``(z(1 - a/2) + z(power)) * SE`` with a = 1 - level and SE the standard error of the
    difference of two models. It shrinks with the square root of the number of items.

    Args:
        error: the standard error, as ``typical_error`` of ``paired_errors`` gives it.
        level: confidence level of the two-sided test.
        power: how often the test is to find a difference of this size.

    Returns:
        A difference in accuracy, above 0. NaN when the error is, or when it is 0: two models that
        do not differ on some items otherwise than on others do not show how much chance does.

    Source: J. Cohen, Statistical Power Analysis for the Behavioral Sciences (1988), chapter 2.

    >>> round(detectable_difference(0.01), 4)
    0.028
    """
    normal = NormalDist()
    return _or_nan(error) * (normal.inv_cdf((1 + level) / 2) + normal.inv_cdf(power))


def noise_epsilon(error: float, *, level: float = 0.95) -> float:
    """The difference that chance in the choice of items stays under between two equal models.

    Tells which epsilon DS can use on a benchmark of this size, in place of a fixed 0.02 that is
    noise on a small benchmark and too coarse on a large one.

    Formula: ``z(1 - a/2) * SE``, a = 1 - level.

    Args:
        error: as in ``detectable_difference``, of ``difference_errors``.
        level: how often chance is to stay under it.

    Returns:
        A difference in accuracy, above 0; NaN when the error is, or when it is 0.

    Source: the two-sided normal test of a difference; here the benchmark's typical pair stands for
    all.

    >>> round(noise_epsilon(0.01), 4)
    0.0196
    """
    return _or_nan(error) * NormalDist().inv_cdf((1 + level) / 2)


def _or_nan(error: float) -> float:
    return error if error > 0 else math.nan
