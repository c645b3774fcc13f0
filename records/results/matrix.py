"""Outcomes: which model scored what on which item of a benchmark."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class Outcomes:
    """Scores of models on the items of one benchmark.

    A score that is not there is NaN: missing is not wrong.
    """

    benchmark: str
    item_ids: tuple[str, ...]
    models: tuple[str, ...]
    scores: NDArray[np.float32]
    """Items by models, in [0, 1]; NaN where a model has no score for an item."""
