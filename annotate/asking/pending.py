"""Which requests are still to be made, and which of them share a call."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import pyarrow as pa

from ...prompts.messages import Prompt
from ...records.items.record import Item, item_from_row
from ..ledger.outcome import Status
from ..ledger.store import Ledger, digest
from ..traffic.endpoint import EndpointSettings

_ROWS_AT_ONCE = 64

Known = Callable[[Status | Literal["waiting"]], None]
"""Told of each request that is left out: how it ended, or that it waits in a batch."""


@dataclass(frozen=True, slots=True)
class Request:
    """One item to be asked about, as a whole or one dimension of it."""

    item: Item
    prompt: Prompt
    key: str
    alone: bool = False
    """Whether it was made before: it shares no call then."""


@dataclass(frozen=True, slots=True)
class Call:
    """What goes to the endpoint at once: requests that share a prompt."""

    requests: tuple[Request, ...]

    @property
    def prompt(self) -> Prompt:
        """The prompt with the schema for all its items."""
        return self.requests[0].prompt.of(len(self.requests))

    def message(self) -> str:
        """Render the message with its items."""
        return self.requests[0].prompt.message([request.item for request in self.requests])

    def alone(self, places: Iterable[int] | None = None) -> list[Call]:
        """The same requests, or those at some places, each in a call of its own."""
        chosen = range(len(self.requests)) if places is None else places
        return [Call((self.requests[place],)) for place in chosen]


def request_key(item: Item, annotator: str, prompt: Prompt, settings: EndpointSettings) -> str:
    """Identify a request by everything that its reply may depend on."""
    return digest(
        item.item_id,
        item.content_hash,
        item.answer_index,
        item.answer_text,
        item.accepted_answers,
        annotator,
        prompt.hash,
        settings.model,
        settings.parameters,
    )


def missing_requests(
    items: pa.Table,
    ledgers: Sequence[Ledger],
    request: Callable[[Item], Request],
    *,
    retry: Collection[Status] = (),
    known: Known = lambda _: None,
) -> Iterator[Request]:
    """Yield the requests that no ledger has, in the items' order.

    What waits in a batch is not missing; what was to be made again at once still is.

    Args:
        items: A table with ``ITEM_SCHEMA``; a few rows are read at a time.
        ledgers: What was asked before.
        request: Makes the request about an item.
        retry: How a request must have ended to be made again.
        known: Called for each request that is left out.
    """
    waiting = {key for ledger in ledgers for key in ledger.waiting()}
    for batch in items.to_batches(max_chunksize=_ROWS_AT_ONCE):
        for row in batch.to_pylist():
            made = request(item_from_row(row))
            ends = [end for ledger in ledgers if (end := ledger.end_of(made.key))]
            last = max(ends, key=lambda end: end.time, default=None)
            if made.key in waiting:
                known("waiting")
            elif last is None:
                yield made
            elif last.status in retry or not last.final:
                yield replace(made, alone=True)
            else:
                known(last.status)


def calls(requests: Iterable[Request], items_per_call: int) -> Iterator[Call]:
    """Put requests that share a prompt into calls, as they come; what is left over comes last."""
    waiting: dict[str, list[Request]] = {}
    for request in requests:
        if request.alone or items_per_call == 1:
            yield Call((request,))
            continue
        group = waiting.setdefault(request.prompt.hash, [])
        group.append(request)
        if len(group) == items_per_call:
            yield Call(tuple(group))
            group.clear()
    for group in waiting.values():
        if group:
            yield Call(tuple(group))
