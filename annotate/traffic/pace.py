"""The pace that all workers share: one refusal for asking too much slows every one of them.

The number of requests in flight falls to half when the endpoint refuses one, and rises by one for
each round of answers after that. Waiting times carry chance, so that workers do not come back all
at once.
"""

from __future__ import annotations

import asyncio
import random
from collections import deque
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager

from ...records.errors import BudgetReached
from .faults import Fault
from .patience import Patience
from .silence import Silence


class Halted(Exception):
    """The run was told to end while a request had not been sent yet."""


class Unanswered(Exception):
    """The endpoint may be down: that a request was not answered says nothing about its item."""


class _Turn(AbstractAsyncContextManager[None]):
    """A place among the requests in flight."""

    __slots__ = ("_pace",)

    def __init__(self, pace: Pace) -> None:
        self._pace = pace

    async def __aenter__(self) -> None:
        await self._pace.enter()

    async def __aexit__(self, *raised: object) -> None:
        self._pace.leave()


class Pace:
    """Lets requests through: at most ``concurrency`` at once, fewer after a refusal.

    While the endpoint answers nobody, one at a time.
    """

    def __init__(
        self,
        concurrency: int,
        patience: Patience,
        rng: random.Random,
        tell: Callable[[str], None] = lambda _: None,
    ) -> None:
        """Begin with all places free.

        Args:
            concurrency: Requests in flight at once.
            patience: How often and how long to try.
            rng: Chance for waiting times.
            tell: Called with a sentence while the endpoint is down.
        """
        self.patience = patience
        self.silence = Silence(patience, rng, tell)
        self._rng = rng
        self._most = concurrency
        self._limit = float(concurrency)
        self._in_flight = 0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._resume_at = 0.0
        self._slowed_at = 0.0
        self._refusals = 0
        self._refused_since = 0.0
        self.has_answered = False
        """Whether the endpoint has given an answer in this run."""
        self.compares: Callable[[], bool] = lambda: False
        """Whether too few requests are in flight to tell whose a fault is, and there are others."""
        self._compared: set[int] = set()
        self._halt = asyncio.Event()

    @property
    def halted(self) -> bool:
        """Whether the run was told to end."""
        return self._halt.is_set()

    def halt(self) -> None:
        """Let no further request through; those in flight are finished."""
        self._halt.set()
        self._wake(len(self._waiting))

    def turn(self) -> AbstractAsyncContextManager[None]:
        """Wait for a place, and hold it while one request is in flight.

        Raises:
            Halted: the run was told to end first.
        """
        return _Turn(self)

    async def enter(self) -> None:
        """Wait for a place; ``leave`` gives it back.

        Raises:
            Halted: the run was told to end first.
        """
        loop = asyncio.get_running_loop()
        while not self.halted:
            pause = self._resume_at - loop.time()
            if pause > 0:
                await self.rest(pause * self._rng.uniform(1.0, 1.2))
            elif self._in_flight < self._places:
                self._in_flight += 1
                return
            else:
                place = loop.create_future()
                self._waiting.append(place)
                await place
        raise Halted

    @property
    def _places(self) -> int:
        return 1 if self.silence.is_outage else int(self._limit)

    def leave(self) -> None:
        """Give a place back."""
        self._in_flight -= 1
        self._wake(1)

    async def rest(self, seconds: float) -> None:
        """Sleep.

        Raises:
            Halted: the run was told to end meanwhile.
        """
        try:
            await asyncio.wait_for(self._halt.wait(), seconds)
        except TimeoutError:
            return
        raise Halted

    def answered(self, *, sent_at: float | None = None) -> None:
        """Note that a request was answered: the pace may rise again.

        Args:
            sent_at: When it was sent, by the event loop's clock; now when not given.
        """
        self._refusals = 0
        self._is_alive(sent_at)
        if self._limit < self._most:
            self._limit = min(float(self._most), self._limit + 1 / self._limit)
            self._wake(1)

    def failed(self, request: int, fault: Fault, *, sent_at: float) -> None:
        """Note that a request met a passing fault; when all do, everyone pauses.

        Where too few are in flight to tell, another is tried before this one is sent again.

        Args:
            request: Which request.
            fault: What it met.
            sent_at: When it was sent, by the event loop's clock.

        Raises:
            Unanswered: the endpoint is down, or another request is to be tried first.
            EndpointError: it is down for too long.
        """
        now = asyncio.get_running_loop().time()
        reached = not fault.unreached
        pause = self.silence.met(request, fault.reason, sent_at=sent_at, now=now, reached=reached)
        if pause is not None:
            self._resume_at = max(self._resume_at, now + pause)
            raise Unanswered
        if self.compares() and request not in self._compared:
            self._compared.add(request)
            raise Unanswered

    def _is_alive(self, sent_at: float | None) -> None:
        """Note a sign of life: the pause of an outage is over.

        It may have been too many requests that the endpoint gave way under: fewer go out then.
        """
        down, now = self.silence.is_outage, asyncio.get_running_loop().time()
        self.silence.ended(now, sent_at=now if sent_at is None else sent_at)
        if down:
            self._limit = max(1.0, self._limit / 2)
            self._resume_at = 0.0
            self._wake(len(self._waiting))

    def refused(self, *, sent_at: float, seconds: float | None, reason: str) -> None:
        """Note that a request was refused for asking too much: everyone slows down.

        Args:
            sent_at: When it was sent, by the event loop's clock; requests that were in flight
                together count as one refusal.
            seconds: How long the endpoint asks to wait.
            reason: What it said.

        Raises:
            BudgetReached: it asks for too long a pause, or has refused too often.
        """
        now = asyncio.get_running_loop().time()
        self._is_alive(sent_at)
        if not self._refusals:
            self._refused_since = sent_at
        if sent_at >= self._slowed_at:
            self._slowed_at = now
            self._refusals += 1
            self._limit = max(1.0, self._limit / 2)
        pause = seconds if seconds is not None else self.patience.wait(self._refusals, self._rng)
        lasts = now - self._refused_since >= self.patience.outage
        endless = lasts and self._refusals > self.patience.refusals
        if pause > self.patience.longest_pause or endless:
            raise BudgetReached(
                f"the endpoint keeps refusing ({reason}; asked pause {pause:.0f} s)",
                wanted="a rate limit that lets the run go on",
                mend="run the same command later: what came is saved",
            )
        self._resume_at = max(self._resume_at, now + pause)

    def _wake(self, count: int) -> None:
        while count and self._waiting:
            place = self._waiting.popleft()
            if not place.done():
                place.set_result(None)
                count -= 1
