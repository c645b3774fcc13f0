"""The choices of one item, as the source's columns give them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..errors import InputError
from .cells import Cells, cell, is_empty, is_list, text_of
from .mapping import ColumnMapping
from .record import fold
from .source import Row


@dataclass(frozen=True, slots=True)
class Choices:
    """Option texts and, where the source has them, their labels."""

    texts: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()


def read_choices(row: Row, mapping: ColumnMapping, *, source: str) -> Choices:
    """Read the choices of one row of ``source``; none when no column is mapped to them.

    Raises:
        InputError: a cell is neither a list nor several values in one text.
    """
    if mapping.choices is None:
        return Choices()
    try:
        return _read(row.cells, mapping, mapping.choices)
    except ValueError as error:
        raise InputError(
            f"{source}, {row.place}: the choices in {mapping.choices!r} are {error}",
            wanted="a list of choices, or a column for each choice",
            mend="map a column of lists, or several columns as in --map choices=A,B,C",
        ) from error


def _read(cells: Cells, mapping: ColumnMapping, columns: str | list[str]) -> Choices:
    labels: Any = cell(cells, mapping.labels) if mapping.labels else None
    label_texts = tuple(map(text_of, labels)) if is_list(labels) else ()
    if not isinstance(columns, str):
        return Choices(_from_columns(cells, columns, mapping.separators), label_texts)
    value = cell(cells, columns)
    if isinstance(value, Mapping) and not any(map(is_list, value.values())):
        present = {label: text for label, text in value.items() if text is not None}
        return Choices(tuple(map(text_of, present.values())), label_texts or tuple(present))
    return Choices(tuple(several(value, mapping.separators.get(columns))), label_texts)


def _from_columns(
    cells: Cells, columns: Sequence[str], separators: Mapping[str, str]
) -> tuple[str, ...]:
    """Join columns of choices; empty cells at the end are choices that the item does not have."""
    texts: list[str] = []
    for column in columns:
        value = cell(cells, column)
        if is_list(value) or column in separators:
            texts += several(value, separators.get(column))
        else:
            texts.append("" if is_empty(value) else text_of(value))
    while texts and not texts[-1].strip():
        texts.pop()
    return tuple(texts)


def several(value: Any, separator: str | None = None) -> list[str]:
    """Read a cell of several texts: a list, a JSON list as text, or a text with separators.

    >>> several("a; b;", ";"), several('["a", "b"]'), several(["a", None])
    (['a', 'b'], ['a', 'b'], ['a', ''])

    Raises:
        ValueError: the cell is something else.
    """
    if value is None:
        return []
    if is_list(value):
        return [text_of(part) for part in value]
    if isinstance(value, str) and separator is not None:
        return [part.strip() for part in value.split(separator) if part.strip()]
    if isinstance(value, str) and not value.strip():
        return []
    if isinstance(value, str) and value.strip().startswith("["):
        return [text_of(part) for part in _json_list(value)]
    what = "a text" if isinstance(value, str) else f"of type {type(value).__name__}"
    raise ValueError(f"{what}, not a list")


def _json_list(text: str) -> list[Any]:
    try:
        parts: list[Any] = json.loads(text)
    except json.JSONDecodeError as error:
        raise ValueError(f"no JSON list ({error.msg})") from error
    return parts


def choice_faults(texts: Iterable[str]) -> list[str]:
    """Name what is wrong with choices: none at all, an empty one, two that are equal."""
    folded = [fold(text) for text in texts]
    if not folded:
        return ["missing_choices"]
    faults = ["empty_choice"] if not all(folded) else []
    return [*faults, "duplicate_choices"] if len(set(folded)) < len(folded) else faults
