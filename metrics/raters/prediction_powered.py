"""Prediction-powered inference: a mean from many predictions and the labels of a random sample.

Predictions for all items are precise but biased; labels of a random few are unbiased but few. A
prediction-powered mean corrects the one by the other, and its interval holds whatever the
predictions are worth.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit

from .patterns import UNBOUNDED, Bounds, Estimate, Floats

_CORNERS = ((0.0, 0.0), (0.0, 1.0), (1.0, 0.0), (1.0, 1.0))
"""The pairs of label and prediction of which each share is given half an item more."""


@dataclass(frozen=True, slots=True, eq=False)
class Stratum:
    """Items of which some, chosen at random, have a label."""

    labels: Floats
    """(n,): what is right."""
    predictions: Floats
    """(n,): what was predicted for the same items."""
    others: Floats
    """(N - n,): what was predicted for the items without a label."""

    @property
    def items(self) -> int:
        """N, how many items there are."""
        return len(self.labels) + len(self.others)


@dataclass(frozen=True, slots=True)
class PredictionPowered:
    """A mean over all items, corrected by labels."""

    estimate: float
    """NaN when undefined."""
    interval: Bounds
    """NaN at both ends when there is none."""
    tuning: float
    """How much the predictions count, from 0 (not at all) to 1."""
    labels_only: Estimate
    """The mean as the labels alone give it: the classical estimate."""
    predicted: float
    """The mean of the predictions as they are; NaN when there is no item."""
    labelled: int
    items: int

    @property
    def reason(self) -> str | None:
        """Why the estimate, or only its interval, is undefined; none when both are defined."""
        return self.labels_only.reason


def prediction_powered_mean(
    strata: Sequence[Stratum],
    *,
    tuning: float | None = None,
    finite: bool = True,
    level: float = 0.95,
) -> PredictionPowered:
    """Mean of what labels measure, over all items, from a sample of labels and all predictions.

    Tells what labelling every item would give. Where predictions are good, the interval is narrower
    than that of the labels alone; where they are bad, it is hardly wider.

    Formula: with W_h the share of the items that are in stratum h, y labels, f predictions,

    - estimate ``sum_h W_h (t mean_others(f) + mean_labelled(y - t f))``;
    - tuning ``t = sum_h W_h² cov_h(y, f) / n_h / sum_h W_h² (1/n_h + 1/(N_h - n_h)) var_h(f)``,
      both over the labelled items, brought into [0, 1]: it makes the variance least;
    - variance, of finitely many items, ``sum_h W_h² (1 - n_h/N_h) var_h(y - g f) / n_h`` with
      ``g = t N_h / (N_h - n_h)``; of all items of their kind,
      ``sum_h W_h² (var_h(y - t f) / n_h + t² var_h(others) / (N_h - n_h))``;
    - interval: estimate ± Student's quantile with n - H degrees of freedom × standard error.

    Args:
        strata: H of them. Within each, the labelled items are a random sample of its items; the
            share of items that are labelled may differ between strata.
        tuning: t, when it is not to be estimated; 0 leaves the predictions out.
        finite: whether the mean is that of these items, all of which are given; otherwise that of
            all items of their kind, of which these are a sample.
        level: confidence level, between 0 and 1.

    Returns:
        Estimates in the unit of the labels. NaN with the reason when a stratum has no label; no
        interval when a stratum has one, or when all differences are the same, which says nothing of
        how rare another one is. Of shares use ``prediction_powered_share``.

    Source: A. N. Angelopoulos, S. Bates, C. Fannjiang, M. I. Jordan, T. Zrnic, "Prediction-powered
    inference", Science 382 (2023), 669-674; A. N. Angelopoulos, J. C. Duchi, T. Zrnic, "PPI++",
    arXiv 2311.01453, for the tuning (there with the variance of all predictions; that of the
    labelled ones gives small samples less bias, and none where predictions are right); A. Fisch et
    al., arXiv 2406.04291, for strata. Of finitely many items it is the regression estimator:
    W. G. Cochran, Sampling Techniques (1977), 7.3-7.10.

    >>> sample = Stratum(np.array([1.0, 2, 3, 2]), np.array([2.0, 2, 3, 3]), np.full(6, 3.0))
    >>> found = prediction_powered_mean([sample], tuning=1)
    >>> found.estimate, found.predicted, found.labels_only.value
    (2.5, 2.8, 2.0)
    """
    return _powered(strata, tuning, finite, level, share=False)


def prediction_powered_share(
    strata: Sequence[Stratum],
    *,
    tuning: float | None = None,
    finite: bool = True,
    level: float = 0.95,
) -> PredictionPowered:
    """Share of the items that labels say have a property, from a sample and all predictions.

    Tells how frequent a value is, whatever share the predictions give it.

    Formula: the estimate is that of ``prediction_powered_mean`` with labels and predictions of 0 or
    1. For the interval each of the four pairs of label and prediction is given half an item more
    (in stratum h, ``W_h / 2``), so that a sample in which nothing differs is not taken for
    certainty.

    Args:
        strata: as there; labels and predictions from 0 to 1 (a label between the two is a share of
            several people).
        tuning: as there.
        finite: as there.
        level: as there.

    Returns:
        As there, within [0, 1]; undefined only when a stratum has no label. The interval ends at 0
        and 1.

    Source: as there; A. Agresti, Y. Min, "Simple improved confidence intervals for comparing
    matched proportions", Statistics in Medicine 24 (2005), 729-740, for the half items.

    >>> labels = np.repeat([1.0, 0.0], [10, 30])
    >>> sample = Stratum(labels, labels, np.repeat([1.0, 0.0], [150, 210]))
    >>> found = prediction_powered_share([sample])
    >>> f"{found.estimate:.2f} {found.interval.low:.2f} {found.interval.high:.2f}"
    '0.40 0.35 0.45'
    """
    return _powered(strata, tuning, finite, level, share=True)


def common_tuning(outcomes: Sequence[Sequence[Stratum]]) -> float:
    """One tuning for several means over the same items, such as the shares of all values.

    Tells how much the predictions should count, in all, so that corrected shares of values of which
    each item has one sum to 1, as they do with one tuning for all.

    Formula: that of ``prediction_powered_mean``, numerator and denominator each summed over the
    means: it makes the sum of their variances least.

    Args:
        outcomes: the strata of each mean.

    Returns:
        From 0 to 1; 0 when predictions do not vary among the labelled items.

    Source: PPI++, arXiv 2311.01453; it is "overall" in ppi-python.

    >>> labels = np.array([1.0, 0, 0, 1])
    >>> sample = Stratum(labels, labels, np.zeros(4))
    >>> common_tuning([[sample]])
    0.5
    """
    gained = spent = 0.0
    for strata in outcomes:
        for stratum, weight in zip(strata, _weights(strata), strict=True):
            given, rest = len(stratum.labels), len(stratum.others)
            if rest:
                centred = stratum.predictions - stratum.predictions.mean()
                gained += weight**2 / given * float(stratum.labels @ centred) / given
                spent += weight**2 * (1 / given + 1 / rest) * float(centred @ centred) / given
    return min(max(gained / spent, 0.0), 1.0) if spent else 0.0


def prediction_bias(
    strata: Sequence[Stratum], *, share: bool, finite: bool = True, level: float = 0.95
) -> Estimate:
    """Mean of predictions minus labels over all items.

    Tells by how much, and to which side, the predictions lead a mean or a share astray.

    Formula: ``sum_h W_h mean_labelled(f - y)``; interval as that of ``prediction_powered_mean``, or
    of a share as that of ``prediction_powered_share``.

    Args:
        strata: as there.
        share: whether labels and predictions say if an item has a property.
        finite: as there.
        level: as there.

    Returns:
        Above 0 when predictions are too high. Undefined as there.

    Source: as there.

    >>> sample = Stratum(np.zeros(20), np.repeat([1.0, 0.0], [5, 15]), np.zeros(80))
    >>> round(prediction_bias([sample], share=True).value, 2)
    0.25
    """
    reason = _unlabelled(strata)
    if reason is not None:
        return Estimate(math.nan, UNBOUNDED, reason)
    contrasts = [_Contrast(slope=1.0, finite=finite) for _ in strata]
    found = _estimate(strata, contrasts, level, share=share)
    low, high = found.interval
    return Estimate(-found.value, Bounds(-high, -low), found.reason)


@dataclass(frozen=True, slots=True)
class _Contrast:
    """What a stratum gives: ``constant + mean of (labels - slope * predictions)``."""

    slope: float
    finite: bool
    constant: float = 0.0
    variance: float = 0.0
    """Of the constant."""


def _powered(
    strata: Sequence[Stratum], tuning: float | None, finite: bool, level: float, *, share: bool
) -> PredictionPowered:
    items = sum(stratum.items for stratum in strata)
    labelled = sum(len(stratum.labels) for stratum in strata)
    everything = [values for s in strata for values in (s.predictions, s.others)]
    predicted = float(np.concatenate(everything).mean()) if items else math.nan
    reason = _unlabelled(strata)
    if reason is not None:
        nothing = Estimate(math.nan, UNBOUNDED, reason)
        return PredictionPowered(math.nan, UNBOUNDED, math.nan, nothing, predicted, labelled, items)
    weight = common_tuning([strata]) if tuning is None else tuning
    found, labels_only = (
        _estimate(strata, [_corrected(s, t, finite) for s in strata], level, share=share)
        for t in (weight, 0.0)
    )
    if share:
        found, labels_only = _possible(found), _possible(labels_only)
    return PredictionPowered(
        found.value, found.interval, weight, labels_only, predicted, labelled, items
    )


def _possible(share: Estimate) -> Estimate:
    """Cut an estimate to what a share can be; what is cut off cannot be true."""
    value, *ends = (min(max(end, 0.0), 1.0) for end in (share.value, *share.interval))
    return Estimate(value, Bounds(*ends) if share.reason is None else UNBOUNDED, share.reason)


def _unlabelled(strata: Sequence[Stratum]) -> str | None:
    if not strata:
        return "there is no item"
    return None if all(len(s.labels) for s in strata) else "a stratum has no labelled item"


def _weights(strata: Sequence[Stratum]) -> list[float]:
    sizes = [stratum.items for stratum in strata]
    return [size / sum(sizes) for size in sizes]


def _corrected(stratum: Stratum, tuning: float, finite: bool) -> _Contrast:
    given, rest = len(stratum.labels), len(stratum.others)
    if not rest:
        return _Contrast(slope=0.0, finite=finite)
    if not finite:
        spread = float(stratum.others.var(ddof=1)) if rest > 1 else 0.0
        constant = tuning * float(stratum.others.mean())
        return _Contrast(tuning, finite, constant, tuning**2 * spread / rest)
    slope = tuning * (given + rest) / rest
    both = float(stratum.predictions.sum() + stratum.others.sum()) / (given + rest)
    return _Contrast(slope, finite, slope * both)


def _estimate(
    strata: Sequence[Stratum], contrasts: Sequence[_Contrast], level: float, *, share: bool
) -> Estimate:
    value = centre = variance = 0.0
    for stratum, contrast, weight in zip(strata, contrasts, _weights(strata), strict=True):
        differences = stratum.labels - contrast.slope * stratum.predictions
        value += weight * (contrast.constant + float(differences.mean()))
        middle, square = _with_half_items(differences, contrast.slope, weight * share)
        left = len(stratum.others) / stratum.items if contrast.finite else 1.0
        centre += weight * (contrast.constant + middle)
        variance += weight**2 * (contrast.variance + left * square)
    freedom = sum(len(stratum.labels) for stratum in strata) - len(strata)
    if not share and (reason := _no_interval(strata, variance)) is not None:
        return Estimate(value, UNBOUNDED, reason)
    if share and freedom < 1:
        return Estimate(value, UNBOUNDED, "no interval: a single labelled item")
    reach = float(stdtrit(freedom, (1 + level) / 2)) * math.sqrt(variance)
    return Estimate(value, Bounds(centre - reach, centre + reach), None)


def _with_half_items(differences: Floats, slope: float, weight: float) -> tuple[float, float]:
    """Mean of differences and its squared standard error; ``weight`` pairs in all are added."""
    if not weight:
        given = len(differences)
        spread = float(differences.var(ddof=1)) / given if given > 1 else math.nan
        return float(differences.mean()), spread
    added = np.array([label - slope * prediction for label, prediction in _CORNERS])
    number = len(differences) + 2 * weight
    mean = float(differences.sum() + weight / 2 * added.sum()) / number
    squares = float(((differences - mean) ** 2).sum() + weight / 2 * ((added - mean) ** 2).sum())
    return mean, squares / (number * (number - 1))


def _no_interval(strata: Sequence[Stratum], variance: float) -> str | None:
    if min(len(stratum.labels) for stratum in strata) < 2:
        return "no interval: a stratum has a single labelled item"
    complete = not any(len(stratum.others) for stratum in strata)
    return None if variance > 0 or complete else "no interval: all differences are the same"
