"""Proposals in the ledger: what an annotator says about an item becomes one reply."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import UTC, datetime

from ...prompts.catalogue import Catalogue
from ..ledger import Ledger, digest
from ..outcome import Reply, Usage, Verdict
from .proposals import Proposal


def record_proposals(
    ledger: Ledger,
    proposals: Iterable[Proposal],
    *,
    annotator: str,
    model: str,
    catalogue: Catalogue,
) -> int:
    """Add proposals to a ledger; those that it has already are not added again.

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
        (reply, [Verdict(p.attribute, p.value, "ok", "", p.confidence) for p in given])
        for reply, given in zip(replies, by_item.values(), strict=True)
        if ledger.status_of(reply.request_key) is None
    )
    return len(by_item)


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
