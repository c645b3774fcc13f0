"""The null of a subset: as many items of the same benchmarks, chosen at random."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from benchprism.metrics.bootstrap.over_items import ItemSample
from benchprism.metrics.bootstrap.random_subsets import (
    Choice,
    Placing,
    SubsetNumbers,
    placing,
    random_subsets,
    subset_numbers,
)
from benchprism.metrics.consistency import Ties, peer_matrix
from benchprism.metrics.evidence import item_table
from benchprism.metrics.scorecard import Scorecard
from benchprism.records.results.matrix import Outcomes
from benchprism.scoring.results import ProjectResults, pooled
from benchprism.scoring.subsets import SubsetResults

RANKINGS = ("ranking_consistency", "stability")
METRICS = ("cbrc", "ds", "cad", "bqs", "accuracy")

Floats = NDArray[np.float64]
Placings = dict[str, dict[str, Placing]]


@dataclass(frozen=True, slots=True, eq=False)
class NullNumbers:
    """The numbers of a subset, of its sources whole, and of random subsets of its size.

    Each has a column for each benchmark of the subset, and a last one for the subset as a whole.
    """

    names: tuple[str, ...]
    """What the columns are of."""
    own: SubsetNumbers
    sources: SubsetNumbers
    random: SubsetNumbers
    same: bool
    """Whether the subset has all items with results, so that no other one has its size."""

    def of(self, metric: str) -> tuple[Floats, Floats, Floats]:
        """A metric of the subset (B,), of its sources (B,), and of K random subsets (K, B)."""
        own, sources, random = (_metric(n, metric) for n in (self.own, self.sources, self.random))
        return own[0], sources[0], random


def _metric(numbers: SubsetNumbers, metric: str) -> Floats:
    found: Floats = getattr(numbers if metric in RANKINGS else numbers.statistics, metric)
    return found


def null_placings(
    results: ProjectResults,
    subset: SubsetResults,
    card: Scorecard,
    *,
    subsets: int,
    threads: int = 1,
) -> Placings:
    """Where a subset's numbers stand among those of random subsets of its size.

    Each random subset takes as many items of each benchmark as the subset has results on. Its
    rankings are compared, as the subset's are, with those on all items.

    Args:
        results: the results of the project.
        subset: those on the subset's items.
        card: the subset's scorecard, with the settings that the random ones are scored by too.
        subsets: number of random subsets.
        threads: how many threads to use; the numbers do not depend on it.

    Returns:
        For each benchmark, and the subset as a whole, a ``Placing`` by name of the metric:
        ``ranking_consistency``, ``stability``, and those of the scorecard. With ties by noise,
        rankings are compared by tau-b here.
    """
    found = null_numbers(results, subset, card, subsets=subsets, threads=threads)
    placed: Placings = {name: {} for name in found.names}
    for metric in (*RANKINGS, *METRICS):
        own, _, random = found.of(metric)
        for row, name in enumerate(found.names):
            placed[name][metric] = placing(float(own[row]), random[:, row])
    return placed


def null_numbers(
    results: ProjectResults,
    subset: SubsetResults,
    card: Scorecard,
    *,
    subsets: int,
    threads: int = 1,
) -> NullNumbers:
    """The numbers behind ``null_placings``, beside those of the sources whole."""
    settings = card.settings
    # Ties by noise would need the noise of every random subset.
    ties: Ties = "tau-b" if settings.ties == "noise" else settings.ties
    choice = _choice(results, subset, card)
    domains = [
        None if score.apart == 1 else results.domains.get(own.key)
        for own, score in zip(choice.sample.benchmarks, card.benchmarks, strict=True)
    ]
    peers = peer_matrix(domains)
    decay = card.benchmarks[0].decay
    random = random_subsets(
        choice,
        peers,
        subsets=subsets,
        seed=settings.seed,
        ties=ties,
        decay=decay,
        threads=threads,
    )
    parts = [*zip(subset.sources, subset.parts, strict=True)]
    every = [np.ones((1, len(full.item_ids)), dtype=np.float32) for full in subset.sources]
    sizes = tuple(len(full.item_ids) for full in subset.sources)
    own, sources = (
        subset_numbers(
            chosen, weights, peers, seed=settings.seed, redraws=100, ties=ties, decay=decay
        )
        for chosen, weights in (
            (choice, [_member(full, part) for full, part in parts]),
            (replace(choice, sizes=sizes), every),
        )
    )
    names = tuple(score.benchmark for score in card.benchmarks)
    return NullNumbers(names, own, sources, random, sizes == choice.sizes)


def _choice(results: ProjectResults, subset: SubsetResults, card: Scorecard) -> Choice:
    full = [*subset.sources, pooled(subset.sources, subset.name)]
    tables = [item_table(results.item_scores(given), results.models) for given in full]
    sample = ItemSample(
        tuple(table.columns for table in tables),
        len(results.models),
        epsilon=tuple(score.epsilon for score in card.benchmarks),
    )
    return Choice(sample, tuple(len(part.item_ids) for part in subset.parts), pooled=True)


def _member(full: Outcomes, part: Outcomes) -> NDArray[np.float32]:
    chosen = set(part.item_ids)
    return np.array([[item in chosen for item in full.item_ids]], dtype=np.float32)
