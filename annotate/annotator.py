"""An annotator at work: it asks a model about every item that the ledger does not have yet."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from ..prompts.catalogue import Catalogue
from ..prompts.messages import item_message, make_prompt
from ..records.errors import EndpointError
from ..records.items.record import Item, ItemKind
from .claim import claimed
from .completion import Reading, failed, read_completion
from .endpoint import Endpoint, EndpointSettings
from .faults import Response
from .interrupts import interrupts
from .ledger import Ledger
from .outcome import Reply, Status
from .pace import Halted, Pace, Patience
from .pending import Request, missing_requests, request_key
from .traffic import Exchange, exchange
from .writer import Writer

_KINDS: tuple[ItemKind, ...] = ("multiple_choice", "generative")


@dataclass(frozen=True, slots=True)
class Annotator:
    """A model that annotates, by the name that its annotations carry."""

    name: str
    """``llm:<name>``."""
    endpoint: EndpointSettings
    concurrency: int = 8
    """Requests in flight at once."""
    max_prompt_characters: int = 200_000
    """A longer request is not sent: the item is ``too_long``."""
    patience: Patience = field(default_factory=Patience)


@dataclass(slots=True)
class Summary:
    """What one run of an annotator did."""

    annotator: str
    already: int = 0
    """Items that the ledger had."""
    statuses: Counter[Status] = field(default_factory=Counter)
    """Items asked in this run, by how they ended."""
    prompt_tokens: int = 0
    cached_tokens: int = 0
    completion_tokens: int = 0
    interrupted: bool = False

    @property
    def asked(self) -> int:
        """Items that got a status in this run."""
        return self.statuses.total()

    def count(self, reply: Reply) -> None:
        """Count one reply."""
        self.statuses[reply.status] += 1
        self.prompt_tokens += reply.usage.prompt_tokens or 0
        self.cached_tokens += reply.usage.cached_tokens or 0
        self.completion_tokens += reply.usage.completion_tokens or 0


@dataclass(frozen=True, slots=True)
class Signs:
    """What a run tells its caller while it works."""

    progress: Callable[[], None] = lambda: None
    """Called for each item that is done, or was done before."""
    interrupted: Callable[[], None] = lambda: None
    """Called when the user interrupts: what is in flight is finished first."""


def run_annotator(
    annotator: Annotator,
    items: pa.Table,
    catalogue: Catalogue,
    ledger: Path,
    *,
    retry: Collection[Status] = (),
    signs: Signs | None = None,
    rng: random.Random | None = None,
) -> Summary:
    """Annotate the items that the ledger does not have yet.

    Killed at any moment, it may be run again: it asks only for what is missing. SIGINT and SIGTERM
    let it finish and save what is in flight; a second signal gives that up too.

    Args:
        annotator: Who annotates.
        items: A table with ``ITEM_SCHEMA``.
        catalogue: What is asked.
        ledger: The ledger's path.
        retry: How requests must have ended before to be made again.
        signs: What to call on the way.
        rng: Chance for waiting times.

    Raises:
        EndpointError: the endpoint cannot be used, or fails again and again.
        BudgetReached: the endpoint has no quota left.
        InputError: the ledger cannot be written, or another run is writing it.
    """
    with claimed(ledger), Ledger(ledger, write=True) as opened:
        opened.remember(catalogue)
        run = _Run(annotator, catalogue, opened, signs or Signs(), rng or random.Random())
        return asyncio.run(run.work(items, retry))


class _Run:
    """One run of an annotator: workers that share requests, pace and ledger."""

    def __init__(
        self,
        annotator: Annotator,
        catalogue: Catalogue,
        ledger: Ledger,
        signs: Signs,
        rng: random.Random,
    ) -> None:
        self._annotator = annotator
        self._ledger = ledger
        self._signs = signs
        self._rng = rng
        self._prompts = {kind: make_prompt(catalogue, kind) for kind in _KINDS}
        self._pace = Pace(annotator.concurrency, annotator.patience, rng)
        self._writer = Writer(ledger)
        self._summary = Summary(annotator.name)
        self._workers: list[asyncio.Task[None]] = []
        self._errors_in_a_row = 0
        self._failure: Exception | None = None

    async def work(self, items: pa.Table, retry: Collection[Status]) -> Summary:
        """Make the first request alone, then the others side by side."""
        kinds = [kind for kind, prompt in self._prompts.items() if prompt.attributes]
        askable = items.filter(pc.is_in(items["kind"], value_set=pa.array(kinds, pa.string())))
        requests = missing_requests(
            askable, self._ledger, self._request, retry=retry, known=self._known
        )
        settings, workers = self._annotator.endpoint, self._annotator.concurrency
        async with Endpoint(settings, connections=workers) as self._endpoint:
            self._forms = {k: self._endpoint.form(p) for k, p in self._prompts.items()}
            with interrupts(self._interrupt):
                await self._share(islice(requests, 1), workers=1, first=True)
                await self._share(requests, workers=workers)
        self._writer.flush()
        if self._failure is not None:
            raise self._failure
        return self._summary

    async def _share(
        self, requests: Iterable[Request], *, workers: int, first: bool = False
    ) -> None:
        self._workers = [
            asyncio.create_task(self._worker(requests, first=first)) for _ in range(workers)
        ]
        await asyncio.wait(self._workers)

    async def _worker(self, requests: Iterable[Request], *, first: bool) -> None:
        try:
            for request in requests:
                if self._pace.halted:
                    return
                await self._annotate(request, first=first)
        except Halted:
            return
        except Exception as error:
            self._failure = self._failure or error
            self._pace.halt()

    async def _annotate(self, request: Request, *, first: bool) -> None:
        item, prompt = request.item, request.prompt
        message = item_message(item)
        length = len(prompt.system) + len(message)
        if length > self._annotator.max_prompt_characters:
            reading = failed("too_long", f"{length} characters", prompt.attributes)
            await self._record(request, reading, None)
            return
        body = self._forms[item.kind].body(message)
        ended = await exchange(self._endpoint, body, self._pace, self._rng, first=first)
        if isinstance(ended.end, Response):
            reading = read_completion(ended.end.body, prompt.attributes)
        else:
            reading = failed(ended.end.status, ended.end.reason, prompt.attributes)
        await self._record(request, reading, ended)

    async def _record(self, request: Request, reading: Reading, ended: Exchange | None) -> None:
        item, end = request.item, ended.end if ended else None
        reply = Reply(
            request_key=request.key,
            item_id=item.item_id,
            content_hash=item.content_hash,
            annotator=self._annotator.name,
            model=self._annotator.endpoint.model,
            prompt_hash=request.prompt.hash,
            catalogue_hash=request.prompt.catalogue_hash,
            status=reading.status,
            reason=reading.reason,
            body=end.body if isinstance(end, Response) else "",
            usage=reading.usage,
            price=None,
            time=datetime.now(UTC).isoformat(timespec="microseconds"),
            seconds=ended.seconds if ended else 0.0,
            attempts=ended.attempts if ended else 0,
        )
        await self._writer.save(reply, reading.verdicts)
        self._summary.count(reply)
        self._signs.progress()
        self._watch(reply)

    def _watch(self, reply: Reply) -> None:
        """End a run that meets nothing but errors."""
        self._errors_in_a_row = self._errors_in_a_row + 1 if reply.status == "error" else 0
        most = self._annotator.patience.errors
        if most is not None and self._errors_in_a_row >= most:
            raise EndpointError(
                f"{self._errors_in_a_row} items in a row ended in an error ({reply.reason})",
                wanted=f"answers from {self._endpoint.address}",
                mend="mend the endpoint, then run again with --retry-failed=error",
            )

    def _request(self, item: Item) -> Request:
        prompt, annotator = self._prompts[item.kind], self._annotator
        key = request_key(item, annotator.name, prompt, annotator.endpoint)
        return Request(item, prompt, key)

    def _known(self) -> None:
        self._summary.already += 1
        self._signs.progress()

    def _interrupt(self) -> None:
        self._summary.interrupted = True
        if self._pace.halted:
            for worker in self._workers:
                worker.cancel()
        else:
            self._pace.halt()
            self._signs.interrupted()
