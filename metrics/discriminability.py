"""Discriminability: whether a benchmark tells models apart."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .counting.division import ratio

TOLERANCE = 1e-9


def discriminability(
    accuracies: NDArray[np.float64], *, epsilon: float = 0.02, items: int | None = None
) -> float:
    """Discriminability score (DS) of a benchmark.

    Tells how far apart a benchmark sets the models: relative spread, times how many pairs of
    models differ by more than a hair.

    Formula: ``DS = (sigma / mean) * sqrt(share of pairs with |s_i - s_j| > epsilon)`` with the
    population standard deviation and mean of the accuracies. The threshold is strict. Where the
    number of items is known, right answers are compared as integers (a difference of more than
    ``floor(epsilon * items)``); otherwise a difference counts when it exceeds epsilon by more than
    1e-9, so that 82.1 against 80.1 per cent, exactly 0.02, does not.

    Args:
        accuracies: (m,) in [0, 1], NaN for a model without one.
        epsilon: the difference that does not count yet, in accuracy.
        items: number of items when every accuracy is a count of right answers over them.

    Returns:
        0 (no two models differ) upwards; it can exceed 1. NaN for fewer than two models or when
        every accuracy is 0.

    Source: Qian et al., "Benchmark^2", arXiv 2601.03986 (2026), section on DS; square root,
    population deviation and strictness settled by recomputing its Table 1.

    >>> round(discriminability(np.array([0.2, 0.4, 0.4])), 4)
    0.2309
    """
    known = accuracies[~np.isnan(accuracies)]
    values, gap = known, distance_gap(epsilon, items)
    if items is not None:
        values = np.rint(known * items)
    far = int((np.abs(values[:, None] - values) > gap).sum()) // 2
    return float(spread_and_distance(known[None], np.array([far]))[0])


def distance_gap(epsilon: float, items: int | None) -> float:
    """The largest difference that does not count: in items when they are known, else in accuracy.

    >>> distance_gap(0.02, 150), distance_gap(0.02, 149)
    (3.0, 2.0)
    """
    if items is None or math.isnan(epsilon):
        return epsilon + TOLERANCE
    return float(math.floor(epsilon * items + TOLERANCE))


def spread_and_distance(
    accuracies: NDArray[Any],
    distant: NDArray[np.int64],
    pairs: NDArray[np.float64] | None = None,
) -> NDArray[np.float64]:
    """DS from accuracies (..., m), NaN where there is none, and counts of distant pairs (...).

    ``pairs`` (...) are those that could be distant, where it is not every two of the m.
    """
    models = (~np.isnan(accuracies)).sum(axis=-1)
    total = np.nansum(accuracies, axis=-1)
    mean = ratio(total, models)
    variance = np.nansum((accuracies - mean[..., None]) ** 2, axis=-1)
    pairs = models * (models - 1) / 2 if pairs is None else pairs
    defined = (pairs > 0) & (mean > 0)
    divisor = np.where(defined, models * mean**2, 1.0)
    share = distant / np.where(defined, pairs, 1.0)
    return np.where(defined, np.sqrt(variance / divisor) * np.sqrt(share), np.nan)


def family_discriminability(
    accuracies: NDArray[np.float64],
    members: Sequence[Sequence[int]],
    *,
    epsilon: float = 0.02,
    items: int | None = None,
) -> list[float]:
    """DS within each family of models; the deviation of DS is the population sd of these.

    >>> found = family_discriminability(np.array([0.2, 0.4, 0.7]), [[0, 1], [2]])
    >>> [round(value, 4) for value in found]
    [0.3333, nan]
    """
    return [
        discriminability(accuracies[list(columns)], epsilon=epsilon, items=items)
        for columns in members
    ]
