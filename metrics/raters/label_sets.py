"""Agreement on sets of labels, where a rater may give an item several labels or none."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from .agreement import (
    Agreement,
    assess,
    beyond_chance,
    pairable_patterns,
    unordered,
)
from .krippendorff import alpha_of_distances, krippendorff_alpha
from .patterns import (
    UNBOUNDED,
    Codes,
    Estimate,
    Floats,
    Ratings,
    Statistic,
    estimate,
)

SetDistance = Literal["masi", "jaccard"]


def label_set_alpha(
    label_sets: Ratings,
    *,
    distance: SetDistance,
    rng: np.random.Generator,
    level: float = 0.95,
    replicates: int = 1000,
) -> Agreement:
    """Krippendorff's alpha of whole sets of labels, which may agree in part.

    Tells how far above chance raters agree on the set as a whole: one label too many weighs less
    than another set altogether.

    Formula: nominal alpha (``krippendorff_alpha``) with another distance of two sets A and B,

    - Jaccard: ``1 - J`` with ``J = |A and B| / |A or B|``, and J = 1 for two empty sets;
    - MASI: ``1 - J M`` with M 1 for equal sets, 2/3 when one contains the other, 1/3 when they
      overlap without that, 0 when they have nothing in common.

    Args:
        label_sets: (N, R, L) items by raters by labels: 1 where the rater gave the label, 0 where
            not, -1 in all labels where the rater did not rate the item.
        distance: of two sets.
        rng: the source of the draws.
        level: confidence level of the interval.
        replicates: of the bootstrap; items are drawn, raters stay.

    Returns:
        An ``Agreement``; the estimate is at most 1: 1 is perfect, 0 what chance gives. Its ``raw``
        is the share of pairs with the very same set, its ``prevalence`` the share of ratings that
        hold a label, one a label; the shares need not sum to 1. Undefined as
        ``krippendorff_alpha`` is, a value being a set.

    Raises:
        ValueError: a rater has values for some labels of an item only, or a value is none of 0, 1
            and -1.

    Source: R. Passonneau, "Measuring agreement on set-valued items (MASI) for semantic and
    pragmatic annotation", LREC 2006.

    >>> sets = np.array([[[1, 0], [1, 0]], [[1, 1], [1, 0]], [[0, 1], [0, 1]]] * 10)
    >>> found = label_set_alpha(sets, distance="jaccard", rng=np.random.default_rng(0))
    >>> round(found.estimate, 3), round(found.raw, 3), np.round(found.prevalence, 3).tolist()
    (0.653, 0.667, [0.667, 0.5])
    """
    codes, sets = _coded_sets(label_sets)
    found = pairable_patterns(unordered(codes), len(sets))
    counts = found.counts(len(sets))
    result = assess(
        codes,
        found.items,
        counts,
        alpha_of_distances(counts, set_distances(sets, distance)),
        rng=rng,
        level=level,
        replicates=replicates,
    )
    return replace(result, prevalence=tuple((np.array(result.prevalence) @ sets).tolist()))


@dataclass(frozen=True, slots=True)
class LabelAgreement:
    """Agreement on each label of a set by itself, and its mean."""

    mean: Estimate
    """Mean alpha over the labels that have one."""
    labels: tuple[Agreement, ...]
    """One a label; undefined, with its reason, for a label that all ratings or none have."""

    @property
    def defined(self) -> int:
        """How many labels the mean is over."""
        return sum(not math.isnan(label.estimate) for label in self.labels)


def per_label_alpha(
    label_sets: Ratings,
    *,
    rng: np.random.Generator,
    level: float = 0.95,
    replicates: int = 1000,
) -> LabelAgreement:
    """Krippendorff's alpha of each label by itself, and the mean over labels.

    Tells on which labels raters agree: each one is a yes or no of its own.

    Formula: nominal ``krippendorff_alpha`` of the two values, not given and given, for each label;
    the mean is over the labels where it is defined.

    Args:
        label_sets: (N, R, L), as in ``label_set_alpha``.
        rng: the source of the draws.
        level: confidence level of the intervals.
        replicates: of the bootstrap; for the mean, all labels of an item are drawn together.

    Returns:
        The mean and each label's agreement, at most 1: 1 is perfect, 0 what chance gives. The mean
        is NaN with its reason when no label is defined; a resample where a label of the mean is
        not given counts as one without a mean.

    Raises:
        ValueError: as in ``label_set_alpha``.

    Source: K. Krippendorff, "Computing Krippendorff's alpha-reliability" (2011).

    >>> sets = np.array([[[1, 0], [1, 0]], [[1, 1], [1, 0]], [[0, 1], [0, 1]]] * 10)
    >>> found = per_label_alpha(sets, rng=np.random.default_rng(0))
    >>> [round(label.estimate, 3) for label in found.labels], round(found.mean.value, 3)
    ([1.0, 0.344], 0.672)
    """
    codes, sets = _coded_sets(label_sets)
    labels = tuple(
        krippendorff_alpha(
            label_sets[:, :, label],
            values=2,
            scale="nominal",
            rng=rng,
            level=level,
            replicates=replicates,
        )
        for label in range(sets.shape[1])
    )
    defined = np.array([not math.isnan(label.estimate) for label in labels], dtype=bool)
    if not defined.any():
        reason = labels[0].reason if labels else "no labels"
        return LabelAgreement(Estimate(math.nan, UNBOUNDED, reason), labels)
    found = pairable_patterns(unordered(codes), len(sets))
    statistic = _mean_alpha(found.counts(len(sets)), sets[:, defined])
    mean = estimate(found.items, statistic, rng=rng, level=level, replicates=replicates)
    return LabelAgreement(mean, labels)


def _mean_alpha(counts: Floats, sets: Floats) -> Statistic:
    number = counts.sum(axis=1)
    having = counts @ sets
    within = having * (number[:, None] - having) / (number[:, None] - 1)

    def alpha(weights: Floats) -> Floats:
        given, total = weights @ having, (weights @ number)[:, None]
        mean: Floats = beyond_chance(weights @ within, given * (total - given) / (total - 1)).mean(
            axis=1
        )
        return mean

    return alpha


def _coded_sets(label_sets: Ratings) -> tuple[Codes, Floats]:
    """Number the distinct sets: the code of each rating (N, R), and the sets (V, L)."""
    if label_sets.ndim != 3 or not np.isin(label_sets, (-1, 0, 1)).all():
        raise ValueError(
            f"label sets of shape {label_sets.shape!r}; "
            "wanted items by raters by labels, each 1, 0, or -1 for none"
        )
    absent = label_sets == -1
    rated = ~absent.any(axis=2)
    if (absent.any(axis=2) != absent.all(axis=2)).any():
        item, rater = np.argwhere(absent.any(axis=2) != absent.all(axis=2))[0].tolist()
        raise ValueError(
            f"item {item} by rater {rater} has values for some labels only; wanted all or none"
        )
    codes = np.full(rated.shape, -1, dtype=np.int64)
    sets, codes[rated] = np.unique(label_sets[rated], axis=0, return_inverse=True)
    return codes, sets.astype(np.float64)


def set_distances(sets: Floats, distance: SetDistance) -> Floats:
    """Distances between sets of labels (V, L) of 0 and 1, as ``label_set_alpha`` has them."""
    common = sets @ sets.T
    size = sets.sum(axis=1)
    either = size[:, None] + size - common
    jaccard = np.divide(common, either, out=np.ones_like(common), where=either > 0)
    smaller, larger = np.minimum(size[:, None], size), np.maximum(size[:, None], size)
    kind = np.select([common == larger, common == smaller, common > 0], [3.0, 2.0, 1.0]) / 3
    distances: dict[str, Floats] = {"jaccard": 1.0 - jaccard, "masi": 1.0 - jaccard * kind}
    return distances[distance]
