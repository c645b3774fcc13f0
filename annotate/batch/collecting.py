"""Collecting batches: what came is kept, what did not is missing again, what is lost is let go."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import islice
from pathlib import Path

from ...records.errors import EndpointError, InputError, suggestion
from ..asking.annotator import Annotator
from ..ledger.claim import claimed
from ..ledger.outcome import FAILURES, Status
from ..ledger.store import Ledger
from .book import BatchBook, Planned
from .results import Results
from .service import ENDED, BatchService, BatchState, GoneError

GONE = "unknown to the endpoint"
INCOMPLETE = "incomplete"
UNREAD = "not read"
ORPHANED = "without its annotator"
FORGOTTEN = "forgotten"

_AT_ONCE = 500
"""Replies that are kept in one transaction."""


@dataclass(frozen=True, slots=True)
class BatchReport:
    """How far one batch is, or what it brought."""

    annotator: str
    batch_id: str
    state: str
    """The endpoint's word for it; ``abandoned`` for one that never started, ``GONE`` for one that
    the endpoint does not know, ``INCOMPLETE`` for one whose files lack answers that are said to be
    there, ``UNREAD`` for one that it fails to give, ``ORPHANED`` for one whose annotator is not
    there any more, ``FORGOTTEN`` for one that was let go."""
    calls: int
    completed: int = 0
    failed: int = 0
    statuses: Counter[Status] = field(default_factory=Counter)
    """Requests that were collected, by how they ended."""
    missing: int = 0
    """Requests that were not answered and are missing again."""
    problem: str = ""
    key: str = ""
    """Our own key of the batch, where it stays open though nothing more can be expected."""

    @property
    def complete(self) -> bool:
        """Whether it is over, and all that it carried is answered."""
        failed = any(self.statuses[status] for status in FAILURES)
        return self.state in ENDED and not self.missing and not failed


def collect(annotator: Annotator, ledger: Path, *, wait: bool = False) -> Iterator[BatchReport]:
    """Keep what came of an annotator's batches; yield how far each is.

    A batch that ended is collected whatever it ended as: what it did not answer is missing again.
    One of which answers lack that the endpoint says are there stays open, and so does one that it
    does not know any more. Collecting twice changes nothing.

    Args:
        annotator: Who annotates.
        ledger: The ledger's path.
        wait: Only say how far each batch is.

    Raises:
        EndpointError: the endpoint cannot be reached, or fails; for one batch, when the others are
            collected.
        InputError: another run is writing the ledger.
    """
    with ExitStack() as opened:
        opened.enter_context(claimed(ledger))
        own = opened.enter_context(Ledger(ledger, write=True))
        service = opened.enter_context(BatchService(annotator.endpoint, annotator.patience))
        yield from _collect(own, annotator, service, wait=wait)


def _collect(
    ledger: Ledger, annotator: Annotator, service: BatchService, *, wait: bool
) -> Iterator[BatchReport]:
    book, failure = BatchBook(ledger), None
    yield from find_lost(book, service, annotator)
    for batch in _own(book, annotator):
        try:
            yield _looked_at(batch, service, ledger, annotator, wait=wait)
        except EndpointError as error:
            failure = failure or error
            yield _stuck(batch, UNREAD, error.found)
    if failure is not None:
        raise failure


def _looked_at(
    batch: Planned, service: BatchService, ledger: Ledger, annotator: Annotator, *, wait: bool
) -> BatchReport:
    try:
        state = service.state(batch.name)
        if state.ended and not wait:
            return _collected(batch, state, service, ledger, annotator)
        return _progress(batch, state)
    except GoneError as error:
        return _stuck(batch, GONE, error.found)


def forget(annotator: Annotator, ledger: Path, batch_id: str) -> Iterator[BatchReport]:
    """Let go of a batch, whatever the endpoint says of it: what it carries is missing again.

    What can be collected of it is kept first; of one that ended and lacks nothing, that is all. One
    that runs is cancelled at the endpoint.

    Args:
        annotator: Who annotates.
        ledger: The ledger's path.
        batch_id: The endpoint's id of the batch.

    Raises:
        InputError: another run is writing the ledger.
    """
    with ExitStack() as opened:
        opened.enter_context(claimed(ledger))
        own = opened.enter_context(Ledger(ledger, write=True))
        service = opened.enter_context(BatchService(annotator.endpoint, annotator.patience))
        book = BatchBook(own)
        for batch in _own(book, annotator):
            if batch.name == batch_id:
                yield _let_go_by_name(book, batch, service, own, annotator)


def _let_go_by_name(
    book: BatchBook, batch: Planned, service: BatchService, ledger: Ledger, annotator: Annotator
) -> BatchReport:
    try:
        report = _looked_at(batch, service, ledger, annotator, wait=False)
        if report.state in ENDED:
            return report
        if not report.key:
            service.cancel(batch.name)
    except EndpointError as error:
        report = _stuck(batch, UNREAD, error.found)
    return _let_go(book, batch, report)


def _let_go(book: BatchBook, batch: Planned, report: BatchReport) -> BatchReport:
    book.note(batch, "abandoned", report.problem)
    missing = book.requests(batch) - report.statuses.total()
    return replace(report, state=FORGOTTEN, missing=missing, key="")


def orphans(ledger: Path, annotators: Collection[str]) -> list[BatchReport]:
    """Find the open batches of annotators that are not there any more.

    Args:
        ledger: The ledger's path.
        annotators: The names of those that are.
    """
    with Ledger(ledger) as own:
        return [
            _stuck(batch, ORPHANED, f"no annotator of the project is called {batch.annotator}")
            for batch in BatchBook(own).open()
            if batch.annotator not in annotators
        ]


def forget_orphan(ledger: Path, batch_id: str) -> BatchReport:
    """Let go of a batch without asking the endpoint: what it carries is missing again.

    Raises:
        InputError: no such batch is open, or another run is writing the ledger.
    """
    with claimed(ledger), Ledger(ledger, write=True) as own:
        book = BatchBook(own)
        batches = {batch.name: batch for batch in book.open()}
        if batch_id not in batches:
            raise InputError(
                f"no open batch {batch_id!r}",
                wanted="one that is not over",
                mend=suggestion(batch_id, batches) if batches else "none is open",
            )
        batch = batches[batch_id]
        return _let_go(book, batch, _stuck(batch, ORPHANED, ""))


def _own(book: BatchBook, annotator: Annotator) -> list[Planned]:
    return [batch for batch in book.open() if batch.annotator == annotator.name]


def find_lost(book: BatchBook, service: BatchService, annotator: Annotator) -> list[BatchReport]:
    """Settle whether batches started of which a process died before it knew."""
    abandoned = []
    for batch in _own(book, annotator):
        if batch.batch_id is None:
            found = service.find(batch.key, datetime.fromisoformat(batch.time))
            book.note(batch, "created" if found else "abandoned", found or "")
            if not found:
                abandoned.append(BatchReport(batch.annotator, "", "abandoned", batch.calls))
    return abandoned


def _stuck(batch: Planned, state: str, problem: str) -> BatchReport:
    """Say of a batch why nothing more can be collected; it stays open, others go on."""
    return BatchReport(
        batch.annotator, batch.name, state, batch.calls, problem=problem, key=batch.key
    )


def _progress(batch: Planned, state: BatchState) -> BatchReport:
    return BatchReport(
        annotator=batch.annotator,
        batch_id=batch.name,
        state=state.status,
        calls=batch.calls,
        completed=state.completed or 0,
        failed=state.failed,
    )


def _collected(
    batch: Planned, state: BatchState, service: BatchService, ledger: Ledger, annotator: Annotator
) -> BatchReport:
    book = BatchBook(ledger)
    results = Results(batch, book.carried(batch), annotator.price, state.ended_at)
    for name in state.files:
        came = results.entries(service.lines(name))
        while some := [*islice(came, _AT_ONCE)]:
            ledger.add(entry for line in some for entry in line)
    report = replace(_progress(batch, state), statuses=results.statuses)
    lost = _lost(batch, state, results)
    if lost > 0:
        problem = f"{lost} answers that are said to be there are not in its files yet"
        return replace(report, state=INCOMPLETE, problem=problem, key=batch.key)
    book.note(batch, "ended", state.status)
    return replace(report, missing=results.missing, problem=state.problem or results.problem)


def _lost(batch: Planned, state: BatchState, results: Results) -> int:
    """Count the answers that should be in the files and are not."""
    if state.completed is not None:
        return state.completed - len(results.answered)
    return batch.calls - len(results.read) if state.status == "completed" else 0
