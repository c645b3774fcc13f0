"""Numbers of every item of a project with results."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from benchprism.metrics.alignment import families_of, item_alignment, item_inversions
from benchprism.metrics.counting.division import ratio
from benchprism.metrics.cross_family import item_evidence_of_families
from benchprism.metrics.items.guessing import above_guessing, guessing_floor
from benchprism.metrics.items.item_response import fit_item_response
from benchprism.metrics.items.item_statistics import item_statistics
from benchprism.records.results.matrix import Outcomes
from benchprism.scoring.results import ProjectResults

ItemModel = Literal["1PL", "2PL"]

FEWEST_MODELS = 5
"""Models with which an item response model is fitted."""
ENOUGH_MODELS = 200
"""Models with which slopes are identified well."""


def item_numbers(
    results: ProjectResults,
    outcomes: Sequence[Outcomes],
    *,
    response: ItemModel | None = "2PL",
) -> pa.Table:
    """Work out the statistics of every item, a row an item.

    Columns: ``benchmark``, ``item_id``, ``models`` (with a score), ``difficulty``,
    ``discrimination``, ``variance``, ``guessing_floor`` (null when the number of choices is not
    known), ``above_guessing``, ``inversion_rate``, ``cad``, ``families_inverting``,
    ``inversion_p``, and of the item response model ``irt_difficulty``, ``irt_difficulty_error``,
    ``irt_discrimination``, ``irt_discrimination_error``, and ``irt_from_prior``, true for an item
    that all its models or none solve, about which these four say only what the prior does. What is
    undefined is null.

    Args:
        results: the results of the project.
        outcomes: the outcomes to look at.
        response: the item response model, fitted to each benchmark; none for none.
    """
    parts = [_benchmark(results, given, response) for given in outcomes]
    return pa.concat_tables(parts)


def not_fitted(scores: NDArray[np.floating[Any]]) -> str | None:
    """Why no item response model is fitted to a benchmark's scores; none when one is."""
    if scores.shape[1] < FEWEST_MODELS:
        return f"it takes {FEWEST_MODELS} models"
    if np.nanmin(scores, initial=0) < 0:
        return "a score is below 0, and no share of a right answer"
    return None


def rough_slopes(outcomes: Sequence[Outcomes], response: ItemModel | None) -> dict[str, int]:
    """Number of models of each benchmark whose items get slopes that these identify badly."""
    if response != "2PL":
        return {}
    return {
        given.benchmark: len(given.models)
        for given in outcomes
        if not_fitted(given.scores) is None and len(given.models) < ENOUGH_MODELS
    }


def floors(results: ProjectResults, given: Outcomes) -> NDArray[np.float64]:
    """Guessing floor of a benchmark's items; NaN where the number of choices is not known."""
    table = results.items.get(given.benchmark)
    if table is None:
        return np.full(len(given.item_ids), np.nan)
    columns = table["item_id"].to_pylist(), table["choices"].to_pylist()
    choices = {item: len(texts or ()) for item, texts in zip(*columns, strict=True)}
    known = np.array([item in choices for item in given.item_ids])
    counts = np.array([choices.get(item, 0) for item in given.item_ids], dtype=np.int64)
    return np.where(known, guessing_floor(counts), np.nan)


def response_floor(floor: NDArray[np.float64]) -> NDArray[np.float64]:
    """The floor as item response models take it: 0 where it is not known, and below 1."""
    return np.where(floor < 1, np.nan_to_num(floor), 0.0)


def _benchmark(results: ProjectResults, given: Outcomes, response: ItemModel | None) -> pa.Table:
    known = {model.name: model for model in results.models}
    own = [known[name] for name in given.models]
    families = families_of([model.family for model in own], [model.size for model in own])
    scores = given.scores.astype(np.float64)
    statistics = item_statistics(scores)
    inversions = item_inversions(scores, families)
    evidence = item_evidence_of_families(scores, families)
    floor = floors(results, given)
    columns: dict[str, Any] = {
        "benchmark": [given.benchmark] * len(scores),
        "item_id": list(given.item_ids),
        "models": statistics.models,
        "difficulty": statistics.difficulty,
        "discrimination": statistics.discrimination,
        "variance": statistics.variance,
        "guessing_floor": floor,
        "above_guessing": above_guessing(1 - statistics.difficulty, floor),
        "inversion_rate": ratio(inversions.inverted, inversions.compared),
        "cad": item_alignment(inversions),
        "families_inverting": evidence.inverting,
        "inversion_p": evidence.p_values,
    }
    columns |= _response(scores, floor, response)
    return pa.table({name: _column(values) for name, values in columns.items()})


def _response(
    scores: NDArray[np.float64], floor: NDArray[np.float64], response: ItemModel | None
) -> dict[str, Any]:
    """Columns of the item response model; null where it is not fitted."""
    names = ("difficulty", "difficulty_error", "discrimination", "discrimination_error")
    if response is None or not_fitted(scores):
        none = np.full(len(scores), np.nan)
        unknown = pa.nulls(len(scores), pa.bool_())
        return {f"irt_{name}": none for name in names} | {"irt_from_prior": unknown}
    fit = fit_item_response(scores, model=response, floor=response_floor(floor))
    found = fit.difficulty, fit.difficulty_error, fit.slope, fit.slope_error
    numbers = {f"irt_{name}": values for name, values in zip(names, found, strict=True)}
    return {**numbers, "irt_from_prior": pa.array(fit.from_prior)}


def _column(values: Any) -> pa.Array:
    if isinstance(values, np.ndarray) and values.dtype.kind == "f":
        return pa.array(values, mask=np.isnan(values))
    return pa.array(values)
