"""What items demand: abilities of models, and how much of the difficulty attributes explain."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from benchprism.metrics.bootstrap.resampling import stream
from benchprism.metrics.items.abilities import Abilities, fit_abilities
from benchprism.metrics.items.explained import Explained, explained_variance
from benchprism.metrics.items.item_response import fit_item_response
from benchprism.metrics.reasons import counted
from benchprism.records.errors import InputError
from benchprism.records.results.matrix import Outcomes
from benchprism.scoring.attribute_values import Demands, demands
from benchprism.scoring.item_numbers import FEWEST_MODELS, floors, response_floor
from benchprism.scoring.results import ProjectResults

GENERAL = "general"


@dataclass(frozen=True, slots=True, eq=False)
class DemandedAbilities:
    """Abilities in what items demand, and how much harder it makes them."""

    models: tuple[str, ...]
    dimensions: tuple[str, ...]
    """``general`` first, then one for each demand."""
    abilities: Abilities
    attributes: tuple[str, ...]
    explained: tuple[Explained, ...]
    """For each attribute, the share of the variance that it explains of the difficulty which the
    items have for these models. The share that ``abilities`` gives for all of them is of the
    difficulty itself, without the noise of few models."""
    items: int
    """Items with a value of every attribute."""
    without: int
    """Items without one, left out."""


def demanded_abilities(
    results: ProjectResults,
    outcomes: Sequence[Outcomes],
    table: pa.Table,
    attributes: Sequence[str],
    *,
    replicates: int = 1000,
    seed: int = 0,
    level: float = 0.95,
) -> DemandedAbilities:
    """Fit abilities in the dimensions that attributes give, on all items together.

    Args:
        results: the results of the project.
        outcomes: the outcomes to look at.
        table: the attribute table.
        attributes: as in ``attribute_values.demands``.
        replicates: bootstrap replicates of the explained shares.
        seed: of the random numbers.
        level: confidence level of the intervals.

    Raises:
        InputError: an attribute does not divide the items, two say the same, or there are too few
            models.
    """
    scores, models = _stacked(outcomes)
    ids = [item for given in outcomes for item in given.item_ids]
    _check(scores, models)
    floor = response_floor(np.concatenate([floors(results, given) for given in outcomes]))
    found = [demands(table, attribute, ids) for attribute in attributes]
    columns = np.concatenate([one.columns for one in found], axis=1)
    used = ~np.isnan(columns).any(axis=1)
    loadings = np.column_stack([np.ones(int(used.sum())), columns[used]])
    try:
        abilities = fit_abilities(scores[used], loadings, floor=floor[used])
    except ValueError as error:
        raise InputError(
            f"{' and '.join(attributes)} cannot be told apart on {used.sum()} items with values",
            wanted="attributes of which none follows from the others",
            mend="leave one out",
        ) from error
    return DemandedAbilities(
        models=models,
        dimensions=(GENERAL, *(name for one in found for name in one.names)),
        abilities=abilities,
        attributes=tuple(attributes),
        explained=tuple(_explained(results, ids, scores, floor, found, replicates, seed, level)),
        items=int(used.sum()),
        without=int((~used).sum()),
    )


def _explained(
    results: ProjectResults,
    ids: Sequence[str],
    scores: NDArray[np.float64],
    floor: NDArray[np.float64],
    found: Sequence[Demands],
    replicates: int,
    seed: int,
    level: float,
) -> list[Explained]:
    """How much each attribute explains of the difficulty that the items have for these models."""
    fit = fit_item_response(scores, model="1PL", floor=floor)
    groups = results.groups_of(ids)
    return [
        explained_variance(
            fit.difficulty,
            one.columns,
            stream(seed, one.attribute + "\0explained", 0),
            groups=groups,
            replicates=replicates,
            level=level,
        )
        for one in found
    ]


def _stacked(outcomes: Sequence[Outcomes]) -> tuple[NDArray[np.float64], tuple[str, ...]]:
    """All items, for every model that has results on any of them."""
    models = tuple(sorted({model for given in outcomes for model in given.models}))
    place = {model: column for column, model in enumerate(models)}
    parts = []
    for given in outcomes:
        part = np.full((len(given.item_ids), len(models)), np.nan)
        part[:, [place[model] for model in given.models]] = given.scores
        parts.append(part)
    return np.concatenate(parts), models


def _check(scores: NDArray[np.float64], models: Sequence[str]) -> None:
    if len(models) < FEWEST_MODELS:
        raise InputError(
            f"abilities of {counted(len(models), 'model')}",
            wanted=f"results of at least {FEWEST_MODELS}: items cannot be placed by fewer",
            mend="add results of more models",
        )
    if np.nanmin(scores) < 0:
        raise InputError(
            "a score is below 0",
            wanted="scores from 0 to 1, for a model of how probable a right answer is",
            mend="choose other benchmarks with --benchmark",
        )
