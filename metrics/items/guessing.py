"""Guessing: what choosing at random would score on an item."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..counting.division import ratio

Floats = NDArray[np.float64]


def guessing_floor(choices: NDArray[np.int64]) -> Floats:
    """Score that choosing at random among the choices is expected to give, on every item.

    Tells below which mean score an item is not hard but misleading, or its key wrong.

    Formula: ``1 / number of choices``; 0 for an item without choices.

    Args:
        choices: (n,) number of choices of each item, 0 for an open question.

    Returns:
        (n,) in [0, 1].

    Source: F. M. Lord and M. R. Novick, Statistical Theories of Mental Test Scores (1968), 14.

    >>> guessing_floor(np.array([4, 2, 0]))
    array([0.25, 0.5 , 0.  ])
    """
    return np.nan_to_num(ratio(np.ones(len(choices)), choices))


def above_guessing(means: Floats, floor: Floats) -> Floats:
    """Mean score of every item, corrected for guessing.

    Tells how far the models are beyond chance, so that items with different numbers of choices can
    be compared.

    Formula: ``(mean - floor) / (1 - floor)``.

    Args:
        means: (n,) mean score of the models on each item, in [0, 1].
        floor: (n,) as ``guessing_floor`` gives it.

    Returns:
        (n,) at most 1: 0 is what guessing gives, below 0 is worse than guessing. NaN where the mean
        is, or with a single choice.

    Source: F. M. Lord and M. R. Novick, Statistical Theories of Mental Test Scores (1968), 14.

    >>> above_guessing(np.array([0.25, 0.7]), np.array([0.25, 0.4])).round(2)
    array([0. , 0.5])
    """
    return ratio(means - floor, 1 - floor)
