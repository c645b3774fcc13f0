"""What share of the items to keep: the trade-off on held-out families."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchprism.metrics.alignment import families_of, item_alignment, item_inversions
from benchprism.metrics.held_out import FamilySplit, split_families
from benchprism.metrics.items.item_statistics import discrimination
from benchprism.metrics.tradeoff import RankedItems, ShareCurve, share_curve
from benchprism.records.results.matrix import Outcomes
from benchprism.scoring.results import ProjectResults

CAD_ABOVE = 0.15
"""Items whose own CAD is not above this are not kept, as in the Benchmark^2 paper."""


@dataclass(frozen=True, slots=True)
class ShareChoice:
    """The trade-off, and who chose and who judged."""

    curve: ShareCurve
    split: FamilySplit | None
    """None with fewer than two families: then the models that choose also judge."""
    items: int
    """Items of all benchmarks, which the shares are of."""
    dropped: int
    """Items among them that no share keeps, since their CAD is at most ``CAD_ABOVE``."""


def _choice(ranked: Sequence[RankedItems], seed: int, split: FamilySplit | None) -> ShareChoice:
    items = sum(len(given.scores) for given in ranked)
    kept = sum(len(given.order) for given in ranked)
    return ShareChoice(share_curve(ranked, seed=seed), split, items, items - kept)


def share_to_keep(
    results: ProjectResults, outcomes: Sequence[Outcomes], *, seed: int = 0
) -> ShareChoice:
    """Weigh the shares of the items that could be kept.

    Items are chosen as in the Benchmark^2 paper, by one half of the families: those with a CAD of
    at most 0.15 are dropped, the others ranked by discrimination. The other half judges.

    Args:
        results: the results of the project.
        outcomes: the outcomes to look at.
        seed: splits the families, and draws.
    """
    split = split_families(results.families, seed=seed)
    if not split.held_out:
        ranked = [_ranked(results, given, given) for given in outcomes]
        return _choice(ranked, seed, None)
    choosing = {given.benchmark: given for given in _of(results, outcomes, split.held_in)}
    judging = {given.benchmark: given for given in _of(results, outcomes, split.held_out)}
    ranked = [
        _ranked(results, choosing[name], judging[name]) for name in choosing if name in judging
    ]
    return _choice(ranked, seed, split)


def _of(
    results: ProjectResults, outcomes: Sequence[Outcomes], families: Sequence[str]
) -> tuple[Outcomes, ...]:
    """The outcomes of the models of some families, of all items."""
    kept = {model.name for model in results.models if model.family in families}
    found = []
    for given in outcomes:
        columns = [column for column, model in enumerate(given.models) if model in kept]
        if columns:
            models = tuple(given.models[column] for column in columns)
            scores = given.scores[:, columns]
            found.append(Outcomes(given.benchmark, given.item_ids, models, scores))
    return tuple(found)


def _ranked(results: ProjectResults, choosing: Outcomes, judging: Outcomes) -> RankedItems:
    known = {model.name: model for model in results.models}
    own = [known[name] for name in choosing.models]
    families = families_of([model.family for model in own], [model.size for model in own])
    scores = choosing.scores.astype(np.float64)
    aligned = item_alignment(item_inversions(scores, families))
    return RankedItems(judging.scores, _order(discrimination(scores), aligned))


def _order(separation: NDArray[np.float64], aligned: NDArray[np.float64]) -> NDArray[np.intp]:
    """Items that may be kept, the ones that separate models best first."""
    kept = np.flatnonzero(~(aligned <= CAD_ABOVE))
    return kept[np.argsort(-np.nan_to_num(separation[kept], nan=-2), kind="stable")]
