"""Division that leaves a hole where there is nothing to divide by."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def ratio(part: NDArray[Any], whole: NDArray[Any]) -> NDArray[np.float64]:
    """``part / whole``, NaN where ``whole`` is not above 0.

    >>> ratio(np.array([1, 1]), np.array([2, 0]))
    array([0.5, nan])
    """
    hole = np.full(part.shape, np.nan)
    quotient: NDArray[np.float64] = np.divide(
        part, whole, out=hole, where=whole > 0, dtype=np.float64
    )
    return quotient
