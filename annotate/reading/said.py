"""What a model wrote, taken out of the body of a chat completion before anything in it is read."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ..ledger.outcome import Status

_LONGEST_REFUSAL = 500


@dataclass(frozen=True, slots=True)
class Said:
    """What a model wrote."""

    text: str
    finished: bool
    """Whether the endpoint says that it came to its end."""
    logprobs: Any
    """Log-probabilities of its tokens, as they came; none where the endpoint gives none."""


class SilentError(ValueError):
    """An answer without any text to read; says how the request ended."""

    def __init__(self, status: Status, reason: str) -> None:
        super().__init__(reason)
        self.status = status


def said(completion: dict[str, Any]) -> Said:
    """Find what the model wrote: its message, or the arguments of the function that it called.

    Raises:
        SilentError: there is nothing to read, or nothing that may be read.
    """
    choices = completion.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    if not isinstance(choice, dict):
        raise SilentError("empty", "no choices")
    given = choice.get("message")
    message: dict[str, Any] = given if isinstance(given, dict) else {}
    finish = choice.get("finish_reason")
    if refusal := message.get("refusal"):
        raise SilentError("refused", repr(refusal)[:_LONGEST_REFUSAL])
    if finish == "content_filter":
        raise SilentError("filtered", "finish_reason content_filter")
    if finish == "length":
        raise SilentError("truncated", "finish_reason length")
    text = "\n".join(_arguments(message)) or _content(message)
    if not text.strip():
        raise SilentError("empty", "no content")
    return Said(text, finished=finish == "stop", logprobs=choice.get("logprobs"))


def _arguments(message: dict[str, Any]) -> Iterator[str]:
    calls = message.get("tool_calls")
    for call in calls if isinstance(calls, list) else []:
        function = call.get("function") if isinstance(call, dict) else None
        arguments = function.get("arguments") if isinstance(function, dict) else None
        if isinstance(arguments, str):
            yield arguments
        elif isinstance(arguments, dict):
            yield json.dumps(arguments)


def _content(message: dict[str, Any]) -> str:
    """The message's text, which some endpoints give in parts."""
    content = message.get("content")
    parts = content if isinstance(content, list) else [{"type": "text", "text": content}]
    texts = [p.get("text") for p in parts if isinstance(p, dict) and p.get("type") == "text"]
    return "".join(text for text in texts if isinstance(text, str))
