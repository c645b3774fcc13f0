"""Standard errors: how far the items at hand fix the difference of two models."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from .bootstrap.groups import summed_by_group
from .counting.division import ratio
from .scores import Scores, known

Floats = NDArray[np.float64]
MOST_MODELS = 1000
"""Differences of every two of more models are not looked at: a typical one needs fewer."""


def difference_errors(scores: Scores, groups: NDArray[np.intp] | None = None) -> Floats:
    """Standard error of the difference in accuracy of every two models on the same items.

    Tells how large a difference chance in the choice of items makes between two models. It is
    smaller than for models tested on different items, since most items are right or wrong for both.

    Formula: ``SE_ij = sqrt(G/(G-1) * sum over groups g of (r_gi - r_gj)^2)`` with ``r_gi`` the sum
    over the group's items of (score - accuracy of i) / number of scores of i. An item on its own is
    a group; with right and wrong this is the standard error behind McNemar's test.

    Args:
        scores: (n, m) scores of m models on n items, in [0, 1], NaN where there is none.
        groups: (n,) items that belong together, from 0; none when each stands for itself.

    Returns:
        (m, m), symmetric, in accuracy: 0 for two models that score alike on every item. NaN for a
        model without scores, or fewer than two groups.

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
    # The square of a difference of equal columns may come out a hair below 0.
    return np.sqrt(np.maximum(own[:, None] + own - 2 * products, 0.0))


def typical_error(errors: Floats) -> float:
    """Median standard error over the pairs of models; NaN without a pair."""
    upper = errors[np.triu_indices(len(errors), 1)]
    defined = upper[~np.isnan(upper)]
    return float(np.median(defined)) if len(defined) else math.nan


def detectable_difference(error: float, *, level: float = 0.95, power: float = 0.8) -> float:
    """Minimum detectable difference: what a test of two models on these items would usually find.

    Tells whether a benchmark, or a subset, is large enough for the differences that matter.

    Formula: ``(z(1 - a/2) + z(power)) * SE`` with a = 1 - level and SE the standard error of the
    difference of two models. It shrinks with the square root of the number of items.

    Args:
        error: the standard error, as ``typical_error`` of ``difference_errors`` gives it.
        level: confidence level of the two-sided test.
        power: how often the test is to find a difference of this size.

    Returns:
        A difference in accuracy, 0 upwards; NaN when the error is.

    Source: J. Cohen, Statistical Power Analysis for the Behavioral Sciences (1988), chapter 2.

    >>> round(detectable_difference(0.01), 4)
    0.028
    """
    normal = NormalDist()
    return error * (normal.inv_cdf((1 + level) / 2) + normal.inv_cdf(power))


def noise_epsilon(error: float, *, level: float = 0.95) -> float:
    """The difference that chance in the choice of items stays under between two equal models.

    Tells which epsilon DS can use on a benchmark of this size, in place of a fixed 0.02 that is
    noise on a small benchmark and too coarse on a large one.

    Formula: ``z(1 - a/2) * SE``, a = 1 - level.

    Args:
        error: as in ``detectable_difference``.
        level: how often chance is to stay under it.

    Returns:
        A difference in accuracy, 0 upwards; NaN when the error is.

    Source: the two-sided normal test of a difference; here the benchmark's typical pair stands for
    all.

    >>> round(noise_epsilon(0.01), 4)
    0.0196
    """
    return error * NormalDist().inv_cdf((1 + level) / 2)
