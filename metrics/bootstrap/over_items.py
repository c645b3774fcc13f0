"""Bootstrap over items: what the numbers would be with other items of the same kind.

Everything a replicate needs from the items is a weighted sum of columns: the models' scores and
the inversions of each item. So one matrix product serves many replicates, and only what is not
linear (rankings, pair distances, the exponential) is worked out afterwards.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..alignment import DECAY, ItemInversions
from ..consistency import Ties
from ..counting.division import ratio
from ..counting.threads import one_blas_thread
from ..discriminability import distance_gap
from ..scores import Scores, is_binary, is_complete, known
from ..standings import Standings, Statistics, measure, stacked
from .draws import Draw, draw_bootstrap
from .resampling import blocks, stream

_EXACT_IN_SINGLE = 1 << 24
_DECIMALS = 12
_LARGE = 1 << 22
_TILE = 512

Found = TypeVar("Found")


@dataclass(frozen=True, slots=True, eq=False)
class ItemColumns:
    """The columns of one benchmark whose weighted sums a replicate needs."""

    key: str
    """Name of the benchmark's stream of random numbers."""
    places: NDArray[np.intp]
    """Position of each of the benchmark's m models among all models."""
    tiles: tuple[NDArray[Any], ...]
    """(n, ...) side by side: scores of each model; unless ``complete``, whether it has one;
    inversions and comparisons of the item."""
    complete: bool
    """Whether every model has a score for every item."""
    graded: bool
    """Whether there are scores besides right and wrong. Their sums carry rounding errors, so
    accuracies are rounded: equal ones have to be ties."""
    groups: NDArray[np.intp] | None = None
    """(n,), from 0: the items that are drawn together, as those about one passage."""

    @property
    def items(self) -> int:
        """Number of items."""
        return len(self.tiles[0])

    @property
    def counted(self) -> bool:
        """Whether every item is right or wrong for every model, so that sums are right answers."""
        return self.complete and not self.graded

    def sums(self, draw: Draw) -> tuple[NDArray[Any], NDArray[np.float64]]:
        """Values of the models (K, m) and inversion rates (K,) under K rows of weights.

        The values are right answers where they are counted and all rows draw as many items, and
        accuracies otherwise.
        """
        sums = _product(draw.weights, self.tiles)
        models = len(self.places)
        values = sums[:, :models]
        if not self.complete:
            values = ratio(values, sums[:, models:-2])
        elif not self.counted or draw.size is None:
            values = ratio(values, np.broadcast_to(draw.sizes[:, None], values.shape))
        if self.graded:
            values = values.round(_DECIMALS)
        return values, ratio(sums[:, -2], sums[:, -1])


def _product(weights: NDArray[np.float32], tiles: Iterable[NDArray[Any]]) -> NDArray[Any]:
    """Weighted sums of the columns; tiles of small integers are widened one after the other."""
    parts = [
        weights @ (tile if tile.dtype.kind == "f" else tile.astype(np.float32)) for tile in tiles
    ]
    return parts[0] if len(parts) == 1 else np.concatenate(parts, axis=1)


def item_columns(
    key: str,
    scores: Scores,
    places: NDArray[np.intp],
    inversions: ItemInversions,
    groups: NDArray[np.intp] | None = None,
) -> ItemColumns:
    """Lay out a benchmark's columns, in single precision where its sums are exact in it.

    Right and wrong of many models are kept as bytes.
    """
    complete, binary = is_complete(scores), is_binary(scores)
    counts = np.stack([inversions.inverted, inversions.compared], axis=1)
    exact = binary and float(max(counts.max(initial=0), 1)) * len(scores) < _EXACT_IN_SINGLE
    precision = np.float32 if exact else np.float64
    if binary and scores.size >= _LARGE and len(scores) < _EXACT_IN_SINGLE:
        tiles = _byte_tiles(scores, complete)
        tiles += [counts.astype(precision)]
    else:
        parts = [scores] if complete else [np.nan_to_num(scores), known(scores)]
        tiles = [np.concatenate([*parts, counts], axis=1, dtype=precision)]
    return ItemColumns(
        key=key,
        places=places,
        tiles=tuple(tiles),
        complete=complete,
        graded=not binary,
        groups=groups,
    )


def _byte_tiles(scores: Scores, complete: bool) -> list[NDArray[Any]]:
    right = scores if scores.dtype.kind in "iub" else (scores == 1).view(np.int8)
    parts = [right] if complete else [right, known(scores).view(np.int8)]
    return [
        part[:, start : start + _TILE] for part in parts for start in range(0, part.shape[1], _TILE)
    ]


@dataclass(frozen=True, slots=True, eq=False)
class ItemSample:
    """The items of several benchmarks, ready to be weighted."""

    benchmarks: tuple[ItemColumns, ...]
    models: int
    """Number of all models, to which ``places`` refer."""
    epsilon: float | tuple[float, ...] = 0.02
    """As in ``discriminability.discriminability``; one for all benchmarks or one for each."""
    noise: NDArray[np.float64] | None = None
    """(B, M, M), as in ``standings.Standings``, in accuracy on all items; it grows where fewer are
    drawn."""

    @property
    def epsilons(self) -> Sequence[float]:
        """Epsilon of each benchmark."""
        if isinstance(self.epsilon, tuple):
            return self.epsilon
        return [self.epsilon] * len(self.benchmarks)

    def weighted(self, draws: Iterable[Draw]) -> Standings:
        """Standings under K rows of weights of the items of each benchmark."""
        values, rates, items, fewer = [], [], [], []
        for benchmark, draw in zip(self.benchmarks, draws, strict=True):
            fewer.append(math.sqrt(benchmark.items / max(1.0, float(draw.sizes.mean()))))
            own, rate = benchmark.sums(draw)
            values.append(own)
            rates.append(rate)
            items.append(draw.size if benchmark.counted else None)
        units = np.array([1.0 if n is None else n for n in items])
        gaps = [distance_gap(epsilon, n) for epsilon, n in zip(self.epsilons, items, strict=True)]
        return Standings(
            values=self._among_all(values, items),
            units=units,
            gaps=np.array(gaps),
            inversion_rates=np.stack(rates, axis=1),
            noise=None
            if self.noise is None
            else self.noise * (units * np.array(fewer))[:, None, None],
        )

    def _among_all(
        self, values: Sequence[NDArray[Any]], items: Sequence[int | None]
    ) -> NDArray[Any]:
        """Spread values over all models, (K, B, M); whole numbers stay small integers."""
        shape = len(values[0]), len(values), self.models
        if all(
            n and len(b.places) == self.models for b, n in zip(self.benchmarks, items, strict=True)
        ):
            largest = max(n for n in items if n)
            spread = np.empty(shape, dtype=np.int16 if largest < 2**15 else np.int32)
        else:
            spread = np.full(shape, np.nan)
        for row, (benchmark, own) in enumerate(zip(self.benchmarks, values, strict=True)):
            spread[:, row, benchmark.places] = own
        return spread


Drawing = Callable[[ItemColumns, np.random.Generator, int], Draw]
"""How K rows of weights of a benchmark's items are drawn."""


def resampled(
    sample: ItemSample,
    work: Callable[[Sequence[Draw], int], Found],
    *,
    replicates: int,
    seed: int,
    drawing: Drawing = draw_bootstrap,
    purpose: str = "",
    threads: int = 1,
) -> list[Found]:
    """Draw the items of every benchmark anew, block by block, and work on each block.

    Args:
        sample: the items of B benchmarks.
        work: what to do with the draws of a block, one a benchmark, and the block's number.
        replicates: K.
        seed: of the random numbers, which depend on nothing but it, the benchmark, the purpose and
            the replicate.
        drawing: how items are drawn; a bootstrap draws as many as there are, with replacement.
        purpose: sets the random numbers of different uses apart.
        threads: blocks worked on at once.
    """

    def one(block: tuple[int, int]) -> Found:
        number, size = block
        draws = [
            drawing(benchmark, stream(seed, benchmark.key + purpose, number), size)
            for benchmark in sample.benchmarks
        ]
        return work(draws, number)

    with one_blas_thread(), ThreadPoolExecutor(threads) as pool:
        return list(pool.map(one, blocks(replicates)))


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

    The items of each benchmark (or its groups of items) are drawn with replacement, independently
    of the other benchmarks; the models stay. Results depend on ``seed`` and the benchmarks' keys,
    not on ``threads``.

    Args:
        sample: the items of B benchmarks.
        peers: (B, B), as in ``standings.measure``.
        replicates: K.
        seed: of the random numbers.
        ties: as in ``consistency.kendall_tau``.
        decay: as in ``alignment.capability_alignment``.
        threads: blocks of replicates worked on at once.
    """
    found = resampled(
        sample,
        lambda draws, _: measure(sample.weighted(draws), peers, ties=ties, decay=decay),
        replicates=replicates,
        seed=seed,
        threads=threads,
    )
    return stacked(found)
