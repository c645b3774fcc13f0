"""Keeping count of a run: what it is told is made into replies, counted and watched."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from ...records.errors import EndpointError
from ..ledger.outcome import FAILURES, Reply, Status
from ..ledger.store import Entry
from ..money.budget import Purse, most_of, most_on_any_rung
from ..money.prices import Price
from ..traffic.endpoint import EndpointSettings
from .call import Came
from .entries import Origin, about, entries
from .pending import Call


@dataclass(slots=True)
class Summary:
    """What one run of an annotator did."""

    annotator: str
    already: int = 0
    """Requests that the ledger had."""
    failed_before: Counter[Status] = field(default_factory=Counter)
    """Those of them that had failed and were not asked again, by how they ended."""
    waiting: int = 0
    """Requests that wait in a batch."""
    statuses: Counter[Status] = field(default_factory=Counter)
    """Requests made in this run, by how they ended."""
    reasons: Counter[str] = field(default_factory=Counter)
    """Why requests of this run failed, where the reply says."""
    prompt_tokens: int = 0
    cached_tokens: int = 0
    completion_tokens: int = 0
    price: float | None = None
    """None when no reply has a price."""
    interrupted: bool = False
    notes: list[str] = field(default_factory=list)
    """What was learned of how the model can be asked."""

    @property
    def asked(self) -> int:
        """Requests that got a status in this run."""
        return self.statuses.total()

    @property
    def complete(self) -> bool:
        """Whether every request is answered, none failed and none waits in a batch."""
        ended = self.statuses + self.failed_before
        return not self.waiting and not any(ended[status] for status in FAILURES)

    @property
    def useless(self) -> bool:
        """Whether the endpoint has given nothing that can be used, in this run or before."""
        return (
            not self.already
            and bool(self.statuses)
            and set(self.statuses) <= {"error", "empty", "invalid"}
        )

    def count(self, reply: Reply) -> None:
        """Count one reply; its status only when the item is not asked about again."""
        if reply.final:
            self.statuses[reply.status] += 1
            if reply.status != "ok" and reply.reason:
                self.reasons[f"{reply.status}: {reply.reason}"] += 1
        self.prompt_tokens += reply.usage.prompt_tokens or 0
        self.cached_tokens += reply.usage.cached_tokens or 0
        self.completion_tokens += reply.usage.completion_tokens or 0
        if reply.price is not None:
            self.price = (self.price or 0.0) + reply.price


@dataclass(frozen=True, slots=True)
class Signs:
    """What a run tells its caller while it works."""

    progress: Callable[[], None] = lambda: None
    """Called for each request that is done, or was done before."""
    interrupted: Callable[[], None] = lambda: None
    """Called when the user interrupts: what is in flight is finished first."""
    outage: Callable[[str], None] = lambda _: None
    """Called with a sentence while the endpoint answers nobody, and when it is back."""


class Recorder:
    """The count of one run of an annotator."""

    def __init__(
        self,
        annotator: str,
        endpoint: EndpointSettings,
        price: Price | None,
        *,
        purse: Purse | None,
        signs: Signs,
        most_errors: int | None,
    ) -> None:
        """Begin to count.

        Args:
            annotator: Its name.
            endpoint: Which model it asks.
            price: What the model's tokens cost.
            purse: The budget, which learns from replies how long prompts are.
            signs: Whom to tell.
            most_errors: So many items in a row that end in an error end the run; none for any.
        """
        self.summary = Summary(annotator)
        self._endpoint = endpoint
        self._price = price
        self._purse = purse
        self._signs = signs
        self._most_errors = most_errors
        self._errors_in_a_row = 0

    def known(self, ended: Status | Literal["waiting"]) -> None:
        """Count a request that the ledger had, or that waits in a batch."""
        if ended == "waiting":
            self.summary.waiting += 1
        else:
            self.summary.already += 1
            if ended in FAILURES:
                self.summary.failed_before[ended] += 1
        self._signs.progress()

    def entries(self, call: Call, came: Came) -> list[Entry]:
        """Make the replies that the ledger keeps."""
        origin = Origin(
            annotator=self.summary.annotator,
            model=self._endpoint.model,
            price=self._price,
            body=came.body,
            seconds=came.seconds,
            attempts=came.attempts,
            rung=came.rung,
            final=came.final,
            alone=came.alone,
            most=self._most(call, came),
        )
        if self._purse is not None:
            self._purse.worst.saw(call.prompt, came.readings[0].usage, came.rung)
        return entries([about(request) for request in call.requests], came.readings, origin)

    def _most(self, call: Call, came: Came) -> float | None:
        """What an answer may have cost whose tokens the endpoint did not count."""
        if self._price is None or not came.body:
            return None
        if self._price.of(came.readings[0].usage) is not None:
            return None
        if came.request:
            return most_of(self._price, came.request, came.limit)
        limit = 2 * self._endpoint.max_output_tokens * len(call.requests)
        return most_on_any_rung(self._price, call.prompt, call.message(), limit)

    def note(self, made: Sequence[Entry]) -> None:
        """Count replies that the ledger has now.

        Raises:
            EndpointError: the run meets nothing but errors.
        """
        for reply, _ in made:
            self.summary.count(reply)
            if reply.final:
                self._signs.progress()
        self._watch(made[0][0])

    def _watch(self, reply: Reply) -> None:
        self._errors_in_a_row = self._errors_in_a_row + 1 if reply.status == "error" else 0
        if self._most_errors is not None and self._errors_in_a_row >= self._most_errors:
            where = self._endpoint.base_url or "the endpoint"
            raise EndpointError(
                f"{self._errors_in_a_row} items in a row ended in an error ({reply.reason})",
                wanted=f"answers from {where}",
                mend="mend the endpoint, then run again with --retry-failed=error",
            )
