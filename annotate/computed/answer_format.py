"""The form of the expected answer."""

from __future__ import annotations

import ast
import re
from typing import Literal, get_args

AnswerFormat = Literal["choice", "number", "yes_no", "code", "short_text", "long_text", "none"]
ANSWER_FORMATS: tuple[AnswerFormat, ...] = get_args(AnswerFormat)

_NUMBER = re.compile(
    r"[-+−]?\s*(?:[$€£]\s*)?(?:\d{1,3}(?:,\d{3})+|\d+)?(?:\.\d+)?(?:/\d+)?(?:[eE][-+]?\d+)?\s*%?"
)
_QUOTED_OR_BRACKETED = re.compile(r"[\[({]|[bBrRuU]{0,2}['\"]")
_YES_NO = {"yes", "no", "true", "false"}
_FEW_WORDS = 5


def answer_format(kind: str, answer: str | None) -> AnswerFormat:
    """Name the form of an item's answer.

    ``choice`` for multiple choice; for open questions by the reference answer: ``number``,
    ``yes_no``, ``code`` (a literal or several lines of program), ``short_text`` (up to five words),
    ``long_text``, or ``none`` without one.

    >>> [answer_format("generative", text) for text in ("1,234.5", "{1: None}", "the red one")]
    ['number', 'code', 'short_text']
    """
    if kind == "multiple_choice":
        return "choice"
    text = (answer or "").strip()
    if not text:
        return "none"
    if any(character.isdigit() for character in text) and _NUMBER.fullmatch(text):
        return "number"
    if text.lower().rstrip(".") in _YES_NO:
        return "yes_no"
    if _is_literal(text):
        return "code"
    return "short_text" if len(text.split()) <= _FEW_WORDS else "long_text"


def _is_literal(text: str) -> bool:
    """Tell whether a text is a list, tuple, mapping, set or quoted string of a program."""
    if not _QUOTED_OR_BRACKETED.match(text):
        return False
    try:
        ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return False
    return True
