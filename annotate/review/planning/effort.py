"""Effort: how long a person takes for an item."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from statistics import median

from ..responses import Response

PRESUMED = 90.0
"""Seconds for an item, as long as too little is known."""
FEWEST = 20
"""Times between two responses from which it is learnt, at least."""
_PAUSE = 600.0
"""Seconds after which a person has done something else in between."""


@dataclass(frozen=True, slots=True)
class Effort:
    """How long an item takes."""

    seconds: float
    """Median of the times between one response of a person and the next."""
    times: int
    """How many times it was learnt from; 0 when it is presumed."""


def effort(responses: Iterable[Response]) -> Effort:
    """Learn how long an item takes from the times of responses.

    What came all at once (less than a second apart) and pauses (more than ten minutes) do not
    count, nor do sheets, which have one time for all their rows.
    """
    times: dict[str, list[datetime]] = {}
    for response in responses:
        if response.status != "draft" and response.via != "sheet":
            times.setdefault(response.user, []).append(datetime.fromisoformat(response.time))
    gaps = [
        (after - before).total_seconds()
        for own in times.values()
        for before, after in pairwise(sorted(own))
    ]
    counted = [gap for gap in gaps if 1 <= gap <= _PAUSE]
    enough = len(counted) >= FEWEST
    return Effort(median(counted), len(counted)) if enough else Effort(PRESUMED, 0)
