"""Estimates with their intervals, for people and as JSON; what is undefined says why."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from benchprism.metrics.proportions import Proportion
    from benchprism.metrics.raters.agreement import Agreement
    from benchprism.metrics.raters.patterns import Bounds, Estimate


def number(value: float) -> str:
    """Two decimals, or a dash where it is undefined.

    >>> number(0.75), number(float("nan"))
    ('0.75', '–')
    """
    return "–" if math.isnan(value) else f"{value:.2f}"


def with_interval(value: float, low: float, high: float) -> str:
    """A number with its interval, if it has one.

    >>> with_interval(0.75, 0.41, 0.93), with_interval(1, float("nan"), float("nan"))
    ('0.75 [0.41, 0.93]', '1.00')
    """
    return number(value) if math.isnan(low) else f"{number(value)} [{low:.2f}, {high:.2f}]"


def coefficient_cell(found: Agreement) -> str:
    """A coefficient of agreement for people."""
    return with_interval(found.estimate, *found.interval)


def share_cell(share: Proportion) -> str:
    """A share for people."""
    return with_interval(share.share, share.low, share.high)


def estimate_data(value: float, interval: Bounds, reason: str | None) -> dict[str, Any]:
    """An estimate as JSON."""
    return {"estimate": value, "interval": _ends(*interval), "reason": reason}


def coefficient_data(found: Agreement) -> dict[str, Any]:
    """A coefficient of agreement as JSON."""
    return estimate_data(found.estimate, found.interval, found.reason)


def mean_data(found: Estimate) -> dict[str, Any]:
    """A statistic with its bootstrap interval as JSON."""
    return estimate_data(found.value, found.interval, found.reason)


def share_data(share: Proportion) -> dict[str, Any]:
    """A share as JSON."""
    return {"share": share.share, "interval": _ends(share.low, share.high)}


def _ends(low: float, high: float) -> list[float] | None:
    return None if math.isnan(low) else [low, high]
