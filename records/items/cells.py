"""One cell of a source: finding it by its column, and reading it as text."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

Cells = Mapping[str, Any]
"""The columns of one row, as the source gives them."""


def cell(cells: Cells, path: str) -> Any:
    """Find a cell by its column's name, or by a path into nested records.

    A path through a list of records gives the list of their values.

    >>> cell({"choices": {"text": ["a", "b"]}}, "choices.text")
    ['a', 'b']
    >>> cell({"stem": {"choices": [{"label": "A"}, {"label": "B"}]}}, "stem.choices.label")
    ['A', 'B']
    """
    if path in cells:
        return cells[path]
    found: Any = cells
    for name in path.split("."):
        found = [_step(part, name) for part in found] if is_list(found) else _step(found, name)
    return found


def _step(record: Any, name: str) -> Any:
    return record.get(name) if isinstance(record, Mapping) else None


def is_list(value: Any) -> bool:
    """Tell whether a cell holds several values."""
    return isinstance(value, list | tuple)


def is_empty(value: Any) -> bool:
    """Tell whether a cell holds nothing: null, NaN, blank text, or an empty list.

    >>> [is_empty(value) for value in (None, float("nan"), " ", [], "None", 0, False)]
    [True, True, True, True, False, False, False]
    """
    if isinstance(value, str):
        return not value.strip()
    if isinstance(value, float):
        return math.isnan(value)
    return value is None or (is_list(value) and not value)


def text_of(value: Any) -> str:
    """Write a cell as text: text as it is, a number in its shortest form, null as nothing.

    >>> text_of("007"), text_of(27.0), text_of(0.5), text_of(True), text_of(None), text_of([1])
    ('007', '27', '0.5', 'true', '', '[1]')
    """
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 2**53 else repr(value)
    if isinstance(value, list | tuple | dict):
        return to_json(value)
    return str(value)


def to_json(value: Any) -> str:
    """Write a cell or a row as JSON: NaN is null, what JSON does not know is text."""
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False, default=_as_json)
    except ValueError:
        return json.dumps(_finite(value), ensure_ascii=False, default=_as_json)


def _as_json(value: Any) -> str:
    return value.hex() if isinstance(value, bytes) else str(value)


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return None if math.isnan(value) else value if math.isfinite(value) else repr(value)
    if isinstance(value, Mapping):
        return {key: _finite(part) for key, part in value.items()}
    return [_finite(part) for part in value] if is_list(value) else value


def column_names(rows: Iterable[Cells]) -> tuple[str, ...]:
    """List the columns that rows have, each with the columns nested in it after it.

    >>> column_names([{"id": 1, "choices": {"text": ["a"]}}, {"id": 2, "label": "A"}])
    ('id', 'choices', 'choices.text', 'label')
    """
    nested: dict[str, dict[str, None]] = {}
    for row in rows:
        for name, value in row.items():
            inside = nested.setdefault(name, {})
            if isinstance(value, dict | list):
                inside.update(dict.fromkeys(_inner_names(value, name)))
    return tuple(name for column, inside in nested.items() for name in (column, *inside))


def _inner_names(value: Any, prefix: str) -> Iterator[str]:
    if isinstance(value, Mapping):
        for key, part in value.items():
            name = f"{prefix}.{key}"
            yield name
            yield from _inner_names(part, name)
    elif is_list(value):
        for part in value:
            if not isinstance(part, Mapping):
                break
            yield from _inner_names(part, prefix)
