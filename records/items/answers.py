"""What an answer says about its item: the key, the reference answer, or why there is none.

An answer that its coding cannot place is the fault ``bad_key`` of its item: it is neither an
exception nor a guess.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from .cells import is_empty, is_list, text_of
from .coding import Coding, key_position


@dataclass(frozen=True, slots=True)
class Gold:
    """What an answer says: the key, or why there is none."""

    index: int | None = None
    text: str | None = None
    accepted: tuple[str, ...] = ()
    fault: Literal["bad_key", "no_gold"] | None = None
    unreadable: bool = False
    """The value is not of the coding's form, which may mean that the coding is the wrong one."""


def choice_gold(
    value: Any, coding: Coding, choices: Sequence[str], labels: Sequence[str] = ()
) -> Gold:
    """Find the key among the choices.

    >>> choice_gold("B", "letter", ["yes", "no"]).index
    1
    >>> choice_gold("E", "letter", ["yes", "no"]).fault
    'bad_key'
    """
    if coding == "none":
        return Gold()
    if coding != "first" and is_empty(value):
        return Gold(fault="no_gold")
    try:
        index = key_position(coding, value, choices, labels)
    except LookupError:
        return Gold(fault="bad_key")
    except ValueError:
        return Gold(fault="bad_key", unreadable=True)
    if index is None:
        return Gold(fault="no_gold")
    if not 0 <= index < len(choices):
        return Gold(fault="bad_key")
    return Gold(index, choices[index])


def open_gold(value: Any, coding: Coding, pattern: re.Pattern[str] | None = None) -> Gold:
    """Read the reference answer of an open question.

    Args:
        value: the cell.
        coding: ``free``, ``list``, ``drop`` or ``none``.
        pattern: for ``free``, its first group is the answer within the text.
    """
    if coding == "none":
        return Gold()
    if is_empty(value):
        return Gold(fault="no_gold")
    if coding == "free":
        text = text_of(value) if pattern is None else _within(text_of(value), pattern)
        return Gold(fault="bad_key", unreadable=True) if text is None else Gold(text=text)
    if coding == "drop" and not isinstance(value, Mapping):
        return Gold(fault="bad_key", unreadable=True)
    texts = accepted_texts(value) if coding == "list" else [_drop_text(value)]
    texts = list(dict.fromkeys(text for text in texts if text.strip()))
    if not texts:
        return Gold(fault="no_gold")
    return Gold(text=texts[0], accepted=tuple(texts[1:]))


def _within(text: str, pattern: re.Pattern[str]) -> str | None:
    found = pattern.search(text)
    return found[1] if found else None


def accepted_texts(value: Any) -> list[str]:
    """Read a cell of accepted answers; an answer of several parts is joined by commas.

    >>> accepted_texts([["44"], ["Burma", "China"]])
    ['44', 'Burma, China']
    """
    if isinstance(value, Mapping):
        return [_drop_text(record) for record in _records(value)]
    parts = value if is_list(value) else [value]
    return [
        ", ".join(map(text_of, part)) if is_list(part) else text_of(part)
        for part in parts
        if not is_empty(part)
    ]


def _drop_text(record: Mapping[str, Any]) -> str:
    date = record.get("date") or {}
    days = [text_of(date.get(part)) for part in ("day", "month", "year")]
    options = (
        text_of(record.get("number")),
        ", ".join(map(text_of, record.get("spans") or [])),
        " ".join(day for day in days if day),
    )
    return next((text for text in options if text.strip()), "")


def _records(columns: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Turn DROP's record of lists into the list of records that it stands for."""
    lists = {name: values for name, values in columns.items() if is_list(values)}
    for position in range(max(map(len, lists.values()), default=0)):
        yield {name: values[position] for name, values in lists.items() if position < len(values)}
