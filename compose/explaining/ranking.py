"""Ranking: how the order of models changes from one set of items to another."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...metrics.bootstrap.resampling import (
    Interval,
    basic_interval,
    blocks,
    bootstrap_weights,
    stream,
)
from ...metrics.consistency import tau_matrix
from ...metrics.counting.division import ratio
from ...records.results.matrix import Outcomes

_DECIMALS = 12


@dataclass(frozen=True, slots=True)
class ModelChange:
    """Where one model stands on either set of items."""

    model: str
    accuracy_before: float
    accuracy_after: float
    rank_before: int
    """1 is the best; models of equal accuracy share the better rank."""
    rank_after: int
    change: Interval
    """Of ``rank_after - rank_before``, over other items of the same kinds."""


@dataclass(frozen=True, slots=True)
class RankingChange:
    """How the ranking on one set of items differs from that on another."""

    tau: float
    """Kendall's tau-b of the two rankings; NaN when undefined."""
    interval: Interval
    """Over other items of the same kinds; items that both sets have are drawn for both."""
    models: tuple[ModelChange, ...]
    """By rank before, then by name."""
    items_before: int
    """Items with results."""
    items_after: int
    replicates: int
    seed: int


def ranking_change(
    outcomes: Sequence[Outcomes],
    before: Collection[str],
    after: Collection[str],
    *,
    seed: int = 0,
    replicates: int = 1000,
    level: float = 0.95,
) -> RankingChange:
    """Compare the rankings of models on two sets of items.

    The models are those with results on every benchmark that either set has items of. A replicate
    draws the items of each benchmark anew, with replacement.

    Args:
        outcomes: the results, by benchmark.
        before: ids of the items of one set.
        after: ids of the items of the other.
        seed: of the bootstrap.
        replicates: of the bootstrap.
        level: confidence level of the intervals.
    """
    parts = [part for given in outcomes if (part := _part(given, before, after)).items]
    names = _common_models([part.outcomes for part in parts])
    sums = _sums(parts, names, [np.ones((1, part.items)) for part in parts])
    accuracies = sums[0] if parts else np.empty((2, 0))
    drawn = []
    for number, size in blocks(replicates if names else 0):
        weights = [
            bootstrap_weights(stream(seed, part.outcomes.benchmark, number), part.items, size)
            for part in parts
        ]
        drawn.append(_sums(parts, names, weights))
    replicas = np.concatenate([np.empty((0, 2, len(names))), *drawn])
    tau = float(tau_matrix(accuracies)[0, 1]) if names else math.nan
    return RankingChange(
        tau=tau,
        interval=basic_interval(tau, tau_matrix(replicas)[:, 0, 1], level=level),
        models=_models(names, accuracies, replicas, level),
        items_before=sum(int(part.before.sum()) for part in parts),
        items_after=sum(int(part.after.sum()) for part in parts),
        replicates=replicates,
        seed=seed,
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Part:
    """The items of one benchmark that either set has."""

    outcomes: Outcomes
    scores: NDArray[np.float64]
    before: NDArray[np.bool_]
    after: NDArray[np.bool_]

    @property
    def items(self) -> int:
        return len(self.scores)


def _part(given: Outcomes, before: Collection[str], after: Collection[str]) -> _Part:
    inside = [np.array([item in own for item in given.item_ids], bool) for own in (before, after)]
    rows = inside[0] | inside[1]
    scores = given.scores[rows].astype(np.float64)
    return _Part(given, scores, inside[0][rows], inside[1][rows])


def _common_models(outcomes: Sequence[Outcomes]) -> list[str]:
    if not outcomes:
        return []
    others = [{*given.models} for given in outcomes[1:]]
    return [model for model in outcomes[0].models if all(model in own for own in others)]


def _sums(
    parts: Sequence[_Part], names: Sequence[str], weights: Sequence[NDArray[np.floating]]
) -> NDArray[np.float64]:
    """Accuracies of the models on either set under K rows of weights, (K, 2, M)."""
    size = len(weights[0]) if weights else 0
    right, seen = np.zeros((size, 2, len(names))), np.zeros((size, 2, len(names)))
    for part, rows in zip(parts, weights, strict=True):
        columns = [part.outcomes.models.index(name) for name in names]
        scores = part.scores[:, columns]
        known = ~np.isnan(scores)
        for side, inside in enumerate((part.before, part.after)):
            own = rows.astype(np.float64) * inside
            right[:, side] += own @ np.where(known, scores, 0.0)
            seen[:, side] += own @ known.astype(np.float64)
    return ratio(right, seen).round(_DECIMALS)


def _ranks(accuracies: NDArray[np.float64]) -> NDArray[np.int64]:
    """(..., M) accuracies to ranks; 1 is the best."""
    ranks: NDArray[np.int64] = (accuracies[..., None, :] > accuracies[..., :, None]).sum(
        axis=-1
    ) + 1
    return ranks


def _models(
    names: Sequence[str],
    accuracies: NDArray[np.float64],
    replicas: NDArray[np.float64],
    level: float,
) -> tuple[ModelChange, ...]:
    if not names:
        return ()
    ranks = _ranks(accuracies)
    drawn = _ranks(replicas)
    moves = (drawn[:, 1] - drawn[:, 0]).astype(np.float64)
    found = [
        ModelChange(
            model=name,
            accuracy_before=float(accuracies[0, place]),
            accuracy_after=float(accuracies[1, place]),
            rank_before=int(ranks[0, place]),
            rank_after=int(ranks[1, place]),
            change=basic_interval(
                float(ranks[1, place] - ranks[0, place]), moves[:, place], level=level
            ),
        )
        for place, name in enumerate(names)
    ]
    return tuple(sorted(found, key=lambda change: (change.rank_before, change.model)))
