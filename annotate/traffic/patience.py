"""How often and how long an endpoint is tried."""

from __future__ import annotations

import random
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Patience:
    """How often and how long to try."""

    attempts: int = 6
    """Requests for one item, while the faults are passing ones."""
    first_wait: float = 1.0
    """Seconds before the second attempt; each further wait is twice as long."""
    longest_wait: float = 60.0
    """No wait of our own choice is longer."""
    longest_pause: float = 3600.0
    """An endpoint that asks for a longer pause ends the run."""
    refusals: int = 30
    """More refusals for asking too much, without an answer in between, end the run once they have
    lasted for longer than an outage may."""
    outage: float = 1800.0
    """Seconds that an endpoint may answer nobody before the run ends."""
    errors: int | None = 20
    """So many items in a row that end in an error end the run; none for any number."""

    def wait(self, attempt: int, rng: random.Random) -> float:
        """Seconds to wait after the given attempt, counted from one."""
        return float(
            min(self.first_wait * 2.0 ** min(attempt - 1, 60), self.longest_wait)
        ) * rng.uniform(0.5, 1.0)
