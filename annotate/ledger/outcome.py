"""What became of a request, and what a reply says: the records that the ledger keeps.

A reply is what one annotator, a model or a person, gave for one item. It says something about each
attribute that was asked: a verdict. A verdict that is not ``ok`` has no value: a failed annotation
is missing, never a value.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from ...prompts.catalogue import Value

Status = Literal[
    "ok", "refused", "filtered", "truncated", "invalid", "empty", "too_long", "error", "abstained"
]
STATUSES: tuple[Status, ...] = get_args(Status)
FAILURES: tuple[Status, ...] = STATUSES[1:-1]
"""What may be asked again; an annotator that abstained was free to."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What one reply says about one attribute."""

    attribute: str
    value: Value | None
    """None unless the status is ``ok``."""
    status: Status
    reason: str = ""
    """Why there is no value; for ``ok``, how it was read or that the annotator hesitated."""
    confidence: float | None = None
    """From 0 to 1; none when the annotator gave none."""


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens as the endpoint counted them; none where it did not say."""

    prompt_tokens: int | None = None
    cached_tokens: int | None = None
    """Part of the prompt tokens that the endpoint had in its prefix cache."""
    completion_tokens: int | None = None

    def shares(self, items: int) -> list[Usage]:
        """Divide the tokens of one reply among the items that it is about; nothing is lost.

        >>> [share.prompt_tokens for share in Usage(11, None, 4).shares(3)]
        [4, 4, 3]
        """
        counts = (self.prompt_tokens, self.cached_tokens, self.completion_tokens)
        return [
            Usage(*(n if n is None else n // items + (place < n % items) for n in counts))
            for place in range(items)
        ]


def total(usages: Sequence[Usage]) -> Usage:
    """Add the tokens of several requests; a count that one of them lacks is not known.

    >>> total([Usage(5, 1, 1), Usage(6, None, 1)])
    Usage(prompt_tokens=11, cached_tokens=None, completion_tokens=2)
    """

    def summed(counts: Sequence[int | None]) -> int | None:
        known = [count for count in counts if count is not None]
        return sum(known) if len(known) == len(counts) else None

    return Usage(
        summed([usage.prompt_tokens for usage in usages]),
        summed([usage.cached_tokens for usage in usages]),
        summed([usage.completion_tokens for usage in usages]),
    )


@dataclass(frozen=True, slots=True)
class Reply:
    """What one annotator gave for one item, as it came.

    When one request carried several items, each has a reply: the body is that of all of them, the
    tokens and the price are the item's share.
    """

    request_key: str
    """Identifies the request: what the ledger has is not asked again."""
    item_id: str
    content_hash: str
    annotator: str
    """``llm:<name>``, ``human:<user>`` or ``adjudicator:<user>``."""
    model: str
    prompt_hash: str
    catalogue_hash: str
    status: Status
    """``ok`` when every attribute has a value, or the annotator abstained from it."""
    reason: str
    body: str
    """The raw body, before any parsing; empty when nothing came."""
    usage: Usage
    price: float | None
    """In the price table's currency; none without a price table."""
    time: str
    """When it came: ISO 8601, UTC, with microseconds."""
    seconds: float
    """From sending the last attempt to its reply."""
    attempts: int
    """Requests sent, retries included; of several items in one request, the first has them."""
    part: str = ""
    """The dimension or attribute that was asked; empty when all were."""
    items: int = 1
    """How many items the request carried."""
    final: bool = True
    """Whether the item is not asked about again at once; otherwise it still is to be."""
    rung: str = ""
    """How the reply got its structure (see ``capabilities``); empty when no model was asked."""


@dataclass(frozen=True, slots=True)
class Annotation:
    """One verdict with everything that says where it comes from."""

    item_id: str
    content_hash: str
    attribute: str
    value: Value | None
    annotator: str
    status: Status
    reason: str
    confidence: float | None
    prompt_hash: str
    catalogue_hash: str
    reply_id: str
    time: str
