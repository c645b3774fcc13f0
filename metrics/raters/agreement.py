"""Agreement: how far raters who looked at the same items gave them the same values.

Three numbers belong together, and every coefficient here carries them: the coefficient, the raw
agreement, and how prevalent each value is. Where one value is rare, raters can agree on 97 % of
the items and have a coefficient near 0.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..counting.division import ratio
from .patterns import (
    UNBOUNDED,
    Bounds,
    Codes,
    Estimate,
    Floats,
    Patterns,
    Ratings,
    Statistic,
    checked,
    estimate,
    patterns,
)


@dataclass(frozen=True, slots=True)
class Agreement:
    """A coefficient of agreement, with what one needs in order to read it."""

    estimate: float
    """The coefficient: 1 is perfect agreement, 0 agreement by chance; NaN when undefined."""
    interval: Bounds
    """Bootstrap interval over items; NaN when there is none."""
    raw: float
    """Raw agreement, see ``raw_agreement``; defined even when one value is all there is."""
    prevalence: tuple[float, ...]
    """Share of each value among the ratings of pairable items."""
    items: int
    """Items given, rated or not."""
    raters: int
    """Raters who rated at least one item."""
    pairable: int
    """Items with at least two ratings: no other says anything about agreement."""
    reason: str | None
    """Why the estimate, or only its interval, is undefined; none when both are defined."""


def raw_agreement(ratings: Ratings) -> float:
    """Raw agreement: how often two raters of an item gave it the same value.

    Tells what share of the work comes out the same with another rater. It is high by chance alone
    when one value is prevalent: read it beside a coefficient, never instead.

    Formula: the mean over pairable items of ``sum_v n_v (n_v - 1) / (n (n - 1))`` with n ratings
    of the item, n_v of them v.

    Args:
        ratings: (N, R) items by raters, values coded from 0, -1 where there is none.

    Returns:
        A share in [0, 1]: 1 when the raters of each item agree, 0 when no two of them do. NaN
        when no item has two ratings.

    Source: J. L. Fleiss, "Measuring nominal scale agreement among many raters", Psychological
    Bulletin 76 (1971), 378-382, equation 2.

    >>> raw_agreement(np.array([[0, 0, 1], [2, 2, 2], [1, -1, -1]]))
    0.6666666666666666
    """
    values = int(ratings.max(initial=0)) + 1
    found = pairable_patterns(checked(ratings, values), values)
    return _raw(found.items, found.counts(values))


def prevalence(ratings: Ratings, *, values: int) -> tuple[float, ...]:
    """Prevalence: how often each value is given.

    Tells whether a coefficient rests on a rare value: with 2 of 100 ratings "yes", a few items
    decide over it.

    Formula: ratings of the value / all ratings, over the items with at least two ratings.

    Args:
        ratings: (N, R) items by raters, values coded 0 to ``values`` - 1, -1 where there is none.
        values: how many values there are.

    Returns:
        One share a value, in [0, 1], that sum to 1; NaN when no item has two ratings.

    Source: T. Byrt, J. Bishop, J. B. Carlin, "Bias, prevalence and kappa", Journal of Clinical
    Epidemiology 46 (1993), 423-429, for why it stands beside a coefficient.

    >>> prevalence(np.array([[0, 0], [0, 1], [2, -1]]), values=3)
    (0.75, 0.25, 0.0)
    """
    found = pairable_patterns(checked(ratings, values), values)
    return _prevalence(found.items, found.counts(values))


def pairable_patterns(ratings: Codes, values: int) -> Patterns:
    """Patterns of the items with at least two ratings; the order of an item's ratings is kept."""
    return patterns(ratings[(ratings >= 0).sum(axis=1) >= 2], values)


def unordered(ratings: Codes) -> Codes:
    """Sort each item's ratings, for a statistic to which it is the same who gave which."""
    return np.sort(ratings, axis=1)


def assess(
    ratings: Ratings,
    items: Codes,
    counts: Floats,
    statistic: Statistic,
    *,
    rng: np.random.Generator,
    level: float,
    replicates: int,
) -> Agreement:
    """Estimate a coefficient and put beside it what belongs there.

    Args:
        ratings: (N, R), as the coefficient was given them.
        items: (P,) how many pairable items have each pattern.
        counts: (P, values) how many raters of a pattern gave each value.
        statistic: the coefficient, of weights of the patterns.
        rng: the source of the draws.
        level: confidence level of the interval.
        replicates: of the bootstrap.
    """
    raters = int((ratings >= 0).any(axis=0).sum())
    if raters < 2:
        result = Estimate(math.nan, UNBOUNDED, "fewer than two raters")
    elif not len(items):
        result = Estimate(math.nan, UNBOUNDED, "no item has ratings of two raters")
    else:
        result = estimate(items, statistic, rng=rng, level=level, replicates=replicates)
    return Agreement(
        estimate=result.value,
        interval=result.interval,
        raw=_raw(items, counts),
        prevalence=_prevalence(items, counts),
        items=len(ratings),
        raters=raters,
        pairable=int(items.sum()),
        reason=result.reason,
    )


def beyond_chance(observed: Floats, expected: Floats) -> Floats:
    """``1 - observed / expected`` disagreement; NaN where chance leaves nothing to disagree on."""
    return 1.0 - ratio(observed, expected)


def agreeing_pairs(counts: Floats) -> Floats:
    """Share of an item's pairs of ratings that agree, (P, values) to (P,)."""
    number = counts.sum(axis=1)
    shares: Floats = (counts * (counts - 1)).sum(axis=1) / (number * (number - 1))
    return shares


def _raw(items: Codes, counts: Floats) -> float:
    return float(items @ agreeing_pairs(counts) / items.sum()) if len(items) else math.nan


def _prevalence(items: Codes, counts: Floats) -> tuple[float, ...]:
    given = items @ counts
    total = given.sum()
    return tuple((given / total).tolist()) if total else (math.nan,) * len(given)
