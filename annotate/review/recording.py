"""Responses in the ledger: each change of one is a reply of its own, kept once.

A response is known by who gave it, where and about which item; its last change by its time. However
often it is read, and whatever became of the suggestions meanwhile, the ledger has it once.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import cast

from ..ledger.outcome import Reply, Status, Usage, Verdict
from ..ledger.store import Entry, Ledger, digest
from .form import Question, ReviewForm
from .responses import Response, ResponseStatus

_AT_ONCE = 500
"""Responses that are committed together."""
LEFT_OPEN = "left open"
_KNOWN = """
    SELECT request_key, time FROM reply WHERE request_key IN (SELECT value FROM json_each(?))
"""
_OF_RESPONSES = """
    FROM reply JOIN body USING (body_hash)
    WHERE (annotator GLOB 'human:*' OR annotator GLOB 'adjudicator:*')
        AND model IN ('argilla', 'page', 'sheet')
"""
_STATES = f"SELECT body {_OF_RESPONSES} ORDER BY time"
_LATEST = f"SELECT body, max(time) {_OF_RESPONSES} GROUP BY request_key"


@dataclass(slots=True)
class Recorded:
    """What became of some responses."""

    new: Counter[ResponseStatus] = field(default_factory=Counter)
    """Responses that the ledger did not have in this state, by status."""
    known: int = 0
    """Responses that it had."""
    invalid: int = 0
    """Answers of the new ones that are no value of their attribute."""

    def add(self, other: Recorded) -> None:
        """Count those of another one too."""
        self.new += other.new
        self.known += other.known
        self.invalid += other.invalid


def record_responses(ledger: Ledger, responses: Iterable[Response], form: ReviewForm) -> Recorded:
    """Put responses into the ledger; what it has already is left alone.

    Responses are committed in batches: whatever ends the process, what came is kept, and recording
    again adds the rest.

    Args:
        ledger: The ledger, open for writing.
        responses: They may be many: they are read as they are needed.
        form: What was asked.

    Raises:
        InputError: the ledger cannot be written.
    """
    ledger.remember(form.catalogue)
    recorded, coming = Recorded(), iter(responses)
    prompt_hash = digest(form.guidelines)
    while batch := list(islice(coming, _AT_ONCE)):
        recorded.add(_record(ledger, batch, form, prompt_hash))
    return recorded


def recorded_states(ledger: Ledger) -> Iterator[Response]:
    """Read every response as it is and as it was."""
    rows = cast(Iterator[tuple[str]], ledger.query(_STATES))
    return (Response.from_body(body) for (body,) in rows)


def recorded_responses(ledger: Ledger) -> Iterator[Response]:
    """Read every response as it is now, whatever its status."""
    rows = cast(Iterator[tuple[str, str]], ledger.query(_LATEST))
    return (Response.from_body(body) for body, _ in rows)


def request_key(response: Response) -> str:
    """Identify a response, whatever its state."""
    return digest("response", response.annotator, response.via, response.dataset, response.item_id)


def _record(
    ledger: Ledger, batch: Sequence[Response], form: ReviewForm, prompt_hash: str
) -> Recorded:
    states = {(request_key(response), response.time): response for response in batch}
    keys = json.dumps(sorted({key for key, _ in states}))
    known = set(cast(Iterator[tuple[str, str]], ledger.query(_KNOWN, keys)))
    new = [one for state, one in states.items() if state not in known]
    entries = [_entry(response, form, prompt_hash) for response in new]
    ledger.add(entries)
    invalid = sum(verdict.status == "invalid" for _, verdicts in entries for verdict in verdicts)
    return Recorded(Counter(one.status for one in new), len(batch) - len(new), invalid)


def _entry(response: Response, form: ReviewForm, prompt_hash: str) -> Entry:
    verdicts = [*_verdicts(response, form)]
    status, reason = _outcome(response, verdicts)
    reply = Reply(
        request_key=request_key(response),
        item_id=response.item_id,
        content_hash=response.content_hash,
        annotator=response.annotator,
        model=response.via,
        prompt_hash=prompt_hash,
        catalogue_hash=form.catalogue.hash,
        status=status,
        reason=reason,
        body=response.body,
        usage=Usage(),
        price=None,
        time=response.time,
        seconds=0.0,
        attempts=0,
        part=response.dimension,
    )
    return reply, verdicts


def _outcome(response: Response, verdicts: Sequence[Verdict]) -> tuple[Status, str]:
    if response.status != "submitted":
        return "abstained", response.status
    invalid = [verdict.attribute for verdict in verdicts if verdict.status == "invalid"]
    return ("invalid", f"no value of {', '.join(invalid)}") if invalid else ("ok", "")


def _verdicts(response: Response, form: ReviewForm) -> Iterator[Verdict]:
    """Judge every attribute that the item was asked, and every one that it has an answer for."""
    for question in form:
        asked = not response.kind or question.attribute.asks(response.kind)
        answered = question.name in response.values or question.name in response.invalid
        if asked or answered:
            yield _verdict(response, question, asked=asked)


def _verdict(response: Response, question: Question, *, asked: bool) -> Verdict:
    name = question.name
    if response.status != "submitted":
        return Verdict(name, None, "abstained", response.status)
    if name in response.invalid:
        return Verdict(name, None, "invalid", response.invalid[name])
    if name not in response.values:
        return Verdict(name, None, "abstained", LEFT_OPEN)
    if not asked:
        return Verdict(name, None, "invalid", f"not asked of an item that is {response.kind}")
    return Verdict(name, response.values[name], "ok")
