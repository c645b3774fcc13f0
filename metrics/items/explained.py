"""Explained difficulty: how much of what makes items hard an attribute accounts for."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..bootstrap.resampling import UNDEFINED, Interval, basic_interval, bootstrap_weights

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Explained:
    """The part of the items' differences that an attribute accounts for."""

    items: int
    """Items with an outcome and a value."""
    share: float
    """Share of the variance, corrected for chance; NaN when undefined."""
    interval: Interval
    """Over items."""
    p_value: float
    """Permutation test that it explains nothing."""
    reason: str = ""
    """Why the share is undefined."""


def explained_variance(
    outcome: Floats,
    predictor: Floats,
    rng: np.random.Generator,
    *,
    errors: Floats | None = None,
    groups: NDArray[np.intp] | None = None,
    replicates: int = 1000,
    level: float = 0.95,
) -> Explained:
    """Share of the variance of an outcome of the items that a predictor explains.

    Tells whether an attribute has to do with what makes items hard, or only with what they are
    about.

    Formula: ``1 - (SSE / (n - k) - E) / (SST / (n - 1) - E)``, adjusted R squared with k the rank
    of the predictor with a constant, and E the mean squared error of the outcome where it is itself
    an estimate: noise in it cannot be explained. p is the share of random permutations of the
    outcomes that explain as much.

    Args:
        outcome: (n,) as the difficulty of each item; NaN where undefined.
        predictor: (n, q) columns: the levels of an attribute, or one of 0 and 1 for each label; NaN
            where an item has no value.
        rng: source of chance.
        errors: (n,) standard errors of the outcomes, if these are estimates that were not drawn
            towards one another; none when they are known.
        groups: (n,) items that belong together, from 0, and are drawn together; none when each
            stands for itself.
        replicates: bootstrap replicates, and permutations.
        level: confidence level.

    Returns:
        An ``Explained``, its share at most 1 (with errors, chance can carry it above): 0 when the
        predictor explains what chance would, or a hair less. NaN with fewer than three items more
        than columns, when the predictor is constant, or when the outcome does not vary beyond its
        errors.

    Source: M. Ezekiel, Methods of Correlation Analysis (1930), for the adjustment.

    >>> rng = np.random.default_rng(0)
    >>> outcome = np.array([0.0, 0.1, 0.2, 1.0, 1.1, 1.2])
    >>> level = np.array([[0.0], [0.0], [0.0], [1.0], [1.0], [1.0]])
    >>> round(explained_variance(outcome, level, rng).share, 2)
    0.97
    """
    used = ~(np.isnan(outcome) | np.isnan(predictor).any(axis=1))
    if errors is not None:
        used &= ~np.isnan(errors)
    if not used.any():
        return _undefined(0, "no item has both a value and an outcome")
    y = outcome[used]
    basis = _basis(predictor[used])
    noise = np.zeros(len(y)) if errors is None else errors[used] ** 2
    items, rank = basis.shape
    if rank < 2:
        return _undefined(items, "all items have the same value")
    if items < rank + 3:
        return _undefined(items, "there are too few items for so many values")
    columns = _Columns(basis, y - y.mean(), noise)
    share = float(columns.shares(np.ones((1, items)))[0])
    if math.isnan(share):
        return _undefined(items, "the outcomes do not differ beyond their errors")
    interval = UNDEFINED
    if replicates:
        drawn = _drawn(rng, items, None if groups is None else groups[used], replicates)
        interval = basic_interval(share, columns.shares(drawn), level=level)
    return Explained(items, share, interval, _permutation_p(basis, y, rng, replicates))


def _undefined(items: int, reason: str) -> Explained:
    return Explained(items, math.nan, UNDEFINED, math.nan, reason)


def _basis(predictor: Floats) -> Floats:
    """Orthonormal columns that span a constant and the predictor, the constant first."""
    columns = np.column_stack([np.ones(len(predictor)), predictor - predictor.mean(axis=0)])
    vectors, values, _ = np.linalg.svd(columns[:, 1:], full_matrices=False)
    kept = values > 1e-9 * max(values.max(initial=0), 1e-9) * max(columns.shape)
    constant = np.full((len(predictor), 1), 1 / math.sqrt(max(1, len(predictor))))
    basis: Floats = np.column_stack([constant, vectors[:, kept]])
    return basis


@dataclass(frozen=True, slots=True, eq=False)
class _Columns:
    """What the shares on weighted items are worked out from."""

    basis: Floats
    outcome: Floats
    noise: Floats

    def shares(self, weights: Floats) -> Floats:
        """Adjusted shares under K rows of weights of the items, (K,)."""
        rank = self.basis.shape[1]
        crossed = self.basis[:, :, None] * self.basis[:, None, :]
        gram = (weights @ crossed.reshape(len(self.basis), -1)).reshape(-1, rank, rank)
        cross = weights @ (self.basis * self.outcome[:, None])
        squares, total = weights @ self.outcome**2, weights.sum(axis=1)
        sums = weights @ self.outcome
        solved = np.einsum("kij,kj->ki", np.linalg.pinv(gram, hermitian=True), cross)
        left = (squares - np.einsum("ki,ki->k", solved, cross)) / (total - rank)
        whole = (squares - sums**2 / total) / (total - 1)
        noise = weights @ self.noise / total
        shares = np.full(len(weights), np.nan)
        np.divide(left - noise, whole - noise, out=shares, where=whole - noise > 1e-12)
        return np.asarray(1 - shares, dtype=np.float64)


def _drawn(
    rng: np.random.Generator, items: int, groups: NDArray[np.intp] | None, replicates: int
) -> Floats:
    if groups is None:
        return bootstrap_weights(rng, items, replicates).astype(np.float64)
    _, own = np.unique(groups, return_inverse=True)
    weights = bootstrap_weights(rng, int(own.max()) + 1, replicates)
    return np.take(weights, own, axis=1).astype(np.float64)


def _permutation_p(
    basis: Floats, outcome: Floats, rng: np.random.Generator, replicates: int
) -> float:
    if not replicates:
        return math.nan
    directions = basis[:, 1:]
    observed = ((outcome @ directions) ** 2).sum()
    reached = 0
    for _ in range(replicates):
        shuffled = ((rng.permutation(outcome) @ directions) ** 2).sum()
        reached += int(shuffled >= observed * (1 - 1e-12))
    return (1 + reached) / (1 + replicates)


def one_column_a_value(codes: Sequence[int] | NDArray[np.int64], values: int) -> Floats:
    """Columns of 0 and 1 for the values of an attribute; NaN where an item has none (-1).

    >>> one_column_a_value([0, 1, -1], 2)
    array([[ 1.,  0.],
           [ 0.,  1.],
           [nan, nan]])
    """
    given = np.asarray(codes)
    columns = np.asarray(given[:, None] == np.arange(values), dtype=np.float64)
    columns[given < 0] = np.nan
    return columns
