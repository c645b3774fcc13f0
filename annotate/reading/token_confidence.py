"""How sure a model was of the values that it wrote, by the probabilities of their tokens."""

from __future__ import annotations

import json
import math
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

Path = tuple[str, ...]

_DECODER = json.JSONDecoder()
_SPACE = " \t\n\r"


def token_confidences(text: str, logprobs: Any) -> dict[Path, float]:
    """Give each value of the object in a text the probability of the tokens that it is written in.

    Args:
        text: What the model wrote; the object begins at the first brace.
        logprobs: ``logprobs`` as a chat completion carries it.

    Returns:
        Probabilities by the keys that lead to the value; none when the tokens are not those of the
        text, or the object is broken.
    """
    tokens = logprobs.get("content") if isinstance(logprobs, dict) else None
    written = _written(tokens) if isinstance(tokens, list) else None
    if written is None or written.text != text:
        return {}
    spans: dict[Path, tuple[int, int]] = {}
    try:
        _scan(text, text.index("{"), (), spans)
    except (ValueError, IndexError, RecursionError):
        return {}
    return {path: written.probability(*span) for path, span in spans.items()}


@dataclass(frozen=True, slots=True)
class _Written:
    """A text and its tokens."""

    text: str
    ends: Sequence[int]
    """Where each token ends."""
    sums: Sequence[float]
    """Log-probabilities of the tokens before each, and of all."""

    def probability(self, start: int, end: int) -> float:
        """The probability of the tokens that a part of the text is written in."""
        first, last = bisect_right(self.ends, start), bisect_left(self.ends, end)
        return min(1.0, math.exp(self.sums[last + 1] - self.sums[first]))


def _written(tokens: Sequence[Any]) -> _Written | None:
    words, chances = [], []
    for token in tokens:
        given = token if isinstance(token, dict) else {}
        word, chance = given.get("token"), given.get("logprob")
        if not (isinstance(word, str) and isinstance(chance, int | float) and chance > -math.inf):
            return None
        words.append(word)
        chances.append(float(chance))
    ends = list(accumulate(map(len, words)))
    return _Written("".join(words), ends, list(accumulate(chances, initial=0.0)))


def _scan(text: str, at: int, path: Path, spans: dict[Path, tuple[int, int]]) -> int:
    """Find where the values of an object stand; objects themselves have no probability."""
    if text[at] != "{":
        end: int = _DECODER.raw_decode(text, at)[1]
        spans[path] = (at, end)
        return end
    at = _skip(text, at + 1)
    while text[at] != "}":
        key, at = _DECODER.raw_decode(text, at)
        at = _skip(text, _skip(text, at) + 1)
        at = _skip(text, _scan(text, at, (*path, str(key)), spans))
        if text[at] == ",":
            at = _skip(text, at + 1)
    return at + 1


def _skip(text: str, at: int) -> int:
    while text[at] in _SPACE:
        at += 1
    return at
