"""The null of a subset: as many items of the same benchmarks, chosen at random."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from benchprism.metrics.consistency import Ties, peer_matrix
from benchprism.metrics.evidence import item_table
from benchprism.metrics.item_bootstrap import ItemSample
from benchprism.metrics.random_subsets import (
    Choice,
    Placing,
    SubsetNumbers,
    placing,
    random_subsets,
    subset_numbers,
)
from benchprism.metrics.scorecard import Scorecard
from benchprism.records.results.matrix import Outcomes
from benchprism.scoring.results import ProjectResults, pooled
from benchprism.scoring.subsets import SubsetResults

METRICS = ("cbrc", "ds", "cad", "bqs", "accuracy")

Placings = dict[str, dict[str, Placing]]


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
    settings = card.settings
    # Ties by noise would need the noise of every random subset.
    ties: Ties = "tau-b" if settings.ties == "noise" else settings.ties
    choice = _choice(results, subset, card)
    domains = [results.domains.get(own.key) for own in choice.sample.benchmarks]
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
    weights = [_member(full, part) for full, part in zip(subset.sources, subset.parts, strict=True)]
    own = subset_numbers(
        choice, weights, peers, seed=settings.seed, redraws=100, ties=ties, decay=decay
    )
    names = [score.benchmark for score in card.benchmarks]
    return {name: _placed(own, random, row) for row, name in enumerate(names)}


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


def _placed(own: SubsetNumbers, random: SubsetNumbers, row: int) -> dict[str, Placing]:
    found = {
        "ranking_consistency": (own.ranking_consistency, random.ranking_consistency),
        "stability": (own.stability, random.stability),
    }
    for name in METRICS:
        found[name] = getattr(own.statistics, name), getattr(random.statistics, name)
    return {name: placing(float(one[0, row]), many[:, row]) for name, (one, many) in found.items()}
