"""Crowds: pair counts of benchmarks with so many models that their pairs are too many to visit."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .dominance import Ordering, balance, ordering
from .pair_counts import PairCounts

CROWD = 400
"""Models from which this is faster than a sign for each pair."""

_AT_ONCE = 1_500_000
"""Values of models, benchmarks and replicates that are laid out together."""

Masks = NDArray[np.bool_]


def count_in_crowd(
    values: NDArray[Any], gaps: NDArray[Any], wanted: Masks | None = None
) -> PairCounts | None:
    """Count the pairs of models by their order; see ``pairs.count_pairs``.

    Returns:
        The counts, or none when which models a benchmark has is not the same in all replicates.
    """
    *leading, benchmarks, models = values.shape
    flat = values.reshape(-1, benchmarks, models)
    masks = _masks(flat)
    if masks is None:
        return None
    wanted = np.ones((benchmarks, benchmarks), dtype=bool) if wanted is None else wanted
    at_once = max(1, _AT_ONCE // (models * benchmarks))
    parts = [
        _count(flat[start : start + at_once], gaps, masks, wanted)
        for start in range(0, len(flat), at_once)
    ]
    square = (*leading, benchmarks, benchmarks)
    return PairCounts(
        np.concatenate([part.balance for part in parts]).reshape(square),
        np.concatenate([part.untied for part in parts]).reshape(square),
        np.concatenate([part.distant for part in parts]).reshape((*leading, benchmarks)),
    )


def _masks(values: NDArray[Any]) -> Masks | None:
    """The models of each benchmark (B, M); none when they differ between replicates."""
    if values.dtype.kind != "f":
        return np.ones(values.shape[1:], dtype=bool)
    first: Masks = ~np.isnan(values[0])
    same = all((~np.isnan(replicate) == first).all() for replicate in values[1:])
    return first if same else None


def _count(values: NDArray[Any], gaps: NDArray[Any], masks: Masks, wanted: Masks) -> PairCounts:
    replicates, benchmarks, _ = values.shape
    orders = _Orders(values, masks)
    square = (replicates, benchmarks, benchmarks)
    found, untied = np.zeros(square), np.full(square, np.nan)
    distant = np.empty((replicates, benchmarks), dtype=np.int64)
    for i in range(benchmarks):
        own = orders.among(i, masks[i])
        pairs = _pairs(masks[i])
        found[:, i, i] = untied[:, i, i] = pairs - own.tied
        distant[:, i] = orders.distant(i, gaps[i])
        for j in np.flatnonzero(wanted[i, :i] | wanted[:i, i]).tolist():
            both = masks[i] & masks[j]
            first, second = orders.among(i, both), orders.among(j, both)
            found[:, i, j] = found[:, j, i] = balance(first, second)
            untied[:, i, j] = _pairs(both) - first.tied
            untied[:, j, i] = _pairs(both) - second.tied
    return PairCounts(found, untied, distant)


def _pairs(mask: Masks) -> int:
    models = int(mask.sum())
    return models * (models - 1) // 2


class _Orders:
    """The orderings of the benchmarks, among all their models and among those shared with peers."""

    def __init__(self, values: NDArray[Any], masks: Masks) -> None:
        self._values = values
        self._masks = masks
        self._made: dict[tuple[int, bytes], Ordering] = {}

    def among(self, benchmark: int, models: Masks) -> Ordering:
        key = benchmark, models.tobytes()
        if key not in self._made:
            own = self._values[:, benchmark]
            own = own if models.all() else own[:, models]
            self._made[key] = ordering(_whole(np.ascontiguousarray(own)))
        return self._made[key]

    def distant(self, benchmark: int, gap: float) -> NDArray[np.int64]:
        values = self._values[:, benchmark, self._masks[benchmark]]
        if values.dtype.kind != "f" or _are_counts(values):
            return self.among(benchmark, self._masks[benchmark]).distant(int(gap))
        values = np.sort(values, axis=1)
        near = [np.searchsorted(row, row + gap, side="right") for row in values]
        far: NDArray[np.int64] = (values.shape[1] - np.array(near)).sum(axis=1)
        return far


def _are_counts(values: NDArray[Any]) -> bool:
    return bool((values == np.rint(values)).all() and values.min(initial=0) >= 0)


def _whole(values: NDArray[Any]) -> NDArray[np.integer[Any]]:
    """Whole numbers from 0 in the order of the values, equal where they are."""
    if values.dtype.kind in "iu":
        return values
    if _are_counts(values):
        return values.astype(np.int32)
    order = np.argsort(values, axis=1)
    ordered = np.take_along_axis(values, order, axis=1)
    rises = np.zeros(values.shape, dtype=np.int32)
    rises[:, 1:] = ordered[:, 1:] > ordered[:, :-1]
    whole = np.empty_like(rises)
    np.put_along_axis(whole, order, rises.cumsum(axis=1, dtype=np.int32), axis=1)
    return whole
