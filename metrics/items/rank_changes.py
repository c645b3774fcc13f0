"""Rank changes: whether models stand elsewhere on items with one value of an attribute."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..bootstrap.draws import Draw
from ..bootstrap.over_items import ItemColumns
from ..bootstrap.resampling import bootstrap_weights, stream
from ..counting.division import ratio
from .strata import mean_intervals

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

_AT_ONCE = 32
"""Deals whose items are weighed together."""


@dataclass(frozen=True, slots=True, eq=False)
class Standing:
    """Where m models stand on the items with one value."""

    items: int
    accuracy: Floats
    """(m,); NaN for a model without a score."""
    accuracy_low: Floats
    accuracy_high: Floats
    rank: Floats
    """(m,) from 1, the best; equal models share the mean of their ranks."""
    rank_low: Floats
    """(m,): the middle of the ranks on resampled items goes from here to ``rank_high``."""
    rank_high: Floats
    expected_rank: Floats
    """(m,): mean rank on random items, as many of each benchmark."""
    p_values: Floats
    """(m,) that the rank is one of those on random items, adjusted for the number of models and
    values."""


def ranks(accuracies: Floats) -> Floats:
    """Rank of every model along the last axis, from 1 for the best.

    >>> ranks(np.array([0.5, 0.9, 0.5, np.nan]))
    array([2.5, 1. , 2.5, nan])
    """
    flat = accuracies.reshape(-1, accuracies.shape[-1])
    found = np.full(flat.shape, np.nan)
    for row, own in zip(flat, found, strict=True):
        known = ~np.isnan(row)
        falling = np.sort(-row[known])
        better = np.searchsorted(falling, -row[known], side="left")
        not_worse = np.searchsorted(falling, -row[known], side="right")
        own[known] = (better + not_worse + 1) / 2
    return found.reshape(accuracies.shape)


def rank_changes(
    items: ItemColumns,
    scores: Floats,
    codes: Codes,
    values: int,
    *,
    benchmarks: Codes,
    replicates: int = 1000,
    seed: int = 0,
    level: float = 0.95,
) -> list[Standing]:
    """Accuracy and rank of every model on the items with each value of an attribute.

    Tells whether one leaderboard stands for all kinds of items, and where it does not.

    Formula: a rank's interval is the middle of its values on bootstrap draws of the items with the
    value. The reference is the rank on items drawn at random: within each benchmark the values are
    dealt out anew, to groups of items as wholes, so that an attribute that is frequent in one
    benchmark is not credited with that benchmark. A rank's distance from its mean over the random
    deals, in their standard deviations, is compared with the largest such distance of any model
    and value in each deal; p is the share of deals whose largest is at least as large, the
    observed one counted as one of them.

    Args:
        items: the columns of n items and m models.
        scores: (n, m) the same scores, NaN where there is none.
        codes: (n,) the value of each item, from 0; -1 without one.
        values: number of values.
        benchmarks: (n,) the benchmark of each item, from 0.
        replicates: bootstrap draws, and deals.
        seed: of the random numbers.
        level: confidence level of the intervals.

    Returns:
        One ``Standing`` a value.

    Source: ours; the adjustment by the largest statistic is that of P. H. Westfall and S. S. Young,
    Resampling-Based Multiple Testing (1993).
    """
    observed = _ranks(items, _member(codes[None], values))[0]
    deals = _Deals(codes, items.groups, benchmarks)
    dealt = [
        _ranks(items, _member(deals.draw(stream(seed, "\0deal", number), size), values))
        for number, size in _blocks(replicates)
    ]
    by_chance = np.concatenate([np.empty((0, *observed.shape)), *dealt])
    p_values = _adjusted(observed, by_chance)
    return [
        _standing(
            items, scores, codes == value, observed[value], by_chance[:, value], p_values[value],
            replicates=replicates, rng=stream(seed, "\0ranks", value), level=level,
        )
        for value in range(values)
    ]  # fmt: skip


def _blocks(replicates: int) -> Iterator[tuple[int, int]]:
    for number, start in enumerate(range(0, replicates, _AT_ONCE)):
        yield number, min(_AT_ONCE, replicates - start)


def _standing(
    items: ItemColumns,
    scores: Floats,
    own: NDArray[np.bool_],
    rank: Floats,
    by_chance: Floats,
    p_values: Floats,
    *,
    replicates: int,
    rng: np.random.Generator,
    level: float,
) -> Standing:
    means = mean_intervals(scores[own], level=level)
    ends = [(1 - level) / 2, (1 + level) / 2]
    low, high = _quantiles(_redrawn_ranks(items, own, rng, replicates), ends)
    return Standing(
        items=int(own.sum()),
        accuracy=means.means,
        accuracy_low=means.low,
        accuracy_high=means.high,
        rank=rank,
        rank_low=low,
        rank_high=high,
        expected_rank=mean_over_replicates(by_chance),
        p_values=p_values,
    )


def _member(codes: Codes, values: int) -> NDArray[np.float32]:
    """Rows of weights (K, V, n): 1 for the items with the value."""
    member = codes[:, None, :] == np.arange(values)[:, None]
    return np.asarray(member, dtype=np.float32)


def _ranks(items: ItemColumns, weights: NDArray[np.float32]) -> Floats:
    """Ranks on weighted items, (K, V, n) to (K, V, m)."""
    flat = weights.reshape(-1, weights.shape[-1])
    accuracies, _ = items.sums(Draw(flat, None))
    return ranks(accuracies.round(12)).reshape(*weights.shape[:-1], -1)


def _redrawn_ranks(
    items: ItemColumns, own: NDArray[np.bool_], rng: np.random.Generator, replicates: int
) -> Floats:
    """Ranks on bootstrap draws of some items (or their groups), (K, m)."""
    places = np.flatnonzero(own)
    units = np.arange(len(places))
    if items.groups is not None:
        units = np.unique(items.groups[places], return_inverse=True)[1]
    parts = [np.empty((0, len(items.places)))]
    for _, size in _blocks(replicates if len(places) else 0):
        weights = np.zeros((size, 1, items.items), dtype=np.float32)
        drawn = bootstrap_weights(rng, int(units.max()) + 1, size)
        weights[:, 0, places] = drawn[:, units]
        parts.append(_ranks(items, weights)[:, 0])
    return np.concatenate(parts)


class _Deals:
    """Values dealt out anew among the units of each benchmark: items, or groups with one value."""

    def __init__(self, codes: Codes, groups: NDArray[np.intp] | None, benchmarks: Codes) -> None:
        self._codes = codes
        known = np.flatnonzero(codes >= 0)
        group = known if groups is None else groups[known]
        cells = np.stack([benchmarks[known], group, codes[known]])
        units, self._unit = np.unique(cells, axis=1, return_inverse=True)
        self._known = known
        self._unit_codes = units[2]
        self._parts = [np.flatnonzero(units[0] == benchmark) for benchmark in np.unique(units[0])]

    def draw(self, rng: np.random.Generator, deals: int) -> Codes:
        """Values of the items in so many deals, (K, n)."""
        shuffled = np.empty((deals, len(self._unit_codes)), dtype=np.int64)
        for part in self._parts:
            shuffled[:, part] = rng.permuted(np.tile(self._unit_codes[part], (deals, 1)), axis=1)
        codes = np.tile(self._codes, (deals, 1))
        codes[:, self._known] = shuffled[:, self._unit]
        return codes


def _adjusted(observed: Floats, by_chance: Floats) -> Floats:
    """p values (V, m) of ranks, adjusted by the largest distance in each deal (K, V, m)."""
    if not len(by_chance):
        return np.full(observed.shape, np.nan)
    mean = mean_over_replicates(by_chance)
    spread = np.sqrt(mean_over_replicates((by_chance - mean) ** 2))
    distance = ratio(np.abs(observed - mean), spread)
    distances = ratio(np.abs(by_chance - mean), np.broadcast_to(spread, by_chance.shape))
    largest = np.nan_to_num(distances).reshape(len(by_chance), -1).max(axis=1, initial=0.0)
    reached = (largest[:, None, None] >= distance - 1e-9).sum(axis=0)
    p_values = (1 + reached) / (1 + len(by_chance))
    fixed = np.where(np.isnan(observed), np.nan, 1.0)
    return np.where(np.isnan(distance), fixed, p_values)


def _quantiles(values: Floats, shares: Sequence[float]) -> Floats:
    """Quantiles over replicates that have a value, (K, m) to (Q, m)."""
    found = np.full((len(shares), values.shape[1]), np.nan)
    for column, own in enumerate(values.T):
        known = own[~np.isnan(own)]
        if len(known):
            found[:, column] = np.quantile(known, shares, method="inverted_cdf")
    return found


def mean_over_replicates(values: Floats) -> Floats:
    """Mean along the first axis of what is there; NaN for nothing."""
    known = ~np.isnan(values)
    return ratio(np.where(known, values, 0.0).sum(axis=0), known.sum(axis=0))
