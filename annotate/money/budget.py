"""A hard cap on money that counts requests in flight at the most that they can cost."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from ...prompts.messages import Prompt
from ...records.errors import BudgetReached, InputError
from ..asking.capabilities import Rung
from ..ledger.outcome import Usage
from ..ledger.store import Ledger
from ..reading.completion import read_usage
from ..traffic.faults import Fault, Response
from ..traffic.pace import Halted
from .prices import Price, Rate, limit, money

_FRAME_TOKENS = 200
"""What an endpoint may add to a request: roles, marks, its own form of a schema."""
_MOST_SEEN = """
    SELECT prompt_hash, rung, max(prompt_tokens) FROM reply
    WHERE model = ? AND items = 1 AND prompt_tokens IS NOT NULL GROUP BY prompt_hash, rung
"""


_PRICED = "SELECT reply_id, price FROM reply WHERE price IS NOT NULL"
_UNPRICED = """
    SELECT reply_id, model, prompt_tokens, cached_tokens, completion_tokens FROM reply
    WHERE price IS NULL AND model IN (SELECT value FROM json_each(?))
        AND (SELECT body <> '' FROM body WHERE body.body_hash = reply.body_hash)
"""
_UNPRICED_BATCHES = """
    SELECT model, count(*) FROM open_batch JOIN batch_request USING (batch_key)
    WHERE most IS NULL AND model IN (SELECT value FROM json_each(?)) GROUP BY model
"""


class Sends(Protocol):
    """Something that sends requests: an endpoint, or a budget before it."""

    async def send(self, body: bytes, path: str) -> Response | Fault:
        """Send one request, once, to a path under the endpoint's address."""


class Budget:
    """What has been spent, what is in flight, and how much both may be.

    A request is sent when it fits even if it costs the most that it can; otherwise it waits for
    those in flight, and when none is left, the budget is reached.
    """

    def __init__(self, cap: float, spent: float = 0.0, promised: float = 0.0) -> None:
        self.cap = cap
        self.promised = promised
        """The most that batches can cost which are not collected yet."""
        self.spent = spent
        """Paid, or possibly paid: a request that was never answered counts in full."""
        self.reserved = 0.0
        """The most that the requests in flight can cost."""
        self._in_flight = 0
        self._waiting: list[asyncio.Future[None]] = []

    async def reserve(self, most: float, halted: Callable[[], bool] = lambda: False) -> None:
        """Wait until a request fits.

        Args:
            most: The most that it can cost.
            halted: Tells whether the run was told to end meanwhile.

        Raises:
            BudgetReached: it cannot fit any more.
            Halted: the run was told to end.
        """
        while not self.take(most):
            if not self._in_flight:
                raise self.reached(most)
            settled = asyncio.get_running_loop().create_future()
            self._waiting.append(settled)
            await settled
            if halted():
                raise Halted

    def take(self, most: float) -> bool:
        """Reserve for a request if it fits now; tell whether it did."""
        if self.spent + self.promised + self.reserved + most > self.cap:
            return False
        self.reserved += most
        self._in_flight += 1
        return True

    def settle(self, most: float, price: float | None) -> None:
        """Say what a request that was reserved has cost; none when nobody knows."""
        self._in_flight -= 1
        self.reserved = self.reserved - most if self._in_flight else 0.0
        self.spent += most if price is None else price
        for settled in self._waiting:
            if not settled.done():
                settled.set_result(None)
        self._waiting.clear()

    def reached(self, most: float) -> BudgetReached:
        """Say that a request does not fit."""
        open_ = self.reserved + self.promised
        waiting = f", what is not back yet may cost {money(open_)}" if open_ else ""
        return BudgetReached(
            f"the budget of {limit(self.cap)} is reached: {money(self.spent)} is spent{waiting},"
            f" and the next request may cost {money(most)}",
            wanted="a budget that covers the next request",
            mend="what came is saved; to go on, run again with a higher --budget",
        )


class WorstCase:
    """The most that one request can cost.

    No token is shorter than a byte, so that a request has no more tokens than bytes. Where the
    ledger has replies to the same prompt on the same rung, the largest of them bounds the prompt,
    and only the bytes of the items come on top. How often an endpoint that is asked typed questions
    counts an item nobody knows: there the bytes are the bound.
    """

    def __init__(self, price: Price, model: str, ledger: Ledger) -> None:
        self._price = price
        self._most_seen = {
            (str(prompt), str(rung)): int(str(tokens))
            for prompt, rung, tokens in ledger.query(_MOST_SEEN, model)
        }

    def of(
        self,
        prompt: Prompt,
        message: str,
        output_tokens: int,
        *,
        body: int,
        rung: Rung,
        batch: bool = False,
    ) -> float:
        """The most that a request can cost.

        Args:
            prompt: What is asked.
            message: The message with the items.
            output_tokens: The reply is cut off after so many.
            body: Bytes of the whole request.
            rung: How it is asked.
            batch: Whether it goes as a part of a batch.
        """
        tokens = _FRAME_TOKENS + body
        most_seen = self._most_seen.get((prompt.hash, rung))
        if most_seen is not None and prompt.items == 1 and rung != "decisions":
            tokens = min(tokens, most_seen + len(message.encode()))
        return self._price.of_tokens(tokens, 0, output_tokens, batch=batch)

    def saw(self, prompt: Prompt, usage: Usage, rung: str) -> None:
        """Learn from a reply how many tokens a prompt has with one item."""
        if usage.prompt_tokens is not None and prompt.items == 1:
            key = (prompt.hash, rung)
            self._most_seen[key] = max(self._most_seen.get(key, 0), usage.prompt_tokens)


def no_bound(model: str) -> InputError:
    """Say that a budget cannot hold where nothing bounds a reply."""
    return InputError(
        f"a budget, and the model {model!r} takes no limit of its replies' length, neither"
        " max_tokens nor max_completion_tokens",
        wanted="a bound on what one reply can cost",
        mend="ask a model or endpoint that takes one of them; or go without a budget, with --limit"
        " and a cap at the provider",
    )


def most_of(price: Price, body: int, output_tokens: int) -> float:
    """The most that a request of so many bytes can cost."""
    return price.of_tokens(_FRAME_TOKENS + body, 0, output_tokens)


def most_on_any_rung(price: Price, prompt: Prompt, message: str, output_tokens: int) -> float:
    """The most that a request can cost, however it is asked in the end."""
    told = [prompt.system_with_schema, prompt.framing, prompt.schema, prompt.schema]
    whole = len(json.dumps([*told, prompt.questions, message]))
    return price.of_tokens(2 * _FRAME_TOKENS + whole, 0, output_tokens)


@dataclass(frozen=True, slots=True)
class Purse:
    """A budget, and the most that a request may take from it."""

    budget: Budget
    worst: WorstCase


@dataclass(frozen=True, slots=True)
class Metered:
    """An endpoint behind a budget, for one call."""

    endpoint: Sends
    budget: Budget
    price: Price
    most: Callable[[int], float]
    """The most that a request can cost, by its bytes."""
    halted: Callable[[], bool]
    """Tells whether the run was told to end."""

    async def send(self, body: bytes, path: str) -> Response | Fault:
        """Send a request when the budget has room for it.

        An endpoint that answers with an error, or that cannot be reached, does no work to be paid;
        one that does not answer may have done it.
        """
        most = self.most(len(body))
        await self.budget.reserve(most, self.halted)
        price: float | None = None
        try:
            end = await self.endpoint.send(body, path)
            price = self._price(end)
        finally:
            self.budget.settle(most, price)
        return end

    def _price(self, end: Response | Fault) -> float | None:
        if isinstance(end, Fault):
            return 0.0 if end.code or end.unreached else None
        usage = read_usage(end.content.get("usage")) if isinstance(end.content, dict) else Usage()
        return self.price.of(usage)


def spent(
    ledger: Ledger, rates: Mapping[str, Rate] | None = None, *, besides: Ledger | None = None
) -> float:
    """What the replies of a ledger have cost, at the most where nobody counted.

    Args:
        ledger: The ledger.
        rates: What replies cost that came before they had a price, by model; those of other models
            are taken to cost nothing.
        besides: Another ledger; replies that it has too are left out.
    """
    rates = rates or {}
    known = set(besides.query("SELECT reply_id FROM reply")) if besides else set()
    priced: float = sum(price for name, price in _rows(ledger, _PRICED) if (name,) not in known)
    unpriced = _rows(ledger, _UNPRICED, json.dumps([*rates]))
    return priced + sum(
        rates[model].most(Usage(*counts))
        for name, model, *counts in unpriced
        if (name,) not in known
    )


def _rows(ledger: Ledger, sql: str, *parameters: object) -> Iterator[tuple[Any, ...]]:
    return ledger.query(sql, *parameters)


def promised(ledger: Ledger, rates: Mapping[str, Rate] | None = None) -> float:
    """The most that the batches of a ledger can cost which are not collected yet.

    Args:
        ledger: The ledger.
        rates: What those cost that were sent before they had a price, by model.
    """
    rates = rates or {}
    ((most,),) = _rows(ledger, "SELECT total(most) FROM open_batch")
    unpriced = _rows(ledger, _UNPRICED_BATCHES, json.dumps([*rates]))
    waiting = sum(int(requests) * rates[model].most(Usage()) for model, requests in unpriced)
    return float(most) + waiting
