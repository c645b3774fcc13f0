"""Trade-off: what share of ranked items to keep."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .alignment import ItemInversions
from .bootstrap.over_items import ItemSample, item_columns
from .bootstrap.random_subsets import Choice, subset_numbers
from .consistency import Ties
from .scores import Scores

SHARES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)


@dataclass(frozen=True, slots=True, eq=False)
class RankedItems:
    """The items of a benchmark in the order in which they are chosen."""

    scores: Scores
    """(n, m) scores of the models that judge, NaN where there is none."""
    order: NDArray[np.intp]
    """Positions of the items that may be chosen, the best first."""


@dataclass(frozen=True, slots=True)
class Weights:
    """How much each property counts."""

    consistency: float = 1.0
    stability: float = 1.0
    discriminability: float = 1.0


@dataclass(frozen=True, slots=True)
class SharePoint:
    """What keeping one share of the items gives, as means over the benchmarks."""

    share: float
    items: int
    """Items kept, of all benchmarks."""
    consistency: float
    """Kendall's tau of the ranking with that on all items."""
    stability: float
    """Mean tau between rankings on bootstrap draws of the kept items."""
    discriminability: float
    """DS on the kept items."""
    objective: float
    """Weighted mean of the three; NaN when one that counts is undefined."""


@dataclass(frozen=True, slots=True)
class ShareCurve:
    """The trade-off over shares."""

    points: tuple[SharePoint, ...]
    best: float
    """The share with the largest objective, the smaller of equals; NaN when none is defined."""


def share_curve(
    benchmarks: Sequence[RankedItems],
    *,
    shares: Sequence[float] = SHARES,
    weights: Weights = Weights(),
    seed: int = 0,
    redraws: int = 50,
    ties: Ties = "tau-b",
    epsilon: float = 0.02,
) -> ShareCurve:
    """Weigh consistency, stability and discriminability of the best items against one another.

    Tells where a subset is small enough to set models apart and large enough to rank them as the
    whole does, and again on other items. The models that judge should not be the ones that ranked
    the items (see ``held_out``).

    Formula: for each share r, of each benchmark the first ``round(r n)`` of its ranked items, at
    least one; the objective is the weighted mean of the three numbers' means over the benchmarks.

    Args:
        benchmarks: the ranked items.
        shares: the shares to try, each above 0 and at most 1, of all n items of a benchmark; where
            fewer may be chosen, all of these are kept.
        weights: how much each number counts.
        seed: of the bootstrap draws.
        redraws: bootstrap draws behind the stability.
        ties: as in ``consistency.kendall_tau``.
        epsilon: as in ``discriminability.discriminability``.

    Returns:
        The curve in ascending order of the shares.

    Source: Qian et al., "Benchmark^2", arXiv 2601.03986 (2026), section on subset selection, keeps
    35 %; the objective is ours.
    """
    columns = []
    for number, given in enumerate(benchmarks):
        items, models = given.scores.shape
        none = np.zeros(items, dtype=np.int64)
        inversions = ItemInversions(none, none)
        columns.append(item_columns(str(number), given.scores, np.arange(models), inversions))
    samples = [ItemSample((own,), len(own.places), epsilon) for own in columns]
    points = []
    for share in sorted(set(shares)):
        chosen = [given.order[: max(1, round(share * len(given.scores)))] for given in benchmarks]
        found = [
            _numbers(sample, kept, seed, redraws, ties)
            for sample, kept in zip(samples, chosen, strict=True)
        ]
        means = [_mean(column) for column in np.array(found).reshape(-1, 3).T]
        points.append(
            SharePoint(
                share,
                sum(map(len, chosen)),
                consistency=means[0],
                stability=means[1],
                discriminability=means[2],
                objective=_objective(means, weights),
            )
        )
    defined = [point for point in points if not math.isnan(point.objective)]
    best = max(defined, key=lambda point: point.objective).share if defined else math.nan
    return ShareCurve(tuple(points), best)


def _numbers(
    sample: ItemSample, kept: NDArray[np.intp], seed: int, redraws: int, ties: Ties
) -> tuple[float, float, float]:
    """Consistency, stability and discriminability of one benchmark's kept items."""
    if not len(kept):
        return math.nan, math.nan, math.nan
    weights = np.zeros((1, sample.benchmarks[0].items), dtype=np.float32)
    weights[0, kept] = 1
    choice = Choice(sample, (len(kept),))
    alone = np.zeros((1, 1), dtype=bool)
    found = subset_numbers(choice, [weights], alone, seed=seed, redraws=redraws, ties=ties)
    numbers = found.ranking_consistency, found.stability, found.statistics.ds
    consistency, stability, ds = (float(number[0, 0]) for number in numbers)
    return consistency, stability, ds


def _mean(values: NDArray[np.float64]) -> float:
    defined = values[~np.isnan(values)]
    return float(defined.mean()) if len(defined) else math.nan


def _objective(means: Sequence[float], weights: Weights) -> float:
    parts = weights.consistency, weights.stability, weights.discriminability
    counted = [(part, mean) for part, mean in zip(parts, means, strict=True) if part]
    return sum(part * mean for part, mean in counted) / sum(part for part, _ in counted)
