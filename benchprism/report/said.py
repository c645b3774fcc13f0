"""What the ledger holds last about each value: how it was said, or that it is on its way."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, cast

from benchprism.annotate.ledger.outcome import Status
from benchprism.annotate.ledger.store import Ledger

_SAID = """
    SELECT item_id, content_hash, attribute, a.status
    FROM latest_reply JOIN annotation a USING (reply_id) ORDER BY time
"""
_AWAITED = "SELECT DISTINCT item_id, part FROM batch_request JOIN open_batch USING (batch_key)"


class Said(NamedTuple):
    """How one annotator's latest reply about an item ended for one attribute."""

    item_id: str
    content_hash: str
    """Of the text that the annotator saw."""
    attribute: str
    status: Status


class Awaited(NamedTuple):
    """A request that waits in a batch."""

    item_id: str
    part: str
    """The dimension that was asked; empty when all were."""


def last_said(ledger: Path) -> Iterator[Said]:
    """Read how every annotator's latest replies ended, the latest last."""
    with Ledger(ledger) as opened:
        rows = cast(Iterator[tuple[str, str, str, Status]], opened.query(_SAID))
        yield from (Said(*row) for row in rows)


def awaited(ledger: Path) -> list[Awaited]:
    """Read what was sent in batches whose results are not collected yet."""
    with Ledger(ledger) as opened:
        return [Awaited(*row) for row in cast(Iterator[tuple[str, str]], opened.query(_AWAITED))]
