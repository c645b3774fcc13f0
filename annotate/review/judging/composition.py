"""Composition: what a benchmark is made of, with the annotations corrected by blind answers."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ....metrics.raters.patterns import Codes, Floats
from ....metrics.raters.prediction_powered import (
    PredictionPowered,
    common_tuning,
    prediction_powered_mean,
    prediction_powered_share,
)
from .blind_answers import BlindAnswers, Frame, strata_of_values

FEWEST = 10
"""Sampled items that the composition of a benchmark is estimated from, at least."""
MEAN_LEVEL = "mean level"


@dataclass(frozen=True, slots=True)
class ValueEstimate:
    """How frequent a value is, or how high the mean level."""

    value: str
    """As it is written; ``MEAN_LEVEL`` for the mean of the levels."""
    annotated: float
    """As the annotations have it: over the items that have a value without people; NaN if none."""
    found: PredictionPowered
    """Over all items, corrected by people."""


@dataclass(frozen=True, slots=True)
class Composition:
    """What a benchmark is made of, by one attribute, corrected by people."""

    benchmark: str
    attribute: str
    items: int
    """Items that are asked for the attribute and could be drawn."""
    labelled: int
    """Of them, sampled ones that people gave a value."""
    estimates: tuple[ValueEstimate, ...]
    """Empty when undefined."""
    reason: str | None
    """Why it is undefined."""


def compositions(said: BlindAnswers, frame: Frame, level: float) -> Iterator[Composition]:
    """Correct the composition of each benchmark that has a sampled item."""
    asked = np.array([said.attribute.asks(kind) for kind in frame.kinds], dtype=np.bool_)
    asked &= frame.drawable
    labelled = said.answered & asked
    for benchmark in np.unique(frame.benchmarks[labelled]).tolist():
        rows = np.flatnonzero(asked & (frame.benchmarks == benchmark))
        number = int(labelled[rows].sum())
        have = "has" if number == 1 else "have"
        few = f"{number} of the items {have} values by people, fewer than {FEWEST}"
        enough = number >= FEWEST
        yield Composition(
            benchmark=benchmark,
            attribute=said.attribute.id,
            items=len(rows),
            labelled=number,
            estimates=tuple(_estimates(said, frame.strata_of(rows, labelled), level))
            if enough
            else (),
            reason=None if enough else few,
        )


def _estimates(
    said: BlindAnswers, strata: Sequence[tuple[Codes, Codes]], level: float
) -> Iterator[ValueEstimate]:
    """Estimate each share; an item without a value of its own is predicted to have none of them,
    and to have the mean level of the others."""
    rows = np.concatenate([part for pair in strata for part in pair])
    known = rows[said.alone[rows] >= 0]

    def annotated(of_value: Floats) -> float:
        return (
            float(said.without_people(of_value, math.nan)[known].mean()) if len(known) else math.nan
        )

    outcomes = [
        strata_of_values(strata, said.by_people(column), said.without_people(column, 0.0))
        for column in said.holds.T
    ]
    # an item has one of the values: their shares are to sum to 1; labels are questions of their own
    tuning = None if said.attribute.type == "labels" else common_tuning(outcomes)
    for name, column, given in zip(said.names, said.holds.T, outcomes, strict=True):
        found = prediction_powered_share(given, tuning=tuning, level=level)
        yield ValueEstimate(name, annotated(column), found)
    if said.levels is not None:
        mean = annotated(said.levels)
        predicted = said.without_people(said.levels, 0.0 if math.isnan(mean) else mean)
        given = strata_of_values(strata, said.by_people(said.levels), predicted)
        yield ValueEstimate(MEAN_LEVEL, mean, prediction_powered_mean(given, level=level))
