"""How a source codes its answers, and where a coded key points among the choices.

A coding is stated by a preset or by the user. ``sole_coding`` finds one that was not stated only
where the answers can be read in a single way: nothing is guessed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from ..errors import InputError
from .cells import is_empty, is_list, text_of
from .record import fold

Coding = Literal[
    "index0",
    "index1",
    "letter",
    "label",
    "text",
    "one_hot",
    "first",
    "free",
    "list",
    "drop",
    "none",
]
CODINGS: dict[Coding, str] = {
    "index0": "position among the choices, counted from 0",
    "index1": "position among the choices, counted from 1",
    "letter": "A for the first choice, B for the second, ...",
    "label": "one of the labels that the item gives its choices",
    "text": "the text of a choice",
    "one_hot": "a list of 0 and 1, with one 1 at the key",
    "first": "no column: the first choice is the key",
    "free": "the reference answer of an open question",
    "list": "a list of answers to an open question, each accepted",
    "drop": "DROP's record of a number, spans or a date",
    "none": "no key: answers are judged in another way",
}
"""What each coding means, for people."""

CHOICE_CODINGS = frozenset({"index0", "index1", "letter", "label", "text", "one_hot", "first"})
"""The codings that point at one of the choices."""

_LETTER = re.compile(r"\(?([A-Za-z])\)?\.?\Z")
_NUMBER = re.compile(r"(?:0|-?[1-9][0-9]*)\Z")
_MARKS = {"0": False, "1": True, "false": False, "true": True}


def key_position(
    coding: Coding, value: Any, choices: Sequence[str], labels: Sequence[str]
) -> int | None:
    """Find where a coded key points; the place may be outside the choices.

    Args:
        coding: one of ``CHOICE_CODINGS``.
        value: the answer's cell, not empty.
        choices: the choices' texts.
        labels: the choices' labels; may be empty.

    Returns:
        The 0-based position; none for a one-hot list without a 1.

    Raises:
        ValueError: the value has not the coding's form. A boolean is no position.
        LookupError: it has the form, and there is no such label or text.
    """
    if coding == "index0":
        return _whole_number(value)
    if coding == "index1":
        return _whole_number(value) - 1
    if coding == "letter":
        return _letter(value)
    if coding == "label":
        return _label(value, labels)
    if coding == "text":
        return _text(value, choices)
    if coding == "one_hot":
        return _one_hot(value, choices)
    return 0


def _whole_number(value: Any) -> int:
    if isinstance(value, str) and _NUMBER.match(value.strip()):
        return int(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if isinstance(value, float) and value.is_integer():
        return int(value)
    raise ValueError


def _letter(value: Any) -> int:
    match = _LETTER.match(value.strip()) if isinstance(value, str) else None
    if match is None:
        raise ValueError
    return ord(match[1].upper()) - ord("A")


def _label(value: Any, labels: Sequence[str]) -> int:
    if is_list(value):
        raise ValueError
    wanted = text_of(value).strip()
    found = [i for i, label in enumerate(labels) if label.strip() == wanted]
    if len(found) != 1:
        raise LookupError
    return found[0]


def _text(value: Any, choices: Sequence[str]) -> int:
    if is_list(value):
        raise ValueError
    wanted = text_of(value)
    if wanted in choices:
        return choices.index(wanted)
    folded = [fold(choice) for choice in choices]
    if fold(wanted) not in folded:
        raise LookupError
    return folded.index(fold(wanted))


def _one_hot(value: Any, choices: Sequence[str]) -> int | None:
    if not is_list(value) or any(text_of(mark) not in _MARKS for mark in value):
        raise ValueError
    keys = [i for i, mark in enumerate(value) if _MARKS[text_of(mark)]]
    if len(value) != len(choices) or len(keys) > 1:
        raise LookupError
    return keys[0] if keys else None


@dataclass(frozen=True, slots=True)
class CodedAnswer:
    """An answer whose coding is not known."""

    place: str
    """Where it stands, for errors."""
    value: Any
    choices: Sequence[str]
    labels: Sequence[str]


def sole_coding(answers: Sequence[CodedAnswer], *, source: str) -> Coding:
    """Find the coding that is the only way to read all of the answers.

    Raises:
        InputError: they can be read in several ways that differ, or in none.
    """
    given = [answer for answer in answers if not is_empty(answer.value)]
    if not given:
        return "text"  # every item lacks its key, whatever the coding
    searched = [coding for coding in CODINGS if coding in CHOICE_CODINGS - {"first"}]
    readings = {coding: _read_all(coding, given) for coding in searched}
    whole = {coding: one for coding, one in readings.items() if not one.unread}
    if len({one.positions for one in whole.values()}) == 1:
        return next(iter(whole))
    raise _several(whole, given[0], source) if whole else _none(readings, given, source)


@dataclass(frozen=True, slots=True)
class _Reading:
    positions: tuple[int | None, ...]
    unread: tuple[CodedAnswer, ...]


def _read_all(coding: Coding, answers: Iterable[CodedAnswer]) -> _Reading:
    positions: list[int | None] = []
    unread = []
    for answer in answers:
        try:
            positions.append(key_position(coding, answer.value, answer.choices, answer.labels))
        except (LookupError, ValueError):
            unread.append(answer)
    return _Reading(tuple(positions), tuple(unread))


def _several(codings: Iterable[Coding], first: CodedAnswer, source: str) -> InputError:
    names = list(codings)
    return InputError(
        f"{source}, {first.place}: the answer {first.value!r} can be read as {' or '.join(names)}",
        wanted="the answer coding stated",
        mend=f"add --answer {' or --answer '.join(names)}",
    )


def _none(
    readings: Mapping[Coding, _Reading], answers: Sequence[CodedAnswer], source: str
) -> InputError:
    nearest = min(readings, key=lambda coding: len(readings[coding].unread))
    unread = readings[nearest].unread
    return InputError(
        f"{source}, {unread[0].place}: the answer {unread[0].value!r} cannot be read as {nearest}, "
        f"though {len(answers) - len(unread)} of {len(answers)} answers can",
        wanted="the answer coding stated",
        mend=f"add --answer with one of {', '.join(sorted(CHOICE_CODINGS))}",
    )
