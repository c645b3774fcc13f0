"""What an annotator without a language model says: a value for an item, or nothing."""

from __future__ import annotations

from dataclasses import dataclass

from ...prompts.catalogue import Value


@dataclass(frozen=True, slots=True)
class Proposal:
    """One value for one item, or that there is none. Who has nothing to say makes no proposal."""

    item_id: str
    content_hash: str
    attribute: str
    value: Value | None
    """None when the annotator abstains, which takes back what it said before."""
    confidence: float | None
    """Between 0 and 1; none where the annotator has no measure of it."""
