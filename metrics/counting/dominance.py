"""Dominance: counting pairs among very many models without looking at each pair.

With thousands of models, a sign for each pair costs hundreds of times the matrix product that made
the scores. Here the models of each benchmark are laid out in windows of neighbouring values. Two
models in different windows of both benchmarks are compared through a table of how many models are
in which two windows; two in the same window of one are compared as they are, for all windows and
replicates at once. The counts are exact.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.integer[Any]]
Places = NDArray[np.intp]
Counts = NDArray[np.int64]
Masks = tuple[NDArray[np.bool_], ...]


@dataclass(frozen=True, slots=True, eq=False)
class Ordering:
    """The order that one benchmark gives M models, in each of R replicates."""

    values: Integers
    """(R, M), not negative."""
    histogram: Counts
    """(R, V): how many models have each value."""
    tied: Counts
    """(R,): pairs of models of equal value."""
    bins: Integers
    """(R, M): the bin of each model, from 0: its window, or its value if that is spanning."""
    number: int
    """Number of bins, over all replicates."""
    layout: Places
    """(L, R, W): the models of each window from low to high, as places in a padded array."""
    uneven: Masks
    """For each distance within a window at which there are ties: where there is none."""
    spanning: bool
    """Whether there is a value whose models span windows. Such models are not laid out."""
    padded_values: Integers
    """Rows of values, each with one more, less than any, for the places that no model fills."""
    padded_bins: Integers
    """Likewise the bins, from 1."""

    def distant(self, gap: int) -> Counts:
        """(R,): pairs of models that differ by more than ``gap``."""
        below = self.histogram.cumsum(axis=1)
        last = self.histogram.shape[1] - 1
        reach = np.minimum(np.arange(last + 1) + gap, last)
        near = (self.histogram * (below[:, reach] - below)).sum(axis=1)
        far: Counts = _pairs_of(self.values.shape[1]) - self.tied - near
        return far


def _pairs_of(models: int) -> int:
    return models * (models - 1) // 2


def ordering(values: Integers) -> Ordering:
    """Lay models out in windows of neighbouring values, equal ones together.

    Args:
        values: (R, M) whole numbers, not negative, of M models in R replicates.
    """
    replicates, models = values.shape
    window = round(min(max(1.15 * math.sqrt(models), 16), 150))
    number = int(values.max(initial=0)) + 1
    places = values + np.arange(replicates)[:, None] * number
    histogram = np.bincount(places.ravel(), minlength=replicates * number)
    histogram = histogram.reshape(replicates, number)
    start = np.minimum(histogram.cumsum(axis=1) - histogram, models - 1)
    own = start // window
    alone = (histogram > window // 2) & ((start + histogram - 1) // window > own)
    codes = 2 * own + alone
    used = np.zeros(2 * math.ceil(models / window), dtype=bool)
    used[codes[histogram > 0]] = True
    rank = used.cumsum() - 1
    ranks = rank.astype(np.uint8 if rank[-1] < 255 else np.uint16)
    bins = ranks[codes].ravel().take(places)
    layout = _layout(values, np.where(alone, -1, own).ravel().take(places))
    padded = _padded(values, -1)
    return Ordering(
        values=values,
        histogram=histogram,
        tied=(histogram * (histogram - 1) // 2).sum(axis=1),
        bins=bins,
        number=int(rank[-1]) + 1,
        layout=layout,
        uneven=_uneven(padded.take(layout)),
        spanning=bool(alone.any()),
        padded_values=padded,
        padded_bins=_padded(bins + bins.dtype.type(1), 0),
    )


def _padded(values: Integers, filling: int) -> Integers:
    """Rows with one more element, one after the other."""
    replicates, models = values.shape
    padded = np.full((replicates, models + 1), filling, dtype=values.dtype)
    padded[:, :-1] = values
    return padded.ravel()


def _layout(values: Integers, windows: Places) -> Places:
    """Places (L, R, W) of the models by window; ``windows`` (R, M) is -1 for those left out."""
    replicates, models = values.shape
    rows = np.arange(replicates)[:, None]
    order = np.argsort(values, axis=1, kind="stable")
    ordered = windows.ravel().take(order + rows * models)
    inside = ordered >= 0
    first = inside.copy()
    first[:, 1:] &= ordered[:, 1:] != ordered[:, :-1]
    step = np.arange(models) * inside
    step -= np.maximum.accumulate(step * first, axis=1)
    step *= inside
    number = int(ordered.max(initial=0)) + 1
    size = (int(step.max(initial=0)) + 1 if inside.any() else 0), replicates, number
    step *= replicates
    step += rows
    step *= number
    step += ordered
    outside = math.prod(size)
    step[~inside] = outside
    layout = np.empty(outside + 1, dtype=np.intp)
    layout[:outside].reshape(size)[:] = models + rows * (models + 1)
    layout[step] = order + rows * (models + 1)
    return layout[:outside].reshape(size)


def _uneven(values: Integers) -> Masks:
    """Where two of a window differ (padding included), for the distances at which some do not."""
    masks = []
    for distance in range(1, len(values)):
        low, high = values[:-distance], values[distance:]
        differ = (high != low) | (high < 0)
        if differ.all():
            break
        masks.append(differ)
    return tuple(masks)


def balance(first: Ordering, second: Ordering) -> Counts:
    """Pairs of models that two benchmarks order alike, less those they order unlike, (R,).

    >>> one, other = np.array([[0, 1, 2, 3]]), np.array([[0, 2, 1, 1]])
    >>> balance(ordering(one), ordering(other))
    array([1])
    """
    if second.spanning < first.spanning or len(second.uneven) < len(first.uneven):
        first, second = second, first
    values = second.padded_values.take(first.layout)
    alike = _across_bins(first, second) + _rises(values, first.uneven)
    alike += _rises(first.padded_bins.take(second.layout), second.uneven)
    if first.spanning:
        both = _equal_in_both(first.values, second.values)
    else:
        both = _levels(values, first.uneven)
    ordered = _pairs_of(first.values.shape[1]) - first.tied - second.tied + both
    difference: Counts = 2 * alike - ordered
    return difference


def _across_bins(first: Ordering, second: Ordering) -> Counts:
    """Pairs of models of which one is in a lower bin of both."""
    replicates = len(first.values)
    shape = replicates, first.number, second.number
    cells = first.bins + np.arange(replicates)[:, None] * first.number
    cells *= second.number
    cells += second.bins
    table = np.bincount(cells.ravel(), minlength=math.prod(shape)).astype(np.float32)
    left = table.reshape(-1, second.number) @ _lower(second.number).T
    below = _lower(first.number) @ left.reshape(shape)
    # In double precision: there may be more pairs than single precision counts exactly.
    pairs = np.einsum("rab,rab->r", table.reshape(shape), below, dtype=np.float64)
    return np.asarray(pairs, dtype=np.int64)


@lru_cache(maxsize=64)
def _lower(number: int) -> NDArray[np.float32]:
    return np.tri(number, k=-1, dtype=np.float32)


def _rises(values: Integers, uneven: Masks) -> Counts:
    """Pairs of a window that differ in its own order and of which the later has more, (R,)."""
    counts = np.zeros(values.shape, dtype=np.uint8)
    higher = np.empty(values.shape, dtype=bool)
    as_numbers = higher.view(np.uint8)
    for distance, differ in enumerate(uneven, 1):
        later = higher[distance:]
        np.greater(values[distance:], values[:-distance], later)
        np.logical_and(later, differ, later)
        np.add(counts[distance:], as_numbers[distance:], counts[distance:])
    for distance in range(1 + len(uneven), len(values)):
        np.greater(values[distance:], values[:-distance], higher[distance:])
        np.add(counts[distance:], as_numbers[distance:], counts[distance:])
    return _summed(counts)


def _levels(values: Integers, uneven: Masks) -> Counts:
    """Pairs of a window that are equal in its own order and in these values, (R,)."""
    counts = np.zeros(values.shape, dtype=np.uint8)
    for distance, differ in enumerate(uneven, 1):
        equal = values[distance:] == values[:-distance]
        counts[distance:] += np.greater(equal, differ, out=equal).view(np.uint8)
    return _summed(counts)


def _summed(counts: NDArray[np.uint8]) -> Counts:
    total: Counts = counts.sum(axis=0, dtype=np.uint16).sum(axis=1, dtype=np.int64)
    return total


def _equal_in_both(first: Integers, second: Integers) -> Counts:
    """Pairs of models of equal value in both: they become neighbours when sorted."""
    keys = first.astype(np.int64) * (int(second.max(initial=0)) + 1) + second
    if keys.max(initial=0) < 2**31:
        keys = keys.astype(np.int32)
    keys.sort(axis=1)
    total = np.zeros(len(keys), dtype=np.int64)
    for distance in range(1, keys.shape[1]):
        equal = (keys[:, distance:] == keys[:, :-distance]).sum(axis=1, dtype=np.int64)
        if not equal.any():
            break
        total += equal
    return total
