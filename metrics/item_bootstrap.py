"""Bootstrap over items: what the numbers would be with other items of the same kind.

Everything a replicate needs from the items is a weighted sum of columns: the models' scores and
the inversions of each item. So one matrix product serves many replicates, and only what is not
linear (rankings, pair distances, the exponential) is worked out afterwards.
"""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .alignment import DECAY, ItemInversions, is_binary
from .consistency import Ties
from .discriminability import distance_gap
from .division import ratio
from .resampling import blocks, bootstrap_weights, stream
from .standings import Standings, Statistics, measure, stacked
from .threads import one_blas_thread

_EXACT_IN_SINGLE = 1 << 24
_DECIMALS = 12


@dataclass(frozen=True, slots=True, eq=False)
class ItemColumns:
    """The columns of one benchmark whose weighted sums a replicate needs."""

    key: str
    """Name of the benchmark's stream of random numbers."""
    places: NDArray[np.intp]
    """Position of each of the benchmark's m models among all models."""
    columns: NDArray[np.floating[Any]]
    """(n, ...): scores of each model; unless ``counted``, whether it has one; inversions and
    comparisons of the item."""
    counted: bool
    """Whether every item is right or wrong for every model, so that sums are right answers."""
    graded: bool
    """Whether there are scores besides right and wrong. Their sums carry rounding errors, so
    accuracies are rounded: equal ones have to be ties."""

    @property
    def items(self) -> int:
        """Number of items."""
        return len(self.columns)

    def sums(self, weights: NDArray[np.float32]) -> tuple[NDArray[Any], NDArray[np.float64]]:
        """Values of the models (K, m) and inversion rates (K,) under K rows of weights."""
        sums = weights @ self.columns
        models = len(self.places)
        values = sums[:, :models]
        if not self.counted:
            values = ratio(values, sums[:, models:-2])
        if self.graded:
            values = values.round(_DECIMALS)
        return values, ratio(sums[:, -2], sums[:, -1])


def item_columns(
    key: str,
    scores: NDArray[np.floating[Any]],
    places: NDArray[np.intp],
    inversions: ItemInversions,
) -> ItemColumns:
    """Lay out a benchmark's columns, in single precision where its sums are exact in it."""
    missing = np.isnan(scores)
    binary = is_binary(scores)
    counted = binary and not missing.any()
    parts: list[NDArray[Any]] = [scores] if counted else [np.where(missing, 0, scores), ~missing]
    parts += [inversions.inverted[:, None], inversions.compared[:, None]]
    largest = max(float(part.max(initial=0)) for part in parts)
    exact = binary and largest * len(scores) < _EXACT_IN_SINGLE
    columns = np.concatenate(parts, axis=1, dtype=np.float64)
    return ItemColumns(
        key=key,
        places=places,
        columns=columns.astype(np.float32) if exact else columns,
        counted=counted,
        graded=not binary,
    )


@dataclass(frozen=True, slots=True, eq=False)
class ItemSample:
    """The items of several benchmarks, ready to be weighted."""

    benchmarks: tuple[ItemColumns, ...]
    models: int
    """Number of all models, to which ``places`` refer."""
    epsilon: float = 0.02
    """As in ``discriminability.discriminability``."""

    def weighted(self, weights: Iterable[NDArray[np.float32]]) -> Standings:
        """Standings under K rows of weights of the items of each benchmark."""
        items = [b.items if b.counted else None for b in self.benchmarks]
        values, rates = [], []
        for benchmark, rows in zip(self.benchmarks, weights, strict=True):
            own, rate = benchmark.sums(rows)
            values.append(self._among_all(own, benchmark))
            rates.append(rate)
        return Standings(
            values=np.stack(values, axis=1),
            units=np.array([1.0 if n is None else n for n in items]),
            gaps=np.array([distance_gap(self.epsilon, n) for n in items]),
            inversion_rates=np.stack(rates, axis=1),
        )

    def _among_all(self, values: NDArray[Any], benchmark: ItemColumns) -> NDArray[Any]:
        """Spread a benchmark's values over all models; whole numbers stay small integers."""
        if all(b.counted and len(b.places) == self.models for b in self.benchmarks):
            small = max(b.items for b in self.benchmarks) < 2**15
            spread = np.empty(values.shape, dtype=np.int16 if small else np.int32)
        else:
            spread = np.full((len(values), self.models), np.nan)
        spread[:, benchmark.places] = values
        return spread


def bootstrap_items(
    sample: ItemSample,
    peers: NDArray[np.bool_],
    *,
    replicates: int,
    seed: int,
    ties: Ties = "tau-b",
    decay: float = DECAY,
    threads: int = 1,
) -> Statistics:
    """The numbers of all benchmarks on resampled items, (K, B) each.

    The items of each benchmark are drawn with replacement, independently of the other benchmarks;
    the models stay. Results depend on ``seed`` and the benchmarks' keys, not on ``threads``.

    Args:
        sample: the items of B benchmarks.
        peers: (B, B), as in ``standings.measure``.
        replicates: K.
        seed: of the random numbers.
        ties: as in ``consistency.kendall_tau``.
        decay: as in ``alignment.capability_alignment``.
        threads: blocks of replicates worked on at once.
    """

    def work(block: tuple[int, int]) -> Statistics:
        number, size = block
        weights = (
            bootstrap_weights(stream(seed, benchmark.key, number), benchmark.items, size)
            for benchmark in sample.benchmarks
        )
        return measure(sample.weighted(weights), peers, ties=ties, decay=decay)

    with one_blas_thread(), ThreadPoolExecutor(threads) as pool:
        return stacked(list(pool.map(work, blocks(replicates))))
