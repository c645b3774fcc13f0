"""Annotating on a Ray cluster: calls go out as rows, results come back, one ledger is written here.

Calls go in waves. A call whose worker died is asked again in the next wave, after its cost was
counted in full: nobody knows whether the endpoint did the work.
"""

from __future__ import annotations

import pickle
from collections import deque
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from math import ceil
from pathlib import Path

import pyarrow as pa

from ...prompts.catalogue import Catalogue
from ...prompts.messages import Prompt
from ...records.errors import BenchprismError
from ..asking.annotator import Annotator, purse_for
from ..asking.call import Came, sendable
from ..asking.capabilities import Capability, keep, recall
from ..asking.inquiry import ladder_of
from ..asking.pending import Call
from ..asking.recorder import Recorder, Signs, Summary
from ..ledger.claim import claimed
from ..ledger.outcome import Status
from ..ledger.store import Ledger
from ..money.budget import Purse, most_on_any_rung
from ..reading.completion import failed
from .ray_cluster import Cluster, Row, joined
from .ray_vllm import vllm_pipeline
from .ray_worker import Asker, Result, Work

_WAVE = 5000
"""Calls that are out at once: so many messages are held here."""
_ENGINE_WAVE = 50_000
"""The same where engines have to start first, which takes minutes."""
_ROWS_PER_CONNECTION = 4
"""Rows that a worker gets at once, for each request that it has in flight."""
_MOST_LOSSES = 3
"""A call is given up when so many workers died over it."""


def annotate_on_ray(
    annotator: Annotator,
    items: pa.Table,
    catalogue: Catalogue,
    ledger: Path,
    *,
    address: str,
    retry: Collection[Status] = (),
    known: Sequence[Path] = (),
    budget: float | None = None,
    signs: Signs | None = None,
    wave: int | None = None,
) -> Summary:
    """Annotate the items that the ledger does not have yet, on a cluster's workers.

    Killed at any moment, it may be run again: it asks only for what is missing.

    Args:
        annotator: Who annotates; ``concurrency`` is divided among the workers.
        items: A table with ``ITEM_SCHEMA``.
        catalogue: What is asked.
        ledger: The ledger's path, on this machine.
        address: The cluster's address.
        retry: How requests must have ended before to be made again.
        known: Other ledgers; what they have is not asked again.
        budget: The most that the ledger's replies may cost in all, in the price's currency.
        signs: What to call on the way.
        wave: Calls that are out at once, in place of a number that fits.

    Raises:
        EndpointError: there is no cluster, or the endpoint cannot be used.
        BudgetReached: the endpoint has no quota left, or the next request might pass the budget.
        InputError: Ray is not installed, the ledger cannot be written, or there is a budget and no
            price.
    """
    with ExitStack() as opened:
        opened.enter_context(claimed(ledger))
        own = opened.enter_context(Ledger(ledger, write=True))
        ledgers = [own, *(opened.enter_context(Ledger(path)) for path in known)]
        own.remember(catalogue)
        purse = purse_for(annotator, own, budget)
        cluster = opened.enter_context(joined(address))
        run = _Run(annotator, catalogue, ledgers, cluster, purse, signs or Signs())
        fits = _WAVE if annotator.vllm is None else _ENGINE_WAVE
        return run.work(items, retry, wave or fits)


@dataclass(frozen=True, slots=True)
class _Out:
    """One call that goes out."""

    call: Call
    message: str
    most: float
    """The most that it can cost; 0 without a budget."""
    losses: int = 0
    """Workers that died over it."""


class _Run:
    def __init__(
        self,
        annotator: Annotator,
        catalogue: Catalogue,
        ledgers: Sequence[Ledger],
        cluster: Cluster,
        purse: Purse | None,
        signs: Signs,
    ) -> None:
        self._annotator = annotator
        self._plan = annotator.plan(catalogue)
        self._ledgers = ledgers
        self._cluster = cluster
        self._purse = purse
        endpoint = annotator.endpoint
        self._ladder = ladder_of(self._plan.prompts, endpoint.rung)
        self._model = (endpoint.base_url, endpoint.model, self._ladder)
        self._known: Capability | None = recall(ledgers, *self._model)
        self._recorder = Recorder(
            annotator.name,
            endpoint,
            annotator.price,
            purse=purse,
            signs=signs,
            most_errors=annotator.patience.errors,
        )
        self._again: deque[_Out] = deque()
        self._failure: BenchprismError | None = None

    def work(self, items: pa.Table, retry: Collection[Status], wave: int) -> Summary:
        """Send the first call alone, then wave after wave."""
        calls = self._plan.calls(items, self._ledgers, retry=retry, known=self._recorder.known)
        coming = self._outgoing(calls)
        try:
            first = self._annotator.vllm is None
            while self._failure is None and (out := self._take(coming, 1 if first else wave)):
                self._send(out, first=first)
                first = False
        except KeyboardInterrupt:
            self._recorder.summary.interrupted = True
        if self._failure is not None:
            raise self._failure
        return self._recorder.summary

    def _outgoing(self, calls: Iterable[Call]) -> Iterator[_Out]:
        for call, message in sendable(calls, self._annotator.max_prompt_characters, self._record):
            yield _Out(call, message, self._most(call, message))

    def _most(self, call: Call, message: str) -> float:
        """The most that a call can cost; one about one item may be asked again with more room."""
        if self._purse is None:
            return 0.0
        items, price = len(call.requests), self._annotator.price
        if price is None:
            return 0.0
        limit = self._annotator.endpoint.max_output_tokens * items
        again = most_on_any_rung(price, call.prompt, message, 2 * limit) if items == 1 else 0.0
        return most_on_any_rung(price, call.prompt, message, limit) + again

    def _take(self, coming: Iterator[_Out], most: int) -> list[_Out]:
        """Take calls for a wave, those first that are asked again.

        Raises:
            BudgetReached: not one fits into the budget any more.
        """
        taken: list[_Out] = []
        while len(taken) < most:
            out = self._again.popleft() if self._again else next(coming, None)
            if out is None:
                break
            if self._purse is not None and not self._purse.budget.take(out.most):
                if not taken:
                    raise self._purse.budget.reached(out.most)
                self._again.appendleft(out)
                break
            taken.append(out)
        return taken

    def _send(self, outs: Sequence[_Out], *, first: bool) -> None:
        workers = max(1, min(self._cluster.processors, self._annotator.concurrency))
        work, rows = self._work(outs, workers, first=first)
        vllm = self._annotator.vllm
        if vllm is not None:
            at_once = vllm.batch_size
            pipeline = vllm_pipeline(vllm, work)
        else:
            at_once = 1 if first else _ROWS_PER_CONNECTION * work.concurrency
            workers = min(workers, ceil(len(rows) / at_once))
            pipeline = self._cluster.actors(Asker, work, workers=workers, rows_at_once=at_once)
        left = dict(enumerate(outs))
        came = self._cluster.map(rows, pipeline, rows_at_once=at_once, forgiving=not first)
        for row in came:
            out = left.pop(int(row["place"]), None)
            if out is not None:
                self._arrived(out, pickle.loads(row["result"]))  # noqa: S301
        for out in left.values():
            self._lost(out)

    def _work(self, outs: Sequence[_Out], workers: int, *, first: bool) -> tuple[Work, list[Row]]:
        """Tell the workers everything once, and for each call only what is its own."""
        annotator = self._annotator
        prompts: dict[tuple[str, int], Prompt] = {}
        for out in outs:
            prompts.setdefault((out.call.prompt.hash, out.call.prompt.items), out.call.prompt)
        places = {key: place for place, key in enumerate(prompts)}
        work = Work(
            settings=annotator.endpoint,
            prompts=tuple(prompts.values()),
            ladder=self._ladder,
            known=self._known,
            patience=annotator.patience,
            concurrency=ceil(annotator.concurrency / workers),
            price=None if self._purse is None else annotator.price,
            first=first,
        )
        rows = [
            {
                "place": place,
                "form": places[out.call.prompt.hash, out.call.prompt.items],
                "message": out.message,
                "most": out.most,
            }
            for place, out in enumerate(outs)
        ]
        return work, rows

    def _arrived(self, out: _Out, result: Result) -> None:
        if self._purse is not None:
            self._purse.budget.settle(out.most, result.spent)
        if result.known is not None and result.known != self._known:
            self._known = result.known
            keep(self._ledgers[0], *self._model, result.known)
        if self._failure is None:
            self._failure = result.error()
        for came in result.came:
            self._record(out.call, came)
        if result.came:
            self._again += self._outgoing(out.call.alone(result.came[-1].alone))

    def _lost(self, out: _Out) -> None:
        """Ask again, or give up, where a worker died."""
        if self._purse is not None:
            self._purse.budget.settle(out.most, None)
        losses = out.losses + 1
        if losses < _MOST_LOSSES:
            self._again.append(replace(out, losses=losses))
            return
        reason = f"{losses} workers of the cluster died over it"
        reading = failed("error", reason, out.call.prompt.attributes)
        self._record(out.call, Came((reading,) * len(out.call.requests)))

    def _record(self, call: Call, came: Came) -> None:
        made = self._recorder.entries(call, came)
        self._ledgers[0].add(made)
        self._recorder.note(made)
