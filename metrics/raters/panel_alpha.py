"""Agreement between one rater and a panel whose members rate some of the items each."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from .agreement import Agreement
from .krippendorff import Scale, alpha_of_distances, alpha_statistic
from .patterns import (
    UNBOUNDED,
    Bounds,
    Codes,
    Estimate,
    Floats,
    Ratings,
    checked,
    estimate,
    patterns,
)


def panel_alpha(
    panel: Ratings,
    rater: Ratings,
    *,
    values: int,
    scale: Scale | None = None,
    distances: Floats | None = None,
    rng: np.random.Generator,
    level: float = 0.95,
    replicates: int = 1000,
) -> Agreement:
    """Krippendorff's alpha between a rater and whoever of a panel rated an item.

    Tells how far above chance a rater agrees with a member of the panel. How far the members agree
    with each other has no part in it, and no value has to be made of theirs: where two of them
    differ, the rater agrees with one at most.

    Formula: ``krippendorff_alpha`` over pairs of a member's and the rater's value, a pair of an
    item with k members counting 1 / k. With one member an item it is that of two raters.

    The interval is that of ``patterns.estimate``. Where nothing differs, it begins at
    ``1 - u / (1 - sum of squared prevalences)`` with u the upper limit (C. J. Clopper and E. S.
    Pearson, Biometrika 26 (1934), 404-413) of the share of items that differ when none of N does.

    Args:
        panel: (N, R) values coded 0 to ``values`` - 1, -1 where a member did not rate the item.
        rater: (N,) values of the rater, -1 where there is none.
        values: how many values there are.
        scale: how much a disagreement weighs; or
        distances: (V, V) between values, symmetric, 0 on the diagonal.
        rng: the source of the draws.
        level: confidence level of the interval.
        replicates: of the bootstrap; items are drawn, members stay.

    Returns:
        An ``Agreement``, at most 1: 1 is perfect, 0 what chance gives. Its ``raw`` is the chance
        that the rater agrees with a member. Undefined when no item has both, or when every value is
        the same.

    Raises:
        ValueError: a value is out of range.

    Source: K. Krippendorff, "Computing Krippendorff's alpha-reliability" (2011).

    >>> panel = np.array([[0, 0], [0, 1], [1, -1], [1, 1]] * 10)
    >>> found = panel_alpha(
    ...     panel, np.array([0, 0, 1, 1] * 10), values=2, scale="nominal",
    ...     rng=np.random.default_rng(0),
    ... )
    >>> found.raw, round(found.estimate, 3)
    (0.875, 0.749)
    """
    coded = checked(np.column_stack([panel, rater]), values)
    both = (coded[:, -1] >= 0) & (coded[:, :-1] >= 0).any(axis=1)
    found = patterns(coded[both], values)
    pairs, shares = _pairs(found.rows)
    counts = np.eye(values)[pairs].sum(axis=1)
    alpha = (
        alpha_statistic(counts, scale or "nominal")
        if distances is None
        else alpha_of_distances(counts, distances)
    )
    if len(found.items):
        result = estimate(
            found.items,
            lambda weights: alpha(weights @ shares),
            rng=rng,
            level=level,
            replicates=replicates,
        )
    else:
        result = Estimate(math.nan, UNBOUNDED, "no item has values of both")
    weights, pairable = found.items @ shares, int(found.items.sum())
    prevalence = tuple(_share(given, 2 * weights.sum()) for given in weights @ counts)
    if result.value == 1:
        result = Estimate(1.0, _where_all_agree(pairable, prevalence, level), None)
    return Agreement(
        estimate=result.value,
        interval=result.interval,
        raw=_share(weights @ (pairs[:, 0] == pairs[:, 1]), weights.sum()),
        prevalence=prevalence,
        items=len(coded),
        raters=int((coded[both] >= 0).any(axis=0).sum()),
        pairable=pairable,
        reason=result.reason,
    )


def _pairs(rows: Codes) -> tuple[Codes, Floats]:
    """The distinct pairs of member and rater (Q, 2), and each pattern's shares of them (P, Q)."""
    pattern, member = np.nonzero(rows[:, :-1] >= 0)
    given = np.column_stack([rows[pattern, member], rows[pattern, -1]])
    pairs, place = np.unique(given, axis=0, return_inverse=True)
    shares = np.zeros((len(rows), len(pairs)))
    np.add.at(shares, (pattern, place.reshape(-1)), 1.0)
    return pairs, shares / np.maximum(shares.sum(axis=1, keepdims=True), 1)


def _where_all_agree(items: int, prevalence: Sequence[float], level: float) -> Bounds:
    """The interval where nothing differs, of which resamples cannot tell."""
    largest = 1 - ((1 - level) / 2) ** (1 / items)
    by_chance = 1 - sum(share**2 for share in prevalence)
    return Bounds(1 - largest / by_chance, 1.0)


def _share(part: float, whole: float) -> float:
    return float(part / whole) if whole else math.nan
