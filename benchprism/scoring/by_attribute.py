"""Accuracy and rank of a project's models by the value of an attribute."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from benchprism.metrics.alignment import ItemInversions
from benchprism.metrics.bootstrap.over_items import item_columns
from benchprism.metrics.items.rank_changes import Standing, rank_changes, ranks
from benchprism.metrics.items.strata import mean_intervals
from benchprism.records.errors import InputError
from benchprism.records.results.matrix import Outcomes
from benchprism.scoring.attribute_values import item_kinds
from benchprism.scoring.results import ProjectResults, pooled


@dataclass(frozen=True, slots=True, eq=False)
class AttributeStandings:
    """Where models stand on all items with a value, and on those with each."""

    attribute: str
    benchmarks: tuple[str, ...]
    models: tuple[str, ...]
    items: int
    """Items with a value."""
    without: int
    """Items without one."""
    overall: Standing
    """On all items with a value; nothing is expected of it, so it has no p."""
    names: tuple[str, ...]
    """Of the values."""
    standings: tuple[Standing, ...]
    """On the items with each value."""


def standings_by(
    results: ProjectResults,
    outcomes: Sequence[Outcomes],
    table: pa.Table,
    attribute: str,
    *,
    replicates: int = 1000,
    seed: int = 0,
    level: float = 0.95,
) -> AttributeStandings:
    """Find where models stand on the items with each value of an attribute.

    All benchmarks are taken together, with the models that have results on each of them.

    Args:
        results: the results of the project.
        outcomes: the outcomes to look at: all, or those on a subset's items.
        table: the attribute table.
        attribute: as in ``attribute_values.item_kinds``.
        replicates: bootstrap draws, and random deals of the values.
        seed: of the random numbers.
        level: confidence level of the intervals.

    Raises:
        InputError: the attribute does not divide the items, or no model has results on all
            benchmarks.
    """
    together = pooled(outcomes, attribute)
    if not together.models:
        raise InputError(
            "no model has results on every one of the benchmarks",
            wanted="models that can be ranked on all items",
            mend="choose benchmarks with --benchmark",
        )
    kinds = item_kinds(table, attribute, together.item_ids)
    known = np.flatnonzero(kinds.codes >= 0)
    scores = together.scores[known].astype(np.float64)
    none = np.zeros(len(known), dtype=np.int64)
    groups = results.groups_of([together.item_ids[item] for item in known])
    places = np.arange(len(together.models))
    columns = item_columns(attribute, scores, places, ItemInversions(none, none), groups)
    benchmark = np.repeat(np.arange(len(outcomes)), [len(one.item_ids) for one in outcomes])
    found = rank_changes(
        columns,
        scores,
        kinds.codes[known],
        len(kinds.names),
        benchmarks=benchmark[known],
        replicates=replicates,
        seed=seed,
        level=level,
    )
    return AttributeStandings(
        attribute=attribute,
        benchmarks=tuple(one.benchmark for one in outcomes),
        models=together.models,
        items=len(known),
        without=len(together.item_ids) - len(known),
        overall=_overall(scores, level),
        names=kinds.names,
        standings=tuple(found),
    )


def _overall(scores: NDArray[np.float64], level: float) -> Standing:
    means = mean_intervals(scores, level=level)
    none = np.full(scores.shape[1], np.nan)
    return Standing(
        items=len(scores),
        accuracy=means.means,
        accuracy_low=means.low,
        accuracy_high=means.high,
        rank=ranks(means.means.round(12)),
        rank_low=none,
        rank_high=none,
        expected_rank=none,
        p_values=none,
    )
