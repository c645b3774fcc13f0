"""An annotator at work: it asks a model about every item that the ledger does not have yet."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Collection, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import pyarrow as pa

from ...prompts.catalogue import Catalogue
from ...prompts.messages import Prompt
from ...prompts.templates import Wording
from ...records.errors import InputError
from ..cluster.vllm_settings import VllmSettings
from ..ledger.claim import claimed
from ..ledger.outcome import Status
from ..ledger.store import Ledger
from ..ledger.writer import Writer
from ..money.budget import Budget, Metered, Purse, Sends, WorstCase, no_bound, promised, spent
from ..money.prices import Price, Rate
from ..traffic.endpoint import Endpoint, EndpointSettings
from ..traffic.pace import Halted, Pace, Unanswered
from ..traffic.patience import Patience
from ..traffic.silence import MOST_ALONE
from .call import Came, ask, too_long
from .capabilities import keep, recall
from .inquiry import Inquiry, Manner, ladder_of
from .interrupts import interrupts
from .pending import Call
from .plan import Asking, Plan
from .queue import Queue
from .recorder import Recorder, Signs, Summary

_MOST_PROBES = 3


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
    asking: Asking = field(default_factory=Asking)
    """How much one call asks."""
    wording: Wording = field(default_factory=Wording)
    """In which words it is asked."""
    price: Price | None = None
    """What the model's tokens cost; none when nobody said."""
    rates: Mapping[str, Rate] = field(default_factory=dict)
    """By model, what a budget counts for replies that came without a price; only the annotator's
    own model when empty."""
    vllm: VllmSettings | None = None
    """How a Ray cluster serves the model itself; none when an endpoint does."""

    def rate(self, price: Price) -> Rate:
        """The most that one of its replies can have cost."""
        return Rate(price, self.max_prompt_characters, 2 * self.endpoint.max_output_tokens)

    def plan(self, catalogue: Catalogue, asking: Asking | None = None) -> Plan:
        """What the annotator asks under a catalogue, in its own way or in another."""
        return Plan(self.name, self.endpoint, catalogue, asking or self.asking, self.wording)


def run_annotator(
    annotator: Annotator,
    items: pa.Table,
    catalogue: Catalogue,
    ledger: Path,
    *,
    retry: Collection[Status] = (),
    known: Sequence[Path] = (),
    budget: float | None = None,
    signs: Signs | None = None,
    rng: random.Random | None = None,
) -> Summary:
    """Annotate the items that the ledger does not have yet.

    Killed at any moment, it may be run again: it asks only for what is missing. SIGINT, SIGTERM and
    SIGHUP let it finish and save what is in flight; a second signal gives that up too.

    Args:
        annotator: Who annotates.
        items: A table with ``ITEM_SCHEMA``.
        catalogue: What is asked.
        ledger: The ledger's path.
        retry: How requests must have ended before to be made again.
        known: Other ledgers; what they have is not asked again.
        budget: The most that the ledger's replies may cost in all, in the price's currency.
        signs: What to call on the way.
        rng: Chance for waiting times.

    Raises:
        EndpointError: the endpoint cannot be used, or fails again and again.
        BudgetReached: the endpoint has no quota left, or the next request might pass the budget.
        InputError: the ledger cannot be written, another run is writing it, or there is a budget
            and no price.
    """
    with ExitStack() as open_files:
        open_files.enter_context(claimed(ledger))
        opened = open_files.enter_context(Ledger(ledger, write=True))
        others = [open_files.enter_context(Ledger(path)) for path in known]
        opened.remember(catalogue)
        purse = purse_for(annotator, opened, budget)
        ledgers = [opened, *others]
        run = _Run(annotator, catalogue, ledgers, purse, signs or Signs(), rng or random.Random())
        return asyncio.run(run.work(items, retry))


def purse_for(annotator: Annotator, ledger: Ledger, cap: float | None) -> Purse | None:
    """Open a budget that counts what a ledger's replies have cost; none without a cap.

    Raises:
        InputError: nobody said what the model costs.
    """
    if cap is None:
        return None
    if annotator.price is None:
        raise no_price(annotator)
    worst = WorstCase(annotator.price, annotator.endpoint.model, ledger)
    rates = annotator.rates or {annotator.endpoint.model: annotator.rate(annotator.price)}
    return Purse(Budget(cap, spent(ledger, rates), promised(ledger, rates)), worst)


def no_price(annotator: Annotator) -> InputError:
    """Say that a budget needs a price."""
    model = annotator.endpoint.model
    return InputError(
        f"a budget, and no price for the model {model!r} of {annotator.name}",
        wanted="the price of its tokens, so that the budget can hold",
        mend=f"add 'prices: {{{model}: {{input: ..., output: ...}}}}' to benchprism.yaml",
    )


class _Run:
    """One run of an annotator: workers that share calls, pace, budget and ledger."""

    def __init__(
        self,
        annotator: Annotator,
        catalogue: Catalogue,
        ledgers: Sequence[Ledger],
        purse: Purse | None,
        signs: Signs,
        rng: random.Random,
    ) -> None:
        self._annotator = annotator
        self._plan = annotator.plan(catalogue)
        self._ledgers = ledgers
        self._purse = purse
        self._signs = signs
        self._rng = rng
        self._pace = Pace(annotator.concurrency, annotator.patience, rng, self._signs.outage)
        endpoint = annotator.endpoint
        ladder = ladder_of(self._plan.prompts, endpoint.rung)
        model = (endpoint.base_url, endpoint.model, ladder)
        self._inquiry = Inquiry(
            endpoint,
            self._pace,
            rng,
            ladder=ladder,
            known=recall(ledgers, *model),
            keep=partial(keep, ledgers[0], *model),
        )
        self._writer = Writer(ledgers[0])
        self._recorder = Recorder(
            annotator.name,
            endpoint,
            annotator.price,
            purse=purse,
            signs=signs,
            most_errors=annotator.patience.errors,
        )
        self._workers: list[asyncio.Task[None]] = []
        self._failure: Exception | None = None

    async def work(self, items: pa.Table, retry: Collection[Status]) -> Summary:
        """Make the first call alone, until one shows how the model can be asked; then all others.

        What is learned from one request spares the same to those that follow.
        """
        calls = Queue(
            self._plan.calls(items, self._ledgers, retry=retry, known=self._recorder.known)
        )
        settings, workers = self._annotator.endpoint, self._annotator.concurrency
        async with Endpoint(settings, connections=workers) as self._endpoint:
            with interrupts(self._interrupt):
                for _ in range(_MOST_PROBES):
                    await self._share(calls, workers=1, first=True)
                    if self._inquiry.known.hold != "open":
                        break
                await self._share(calls, workers=workers)
        self._writer.flush()
        if self._failure is not None:
            raise self._failure
        self._recorder.summary.notes = [*self._inquiry.notes]
        return self._recorder.summary

    async def _share(self, calls: Queue, *, workers: int, first: bool = False) -> None:
        few = workers <= MOST_ALONE
        self._pace.compares = lambda: few and calls.has_more
        self._workers = [
            asyncio.create_task(self._worker(calls, first=first)) for _ in range(workers)
        ]
        await asyncio.wait(self._workers)

    async def _worker(self, calls: Queue, *, first: bool) -> None:
        """Make one call after the other; only one when it is the first of the run."""
        try:
            while not self._pace.halted:
                call = calls.take(self._pace.silence.answers)
                if call is None:
                    return
                calls.add(await self._annotate(call, calls, first=first))
                if first:
                    return
        except Halted:
            return
        except Exception as error:
            self._failure = self._failure or error
            self._pace.halt()

    async def _annotate(self, call: Call, calls: Queue, *, first: bool) -> list[Call]:
        """Make a call; give back what is to be asked about alone."""
        message = call.message()
        length = len(call.prompt.system) + len(message)
        if length <= self._annotator.max_prompt_characters:
            return await self._ask(call, calls, message, first=first)
        if len(call.requests) > 1:
            return call.alone()
        await self._record(call, too_long(call, length))
        return []

    async def _ask(self, call: Call, calls: Queue, message: str, *, first: bool) -> list[Call]:
        """Ask until asking otherwise gains nothing.

        Where the endpoint answers nobody the call is put aside, and nothing is said of its items.
        """
        alone: tuple[int, ...] = ()
        endpoint = partial(self._metered, call.prompt, message)
        try:
            async for came in ask(self._inquiry, call.prompt, message, endpoint, first=first):
                unheard = came.readings[0].status == "error" and self._pace.silence.lasts
                if unheard and self._pace.halted:
                    raise Halted
                await self._record(call, came)
                alone = came.alone
        except Unanswered:
            calls.put_aside(call, self._pace.silence.answers)
        return call.alone(alone)

    def _metered(self, prompt: Prompt, message: str, manner: Manner) -> Sends:
        """Put the budget between a call and the endpoint, when there is one."""
        purse, price = self._purse, self._annotator.price
        if purse is None or price is None:
            return self._endpoint
        worst, rung = purse.worst, manner.known.rung
        if not manner.known.is_bounded:
            raise no_bound(self._annotator.endpoint.model)

        def most(body: int) -> float:
            return worst.of(prompt, message, manner.limit, body=body, rung=rung)

        return Metered(self._endpoint, purse.budget, price, most, lambda: self._pace.halted)

    async def _record(self, call: Call, came: Came) -> None:
        made = self._recorder.entries(call, came)
        await self._writer.save(made)
        self._recorder.note(made)

    def _interrupt(self) -> None:
        self._recorder.summary.interrupted = True
        if self._pace.halted:
            for worker in self._workers:
                worker.cancel()
        else:
            self._pace.halt()
            self._signs.interrupted()
