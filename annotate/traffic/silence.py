"""The endpoint's silence: when passing faults are an outage of everybody's, not one item's.

An item at which an endpoint fails again and again says nothing about the others. Where no request
at all is answered, the fault is the endpoint's: then nothing is given up and nothing is counted
against an item; everyone pauses, and one request at a time tries whether it is back.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable

from ...records.errors import EndpointError
from .patience import Patience

MOST_ALONE = 2
"""So many requests may fail by themselves; more of them in a row are an outage."""
_STRIKES = 3
"""A request that failed before so many ends of a silence fails by itself, whatever the endpoint."""


class Silence:
    """How long the endpoint has answered nobody."""

    def __init__(self, patience: Patience, rng: random.Random, tell: Callable[[str], None]) -> None:
        self._patience = patience
        self._rng = rng
        self._tell = tell
        self._failing: set[int] = set()
        self._strikes: Counter[int] = Counter()
        self._begun = 0.0
        self._declared_at = 0.0
        self._probes = 0
        self._probed_at = 0.0
        self._tell_after = patience.longest_wait / 2
        self.is_outage = False
        """Whether the endpoint is taken to be down."""
        self.answers = 0
        """Signs of life so far."""

    @property
    def lasts(self) -> bool:
        """Whether nothing was answered since the last passing fault."""
        return bool(self._failing)

    def met(
        self, request: int, reason: str, *, sent_at: float, now: float, reached: bool
    ) -> float | None:
        """Note that a request met a passing fault.

        Args:
            request: Which request.
            reason: What it met.
            sent_at: When it was sent, by the event loop's clock.
            now: The same clock now.
            reached: False when not even a connection was made.

        Returns:
            Seconds for which everyone is to pause; none as long as it is no outage.

        Raises:
            EndpointError: it has lasted for longer than patience does.
        """
        if not self._failing:
            self._begun = sent_at
        self._failing.add(request)
        if not self.is_outage:
            self.is_outage = not reached or self._others_fail()
            self._declared_at = now
        if not self.is_outage:
            return None
        lasted = now - self._begun
        if lasted >= self._patience.outage:
            raise self._given_up(lasted, reason)
        if self._probes and sent_at < self._probed_at:
            return 0.0  # sent before the pause that everyone is in
        self._probes, self._probed_at = self._probes + 1, now
        wait = self._patience.wait(self._probes, self._rng)
        self._say(lasted, reason)
        return min(wait, self._patience.outage - lasted)

    def ended(self, now: float, *, sent_at: float) -> None:
        """Note a sign of life.

        Args:
            now: The event loop's clock.
            sent_at: When the request was sent that was answered.
        """
        self.answers += 1
        if self.is_outage and self._tell_after > self._patience.longest_wait / 2:
            self._tell(f"The endpoint answers again, after {duration(now - self._begun)}.")
        if self._failing:
            was_down = self.is_outage and sent_at >= self._declared_at
            self._strikes.update(dict.fromkeys(self._failing, 1 if was_down else _STRIKES))
            self._failing.clear()
            self.is_outage, self._probes = False, 0
            self._tell_after = self._patience.longest_wait / 2

    def _others_fail(self) -> bool:
        """Tell whether requests fail that have not failed while others were answered."""
        suspects = sum(self._strikes[request] < _STRIKES for request in self._failing)
        return suspects > MOST_ALONE

    def _say(self, lasted: float, reason: str) -> None:
        """Tell once it has lasted for a while, then each time that it has lasted twice as long."""
        if lasted < self._tell_after:
            return
        self._tell_after = 2 * lasted
        longest = duration(self._patience.longest_wait)
        self._tell(
            f"The endpoint has not answered for {duration(lasted)} ({reason}); trying again every"
            f" {longest}, for another {duration(self._patience.outage - lasted)}."
        )

    def _given_up(self, lasted: float, reason: str) -> EndpointError:
        return EndpointError(
            f"the endpoint has not answered for {duration(lasted)} ({reason})",
            wanted="an endpoint that is back before the annotator's patience ends",
            mend="when it is back, run the same command again: what came is saved, and what was"
            " not answered is asked again; 'patience' in benchprism.yaml sets how long to wait",
        )


def duration(seconds: float) -> str:
    """Say how long something lasts.

    >>> duration(8.2), duration(200), duration(7200)
    ('8 s', '3 min', '2 h')
    """
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.0f} h"
