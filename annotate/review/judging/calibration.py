"""Calibration: how far annotations can be trusted, told by people on a random blind sample.

People who see no suggestion are compared with the value that an item has without people: that of
the language models, or of rules where there is no model. Where k people gave a value, each one
counts 1 / k, so that nothing has to be decided between them. What holds of the sample is carried
over to all items by the size of each stratum.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ....metrics.counting.division import ratio
from ....metrics.raters.agreement import Agreement
from ....metrics.raters.label_sets import set_distances
from ....metrics.raters.panel_alpha import panel_alpha
from ....metrics.raters.patterns import UNBOUNDED, Codes, Estimate, Floats
from ....metrics.raters.prediction_powered import prediction_bias, prediction_powered_share
from ....prompts.catalogue import Attribute, Catalogue
from ...consolidation.agreement import Resampling
from ...consolidation.policy import ConsolidationSettings
from ...ledger.store import Ledger
from .blind_answers import BlindAnswers, Frame, blind_answers, strata_of_values
from .composition import MEAN_LEVEL, Composition, compositions


@dataclass(frozen=True, slots=True, eq=False)
class AttributeCalibration:
    """The values of one attribute beside those of people on the sample."""

    attribute: Attribute
    people: tuple[str, ...]
    items: int
    """Items with a value by people and one without them: all numbers are over these."""
    missing: int
    """Sampled items with a value by people only. Missing is not wrong."""
    responses: int
    """Values that people gave for the items."""
    alpha: Agreement
    """Krippendorff's alpha between the values and a person; of levels ordinal, of several labels
    with MASI distance."""
    accuracy: Estimate
    """The chance that a value is the one that a person gives, over all items."""
    bias: Mapping[str, Estimate]
    """Mean of the values minus that of people: of levels one, ``MEAN_LEVEL``; else of each value
    how much too frequent it is."""
    confusion: Floats | None
    """(V, V): ``[t, v]``, how many items people gave t and that have v, an item with k people
    counting 1 / k each; none for several labels at once."""
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Calibration:
    """Everything that a blind sample tells."""

    attributes: tuple[AttributeCalibration, ...]
    compositions: tuple[Composition, ...]


def calibrate(
    ledger: Ledger,
    catalogue: Catalogue,
    items: pa.Table,
    *,
    sample: Collection[str] | None = None,
    strata: Sequence[str | None] | None = None,
    settings: ConsolidationSettings,
    resampling: Resampling,
    attributes: Collection[str] = (),
) -> Calibration:
    """Compare what people said blind with the values that items have without people.

    Args:
        ledger: The ledger.
        catalogue: The criteria of today.
        items: A table with ``ITEM_SCHEMA``.
        sample: The items that were drawn at random, by id; all that people answered blind if none.
        strata: The stratum in which each item could be drawn, none for one that could not; the
            benchmarks when not given. The items that people answered are taken for a random sample
            of each.
        settings: How one value is made of several.
        resampling: How the intervals of alpha are made; the others need no resampling.
        attributes: The attributes to calibrate; all when none are named.
    """
    frame = Frame.of(items, strata)
    found = blind_answers(ledger, catalogue, items, settings, sample=sample, attributes=attributes)
    return Calibration(
        tuple(_attribute(one, frame, resampling) for one in found),
        tuple(made for one in found for made in compositions(one, frame, resampling.level)),
    )


def _attribute(said: BlindAnswers, frame: Frame, resampling: Resampling) -> AttributeCalibration:
    has_value = said.alone >= 0
    both = said.answered & has_value
    strata = _sampled(frame, np.flatnonzero(has_value), both)
    given = said.given.sum(axis=0) > 0
    return AttributeCalibration(
        attribute=said.attribute,
        people=tuple(name for name, any_ in zip(said.people, given, strict=True) if any_),
        items=int(both.sum()),
        missing=int((said.answered & ~has_value).sum()),
        responses=int(said.given[both].sum()),
        alpha=_alpha(said, resampling),
        accuracy=_accuracy(said, strata, resampling.level),
        bias=_bias(said, strata, resampling.level),
        confusion=None if said.attribute.type == "labels" else _confusion(said, both),
        values=said.names,
    )


_UNDEFINED = Estimate(math.nan, UNBOUNDED, "no item has values of both")


def _sampled(frame: Frame, rows: Codes, labelled: NDArray[np.bool_]) -> list[tuple[Codes, Codes]]:
    """The strata of the benchmarks that have a labelled item: of others nothing is known."""
    known = np.isin(frame.benchmarks[rows], np.unique(frame.benchmarks[labelled]))
    known &= frame.drawable[rows]
    return frame.strata_of(rows[known], labelled) if known.any() else []


def _accuracy(said: BlindAnswers, strata: Sequence[tuple[Codes, Codes]], level: float) -> Estimate:
    if not strata:
        return _UNDEFINED
    agreeing = ((said.panel == said.alone[:, None]) & said.given).sum(axis=1)
    right = ratio(agreeing, said.given.sum(axis=1))
    given = strata_of_values(strata, right, np.zeros(len(right)))
    return prediction_powered_share(given, tuning=0.0, level=level).labels_only


def _alpha(said: BlindAnswers, resampling: Resampling) -> Agreement:
    several = said.attribute.type == "labels"
    return panel_alpha(
        said.panel,
        said.alone,
        values=len(said.holds),
        scale=None if several else "ordinal" if said.levels is not None else "nominal",
        distances=set_distances(said.holds, "masi") if several else None,
        rng=resampling.stream(said.attribute.id, "calibration"),
        level=resampling.level,
        replicates=resampling.replicates,
    )


def _bias(
    said: BlindAnswers, strata: Sequence[tuple[Codes, Codes]], level: float
) -> dict[str, Estimate]:
    columns = said.levels[:, None] if said.levels is not None else said.holds
    names = (MEAN_LEVEL,) if said.levels is not None else said.names
    if not strata:
        return dict.fromkeys(names, _UNDEFINED)
    return {
        name: prediction_bias(
            strata_of_values(strata, said.by_people(column), said.without_people(column, math.nan)),
            share=said.levels is None,
            level=level,
        )
        for name, column in zip(names, columns.T, strict=True)
    }


def _confusion(said: BlindAnswers, both: NDArray[np.bool_]) -> Floats:
    counts = np.zeros((len(said.holds), len(said.holds)))
    people = said.given.sum(axis=1)
    item, person = np.nonzero(said.given & both[:, None])
    np.add.at(counts, (said.panel[item, person], said.alone[item]), 1 / people[item])
    return counts
