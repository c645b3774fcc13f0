"""From a reply's text to validated values. Nothing is clamped and nothing is guessed.

A reading that needs a liberty (a number written as text, a label in another case) is ``ok`` with a
reason that says so. One bad value spoils neither the others nor the item.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache
from typing import Any

from ...prompts.catalogue import NONE_LABEL, Attribute, Value
from ..ledger.outcome import Verdict

HESITATED = "the annotator hesitated"
ABSTAINED = "the annotator abstained"
EVEN = "are equally likely"
"""How the reason ends when no value is the likeliest."""

_PLAIN: dict[str, type] = {"level": int, "label": str, "boolean": bool}
_THOUGHT = re.compile(r"\s*<think>.*?</think>", re.DOTALL)
_FENCE = re.compile(r"\A```[\w-]*\s*\n(.*)\n\s*```\Z", re.DOTALL)
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}]', re.DOTALL)
_EMPTY, _NOT_ALONE = "an empty list", f"{NONE_LABEL!r} together with other labels"
_INTEGER = re.compile(r"[+-]?[0-9]{1,9}(?:\.0+)?\Z", re.ASCII)


class Unreadable(ValueError):
    """A text without exactly one JSON object; the message says what it has."""


class Ambiguous(Unreadable):
    """A text with several JSON objects, or one that says two things."""


class _NoValueError(ValueError):
    """Something that is no value of the attribute; the message says why."""


TWICE = object()
"""In place of what an object says in two ways."""


def read_object(text: str, *, in_parts: bool = False) -> dict[str, Any]:
    """Read the one JSON object of a reply.

    The whole text is tried first, then a fence that spans the whole text, then a single balanced
    object between other words. A block of thought before the answer is not part of it.

    Args:
        text: The reply.
        in_parts: Whether its parts stand for themselves: a key that is there twice with different
            values spoils the part alone in which it stands, whose place ``TWICE`` takes.

    Raises:
        Unreadable: there is no object, or one is not closed.
        Ambiguous: there are different ones.
    """
    decode = _decode_parts if in_parts else _decode
    answer = without_thought(text)
    fenced = _FENCE.match(answer)
    for whole in (answer, fenced[1] if fenced else None):
        value = decode(whole) if whole is not None else None
        if isinstance(value, dict):
            return value
    found = [value for part in _braced(answer) if isinstance(value := decode(part), dict)]
    if not found and _has_a_key_twice(answer if fenced is None else fenced[1]):
        raise Ambiguous("a JSON object that has a key twice")
    if not found:
        raise Unreadable("no JSON object")
    if any(other != found[0] for other in found):
        raise Ambiguous(f"{len(found)} JSON objects that differ")
    return found[0]


def without_thought(text: str) -> str:
    """Take out a block of thought before the answer."""
    thought = _THOUGHT.match(text)
    return text[thought.end() if thought else 0 :].strip()


def read_values(
    reply: dict[str, Any],
    attributes: Sequence[Attribute],
    *,
    note: str = "",
    may_abstain: bool = False,
) -> tuple[Verdict, ...]:
    """Judge what a reply says about each attribute that was asked.

    Args:
        reply: The object that the model gave for one item.
        attributes: What was asked.
        note: How the object was read, kept with each value.
        may_abstain: Whether ``null`` was offered in place of a value.
    """
    nested = reply.get("values")
    given = nested if isinstance(nested, dict) else reply
    doubt = reply.get("doubt")
    doubted = doubt if isinstance(doubt, list) else []
    abstained = {a.id for a in attributes if may_abstain and given.get(a.id, a) is None}
    return tuple(
        Verdict(attribute.id, None, "abstained", ABSTAINED)
        if attribute.id in abstained
        else _verdict(attribute, given, doubted, note)
        for attribute in attributes
    )


def breaks_the_schema(verdict: Verdict) -> bool:
    """Tell whether a verdict is about something that a reply held to the schema cannot hold."""
    allowed = verdict.reason.startswith((_EMPTY, _NOT_ALONE)) or verdict.reason.endswith(EVEN)
    return verdict.status == "invalid" and not allowed


def _verdict(
    attribute: Attribute, given: dict[str, Any], doubted: Collection[Any], note: str
) -> Verdict:
    plain = given.get(attribute.id)
    if type(plain) is _PLAIN.get(attribute.type) and plain in attribute.values:
        return _plain_verdict(attribute.id, plain, note, attribute.id in doubted)
    if attribute.id not in given:
        return Verdict(attribute.id, None, "invalid", "no value given")
    notes = _notes(note, attribute.id in doubted)
    try:
        value = _value(attribute, plain, notes)
    except _NoValueError as error:
        return Verdict(attribute.id, None, "invalid", str(error))
    return Verdict(attribute.id, value, "ok", "; ".join(notes))


@lru_cache(maxsize=10_000, typed=True)
def _plain_verdict(attribute: str, value: Value, note: str, doubted: bool) -> Verdict:
    """The verdict of a value that needs no reading; there are few different ones."""
    return Verdict(attribute, value, "ok", "; ".join(_notes(note, doubted)))


def _notes(note: str, doubted: bool) -> list[str]:
    return [*([note] if note else []), *([HESITATED] if doubted else [])]


def _value(attribute: Attribute, given: Any, notes: list[str]) -> Value:
    match attribute.type:
        case "level":
            return _level(given, attribute, notes)
        case "label":
            return _label(given, attribute, notes)
        case "labels":
            return _labels(given, attribute, notes)
        case "boolean":
            return _boolean(given, notes)


def _level(given: Any, attribute: Attribute, notes: list[str]) -> int:
    level = given
    if isinstance(given, str) and _INTEGER.match(given.strip()):
        level = float(given)
    if isinstance(level, float) and level.is_integer():
        notes.append(f"read from {given!r}")
        level = int(level)
    if isinstance(level, bool) or not isinstance(level, int) or level not in attribute.levels:
        raise _NoValueError(f"{_short(given)} is no level from 0 to {max(attribute.levels)}")
    return level


def _label(given: Any, attribute: Attribute, notes: list[str]) -> str:
    if isinstance(given, str):
        if given in attribute.values:
            return given
        folded = given.strip().casefold()
        like = [str(label) for label in attribute.values if str(label).casefold() == folded]
        if len(like) == 1:
            notes.append(f"read from {given!r}")
            return like[0]
    raise _NoValueError(f"{_short(given)} is no label")


def _labels(given: Any, attribute: Attribute, notes: list[str]) -> list[str]:
    if not isinstance(given, list):
        raise _NoValueError(f"{_short(given)} is no list of labels")
    labels = [_label(label, attribute, notes) for label in given]
    if not labels and NONE_LABEL in attribute.values:
        raise _NoValueError(f"{_EMPTY}, where {NONE_LABEL!r} says that no label applies")
    if NONE_LABEL in labels and len(set(labels)) > 1:
        raise _NoValueError(_NOT_ALONE)
    if len(set(labels)) < len(labels):
        notes.append("a label was given twice")
    return [str(label) for label in attribute.values if label in labels]


def _boolean(given: Any, notes: list[str]) -> bool:
    if isinstance(given, bool):
        return given
    if isinstance(given, str) and given.strip().lower() in {"true", "false"}:
        notes.append(f"read from {given!r}")
        return given.strip().lower() == "true"
    raise _NoValueError(f"{_short(given)} is neither true nor false")


def _decode(text: str) -> Any:
    try:
        return json.loads(text, object_pairs_hook=_each_key_once)
    except (ValueError, RecursionError):
        return None


def _decode_parts(text: str) -> Any:
    """Decode an object of parts, with ``TWICE`` in place of one that says two things."""
    doubled = False

    def marking(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        nonlocal doubled
        found = dict(pairs)
        twice = {key: TWICE for key, value in pairs if found[key] != value}
        doubled = doubled or bool(twice)
        return found | twice

    try:
        value = json.loads(text, object_pairs_hook=marking)
    except (ValueError, RecursionError):
        return None
    if not doubled or not isinstance(value, dict):
        return value
    return {key: TWICE if _says_two_things(part) else part for key, part in value.items()}


def _says_two_things(part: Any) -> bool:
    if isinstance(part, dict | list):
        return any(map(_says_two_things, part.values() if isinstance(part, dict) else part))
    return part is TWICE


def _has_a_key_twice(text: str) -> bool:
    """Tell whether a text that ``_decode`` does not take would be an object without the check."""
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False


def _braced(text: str) -> Iterator[str]:
    """Find the outermost parts of a text that stand in braces."""
    end = 0
    while (start := text.find("{", end)) >= 0:
        end = _closing(text, start)
        yield text[start:end]


def _closing(text: str, start: int) -> int:
    """Find where the brace at ``start`` is closed; braces in strings do not count."""
    depth = 0
    for token in _TOKEN.finditer(text, start):
        depth += {"{": 1, "}": -1}.get(token[0], 0)
        if depth == 0:
            return token.end()
    raise Unreadable("a JSON object that is never closed")


def _each_key_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Make the object, unless a key stands twice with different values."""
    found = dict(pairs)
    if len(found) < len(pairs) and any(found[key] != value for key, value in pairs):
        raise ValueError("a key twice with different values")
    return found


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
