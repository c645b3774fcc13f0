"""How sure a consolidated value is, and what says so."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ...metrics.raters.consensus import Consensus
from ...metrics.raters.patterns import Floats
from .rating_matrix import RatingMatrix

ConfidenceSource = Literal["agreement", "tie", "probability", "stated", "posterior", "none"]
"""What a confidence is: the share of several annotators that agree with the value; the
same, where as many stand for another value and only the rule for ties decided; one annotator's
own measure of how likely it is; what one annotator said of its doubt; the posterior of the
Dawid-Skene model; nothing, where there is none."""

DOUBTED, UNDOUBTED = 0.5, 1.0
"""What is noted for a value when its annotator said that it hesitated, and when it did not: marks
that keep an order, no probabilities."""


def confidences(
    matrix: RatingMatrix, found: Consensus, tied: NDArray[np.bool_]
) -> tuple[Floats, NDArray[np.str_]]:
    """Say how sure each value of a vote is: by agreement, or by the word of the only annotator.

    Args:
        matrix: The ratings.
        found: The vote on them.
        tied: (N,): whether values came out equal.

    Returns:
        (N,) each: the confidence, NaN where nothing measures it, and its ``ConfidenceSource``.
    """
    single = found.raters == 1
    own = _only(matrix.confidences, matrix.rated)
    doubt = _only(matrix.doubts, matrix.rated)
    stated = np.where(np.isnan(doubt), np.nan, np.where(doubt > 0, DOUBTED, UNDOUBTED))
    several = np.where(found.raters > 1, found.confidence, np.nan)
    measures: dict[ConfidenceSource, Floats] = {
        "tie": np.where(tied, several, np.nan),
        "agreement": several,
        "probability": np.where(single, own, np.nan),
        "stated": np.where(single, stated, np.nan),
    }
    known = [~np.isnan(measure) for measure in measures.values()]
    return (
        np.select(known, [*measures.values()], np.nan),
        np.select(known, [*measures], "none"),
    )


def _only(cells: Floats, rated: NDArray[np.bool_]) -> Floats:
    """The cell of an item's only rating; any of them for other items."""
    if not cells.shape[1]:
        return np.full(len(cells), np.nan)
    only: Floats = np.take_along_axis(cells, rated.argmax(axis=1)[:, None], axis=1)[:, 0]
    return only
