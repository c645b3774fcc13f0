"""Item statistics: how hard an item is and how well it separates strong models from weak ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..counting.division import ratio

Scores = NDArray[np.floating[Any]]


@dataclass(frozen=True, slots=True, eq=False)
class ItemStatistics:
    """Classical statistics of n items; NaN where undefined."""

    difficulty: NDArray[np.float64]
    discrimination: NDArray[np.float64]
    variance: NDArray[np.float64]
    models: NDArray[np.int64]
    """Models with a score for the item."""


def item_statistics(scores: Scores) -> ItemStatistics:
    """Difficulty, discrimination and variance of every item; see the functions of these names.

    Args:
        scores: (n, m) scores of m models on n items, in [0, 1], NaN where there is none.

    >>> found = item_statistics(np.array([[1.0, 0.0], [1.0, 1.0]]))
    >>> found.difficulty, found.models
    (array([0.5, 0. ]), array([2, 2]))
    """
    return ItemStatistics(
        difficulty=difficulty(scores),
        discrimination=discrimination(scores),
        variance=variance(scores),
        models=(~np.isnan(scores)).sum(axis=1),
    )


def difficulty(scores: Scores) -> NDArray[np.float64]:
    """Difficulty of every item.

    Tells how much of an item the models fail on average.

    Formula: 1 less the mean score of the item over the models that have one. (Classical test
    theory often prints the mean score itself, which grows as items get easier.)

    Args:
        scores: (n, m), as in ``item_statistics``.

    Returns:
        (n,) in [0, 1]: 0 is solved by every model, 1 by none. NaN for an item without a score.

    Source: F. M. Lord and M. R. Novick, Statistical Theories of Mental Test Scores (1968), 15.4.

    >>> difficulty(np.array([[1.0, 0.0, 0.0, np.nan]])).round(3)
    array([0.667])
    """
    known, filled = _filled(scores)
    return 1 - ratio(filled.sum(axis=1), known.sum(axis=1))


def variance(scores: Scores) -> NDArray[np.float64]:
    """Variance of every item's scores over the models.

    Tells how evenly an item splits the models, whichever models they are.

    Formula: population variance over the models with a score; p (1 - p) for right and wrong.

    Args:
        scores: (n, m), as in ``item_statistics``.

    Returns:
        (n,) in [0, 0.25]: 0 when all models score alike, 0.25 when half are right and half wrong.
        NaN for an item without a score.

    Source: F. M. Lord and M. R. Novick, Statistical Theories of Mental Test Scores (1968), 15.3.

    >>> variance(np.array([[1.0, 0.0], [1.0, 1.0]]))
    array([0.25, 0.  ])
    """
    known, filled = _filled(scores)
    number = known.sum(axis=1)
    mean = ratio(filled.sum(axis=1), number)
    deviation = np.where(known, filled - mean[:, None], 0.0)
    return ratio((deviation**2).sum(axis=1), number)


def discrimination(scores: Scores) -> NDArray[np.float64]:
    """Discrimination of every item: its corrected item-rest correlation.

    Tells whether the models that do well on the rest of the benchmark are the ones that solve the
    item. An item that the better models fail has a negative one; look at its key first.

    Formula: Pearson's correlation, over the models with a score for the item, of that score with
    the model's mean score on its other items.

    Args:
        scores: (n, m), as in ``item_statistics``.

    Returns:
        (n,) in [-1, 1]: 1 is a perfect separation, 0 none. NaN for an item that all its models
        score alike (nothing to correlate), with fewer than two models, or whose models are all
        alike on the rest.

    Source: F. M. Lord and M. R. Novick, Statistical Theories of Mental Test Scores (1968), 15.

    >>> scores = np.array([[1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [1.0, 1.0, 1.0]])
    >>> discrimination(scores).round(3)
    array([0.5, 0.5, nan])
    """
    known, filled = _filled(scores)
    others = known.sum(axis=0) - known
    rest = ratio(filled.sum(axis=0) - filled, others)
    counted = known & ~np.isnan(rest)
    item = _centred(filled, counted)
    rest = _centred(np.nan_to_num(rest), counted)
    spread = np.sqrt((item**2).sum(axis=1) * (rest**2).sum(axis=1))
    return ratio((item * rest).sum(axis=1), np.where(spread > 1e-12, spread, 0.0))


def _filled(scores: Scores) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
    known = ~np.isnan(scores)
    return known, np.where(known, scores, 0.0).astype(np.float64)


def _centred(values: NDArray[np.float64], counted: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Values less their row's mean, both over the counted cells; 0 elsewhere."""
    kept = np.where(counted, values, 0.0)
    mean = ratio(kept.sum(axis=1), counted.sum(axis=1))
    return np.where(counted, kept - mean[:, None], 0.0)
