"""The part of an annotation that runs in a worker of a Ray cluster: ask, and read what came.

A worker has no ledger. It is told how to ask, and gives back plain data; whoever holds the ledger
records it.
"""

from __future__ import annotations

import asyncio
import math
import pickle
import random
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from ...prompts.messages import Prompt
from ...records.errors import BenchprismError, BudgetReached, EndpointError, InputError
from ..asking.call import Came, ask
from ..asking.capabilities import Capability, Rung
from ..asking.inquiry import Inquiry, Manner
from ..money.budget import Budget, Metered, Sends, no_bound
from ..money.prices import Price
from ..traffic.endpoint import Endpoint, EndpointSettings
from ..traffic.pace import Halted, Pace, Unanswered
from ..traffic.patience import Patience

_ERRORS = {kind.__name__: kind for kind in (BudgetReached, EndpointError, InputError)}


@dataclass(frozen=True, slots=True)
class Work:
    """Everything that a worker has to know."""

    settings: EndpointSettings
    prompts: tuple[Prompt, ...]
    """The prompts, each for its number of items."""
    ladder: tuple[Rung, ...]
    known: Capability | None
    patience: Patience
    concurrency: int
    """Requests that this worker has in flight at once."""
    price: Price | None
    first: bool = False
    """Whether it is the first call of a run: what would meet every request then ends the run."""


@dataclass(frozen=True, slots=True)
class Result:
    """What came of one call."""

    came: tuple[Came, ...]
    """What came each time that it was asked; nothing when the worker was told to end."""
    spent: float = 0.0
    """What it cost, or may have cost where an attempt was never answered."""
    known: Capability | None = None
    """What the worker knows by now of how the model can be asked."""
    failure: tuple[str, str, str, str] | None = None
    """What ends the run: the kind of error and its sentence in three parts."""

    def error(self) -> BenchprismError | None:
        """The error that ends the run; none when it goes on."""
        if self.failure is None:
            return None
        kind, found, wanted, mend = self.failure
        return _ERRORS.get(kind, EndpointError)(found, wanted=wanted, mend=mend)


class Asker:
    """Asks an endpoint about batches of rows; an actor of a Ray dataset."""

    def __init__(self, work: Work) -> None:
        """Take up the work; the connection is made with the first batch."""
        self._work = work
        self._runner = asyncio.Runner()
        self._endpoint: Endpoint | None = None
        self._pace = Pace(work.concurrency, work.patience, rng := random.Random())
        self._inquiry = Inquiry(
            work.settings,
            self._pace,
            rng,
            ladder=work.ladder,
            known=work.known,
            keep=lambda _: None,
        )

    def __call__(self, batch: Mapping[str, Sequence[Any]]) -> dict[str, Any]:
        """Ask about each row; give back the rows' places, each with a pickled ``Result``."""
        rows = zip(batch["form"], batch["message"], batch["most"], strict=True)
        calls = [(int(form), str(message), float(most)) for form, message, most in rows]
        results = self._runner.run(self._ask_all(calls))
        return {"place": batch["place"], "result": [pickle.dumps(one) for one in results]}

    async def _ask_all(self, calls: Sequence[tuple[int, str, float]]) -> list[Result]:
        if self._endpoint is None:
            self._endpoint = Endpoint(self._work.settings, connections=self._work.concurrency)
        return await asyncio.gather(*(self._ask(self._endpoint, *call) for call in calls))

    async def _ask(self, endpoint: Endpoint, place: int, message: str, most: float) -> Result:
        work, purse = self._work, Budget(math.inf)

        def sends(manner: Manner) -> Sends:
            if work.price is None:
                return endpoint
            if not manner.known.is_bounded:
                raise no_bound(work.settings.model)
            return Metered(endpoint, purse, work.price, lambda _: most, lambda: self._pace.halted)

        try:
            came = await self._answered(work.prompts[place], message, sends)
        except Halted:
            return Result((), purse.spent)
        except BenchprismError as error:
            self._pace.halt()
            sentence = (type(error).__name__, error.found, error.wanted, error.mend)
            return Result((), purse.spent, failure=sentence)
        return Result(came, purse.spent, self._inquiry.known)

    async def _answered(
        self, prompt: Prompt, message: str, sends: Callable[[Manner], Sends]
    ) -> tuple[Came, ...]:
        """Ask for as long as the endpoint is down, and patience lasts."""
        while True:
            asked = ask(self._inquiry, prompt, message, sends, first=self._work.first)
            with suppress(Unanswered):
                return tuple([one async for one in asked])
