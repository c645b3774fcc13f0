"""Quality: consistency, discriminability and alignment in one number."""

from __future__ import annotations

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Number = TypeVar("Number", float, NDArray[np.float64])


def benchmark_quality(consistency: Number, discriminability: Number, alignment: Number) -> Number:
    """Benchmark quality score (BQS).

    Tells how well a benchmark serves to compare models, as the Benchmark^2 paper weighs it.

    Formula: ``BQS = 0.3 (CBRC + 1) / 2 + 0.3 DS + 0.4 CAD``. DS and CAD enter as they are; nothing
    is clipped.

    Args:
        consistency: CBRC, in [-1, 1].
        discriminability: DS, 0 upwards.
        alignment: CAD, in (0, 1].

    Returns:
        0 upwards; 1 for a benchmark with CBRC, DS and CAD of 1, more when DS exceeds 1. NaN when
        one of the three is.

    Source: Qian et al., "Benchmark^2", arXiv 2601.03986 (2026), section on BQS.

    >>> round(benchmark_quality(0.52, 0.74, 0.85), 2)
    0.79
    """
    quality: Number = 0.3 * (consistency + 1) / 2 + 0.3 * discriminability + 0.4 * alignment
    return quality
