"""Evaluation against gold: how annotations compare with values that are known to be right."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..proportions import Proportion, wilson_interval
from .agreement import Agreement, pairable_patterns
from .kappa import Weights, cohen_kappa
from .patterns import UNBOUNDED, Codes, Estimate, Floats, Ratings, checked, estimate


@dataclass(frozen=True, slots=True)
class ValueScores:
    """How well one value is found."""

    precision: Proportion
    """Share of the items given the value that have it; NaN when it was never given."""
    recall: Proportion
    """Share of the items with the value that were given it; NaN when no item has it."""
    f1: Proportion
    """Harmonic mean of the two; NaN when the value was neither given nor is gold."""
    given: int
    """Items that were given the value."""
    gold: int
    """Items that have it."""

    @property
    def reason(self) -> str | None:
        """What is undefined, and why; none when all three are defined."""
        if not self.given and not self.gold:
            return "neither given nor gold: no precision, no recall"
        if not self.given:
            return "never given: no precision"
        return None if self.gold else "never gold: no recall"


@dataclass(frozen=True, slots=True, eq=False)
class GoldScores:
    """Annotations of one attribute compared with gold values."""

    confusion: Codes
    """(V, V): ``[t, v]`` is how many items with gold value t were given v."""
    accuracy: Proportion
    """Share of the items that were given their gold value; NaN without an item."""
    by_value: tuple[ValueScores, ...]
    kappa: Agreement
    """Cohen's kappa of gold and annotation."""
    items: int
    """Items with both a gold value and an annotation: all numbers are over these."""
    missing: int
    """Items with a gold value and no annotation. Missing is not wrong: they count nowhere else."""

    @property
    def reason(self) -> str | None:
        """Why everything is undefined; none when there is an item to compare."""
        return None if self.items else "no item has both a gold value and an annotation"


@dataclass(frozen=True, slots=True)
class LevelErrors:
    """How far annotated levels lie from gold levels."""

    mean_absolute: Estimate
    """Mean distance in levels, 0 upwards: 0 when every level is right."""
    bias: Estimate
    """Mean difference, annotation minus gold: above 0 when levels are set too high."""
    items: int


def gold_scores(
    given: Ratings,
    gold: Ratings,
    *,
    values: int,
    weights: Weights = "none",
    rng: np.random.Generator,
    level: float = 0.95,
    replicates: int = 1000,
) -> GoldScores:
    """Confusion, precision, recall and F1 of annotations against gold values.

    Tells whether an annotator can be trusted with an attribute, value by value: accuracy alone is
    high when it finds the common value and misses every rare one.

    Formula: with ``n_tv`` the items of gold value t that were given v, precision
    ``n_vv / sum_t n_tv``, recall ``n_vv / sum_v n_tv``, F1 ``2 n_vv / (given + gold)``, accuracy
    ``sum_v n_vv / n``. Their intervals are Wilson's; that of F1 is Wilson's of
    ``J = n_vv / (given + gold - n_vv)``, carried over by ``F1 = 2 J / (1 + J)``. Kappa and its
    interval are those of ``kappa.cohen_kappa``.

    Args:
        given: (N,) annotations, values coded 0 to V - 1, -1 where there is none.
        gold: (N,) the right values, -1 where none is known.
        values: V, how many values there are.
        weights: of kappa; linear or quadratic for levels.
        rng: the source of the draws for kappa's interval.
        level: confidence level of all intervals.
        replicates: of kappa's bootstrap.

    Returns:
        A ``GoldScores``; all shares are in [0, 1]: 1 when everything is right. What has nothing to
        divide by is NaN, and the reason says what. Gold items are taken for a sample of the items
        to be annotated: precision and accuracy hold for the share of each value among them.

    Source: C. J. van Rijsbergen, "Information Retrieval" (1979), chapter 7; E. B. Wilson, JASA 22
    (1927), 209-212.

    >>> given, gold = np.array([1, 1, 0, 0, 0, -1]), np.array([1, 0, 0, 0, 1, 1])
    >>> found = gold_scores(given, gold, values=2, rng=np.random.default_rng(0))
    >>> found.confusion.tolist(), found.accuracy.share, found.missing
    ([[2, 1], [1, 1]], 0.6, 1)
    >>> found.by_value[1].precision.share, found.by_value[1].recall.share
    (0.5, 0.5)
    """
    pairs = checked(np.stack([gold, given], axis=1), values)
    compared = pairs[(pairs >= 0).all(axis=1)]
    confusion = np.zeros((values, values), dtype=np.int64)
    np.add.at(confusion, tuple(compared.T), 1)
    return GoldScores(
        confusion=confusion,
        accuracy=wilson_interval(int(confusion.trace()), len(compared), level=level),
        by_value=tuple(_value_scores(confusion, value, level) for value in range(values)),
        kappa=cohen_kappa(
            pairs, values=values, weights=weights, rng=rng, level=level, replicates=replicates
        ),
        items=len(compared),
        missing=int(((pairs[:, 0] >= 0) & (pairs[:, 1] < 0)).sum()),
    )


def _value_scores(confusion: Codes, value: int, level: float) -> ValueScores:
    right = int(confusion[value, value])
    given, gold = int(confusion[:, value].sum()), int(confusion[value].sum())
    either = wilson_interval(right, given + gold - right, level=level)
    return ValueScores(
        precision=wilson_interval(right, given, level=level),
        recall=wilson_interval(right, gold, level=level),
        f1=Proportion(
            *(2 * share / (1 + share) for share in (either.share, either.low, either.high))
        ),
        given=given,
        gold=gold,
    )


def level_errors(
    given: Ratings,
    gold: Ratings,
    *,
    values: int,
    rng: np.random.Generator,
    level: float = 0.95,
    replicates: int = 1000,
) -> LevelErrors:
    """Mean absolute error and bias of annotated levels.

    Tells by how many levels an annotator is off, and whether it leans to one side.

    Formula: means of ``|given - gold|`` and of ``given - gold`` over the items that have both.

    Args:
        given: (N,) annotated levels, 0 to ``values`` - 1, -1 where there is none.
        gold: (N,) the right levels, -1 where none is known.
        values: how many levels there are.
        rng: the source of the draws.
        level: confidence level of the intervals.
        replicates: of the bootstrap over items.

    Returns:
        Both in levels: the error from 0 (all right) to ``values`` - 1, the bias between minus and
        plus that. NaN with the reason when no item has both; no interval when all items have the
        same difference. Intervals are those of ``patterns.estimate``.

    Source: C. J. Willmott, K. Matsuura, "Advantages of the mean absolute error (MAE) over the
    root mean square error (RMSE)", Climate Research 30 (2005), 79-82.

    >>> found = level_errors(
    ...     np.array([1, 3, 0, -1]), np.array([1, 1, 1, 2]), values=4, rng=np.random.default_rng(0)
    ... )
    >>> found.mean_absolute.value, round(found.bias.value, 3), found.items
    (1.0, 0.333, 3)
    """
    pairs = checked(np.stack([gold, given], axis=1), values)
    found = pairable_patterns(pairs, values)
    if not len(found.items):
        nothing = Estimate(math.nan, UNBOUNDED, "no item has both a gold value and an annotation")
        return LevelErrors(nothing, nothing, 0)
    difference = (found.rows[:, 1] - found.rows[:, 0]).astype(np.float64)

    def mean_of(errors: Floats) -> Estimate:
        def mean(weights: Floats) -> Floats:
            means: Floats = weights @ errors / weights.sum(axis=1)
            return means

        return estimate(found.items, mean, rng=rng, level=level, replicates=replicates)

    return LevelErrors(mean_of(np.abs(difference)), mean_of(difference), int(found.items.sum()))
