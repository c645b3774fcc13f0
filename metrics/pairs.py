"""Pairs of models: the differences that rankings and distances are counted from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

_ELEMENTS = 1 << 18


@dataclass(frozen=True, slots=True, eq=False)
class PairCounts:
    """Counts over the unordered pairs of models, for benchmarks in rows.

    The arrays keep the leading axes of the values they are counted from (replicates).
    """

    balance: NDArray[np.float64]
    """(..., B, B): pairs that two benchmarks order alike, less those that they order unlike."""
    untied: NDArray[np.float64]
    """(..., B, B): pairs that the row's benchmark orders, of those that the column's has."""
    distant: NDArray[np.int64]
    """(..., B): pairs that differ by more than the gap."""


def pair_differences(values: NDArray[Any]) -> Iterator[NDArray[Any]]:
    """Yield the differences of all unordered pairs along the last axis, in blocks.

    Pairs are enumerated by circular shifts, so that every block is a contiguous subtraction.

    >>> np.concatenate(list(pair_differences(np.array([5, 3, 1, 0]))), axis=-1)
    array([ 2,  2,  1, -5,  4,  3])
    """
    models = values.shape[-1]
    doubled = np.concatenate([values, values], axis=-1)
    per_block = max(1, _ELEMENTS // max(values.size, 1))
    shifts = range(1, models // 2 + 1)
    for start in range(0, len(shifts), per_block):
        block = []
        for shift in shifts[start : start + per_block]:
            length = models // 2 if 2 * shift == models else models
            block.append(doubled[..., :length] - doubled[..., shift : shift + length])
        yield np.concatenate(block, axis=-1)


def count_pairs(values: NDArray[Any], gaps: NDArray[Any]) -> PairCounts:
    """Count ordered, tied and distant pairs of models in every benchmark and every two benchmarks.

    Args:
        values: (..., B, M) scores of M models on B benchmarks, in a unit of each benchmark's own:
            integers, or floats with NaN where a benchmark does not have a model.
        gaps: (B,) in the same units; a pair is distant when it differs by strictly more.
    """
    *leading, benchmarks, _ = values.shape
    square = np.zeros((*leading, benchmarks, benchmarks))
    balance, untied = square, square.copy()
    distant = np.zeros((*leading, benchmarks), dtype=np.int64)
    limits = gaps.astype(values.dtype)[:, None]
    complete = values.dtype.kind != "f" or not np.isnan(values).any()
    for differences in pair_differences(values):
        distant += (np.abs(differences) > limits).sum(axis=-1, dtype=np.int32)
        signs = np.sign(differences).astype(np.float32)
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
