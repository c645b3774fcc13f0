"""Asking one call through to its end, and what came of it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from ...prompts.messages import Prompt
from ..money.budget import Sends
from ..reading.completion import Reading, failed
from ..traffic.faults import Response
from .inquiry import Inquiry, Manner
from .pending import Call


@dataclass(frozen=True, slots=True)
class Came:
    """What came of asking once: plain data, which may travel between processes."""

    readings: tuple[Reading, ...]
    """What it says about each item, with its share of the tokens."""
    body: str = ""
    seconds: float = 0.0
    attempts: int = 0
    rung: str = ""
    request: int = 0
    """Bytes of the request; 0 where that is not known."""
    limit: int = 0
    """Tokens that the reply could have."""
    final: bool = True
    """Whether it is not asked again at once in another manner."""
    alone: tuple[int, ...] = ()
    """The places of items that are to be asked about again, each alone."""


async def ask(
    inquiry: Inquiry,
    prompt: Prompt,
    message: str,
    endpoint: Callable[[Manner], Sends],
    *,
    first: bool = False,
) -> AsyncIterator[Came]:
    """Ask until asking otherwise gains nothing; yield what came each time.

    The last says which items are to be asked about alone.

    Args:
        inquiry: What is known of the model.
        prompt: What is asked.
        message: The message with the items.
        endpoint: Gives the endpoint for a request that is made in some manner.
        first: Whether it is the first request of a run.
    """
    manner: Manner | None = inquiry.manner(prompt)
    while manner is not None:
        asked = await inquiry.ask(endpoint, prompt, message, manner, first=first)
        manner, ended = asked.then, asked.ended
        yield Came(
            readings=tuple(asked.readings),
            body=ended.end.body if isinstance(ended.end, Response) else "",
            seconds=ended.seconds,
            attempts=ended.attempts,
            rung=ended.rung,
            request=ended.body,
            limit=ended.limit,
            final=manner is None,
            alone=asked_alone(asked.readings) if manner is None else (),
        )


def sendable(
    calls: Iterable[Call], room: int, refuse: Callable[[Call, Came], None]
) -> Iterator[tuple[Call, str]]:
    """Render the messages of calls; items that make a call too long leave it.

    Args:
        calls: What is to be asked.
        room: Characters that a request may have.
        refuse: Called with each item that is too long even alone.
    """
    for call in calls:
        message = call.message()
        length = len(call.prompt.system) + len(message)
        if length <= room:
            yield call, message
        elif len(call.requests) > 1:
            yield from sendable(call.alone(), room, refuse)
        else:
            refuse(call, too_long(call, length))


def too_long(call: Call, length: int) -> Came:
    """Say of the items of a call that it is too long to be sent."""
    reading = failed("too_long", f"{length} characters", call.prompt.attributes)
    return Came((reading,) * len(call.requests))


def asked_alone(readings: Sequence[Reading]) -> tuple[int, ...]:
    """Tell which items of a call are to be asked about alone, by their places.

    Where several items failed at once, nothing is known about one of them. Where some have their
    values, these are kept, and an item that was left out or answered badly has another chance.
    """
    if len(readings) == 1:
        return ()
    if all(reading.status not in {"ok", "error"} for reading in readings):
        return tuple(range(len(readings)))
    return tuple(place for place, one in enumerate(readings) if one.status == "invalid")
