"""Reading the body of an answer: what the model said, and what it cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ...prompts.catalogue import Attribute
from ...prompts.messages import Prompt
from ..asking.capabilities import Rung
from ..ledger.outcome import Status, Usage, Verdict
from ..traffic.faults import NO_JSON, decoded
from .decisions import read_decisions
from .parsing import TWICE, Ambiguous, Unreadable, breaks_the_schema, read_object, read_values
from .refusals import sounds_like_a_refusal
from .repair import REPAIRED, repaired_object
from .said import Said, SilentError, said
from .token_confidence import Path, token_confidences


@dataclass(frozen=True, slots=True)
class Reading:
    """What one body says about one item."""

    status: Status
    reason: str
    verdicts: tuple[Verdict, ...]
    usage: Usage

    @property
    def breaks_the_schema(self) -> bool:
        """Whether a reply that is held to the schema could not say this."""
        return self.status == "invalid" and any(map(breaks_the_schema, self.verdicts))


def read_completion(
    body: str, attributes: Sequence[Attribute], rung: Rung = "json_schema"
) -> Reading:
    """Read the raw body of an answer about one item and judge each attribute that was asked.

    Reading again costs nothing: the ledger keeps the body.

    Args:
        body: The body as it came.
        attributes: What was asked.
        rung: How it was asked.
    """
    return _read(decoded(body), _Asked(attributes, rung))[0]


def read_answer(content: Any, prompt: Prompt, rung: Rung) -> list[Reading]:
    """Read an answer about one item, or about several: one reading an item, in their order.

    Args:
        content: The body's JSON, or ``NO_JSON``.
        prompt: What was asked.
        rung: How it was asked.
    """
    numbers = [str(number) for number in range(1, prompt.items + 1)] if prompt.several else None
    readings = _read(content, _Asked(prompt.attributes, rung, numbers, prompt.may_abstain))
    if prompt.items == 1:
        return readings
    shares = readings[0].usage.shares(prompt.items)
    return [replace(one, usage=share) for one, share in zip(readings, shares, strict=True)]


def failed(
    status: Status, reason: str, attributes: Sequence[Attribute], usage: Usage | None = None
) -> Reading:
    """Say of every attribute that it has no value, for one reason."""
    verdicts = tuple(Verdict(attribute.id, None, status, reason) for attribute in attributes)
    return Reading(status, reason, verdicts, usage or Usage())


@dataclass(frozen=True, slots=True)
class _Asked:
    """What was asked, and how."""

    attributes: Sequence[Attribute]
    rung: Rung
    numbers: Sequence[str] | None = None
    """The keys of the items' replies; none when the whole reply is about one item."""
    may_abstain: bool = False

    def failed(self, status: Status, reason: str, usage: Usage) -> list[Reading]:
        """Say of every item that it has no value, for one reason."""
        return [failed(status, reason, self.attributes, usage)] * len(self.numbers or "1")


@dataclass(frozen=True, slots=True)
class _Given:
    """What was found in a text: the reply about each item, and how it was read."""

    replies: Sequence[Any]
    note: str = ""


def _read(content: Any, asked: _Asked) -> list[Reading]:
    if not isinstance(content, dict):
        kind = "a body that is not JSON" if content is NO_JSON else "a body that is no JSON object"
        return asked.failed("error", kind, Usage())
    usage = read_usage(content.get("usage"))
    if asked.rung == "decisions":
        return [_decisions(content, asked, usage)]
    try:
        words = said(content)
    except SilentError as error:
        return asked.failed(error.status, str(error), usage)
    try:
        given = _given(words, asked)
    except Unreadable as error:
        status: Status = "refused" if sounds_like_a_refusal(words.text) else "invalid"
        return asked.failed(status, f"{error}: {words.text[:200]!r}", usage)
    sure = token_confidences(words.text, words.logprobs) if words.logprobs else {}
    places: list[Path] = [()] if asked.numbers is None else [(one,) for one in asked.numbers]
    return [
        _reading(reply, asked, usage, given.note, sure, place)
        for place, reply in zip(places, given.replies, strict=True)
    ]


def _decisions(content: dict[str, Any], asked: _Asked, usage: Usage) -> Reading:
    answers = content.get("answers")
    if not isinstance(answers, list):
        return failed("invalid", "no answers to typed questions", asked.attributes, usage)
    return _judged(read_decisions(answers, asked.attributes), usage)


_FOREIGN = "beside replies to nothing that was asked:"


def _given(words: Said, asked: _Asked) -> _Given:
    """Find the reply about each item; none for one that is left out."""
    note = ""
    try:
        found = read_object(words.text, in_parts=asked.numbers is not None)
    except Ambiguous:
        raise
    except Unreadable:
        if asked.rung != "text" or not words.finished:
            raise
        found, note = repaired_object(words.text), REPAIRED
    if asked.numbers is None:
        return _Given([found], note)
    foreign = [key for key in found if key not in asked.numbers]
    if foreign:
        named = ", ".join(map(repr, foreign))[:60]
        note = f"{note}; {_FOREIGN} {named}".removeprefix("; ")
    return _Given([found.get(number) for number in asked.numbers], note)


def _reading(
    reply: Any, asked: _Asked, usage: Usage, note: str, sure: Mapping[Path, float], place: Path
) -> Reading:
    if reply is TWICE:
        return failed("invalid", "two replies that differ", asked.attributes, usage)
    if not isinstance(reply, dict):
        return failed("invalid", "no reply about this item", asked.attributes, usage)
    verdicts = read_values(reply, asked.attributes, note=note, may_abstain=asked.may_abstain)
    words = reply.get("note")
    valued = any(verdict.status == "ok" for verdict in verdicts)
    if isinstance(words, str) and not valued and sounds_like_a_refusal(words):
        return failed("refused", repr(words)[:500], asked.attributes, usage)
    if sure:
        verdicts = tuple(_with_confidence(verdict, sure, place) for verdict in verdicts)
    return _judged(verdicts, usage)


def _with_confidence(verdict: Verdict, sure: Mapping[Path, float], place: Path) -> Verdict:
    """Add how sure the model was of a value, wherever in its reply the value stands."""
    nested = sure.get((*place, "values", verdict.attribute))
    confidence = sure.get((*place, verdict.attribute)) if nested is None else nested
    return replace(verdict, confidence=confidence) if verdict.status == "ok" else verdict


def _judged(verdicts: tuple[Verdict, ...], usage: Usage) -> Reading:
    """Judge an item by its verdicts: ``ok`` when each attribute has its value, or an abstention."""
    bad = [verdict for verdict in verdicts if verdict.status not in {"ok", "abstained"}]
    if not bad:
        return Reading("ok", "", verdicts, usage)
    declined = all(verdict.status == "refused" for verdict in bad)
    reason = "; ".join(f"{verdict.attribute}: {verdict.reason}" for verdict in bad)
    return Reading("refused" if declined else "invalid", reason, verdicts, usage)


_MOST_TOKENS = 10**9
"""More than any request can have."""


def read_usage(given: Any) -> Usage:
    """Read the usage of a chat completion, or that of a decision.

    A number that can be no count of tokens is none.
    """
    if not isinstance(given, dict):
        return Usage()
    asked = "prompt" if "prompt_tokens" in given else "input"
    answered = "completion" if "completion_tokens" in given else "output"
    details = given.get(f"{asked}_tokens_details")
    cached = details.get("cached_tokens") if isinstance(details, dict) else None
    return Usage(
        _count(given.get(f"{asked}_tokens")),
        _count(cached),
        _count(given.get(f"{answered}_tokens")),
    )


def _count(given: Any) -> int | None:
    if not isinstance(given, int) or isinstance(given, bool):
        return None
    return given if 0 <= given <= _MOST_TOKENS else None
