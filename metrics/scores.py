"""Item scores: what is there, and what kind it is."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Scores = NDArray[Any]
"""Items by models, (n, m): scores in [0, 1], NaN where there is none. Whole numbers, which have no
NaN, are right and wrong for every model and item, an eighth of the memory."""

_ROWS_AT_ONCE = 1 << 22
"""Elements that are looked at together: comparisons of a large matrix are not to be as large."""


def known(scores: Scores) -> NDArray[np.bool_]:
    """Where there is a score.

    >>> known(np.array([[0.5, np.nan]])), known(np.array([[1, 0]], dtype=np.int8))
    (array([[ True, False]]), array([[ True,  True]]))
    """
    if scores.dtype.kind == "f":
        return ~np.isnan(scores)
    return np.broadcast_to(np.True_, scores.shape)


def is_complete(scores: Scores) -> bool:
    """Whether every model has a score for every item."""
    if scores.dtype.kind != "f":
        return True
    return all(not np.isnan(part).any() for part in _parts(scores))


def is_binary(scores: Scores) -> bool:
    """Whether every score that is there is 0 or 1.

    >>> is_binary(np.array([1, np.nan])), is_binary(np.array([0.5]))
    (True, False)
    """
    return all(bool(((part == 0) | (part == 1) | (part != part)).all()) for part in _parts(scores))


def _parts(scores: Scores) -> list[Scores]:
    width = max(1, scores.size // max(len(scores), 1))
    rows = max(1, _ROWS_AT_ONCE // width)
    return [scores[start : start + rows] for start in range(0, len(scores), rows)]
