"""How one model is asked: by what is known of it, and by what is learned on the way."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from ...prompts.messages import Prompt
from ..money.budget import Sends
from ..reading.completion import Reading, failed, read_answer
from ..traffic.attempts import Exchange, exchange
from ..traffic.endpoint import EndpointSettings
from ..traffic.faults import Fault, Response
from ..traffic.pace import Pace
from .capabilities import RUNGS, Capability, Rung, learned, next_rung
from .request_form import RequestForm, request_form

_FEWEST_BROKEN = 5
_MOST_BROKEN = 0.2
"""A rung is given up when so many replies, and more than this share of them, break the schema."""


@dataclass(frozen=True, slots=True)
class Manner:
    """How one request is made."""

    known: Capability
    limit: int
    """Tokens that the reply may have."""
    retried: bool = False
    """Whether it is the second request, with a larger limit."""


@dataclass(frozen=True, slots=True)
class Asked:
    """How a request ended, and what the reply says."""

    readings: Sequence[Reading]
    """One for each item of the prompt."""
    ended: Exchange
    then: Manner | None
    """How the same is to be asked again at once; none when this is final."""


def ladder_of(prompts: Iterable[Prompt], forced: Rung | None) -> tuple[Rung, ...]:
    """The rungs on which these prompts can be asked: the forced one, or all that are possible."""
    if forced is not None:
        return (forced,)
    typed = all(prompt.questions for prompt in prompts)
    return RUNGS if typed else tuple(rung for rung in RUNGS if rung != "decisions")


class Inquiry:
    """What is known of one model, and asking it accordingly.

    While nothing is known a request goes down the ladder until a reply is valid; when none is, the
    rung that gave the most values is taken. A rung on which too many replies break the schema is
    given up later, too: there are endpoints that take a constraint and ignore it.
    """

    def __init__(
        self,
        settings: EndpointSettings,
        pace: Pace,
        rng: random.Random,
        *,
        ladder: Sequence[Rung],
        known: Capability | None,
        keep: Callable[[Capability], None],
    ) -> None:
        """Take up what is known.

        Args:
            settings: Which model, and how it is to be asked.
            pace: The pace that all requests share.
            rng: Chance for waiting times.
            ladder: The rungs that may be used, the highest first.
            known: What was learned before.
            keep: Called with everything that is learned.
        """
        self._settings = settings
        self._pace = pace
        self._rng = rng
        self._ladder = ladder
        self._known = known or Capability(
            ladder[0], settings.limit_parameter, settings.unknown_parameters
        )
        self._noted_before = len(self._known.notes)
        self._keep = keep
        self._forms: dict[tuple[str, int, Capability, int], RequestForm] = {}
        self._tried: dict[Rung, float] = {}
        self._replies = self._broken = 0

    @property
    def known(self) -> Capability:
        """What is known by now."""
        return self._known

    @property
    def notes(self) -> tuple[str, ...]:
        """What was learned now, a sentence each."""
        return self._known.notes[self._noted_before :]

    def manner(self, prompt: Prompt) -> Manner:
        """How a request is to be made now."""
        return Manner(self._known, self._settings.max_output_tokens * prompt.items)

    async def ask(
        self,
        endpoint: Callable[[Manner], Sends],
        prompt: Prompt,
        message: str,
        manner: Manner,
        *,
        first: bool = False,
    ) -> Asked:
        """Ask once; a request that is rejected for its form is made again in another form.

        Args:
            endpoint: Where to, for a request that is made in some manner.
            prompt: What is asked.
            message: The message with the items.
            manner: How.
            first: Whether it is the first request of a run, which what would meet every request
                ends at once.

        Raises:
            EndpointError: the endpoint can't be used, whatever the item.
            BudgetReached: the endpoint has no quota left, or refuses for too long.
            Halted: the run was told to end before the request was answered.
        Unanswered: the endpoint is down, which says nothing about the items.
        """
        attempts = 0
        while True:
            form, known, limit = self._form(prompt, manner), manner.known, manner.limit
            body = form.body(message)
            better = partial(learned, known, sent=form.optional, ladder=self._ladder)
            ended = await exchange(
                endpoint(manner), body, self._pace, self._rng,
                path=form.path, first=first, avoidable=better,
            )  # fmt: skip
            attempts += ended.attempts
            end = ended.end
            if isinstance(end, Response):
                break
            learnt = better(end)
            if learnt is None:
                break
            if known.asks_like(self._known):  # otherwise another request has learned it meanwhile
                self._become(learnt)
            manner = replace(manner, known=self._known)
        ended = Exchange(end, ended.seconds, attempts, known.rung, len(body), limit)
        if isinstance(end, Fault):
            reading = failed(end.status, end.reason, prompt.attributes)
            return Asked([reading] * prompt.items, ended, None)
        readings = read_answer(end.content, prompt, known.rung)
        return Asked(readings, ended, self._then(prompt, manner, readings))

    def _form(self, prompt: Prompt, manner: Manner) -> RequestForm:
        key = (prompt.hash, prompt.items, manner.known, manner.limit)
        if key not in self._forms:
            settings = self._settings
            self._forms[key] = request_form(
                prompt,
                settings.model,
                manner.known,
                limit=manner.limit,
                parameters=settings.sent_parameters,
            )
        return self._forms[key]

    def _become(self, known: Capability) -> None:
        if known.rung != self._known.rung:
            self._replies = self._broken = 0
        self._known = known
        self._keep(known)

    def _then(self, prompt: Prompt, manner: Manner, readings: Sequence[Reading]) -> Manner | None:
        """Decide how the same is asked again at once, if it is: lower down, or with more room."""
        if all(reading.status == "truncated" for reading in readings):
            more = prompt.items == 1 and not manner.retried and manner.known.limit
            return Manner(self._known, 2 * manner.limit, retried=True) if more else None
        if not manner.known.asks_like(self._known) or self._known.hold == "best":
            return None
        broken = _is_broken(readings)
        if self._known.hold == "holds":
            return self._watch(manner, broken=broken)
        if broken:
            return self._descend(manner, readings)
        if any(verdict.status == "ok" for reading in readings for verdict in reading.verdicts):
            self._become(replace(self._known, hold="holds"))
        return None

    def _watch(self, manner: Manner, *, broken: bool) -> Manner | None:
        """Give up a rung that held once and does not hold."""
        self._replies += 1
        self._broken += broken
        lower = next_rung(self._known.rung, self._ladder)
        given_up = self._broken >= max(_FEWEST_BROKEN, _MOST_BROKEN * self._replies)
        if not (broken and given_up and lower):
            return None
        self._tried = {self._known.rung: 1 - self._broken / self._replies}
        reason = f"{self._broken} of {self._replies} replies break the schema"
        self._become(self._known.on(lower, reason))
        return replace(manner, known=self._known)

    def _descend(self, manner: Manner, readings: Sequence[Reading]) -> Manner | None:
        """Try the next rung; below the last, take the one that gave the most values."""
        verdicts = [verdict for reading in readings for verdict in reading.verdicts]
        rung = self._known.rung
        self._tried[rung] = sum(v.status == "ok" for v in verdicts) / len(verdicts)
        lower = next_rung(rung, self._ladder)
        if lower is not None:
            self._become(self._known.on(lower, f"the reply breaks the schema: {_why(readings)}"))
            return replace(manner, known=self._known)
        best = max(self._tried, key=lambda tried: (self._tried[tried], -RUNGS.index(tried)))
        known = self._known if best == rung else self._known.on(best, "no rung holds better")
        self._become(replace(known, hold="best"))
        return None if best == rung else replace(manner, known=self._known)


def _is_broken(readings: Sequence[Reading]) -> bool:
    """Tell whether a reply speaks against its rung: a slip beside good answers does not."""
    slipped = any(reading.breaks_the_schema for reading in readings)
    return slipped and (len(readings) == 1 or all(one.status != "ok" for one in readings))


def _why(readings: Sequence[Reading]) -> str:
    return next(reading.reason for reading in readings if reading.reason)[:200]
