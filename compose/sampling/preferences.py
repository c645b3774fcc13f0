"""Preferences: which items come first in the order of drawing, before the seed decides."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ..language.conditions import Preference
from ..language.criteria import Criteria
from ..language.trust import Demands
from ..rules import joined


def preference_keys(
    criteria: Criteria, table: pa.Table, demands: Demands
) -> list[NDArray[np.float64]]:
    """Numbers of each item, the most important preference first; the smaller comes first.

    An item that does not meet a condition, or has no number, comes after the others.
    """
    return [
        _key(preference, table, demands, position)
        for position, preference in enumerate(criteria.prefer or [])
    ]


def _key(
    preference: Preference, table: pa.Table, demands: Demands, position: int
) -> NDArray[np.float64]:
    field = preference.highest or preference.lowest
    if field is None:
        met = joined(preference, ("prefer", position), demands).truth(table)
        return np.where(pc.fill_null(met, False).to_numpy(), 0.0, 1.0)
    values = demands.on(field).counted(table, field).to_numpy().astype(np.float64)
    sign = -1.0 if preference.highest is not None else 1.0
    return np.where(np.isnan(values), np.inf, sign * values)


def preferences_in_words(criteria: Criteria) -> str:
    """The preferences in short, such as ``depth >= 2, then the highest discrimination``."""
    return ", then ".join(
        f"the highest {p.highest}"
        if p.highest is not None
        else f"the lowest {p.lowest}"
        if p.lowest is not None
        else joined(p, ()).text
        for p in criteria.prefer or []
    )
