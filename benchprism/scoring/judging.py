"""Judging a composition: beside its sources, beside chance, and by models with no part in it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from benchprism.compose.store import Subset, read_subset
from benchprism.metrics.bootstrap.random_subsets import Placing, placing
from benchprism.metrics.scorecard import Scorecard, ScoreSettings
from benchprism.project import Project
from benchprism.records.errors import InputError
from benchprism.scoring.benchmarks import score_results
from benchprism.scoring.null import Floats, NullNumbers, null_numbers
from benchprism.scoring.results import ProjectResults
from benchprism.scoring.subsets import (
    families_that_chose,
    held_out_families,
    subset_results,
)

MEASURES = ("cbrc", "ds", "cad", "bqs", "ranking_consistency", "stability")
BY_BENCHMARK = ("cbrc", "bqs")
"""What a composition has no number of its own in: the mean over its benchmarks stands for it."""
SUBSETS = 200
"""Random subsets, unless another number is asked for."""
_NO_RANKING = "fewer than two models judge, or all of them score alike"


@dataclass(frozen=True, slots=True)
class Measured:
    """One measure of a composition, or of one of its benchmarks."""

    measure: str
    """One of ``MEASURES``."""
    placing: Placing
    """The number, and where it stands among those of random subsets of the same size."""
    beats: float
    """Share of the random subsets that have less; NaN when it cannot be said."""
    sources: float
    """The same measure on all items of the benchmarks."""
    reason: str
    """Why there is no number, or none to compare it with; empty when there are both."""


@dataclass(frozen=True, slots=True, eq=False)
class Verdict:
    """What some models say of a composition."""

    models: Mapping[str, str | None]
    """The family of each model that judges."""
    items: int
    """Items of the composition that have results."""
    measures: Mapping[str, tuple[Measured, ...]]
    """By benchmark, the composition as a whole last, under its own name."""
    notes: tuple[str, ...]
    """Which models judge the whole, and what of the composition has no results."""


@dataclass(frozen=True, slots=True, eq=False)
class Judgement:
    """A composition judged."""

    subset: Subset
    subsets: int
    """Number of random subsets."""
    settings: ScoreSettings
    by_all: Verdict
    """Of all models with results."""
    by_held_out: Verdict | None
    """Of the families that had no part in the choice, where others had."""
    nobody: str
    """Why no family is held out; empty when some are."""

    @property
    def whole(self) -> tuple[Measured, ...]:
        """The measures of the composition as a whole, by all models."""
        return self.by_all.measures[self.subset.name]


def judge(
    project: Project,
    name: str,
    results: ProjectResults,
    *,
    settings: ScoreSettings,
    subsets: int = SUBSETS,
    threads: int = 1,
) -> Judgement:
    """Judge a composed subset.

    Args:
        project: the project.
        name: the subset's name.
        results: the results.
        settings: options of the metrics, with numbers for epsilon and lambda; no intervals are
            made.
        subsets: number of random subsets of its size, on the same benchmarks.
        threads: how many threads to use; the numbers do not depend on it.

    Raises:
        InputError: there is no such subset, or there are no results on its items.
    """
    stored = read_subset(project.subsets / name)
    points = replace(settings, replicates=0)

    def verdict(given: ProjectResults) -> Verdict:
        return _verdict(project, name, given, points, subsets, threads)

    by_all, held_out = verdict(results), None
    families, nobody = _held_out(project, stored, results)
    if families:
        try:
            held_out = verdict(results.of_families(families))
        except InputError as error:
            nobody = error.found
    return Judgement(stored, subsets, points, by_all, held_out, nobody)


def _held_out(
    project: Project, subset: Subset, results: ProjectResults
) -> tuple[tuple[str, ...], str]:
    """The families that had no part in the choice where others had, or why there are none."""
    try:
        if not families_that_chose(project, subset):
            return (), "no model had a part in the choice, so that all of them judge it"
        return held_out_families(project, subset.name, results), ""
    except InputError as error:
        return (), error.found


def _verdict(
    project: Project,
    name: str,
    results: ProjectResults,
    settings: ScoreSettings,
    subsets: int,
    threads: int,
) -> Verdict:
    subset = subset_results(project, name, results)
    card = score_results(results, subset, settings=settings, threads=threads)
    found = null_numbers(results, subset, card, subsets=subsets, threads=threads)
    measures = {
        score.benchmark: tuple(_measured(found, card, place))
        for place, score in enumerate(card.benchmarks)
    }
    present = {model for part in subset.parts for model in part.models}
    everywhere = len(subset.whole.models)
    partly = f"of {len(present)} models the {everywhere} with results on every benchmark judge the"
    return Verdict(
        models={model.name: model.family for model in results.models if model.name in present},
        items=sum(len(part.item_ids) for part in subset.parts),
        measures=measures,
        notes=(
            *([f"{partly} composition as a whole"] if everywhere < len(present) else []),
            *(
                note if what == name else f"{what}: {note}"
                for what, notes in subset.notes.items()
                for note in notes
            ),
        ),
    )


def _measured(found: NullNumbers, card: Scorecard, place: int) -> Iterator[Measured]:
    last = place == len(card.benchmarks) - 1
    for measure in MEASURES:
        own, sources, random = found.of(measure)
        if last and measure in BY_BENCHMARK:
            known = np.flatnonzero(~np.isnan(own[:-1]))
            value, full, drawn = _means(own, sources, random, known)
            told = [score.notes for score in card.benchmarks[:-1]]
        else:
            value, full, drawn = float(own[place]), float(sources[place]), random[:, place]
            told = [card.benchmarks[place].notes]
        if found.same:
            drawn = np.empty(0)
        placed = placing(value, drawn)
        yield Measured(
            measure,
            placed,
            beats=_beaten(value, drawn),
            sources=full,
            reason=undefined_because(measure, told) if math.isnan(value) else _alone(found, placed),
        )


def _alone(found: NullNumbers, placed: Placing) -> str:
    """Why a number stands beside no random one; empty when it stands beside some."""
    if found.same:
        return "it has every item with results, so that no other subset has its size"
    return "none of the random subsets has such a number" if math.isnan(placed.p_value) else ""


def _means(
    own: Floats, sources: Floats, random: Floats, known: NDArray[np.intp]
) -> tuple[float, float, Floats]:
    """Means over the benchmarks that have a number."""
    if not len(known):
        return math.nan, math.nan, np.empty(0)
    return float(own[known].mean()), float(sources[known].mean()), random[:, known].mean(axis=1)


def _beaten(value: float, random: Floats) -> float:
    known = random[~np.isnan(random)]
    if math.isnan(value) or not len(known):
        return math.nan
    return float((known < value - 1e-12).mean())


def undefined_because(measure: str, notes: Sequence[Sequence[str]]) -> str:
    """Why a measure is undefined, as the scorecard's notes have it."""
    start = f"{measure}: undefined because "
    told = [note.removeprefix(start) for own in notes for note in own if note.startswith(start)]
    return told[0] if told else _NO_RANKING
