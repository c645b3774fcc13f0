"""Pairs of models: the differences that rankings and distances are counted from."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .crowds import CROWD, count_in_crowd
from .pair_counts import PairCounts

_ELEMENTS = 1 << 18

Shifts = list[tuple[int, int]]


def pair_differences(values: NDArray[Any]) -> Iterator[NDArray[Any]]:
    """Yield the differences of all unordered pairs along the last axis, in blocks.

    Pairs are enumerated by circular shifts, so that every block is a contiguous subtraction.

    >>> np.concatenate(list(pair_differences(np.array([5, 3, 1, 0]))), axis=-1)
    array([ 2,  2,  1, -5,  4,  3])
    """
    doubled = np.concatenate([values, values], axis=-1)
    for block in _blocks(values.shape[-1], values.size):
        yield _differences(doubled, block)


def _blocks(models: int, size: int) -> Iterator[Shifts]:
    """Shifts and how many pairs each gives, as many together as keep a block small."""
    shifts = [
        (shift, models // 2 if 2 * shift == models else models)
        for shift in range(1, models // 2 + 1)
    ]
    per_block = max(1, _ELEMENTS // max(size, 1))
    for start in range(0, len(shifts), per_block):
        yield shifts[start : start + per_block]


def _differences(doubled: NDArray[Any], block: Shifts) -> NDArray[Any]:
    parts = [
        doubled[..., :length] - doubled[..., shift : shift + length] for shift, length in block
    ]
    return np.concatenate(parts, axis=-1)


def _of_pairs(square: NDArray[Any], block: Shifts) -> NDArray[Any]:
    """What a table of models by models (..., M, M) holds of the block's pairs."""
    models = square.shape[-1]
    first = np.concatenate([np.arange(length) for _, length in block])
    shifts = np.concatenate([np.full(length, shift) for shift, length in block])
    return square[..., first, (first + shifts) % models]


def count_pairs(
    values: NDArray[Any],
    gaps: NDArray[Any],
    *,
    noise: NDArray[np.float64] | None = None,
    wanted: NDArray[np.bool_] | None = None,
) -> PairCounts:
    """Count ordered, tied and distant pairs of models in every benchmark and every two benchmarks.

    Args:
        values: (..., B, M) scores of M models on B benchmarks, in a unit of each benchmark's own:
            integers, or floats with NaN where a benchmark does not have a model.
        gaps: (B,) in the same units; a pair is distant when it differs by strictly more.
        noise: (..., B, M, M) differences up to which two models count as tied; none for equality.
        wanted: (B, B), the benchmarks to compare, where not all are needed.
    """
    if values.shape[-1] >= CROWD and noise is None:
        counted = count_in_crowd(values, gaps, wanted)
        if counted is not None:
            return counted
    return _count_by_sign(values, gaps, noise)


def _count_by_sign(
    values: NDArray[Any], gaps: NDArray[Any], noise: NDArray[np.float64] | None
) -> PairCounts:
    *leading, benchmarks, models = values.shape
    square = np.zeros((*leading, benchmarks, benchmarks))
    balance, untied = square, square.copy()
    distant = np.zeros((*leading, benchmarks), dtype=np.int64)
    limits = gaps.astype(values.dtype)[:, None]
    complete = values.dtype.kind != "f" or not np.isnan(values).any()
    doubled = np.concatenate([values, values], axis=-1)
    for block in _blocks(models, values.size):
        differences = _differences(doubled, block)
        distant += (np.abs(differences) > limits).sum(axis=-1, dtype=np.int32)
        signs = np.sign(differences).astype(np.float32)
        if noise is not None:
            signs[np.abs(differences) <= _of_pairs(noise, block)] = 0
        if complete:
            # A copy, because numpy turns A @ A.T of one array into a slower rank update.
            balance += signs @ signs.copy().swapaxes(-1, -2)
        else:
            present = ~np.isnan(signs)
            signs = np.nan_to_num(signs)
            balance += signs @ signs.copy().swapaxes(-1, -2)
            untied += np.abs(signs) @ present.astype(np.float32).swapaxes(-1, -2)
    if complete:
        own = np.diagonal(balance, axis1=-2, axis2=-1)
        untied = np.broadcast_to(own[..., None], balance.shape)
    return PairCounts(balance, untied, distant)
