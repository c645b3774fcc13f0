"""Comparing two models of a project on the items that both have a score for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchprism.metrics.bootstrap.resampling import stream
from benchprism.metrics.comparison import Comparison, compare_models
from benchprism.metrics.items.strata import holm
from benchprism.records.errors import InputError
from benchprism.records.results.matrix import Outcomes
from benchprism.scoring.results import ProjectResults, nearest

ALL_ITEMS = "all"
"""What all benchmarks together are called, where no subset gives them a name."""


@dataclass(frozen=True, slots=True)
class BenchmarkComparison:
    """Two models on one benchmark."""

    benchmark: str
    comparison: Comparison
    adjusted_p: float
    """The p value, adjusted for the number of benchmarks (Holm); as it is for all together."""
    groups: int | None
    """Groups of items that are drawn together; none when each stands for itself."""


def compare_in_project(
    results: ProjectResults,
    first: str,
    second: str,
    *,
    outcomes: Sequence[Outcomes] | None = None,
    name: str = ALL_ITEMS,
    replicates: int = 1000,
    seed: int = 0,
    level: float = 0.95,
) -> list[BenchmarkComparison]:
    """Compare two models benchmark by benchmark, and on all items together.

    Args:
        results: the results of the project.
        first: name of one model.
        second: name of the other.
        outcomes: the outcomes to compare on, as those of a subset; all when none are given.
        name: what all items together are called.
        replicates: bootstrap replicates.
        seed: of the random numbers.
        level: confidence level of the intervals.

    Raises:
        InputError: a model has no results, or the two have no benchmark in common.
    """
    models = [model.name for model in results.models]
    for model in (first, second):
        if model not in models:
            raise InputError(
                f"no results of the model {model!r}",
                wanted="a model with results",
                mend=nearest(model, models, lister="results models"),
            )
    given = results.outcomes if outcomes is None else outcomes
    shared = [one for one in given if first in one.models and second in one.models]
    if not shared:
        raise InputError(
            f"no benchmark has results of both {first!r} and {second!r}",
            wanted="two models with results on the same items",
            mend="add the results that are missing with 'benchprism results add PATH'",
        )
    found = []
    pairs = [(one.benchmark, one.item_ids, _pair(one, first, second)) for one in shared]
    if len(pairs) > 1:
        ids = tuple(item for _, items, _ in pairs for item in items)
        pairs.append((name, ids, np.concatenate([scores for _, _, scores in pairs])))
    for benchmark, ids, scores in pairs:
        groups = results.groups_of(ids)
        comparison = compare_models(
            scores[:, 0],
            scores[:, 1],
            stream(seed, benchmark + "\0compare", 0),
            groups=groups,
            replicates=replicates,
            level=level,
        )
        number = None if groups is None else int(groups.max()) + 1
        found.append(BenchmarkComparison(benchmark, comparison, comparison.p_value, number))
    return _adjusted(found, len(shared))


def _pair(given: Outcomes, first: str, second: str) -> NDArray[np.float64]:
    columns = [given.models.index(first), given.models.index(second)]
    return given.scores[:, columns].astype(np.float64)


def _adjusted(found: Sequence[BenchmarkComparison], single: int) -> list[BenchmarkComparison]:
    p_values = holm(np.array([one.comparison.p_value for one in found[:single]]))
    adjusted = [
        BenchmarkComparison(one.benchmark, one.comparison, float(p_value), one.groups)
        for one, p_value in zip(found[:single], p_values, strict=True)
    ]
    return [*adjusted, *found[single:]]
