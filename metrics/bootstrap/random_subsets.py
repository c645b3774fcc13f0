"""Random subsets: what choosing as many items by chance would have given.

Any subset keeps part of its benchmark's ranking, because it shares items with it, and any small
one shifts the numbers. What a choice of items has achieved is what random subsets of its size do
not.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..alignment import DECAY
from ..consistency import Ties, tau_between
from ..counting.threads import one_blas_thread
from ..reliability import mean_tau_between
from ..standings import Standings, Statistics, measure, stacked
from .draws import Draw, chosen, every_item
from .over_items import ItemColumns, ItemSample
from .resampling import blocks, bootstrap_weights, stream

Floats = NDArray[np.float64]
_PURPOSE = "\0subsets"
_REDRAWN, _OWN = "\0redrawn", "\0own"


@dataclass(frozen=True, slots=True)
class Placing:
    """Where a subset's number stands among those of random subsets of its size."""

    value: float
    chance: float
    """Mean over the random subsets."""
    low: float
    """The middle 95 of 100 random subsets lie from here to ``high``."""
    high: float
    p_value: float
    """Share of random subsets that have at least as much, the subset itself counted as one."""


def placing(value: float, random: Floats) -> Placing:
    """Place a number among those of random subsets.

    >>> placing(0.9, np.array([0.1, 0.2, 0.3])).p_value
    0.25
    """
    known = random[~np.isnan(random)]
    if math.isnan(value) or not len(known):
        return Placing(value, math.nan, math.nan, math.nan, math.nan)
    low, high = np.quantile(known, [0.025, 0.975])
    reached = int((known >= value - 1e-12).sum())
    p_value = (1 + reached) / (1 + len(known))
    return Placing(value, float(known.mean()), float(low), float(high), p_value)


@dataclass(frozen=True, slots=True, eq=False)
class SubsetNumbers:
    """The numbers of K subsets of each of B benchmarks, (K, B) each."""

    statistics: Statistics
    ranking_consistency: Floats
    """Kendall's tau with the ranking on all items."""
    stability: Floats
    """Mean tau between rankings on bootstrap draws of the subset's items."""


@dataclass(frozen=True, slots=True, eq=False)
class Choice:
    """Benchmarks, and how many of their items are chosen."""

    sample: ItemSample
    """All items of the B benchmarks; with ``pooled``, one more that has the items of all, in the
    same order, for the models that all benchmarks have."""
    sizes: tuple[int, ...]
    """Items chosen of each benchmark, without that of all."""
    pooled: bool = False

    @property
    def parts(self) -> tuple[ItemColumns, ...]:
        """The benchmarks without that of all."""
        return self.sample.benchmarks[: len(self.sizes)]

    def draws(self, weights: Sequence[NDArray[np.float32]]) -> list[Draw]:
        """Chosen items of each benchmark as draws, with those of all together."""
        draws = [Draw(rows, size) for rows, size in zip(weights, self.sizes, strict=True)]
        if self.pooled:
            draws.append(Draw(np.concatenate(weights, axis=1), sum(self.sizes)))
        return draws


def random_subsets(
    choice: Choice,
    peers: NDArray[np.bool_],
    *,
    subsets: int,
    seed: int,
    redraws: int = 20,
    ties: Ties = "tau-b",
    decay: float = DECAY,
    threads: int = 1,
) -> SubsetNumbers:
    """The numbers of random subsets with as many items of each benchmark.

    Args:
        choice: the benchmarks, and how many items of each.
        peers: as in ``standings.measure``, for the benchmarks of ``choice.sample``.
        subsets: K, number of random subsets.
        seed: of the random numbers.
        redraws: bootstrap draws of each subset, for its stability.
        ties: as in ``consistency.kendall_tau``.
        decay: as in ``alignment.capability_alignment``.
        threads: blocks of subsets worked on at once.
    """

    def work(block: tuple[int, int]) -> SubsetNumbers:
        number, size = block
        weights = [
            chosen(stream(seed, own.key + _PURPOSE, number), own.items, items, size)
            for own, items in zip(choice.parts, choice.sizes, strict=True)
        ]
        return _numbers(
            choice, weights, peers, stream(seed, _REDRAWN, number), redraws, ties, decay
        )

    with one_blas_thread(), ThreadPoolExecutor(threads) as pool:
        parts = list(pool.map(work, blocks(subsets)))
    return SubsetNumbers(
        stacked([part.statistics for part in parts]),
        np.concatenate([part.ranking_consistency for part in parts]),
        np.concatenate([part.stability for part in parts]),
    )


def subset_numbers(
    choice: Choice,
    weights: Sequence[NDArray[np.float32]],
    peers: NDArray[np.bool_],
    *,
    seed: int,
    redraws: int = 20,
    ties: Ties = "tau-b",
    decay: float = DECAY,
) -> SubsetNumbers:
    """The numbers of given subsets; see ``random_subsets``.

    Args:
        choice: as there.
        weights: (K, n) for each benchmark, 1 where an item is chosen.
        peers: as there.
        seed: as there.
        redraws: as there.
        ties: as there.
        decay: as there.
    """
    with one_blas_thread():
        return _numbers(choice, weights, peers, stream(seed, _OWN, 0), redraws, ties, decay)


def _numbers(
    choice: Choice,
    weights: Sequence[NDArray[np.float32]],
    peers: NDArray[np.bool_],
    rng: np.random.Generator,
    redraws: int,
    ties: Ties,
    decay: float,
) -> SubsetNumbers:
    standings = choice.sample.weighted(choice.draws(weights))
    full = choice.sample.weighted(every_item(own) for own in choice.sample.benchmarks)
    statistics = measure(standings, peers, ties=ties, decay=decay)
    consistency = tau_between(_accuracies(standings), _accuracies(full), ties=ties)
    rows = [
        _stability(choice.sample.weighted(choice.draws(redrawn)), ties)
        for redrawn in _redrawn(weights, rng, redraws)
    ]
    return SubsetNumbers(statistics, consistency, np.stack(rows))


def _accuracies(standings: Standings) -> Floats:
    """Accuracies whose last digits do not tell equal models apart."""
    return standings.accuracies.round(12)


def _redrawn(
    weights: Sequence[NDArray[np.float32]], rng: np.random.Generator, redraws: int
) -> Iterator[list[NDArray[np.float32]]]:
    """For each subset, bootstrap draws of its items, (redraws, n) for each benchmark."""
    for subset in range(len(weights[0])):
        drawn = []
        for rows in weights:
            members = np.flatnonzero(rows[subset])
            again = np.zeros((redraws, rows.shape[1]), dtype=np.float32)
            again[:, members] = bootstrap_weights(rng, len(members), redraws)
            drawn.append(again)
        yield drawn


def _stability(standings: Standings, ties: Ties) -> Floats:
    """Mean tau between every two of the replicates (K, B, M), for each benchmark."""
    return mean_tau_between(standings.values.swapaxes(0, 1), ties=ties)
