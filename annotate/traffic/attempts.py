"""One request with everything that may have to be tried before it is answered or given up."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from dataclasses import dataclass

from ..money.budget import Sends
from .faults import Fault, Response
from .pace import Pace

_DOUBTFUL = {401, 403, 404, 405}
"""What an endpoint that has answered with this key and model may say by mistake."""
_DOUBTS = 3


@dataclass(frozen=True, slots=True)
class Exchange:
    """How a request ended."""

    end: Response | Fault
    seconds: float
    """From sending the last attempt to its end."""
    attempts: int
    rung: str = ""
    """On which rung the last attempt was made."""
    body: int = 0
    """Bytes of the request."""
    limit: int = 0
    """Tokens that the reply could have."""


async def exchange(
    endpoint: Sends,
    body: bytes,
    pace: Pace,
    rng: random.Random,
    *,
    path: str = "/chat/completions",
    first: bool = False,
    avoidable: Callable[[Fault], object] = lambda _: False,
) -> Exchange:
    """Send a request until it is answered or given up.

    Args:
        endpoint: Where to.
        body: The request.
        pace: The pace that all requests share.
        rng: Chance for waiting times.
        path: Where it is posted, seen from the endpoint's address.
        first: Whether it is the first request of a run: what would meet every request then ends
            the run at once.
        avoidable: Tells whether another request would not meet a fault: the request ends with it.

    Raises:
        EndpointError: the endpoint can't be used, whatever the item.
        BudgetReached: the endpoint has no quota left, or refuses for too long.
        Halted: the run was told to end before the request was answered.
        Unanswered: the endpoint is down, which says nothing about the item.
    """
    loop = asyncio.get_running_loop()
    sent = passing_faults = 0
    while True:
        async with pace.turn():
            sent += 1
            sent_at = loop.time()
            end = await endpoint.send(body, path)
            ended = Exchange(end, loop.time() - sent_at, sent)
        if isinstance(end, Response):
            pace.has_answered = True
            pace.answered(sent_at=sent_at)
            return ended
        if avoidable(end):
            pace.answered(sent_at=sent_at)
            return ended
        doubts = end.unreached or (end.code in _DOUBTFUL and passing_faults < _DOUBTS)
        doubtful = pace.has_answered and doubts
        if end.error is not None and (first or end.remedy == "stop") and not doubtful:
            raise end.error
        if end.remedy == "settle":
            pace.answered(sent_at=sent_at)
            return ended
        if end.remedy == "wait":
            pace.refused(sent_at=sent_at, seconds=end.seconds, reason=end.reason)
            continue
        if end.remedy == "again":
            pace.failed(hash(body), end, sent_at=sent_at)
        passing_faults += 1
        if passing_faults >= pace.patience.attempts:
            if end.error is not None and end.remedy == "stop":
                raise end.error
            return ended
        await pace.rest(pace.patience.wait(passing_faults, rng))
