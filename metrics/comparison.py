"""Comparison: whether one model is better than another on the same items."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtr

from .bootstrap.groups import summed_by_group
from .bootstrap.resampling import UNDEFINED, Interval, bootstrap_weights, sampling_interval
from .scores import is_binary
from .standard_errors import detectable_difference, difference_errors

Floats = NDArray[np.float64]
_AT_ONCE = 1 << 22


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two models on the items that both have a score for."""

    items: int
    first: float
    """Accuracy of the first model on these items; NaN without any."""
    second: float
    difference: float
    """First less second."""
    interval: Interval
    """Of the difference, over items; NaN when undefined."""
    differing: bool
    """Whether the difference is larger on some items (groups) than on others."""
    first_only: int
    """Items on which the first model scores more."""
    second_only: int
    test: Literal["exact McNemar", "sign flips", "none"]
    p_value: float
    """Two-sided, that the models do not differ; NaN without items."""
    detectable: float
    """Minimum detectable difference on these items, at 80 % power; NaN when undefined."""


def exact_mcnemar(first_only: int, second_only: int) -> float:
    """Exact McNemar test of two models that are right or wrong on the same items.

    Tells whether one model is right more often where exactly one of the two is.

    Formula: two-sided binomial test of ``first_only`` in ``first_only + second_only`` with
    probability 1/2: ``min(1, 2 P(X <= min(first_only, second_only)))``.

    Args:
        first_only: items that the first model alone has right.
        second_only: items that the second model alone has right.

    Returns:
        A p value in (0, 1]: small when the models differ, 1 when neither is ahead (also when they
        agree on every item).

    Source: Q. McNemar, "Note on the sampling error of the difference between correlated
    proportions or percentages", Psychometrika 12 (1947).

    >>> exact_mcnemar(1, 6)
    0.125
    """
    fewer, total = min(first_only, second_only), first_only + second_only
    return min(1.0, 2 * float(bdtr(fewer, total, 0.5))) if total else 1.0


def compare_models(
    first: Floats,
    second: Floats,
    rng: np.random.Generator,
    *,
    groups: NDArray[np.intp] | None = None,
    replicates: int = 1000,
    level: float = 0.95,
) -> Comparison:
    """Compare two models on the same items.

    Tells how far two models differ, and whether another sample of items would say so too.

    Formula: the mean over the items of first - second, with the basic bootstrap interval over
    items. The test is ``exact_mcnemar`` for right and wrong on items that stand for themselves;
    otherwise the sign of each item's (group's) difference is flipped at random, and
    ``p = (1 + number of |flipped sum| >= |sum|) / (1 + flips)``.

    Args:
        first: (n,) scores of one model, in [0, 1], NaN where there is none.
        second: (n,) scores of the other on the same items.
        rng: source of chance.
        groups: (n,) items that belong together, from 0; none when each stands for itself.
        replicates: bootstrap replicates; there are at least 9,999 flips.
        level: confidence level of the interval.

    Returns:
        A ``Comparison``; its difference is in [-1, 1]. All numbers are NaN when no item has scores
        of both. Interval and detectable difference are NaN as well when the models differ by the
        same on every item, as by nothing, or have a single item (group) in common.

    Source: exact test as there; sign flips: R. A. Fisher, The Design of Experiments (1935), 21.

    >>> one, other = np.array([1.0, 1.0, 1.0, 0.0]), np.array([1.0, 0.0, 0.0, 0.0])
    >>> found = compare_models(one, other, np.random.default_rng(0))
    >>> found.difference, found.first_only, found.p_value
    (0.5, 2, 0.5)
    """
    both = ~np.isnan(first + second)
    pair = np.stack([first[both], second[both]], axis=1)
    groups = None if groups is None else np.unique(groups[both], return_inverse=True)[1]
    items = len(pair)
    differences = pair[:, 0] - pair[:, 1]
    ahead, behind = int((differences > 0).sum()), int((differences < 0).sum())
    if not items:
        nan = math.nan
        return Comparison(0, nan, nan, nan, UNDEFINED, False, 0, 0, "none", nan, nan)
    means = pair.mean(axis=0)
    error = float(difference_errors(pair, groups)[0, 1])
    sums = summed_by_group(differences, groups)
    sizes = summed_by_group(np.ones(items), groups)
    exact = is_binary(pair) and groups is None
    return Comparison(
        items=items,
        first=float(means[0]),
        second=float(means[1]),
        difference=float(means[0] - means[1]),
        interval=_interval(sums, sizes, rng, replicates, level),
        differing=error > 0,
        first_only=ahead,
        second_only=behind,
        test="exact McNemar" if exact else "sign flips",
        p_value=exact_mcnemar(ahead, behind) if exact else _sign_flips(sums, rng),
        detectable=detectable_difference(error, level=level),
    )


def _interval(
    sums: Floats, sizes: Floats, rng: np.random.Generator, replicates: int, level: float
) -> Interval:
    """Basic bootstrap interval over groups of the mean difference of their items."""
    if len(sums) < 2 or not replicates:
        return UNDEFINED
    columns = np.stack([sums, sizes], axis=1)
    rows = max(1, _AT_ONCE // len(sums))
    drawn = np.concatenate(
        [
            bootstrap_weights(rng, len(sums), min(rows, replicates - start)) @ columns
            for start in range(0, replicates, rows)
        ]
    )
    estimate = float(sums.sum() / sizes.sum())
    return sampling_interval(estimate, drawn[:, 0] / drawn[:, 1], level=level)


def _sign_flips(sums: Floats, rng: np.random.Generator, flips: int = 9999) -> float:
    """Two-sided permutation test that the sums are as often above 0 as below."""
    moving = sums[sums != 0]
    observed = abs(moving.sum()) - 1e-9
    rows = max(1, _AT_ONCE // max(1, len(moving)))
    reached = 0
    for start in range(0, flips, rows):
        signs = rng.integers(0, 2, (min(rows, flips - start), len(moving)), dtype=np.int8)
        flipped = (2.0 * signs - 1) @ moving
        reached += int((np.abs(flipped) >= observed).sum())
    return (1 + reached) / (1 + flips)
