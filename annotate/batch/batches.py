"""Annotating by batches: what is missing goes out in files.

A batch is planned in the ledger before anything is sent, and the endpoint is told our key for it:
a process that dies at any moment neither loses a batch nor sends its requests twice.
"""

from __future__ import annotations

import json
import math
import tempfile
from collections.abc import Collection, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import IO

import pyarrow as pa

from ...prompts.catalogue import Catalogue
from ..asking.annotator import Annotator, purse_for
from ..asking.call import Came, sendable
from ..asking.capabilities import Capability, recall
from ..asking.entries import Origin, about, entries
from ..asking.inquiry import ladder_of
from ..asking.pending import Call
from ..asking.request_form import RequestForm, request_form
from ..ledger.claim import claimed
from ..ledger.outcome import Status
from ..ledger.store import Ledger, digest
from ..money.budget import Purse, no_bound
from .book import BatchBook, Planned
from .collecting import BatchReport, find_lost
from .service import BatchService


@dataclass(frozen=True, slots=True)
class Limits:
    """How much one file may hold."""

    calls: int = 50_000
    bytes: int = 200_000_000


def submit(
    annotator: Annotator,
    items: pa.Table,
    catalogue: Catalogue,
    ledger: Path,
    *,
    retry: Collection[Status] = (),
    known: Sequence[Path] = (),
    budget: float | None = None,
    limits: Limits | None = None,
) -> Iterator[BatchReport]:
    """Send the missing requests as batches; yield each batch when it has started.

    What waits in a batch already is not sent again. A budget counts every batch that is not
    collected yet at the most that it can cost.

    Args:
        annotator: Who annotates.
        items: A table with ``ITEM_SCHEMA``.
        catalogue: What is asked.
        ledger: The ledger's path.
        retry: How requests must have ended before to be made again.
        known: Other ledgers; what they have is not asked again.
        budget: The most that the ledger's replies may cost in all.
        limits: How much one file may hold.

    Raises:
        EndpointError: the endpoint has no batches, or cannot be reached.
        BudgetReached: not everything fits into the budget; what fits was sent.
        InputError: another run is writing the ledger, or there is a budget and no price.
    """
    with ExitStack() as opened:
        opened.enter_context(claimed(ledger))
        own = opened.enter_context(Ledger(ledger, write=True))
        ledgers = [own, *(opened.enter_context(Ledger(path)) for path in known)]
        service = opened.enter_context(BatchService(annotator.endpoint, annotator.patience))
        cap = math.inf if budget is None and annotator.price is not None else budget
        own.remember(catalogue)
        find_lost(BatchBook(own), service, annotator)
        yield from _Submission(annotator, catalogue, ledgers, service, limits or Limits()).run(
            items, retry, purse_for(annotator, own, cap)
        )


@dataclass(frozen=True, slots=True)
class _Line:
    """One call as it stands in a file."""

    custom_id: str
    call: Call
    text: bytes
    most: float
    """The most that it can cost; 0 without a budget."""


class _Submission:
    """The missing calls of one annotator, on their way into files."""

    def __init__(
        self,
        annotator: Annotator,
        catalogue: Catalogue,
        ledgers: Sequence[Ledger],
        service: BatchService,
        limits: Limits,
    ) -> None:
        self._annotator = annotator
        self._ledgers = ledgers
        self._book = BatchBook(ledgers[0])
        self._service = service
        self._limits = limits
        self._plan = annotator.plan(catalogue)
        self._known = self._capability()
        self._forms: dict[tuple[str, int], RequestForm] = {}

    def run(
        self, items: pa.Table, retry: Collection[Status], purse: Purse | None
    ) -> Iterator[BatchReport]:
        """Fill files with what is missing, and start a batch for each."""
        if purse and math.isfinite(purse.budget.cap) and not self._known.is_bounded:
            raise no_bound(self._annotator.endpoint.model)
        calls = self._plan.calls(items, self._ledgers, retry=retry)
        room = self._annotator.max_prompt_characters
        messages = sendable(calls, room, self._refuse)
        lines = (self._line(call, message, purse) for call, message in messages)
        line = next(lines, None)
        while line is not None:
            with tempfile.TemporaryFile(dir=self._ledgers[0].path.parent) as file:
                sent, following = self._fill(file, line, lines, purse)
                if sent:
                    yield self._start(file, sent, purse)
                elif purse is not None:
                    raise purse.budget.reached(line.most)
                line = following

    def _refuse(self, call: Call, came: Came) -> None:
        origin = Origin(self._annotator.name, self._annotator.endpoint.model, None)
        subjects = [about(request) for request in call.requests]
        self._ledgers[0].add(entries(subjects, came.readings, origin))

    def _fill(
        self, file: IO[bytes], line: _Line | None, lines: Iterator[_Line], purse: Purse | None
    ) -> tuple[list[_Line], _Line | None]:
        """Write lines to a file until it is full or the budget is reached.

        Returns:
            The lines that are in it, and the first that is not.
        """
        sent: list[_Line] = []
        size = 0
        while line is not None:
            size += len(line.text)
            full = len(sent) == self._limits.calls or (size > self._limits.bytes and sent)
            if full or (purse is not None and not purse.budget.take(line.most)):
                break
            file.write(line.text)
            sent.append(replace(line, text=b""))
            line = next(lines, None)
        return sent, line

    def _start(self, file: IO[bytes], sent: Sequence[_Line], purse: Purse | None) -> BatchReport:
        settings = self._annotator.endpoint
        time = datetime.now(UTC).isoformat(timespec="microseconds")
        batch = Planned(
            key=digest(time, *(line.custom_id for line in sent)),
            annotator=self._annotator.name,
            model=settings.model,
            base_url=settings.base_url or "",
            rung=self._known.rung,
            calls=len(sent),
            most=None if purse is None else sum(line.most for line in sent),
            time=time,
            largest=None if purse is None else max(line.most for line in sent),
        )
        self._book.plan(batch, [(line.custom_id, line.call) for line in sent])
        file_id = self._service.upload(file, batch.key)
        self._book.note(batch, "uploaded", file_id)
        batch_id = self._service.create(file_id, batch.key)
        self._book.note(batch, "created", batch_id)
        return BatchReport(batch.annotator, batch_id, "started", len(sent))

    def _line(self, call: Call, message: str, purse: Purse | None) -> _Line:
        prompt, settings = call.prompt, self._annotator.endpoint
        limit = settings.max_output_tokens * len(call.requests)
        asked = (prompt.hash, prompt.items)
        if asked not in self._forms:
            self._forms[asked] = request_form(
                prompt, settings.model, self._known, limit=limit, parameters=settings.parameters
            )
        form = self._forms[asked]
        custom_id = digest(*(request.key for request in call.requests))
        head = {"custom_id": custom_id, "method": "POST", "url": f"/v1{form.path}"}
        start = json.dumps(head)[:-1].encode()
        body = form.body(message)
        text = b"".join((start, b', "body": ', body, b"}\n"))
        most = 0.0
        if purse is not None:
            most = purse.worst.of(
                prompt, message, limit, body=len(body), rung=self._known.rung, batch=True
            )
        return _Line(custom_id, call, text, most)

    def _capability(self) -> Capability:
        """How the model is asked: as was learned, or by a schema; a batch has no decisions."""
        settings = self._annotator.endpoint
        ladder = ladder_of(self._plan.prompts, settings.rung)
        known = recall(self._ledgers, settings.base_url, settings.model, ladder)
        if known is None or known.rung == "decisions":
            return Capability("json_schema", settings.limit_parameter, settings.unknown_parameters)
        return known
