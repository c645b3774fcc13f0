"""From what came back to what the ledger keeps: one reply for each item of a call."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from ..ledger.outcome import Reply, Usage
from ..ledger.store import Entry
from ..money.prices import Price
from ..reading.completion import Reading
from .pending import Request


@dataclass(frozen=True, slots=True)
class About:
    """What one reply is about."""

    request_key: str
    item_id: str
    content_hash: str
    prompt_hash: str
    catalogue_hash: str
    part: str


def about(request: Request) -> About:
    """Say what the reply to a request is about."""
    return About(
        request.key,
        request.item.item_id,
        request.item.content_hash,
        request.prompt.hash,
        request.prompt.catalogue_hash,
        request.prompt.part,
    )


@dataclass(frozen=True, slots=True)
class Origin:
    """Where the replies of one call are from, and what it took."""

    annotator: str
    model: str
    price: Price | None
    body: str = ""
    time: str = ""
    """Now, when empty."""
    seconds: float = 0.0
    attempts: int = 0
    batch: bool = False
    rung: str = ""
    final: bool = True
    """Whether it is not asked again at once in another manner."""
    alone: tuple[int, ...] = ()
    """The places of items that are asked about again, each alone."""
    most: float | None = None
    """What the call may have cost: it counts where the endpoint does not tell tokens."""

    def price_of(self, usage: Usage, items: int) -> float | None:
        """The price of an item's share of the call."""
        if self.price is None:
            return None
        known = self.price.of(usage, batch=self.batch)
        return self.most / items if known is None and self.most is not None else known


def entries(subjects: Sequence[About], readings: Sequence[Reading], origin: Origin) -> list[Entry]:
    """Make the ledger's entries of one call.

    Args:
        subjects: What the call was about, item by item.
        readings: What the body says about each, with its share of the tokens.
        origin: Where it is from.
    """
    time = origin.time or datetime.now(UTC).isoformat(timespec="microseconds")
    return [
        (
            Reply(
                request_key=subject.request_key,
                item_id=subject.item_id,
                content_hash=subject.content_hash,
                annotator=origin.annotator,
                model=origin.model,
                prompt_hash=subject.prompt_hash,
                catalogue_hash=subject.catalogue_hash,
                status=reading.status,
                reason=reading.reason,
                body=origin.body,
                usage=reading.usage,
                price=origin.price_of(reading.usage, len(subjects)),
                time=time,
                seconds=origin.seconds,
                attempts=origin.attempts if place == 0 else 0,
                part=subject.part,
                items=len(subjects),
                final=origin.final and place not in origin.alone,
                rung=origin.rung,
            ),
            reading.verdicts,
        )
        for place, (subject, reading) in enumerate(zip(subjects, readings, strict=True))
    ]
