"""Which requests are still to be made."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass

import pyarrow as pa

from ..prompts.messages import Prompt
from ..records.items.record import Item, ItemKind, item_from_row
from .endpoint import EndpointSettings
from .ledger import Ledger, digest
from .outcome import Status

Prompts = dict[ItemKind, Prompt]

_ROWS_AT_ONCE = 64


@dataclass(frozen=True, slots=True)
class Request:
    """One item to be asked about."""

    item: Item
    prompt: Prompt
    key: str


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
    ledger: Ledger,
    request: Callable[[Item], Request],
    *,
    retry: Collection[Status] = (),
    known: Callable[[], None] = lambda: None,
) -> Iterator[Request]:
    """Yield the requests that the ledger does not have, in the items' order.

    Args:
        items: A table with ``ITEM_SCHEMA``; a few rows are read at a time.
        ledger: What was asked before.
        request: Makes the request about an item.
        retry: How a request must have ended to be made again.
        known: Called for each item that is left out.
    """
    for batch in items.to_batches(max_chunksize=_ROWS_AT_ONCE):
        for row in batch.to_pylist():
            made = request(item_from_row(row))
            status = ledger.status_of(made.key)
            if status is None or status in retry:
                yield made
            else:
                known()
