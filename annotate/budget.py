"""A hard cap on money that counts requests in flight at the most that they can cost."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from ..prompts.messages import Prompt
from ..records.errors import BudgetReached
from .completion import read_usage
from .faults import Fault, Response
from .ledger import Ledger
from .outcome import Usage
from .pace import Halted
from .prices import Price

_FRAME_TOKENS = 200
"""What an endpoint may add to a request: roles, marks, its own form of a schema."""
_MOST_SEEN = """
    SELECT prompt_hash, max(prompt_tokens) FROM reply
    WHERE model = ? AND items = 1 GROUP BY prompt_hash
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

    def __init__(self, cap: float, spent: float = 0.0) -> None:
        self.cap = cap
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
        if self.spent + self.reserved + most > self.cap:
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
        waiting = f", what is not back yet may cost {self.reserved:.4f}" if self.reserved else ""
        return BudgetReached(
            f"the budget of {self.cap:.2f} is reached: {self.spent:.4f} is spent{waiting}, and the"
            f" next request may cost {most:.4f}",
            wanted="a budget that covers the next request",
            mend="what came is saved; to go on, run again with a higher --budget",
        )


class WorstCase:
    """The most that one request can cost.

    No token is shorter than a byte, so that a request has no more tokens than bytes. Where the
    ledger has replies to the same prompt, the largest of them bounds the prompt, and only the bytes
    of the items come on top.
    """

    def __init__(self, price: Price, model: str, ledger: Ledger) -> None:
        self._price = price
        self._most_seen = {str(row[0]): int(str(row[1])) for row in _seen(ledger, model)}
        self._bytes: dict[tuple[str, int], int] = {}

    def of(self, prompt: Prompt, message: str, output_tokens: int, *, batch: bool = False) -> float:
        """The most that a request can cost whose reply is cut off after ``output_tokens``."""
        tokens = self._fixed_tokens(prompt) + len(message.encode())
        return self._price.of_tokens(tokens, 0, output_tokens, batch=batch)

    def saw(self, prompt: Prompt, usage: Usage) -> None:
        """Learn from a reply how many tokens a prompt has with one item."""
        if usage.prompt_tokens is not None and prompt.items == 1:
            before = self._most_seen.get(prompt.hash, 0)
            self._most_seen[prompt.hash] = max(before, usage.prompt_tokens)

    def _fixed_tokens(self, prompt: Prompt) -> int:
        most_seen = self._most_seen.get(prompt.hash)
        if most_seen is not None and prompt.items == 1:
            return most_seen
        key = (prompt.hash, prompt.items)
        if key not in self._bytes:
            self._bytes[key] = len(f"{prompt.system}{json.dumps(prompt.schema)}".encode())
        return _FRAME_TOKENS + self._bytes[key]


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
    most: float
    """The most that a request can cost."""
    halted: Callable[[], bool]
    """Tells whether the run was told to end."""

    async def send(self, body: bytes, path: str) -> Response | Fault:
        """Send a request when the budget has room for it.

        An endpoint that answers with an error does no work to be paid; one that does not answer may
        have done it.
        """
        await self.budget.reserve(self.most, self.halted)
        price: float | None = None
        try:
            end = await self.endpoint.send(body, path)
            price = self._price(end)
        finally:
            self.budget.settle(self.most, price)
        return end

    def _price(self, end: Response | Fault) -> float | None:
        if isinstance(end, Fault):
            return 0.0 if end.code else None
        usage = read_usage(end.content.get("usage")) if isinstance(end.content, dict) else Usage()
        return self.price.of(usage)


def spent(ledger: Ledger) -> float:
    """What all replies of a ledger have cost, as far as it knows."""
    ((price,),) = ledger.query("SELECT total(price) FROM reply")
    return float(str(price))


def _seen(ledger: Ledger, model: str) -> list[tuple[object, ...]]:
    return [row for row in ledger.query(_MOST_SEEN, model) if row[1] is not None]
