"""Proposals in the ledger: what an annotator says about an item becomes one reply."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import UTC, datetime

from ...prompts.catalogue import Catalogue
from ..ledger.outcome import Reply, Usage, Verdict
from ..ledger.store import Ledger, digest
from .proposals import Proposal

_LATEST = """
    SELECT request_key FROM reply WHERE annotator = ? AND item_id = ? AND part = ''
    ORDER BY time DESC LIMIT 1
"""


def record_proposals(
    ledger: Ledger,
    proposals: Iterable[Proposal],
    *,
    annotator: str,
    model: str,
    catalogue: Catalogue,
) -> int:
    """Add proposals to a ledger; what the annotator said last about an item is not added again.

    Args:
        ledger: Opened for writing.
        proposals: Those of one annotator.
        annotator: ``heuristic``, ``embed:minilm`` or ``score:<model>``.
        model: What decided, for people.
        catalogue: What was asked.

    Returns:
        For how many items the annotator proposed something.
    """
    by_item: dict[tuple[str, str], list[Proposal]] = {}
    for proposal in proposals:
        by_item.setdefault((proposal.item_id, proposal.content_hash), []).append(proposal)
    time = datetime.now(UTC).isoformat(timespec="microseconds")
    replies = (_reply(given, annotator, model, catalogue, time) for given in by_item.values())
    ledger.remember(catalogue)
    ledger.add(
        (reply, [_verdict(proposal) for proposal in given])
        for reply, given in zip(replies, by_item.values(), strict=True)
        if _latest(ledger, reply) != reply.request_key
    )
    return sum(any(p.value is not None for p in given) for given in by_item.values())


def _verdict(given: Proposal) -> Verdict:
    if given.value is None:
        return Verdict(given.attribute, None, "abstained", "no value is likely enough")
    return Verdict(given.attribute, given.value, "ok", "", given.confidence)


def _latest(ledger: Ledger, reply: Reply) -> object:
    """The key of what the annotator said last about an item."""
    rows = ledger.query(_LATEST, reply.annotator, reply.item_id)
    return next((key for (key,) in rows), None)


def _reply(
    given: list[Proposal], annotator: str, model: str, catalogue: Catalogue, time: str
) -> Reply:
    item_id, content_hash = given[0].item_id, given[0].content_hash
    body = json.dumps({p.attribute: [p.value, p.confidence] for p in given}, ensure_ascii=False)
    return Reply(
        request_key=digest(item_id, content_hash, annotator, catalogue.hash, body),
        item_id=item_id,
        content_hash=content_hash,
        annotator=annotator,
        model=model,
        prompt_hash="",
        catalogue_hash=catalogue.hash,
        status="ok",
        reason="",
        body=body,
        usage=Usage(),
        price=None,
        time=time,
        seconds=0.0,
        attempts=0,
    )
