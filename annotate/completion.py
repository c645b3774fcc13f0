"""Reading the body of a chat completion: what the model said, and what it cost."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..prompts.catalogue import Attribute
from .outcome import Status, Usage, Verdict
from .parsing import Unreadable, read_object, read_values, sounds_like_a_refusal


@dataclass(frozen=True, slots=True)
class Reading:
    """What one body says about one item."""

    status: Status
    reason: str
    verdicts: tuple[Verdict, ...]
    usage: Usage


def read_completion(body: str, attributes: Sequence[Attribute]) -> Reading:
    """Read the raw body of a chat completion and judge each attribute that was asked.

    Reading again costs nothing: the ledger keeps the body.
    """
    try:
        completion = json.loads(body)
    except (ValueError, RecursionError):
        return failed("error", "a body that is not JSON", attributes)
    if not isinstance(completion, dict):
        return failed("error", "a body that is no JSON object", attributes)
    usage = _usage(completion.get("usage"))
    choices = completion.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    if not isinstance(choice, dict):
        return failed("empty", "no choices", attributes, usage)
    message = choice.get("message")
    message = message if isinstance(message, dict) else {}
    finish = choice.get("finish_reason")
    if refusal := message.get("refusal"):
        return failed("refused", repr(refusal)[:500], attributes, usage)
    if finish == "content_filter":
        return failed("filtered", "finish_reason content_filter", attributes, usage)
    if finish == "length":
        return failed("truncated", "finish_reason length", attributes, usage)
    content = message.get("content")
    if not isinstance(content, str) or not content.strip():
        return failed("empty", "no content", attributes, usage)
    return _read_content(content, attributes, usage)


def failed(
    status: Status, reason: str, attributes: Sequence[Attribute], usage: Usage | None = None
) -> Reading:
    """Say of every attribute that it has no value, for one reason."""
    verdicts = tuple(Verdict(attribute.id, None, status, reason) for attribute in attributes)
    return Reading(status, reason, verdicts, usage or Usage())


def _read_content(content: str, attributes: Sequence[Attribute], usage: Usage) -> Reading:
    try:
        values = read_object(content)
    except Unreadable as error:
        status: Status = "refused" if sounds_like_a_refusal(content) else "invalid"
        reason = f"{error}: {content[:200]!r}"
        return failed(status, reason, attributes, usage)
    verdicts = read_values(values, attributes)
    bad = [
        f"{verdict.attribute}: {verdict.reason}" for verdict in verdicts if verdict.value is None
    ]
    return Reading("invalid" if bad else "ok", "; ".join(bad), verdicts, usage)


def _usage(given: Any) -> Usage:
    if not isinstance(given, dict):
        return Usage()
    details = given.get("prompt_tokens_details")
    cached = details.get("cached_tokens") if isinstance(details, dict) else None
    return Usage(
        _count(given.get("prompt_tokens")), _count(cached), _count(given.get("completion_tokens"))
    )


def _count(given: Any) -> int | None:
    return given if isinstance(given, int) and not isinstance(given, bool) else None
