"""Where a metric's numbers lie, so that scores of all logs can be compared on 0 to 1."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Scale:
    """The range of a metric: ``worst`` becomes 0 and ``best`` becomes 1."""

    worst: float = 0.0
    best: float = 1.0

    def place(self, raw: float) -> float:
        """Move a number from this scale to 0 to 1; what lies outside stays outside.

        >>> Scale(0, 100).place(84.0), Scale(10, 0).place(2.5), Scale(0, 100).place(-3.0)
        (0.84, 0.75, -0.03)
        """
        return (raw - self.worst) / (self.best - self.worst)

    def holds(self, raw: float) -> bool:
        """Tell whether a number lies in the range, rounding aside."""
        slack = 1e-9 * abs(self.best - self.worst)
        low, high = min(self.worst, self.best), max(self.worst, self.best)
        return low - slack <= raw <= high + slack


UNIT = Scale()
_HUNDRED = Scale(0.0, 100.0)

SCALES: Mapping[str, Scale] = {
    "eqbench": _HUNDRED,
    "percent_parseable": _HUNDRED,
    **dict.fromkeys(("bleu_max", "rouge1_max", "rouge2_max", "rougeL_max"), _HUNDRED),
}
"""Metrics whose logs are known to be on another scale than 0 to 1."""


def number(value: object) -> float | None:
    """Read a score: a number, a boolean, or a number as text; anything else is no score.

    >>> number(True), number("0.5"), number(float("nan")), number("Infinity"), number("maybe")
    (1.0, 0.5, None, None, None)
    """
    if not isinstance(value, str | bool | int | float):
        return None
    try:
        read = float(value)
    except (ValueError, OverflowError):
        return None
    return read if math.isfinite(read) else None


def is_absent(value: object) -> bool:
    """Tell a score that is not there (null, NaN, infinite, blank) from one that cannot be read.

    >>> [is_absent(value) for value in (None, float("inf"), "Infinity", "N/A", "", "maybe")]
    [True, True, True, True, True, False]
    """
    if isinstance(value, str):
        return value.strip().lower().lstrip("+-") in _ABSENT
    return value is None or (isinstance(value, float) and not math.isfinite(value))


_ABSENT = frozenset({"", "nan", "inf", "infinity", "null", "none", "na", "n/a"})
