"""Pair counts: what rankings and distances are worked out from, however the pairs were counted."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class PairCounts:
    """Counts over the unordered pairs of models, for B benchmarks in rows.

    The arrays keep the leading axes of the values they are counted from (replicates). Two
    benchmarks that were not asked for have ``untied`` NaN.
    """

    balance: NDArray[np.float64]
    """(..., B, B): pairs that two benchmarks order alike, less those that they order unlike."""
    untied: NDArray[np.float64]
    """(..., B, B): pairs that the row's benchmark orders, of those that the column's has."""
    distant: NDArray[np.int64]
    """(..., B): pairs that differ by more than the gap."""
