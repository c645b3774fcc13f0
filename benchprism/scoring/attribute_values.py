"""Values of an attribute: what divides items into kinds, or says how much they demand."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from benchprism.metrics.items.explained import one_column_a_value
from benchprism.metrics.reasons import named
from benchprism.records.errors import InputError, suggestion

FEW = 6
"""Numbers with more different values are divided into thirds."""
_TEXTS = {"item_id", "question", "context", "answer_text", "source", "content_hash",
          "choice_set_hash", "revision"}  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class ItemKinds:
    """Items divided by the value of an attribute."""

    attribute: str
    names: tuple[str, ...]
    """Of the values, in order."""
    codes: NDArray[np.int64]
    """(n,): position among ``names``; -1 for an item without a value."""


@dataclass(frozen=True, slots=True, eq=False)
class Demands:
    """How much an attribute's values demand of whoever solves an item."""

    attribute: str
    names: tuple[str, ...]
    """One for each column: the attribute, or the attribute and a label."""
    columns: NDArray[np.float64]
    """(n, columns): from 0, nothing, to 1, the most; NaN for an item without a value."""


def item_kinds(table: pa.Table, attribute: str, item_ids: Sequence[str]) -> ItemKinds:
    """Divide items by an attribute.

    Levels, labels, truth values and fields of the items are kinds as they are; numbers with many
    values are divided into thirds. ``attribute:label`` divides by whether one of several labels is
    given.

    Args:
        table: the attribute table.
        attribute: a column of it, or ``column:label``.
        item_ids: the items; those that the table lacks have no value.

    Raises:
        InputError: there is no such column, or it does not divide items.
    """
    column, _, label = attribute.partition(":")
    values = _values(table, column, item_ids)
    if label:
        values = _has(values, label, attribute)
    elif any(isinstance(value, list) for value in values):
        labels = sorted({one for value in values if value for one in value})
        raise InputError(
            f"items have several labels of {attribute!r}",
            wanted=f"one of them, as in {attribute}:{labels[0] if labels else 'LABEL'}",
            mend=f"choose among {named(labels, 12)}",
        )
    known = sorted({value for value in values if value is not None})
    if len(known) < 2:
        raise InputError(
            f"the items with results have {'no' if not known else 'one'} value of {attribute!r}",
            wanted="two values or more",
            mend="annotate the items first, or choose another attribute",
        )
    if isinstance(known[0], int | float) and not isinstance(known[0], bool) and len(known) > FEW:
        return _thirds(attribute, values)
    place = {value: position for position, value in enumerate(known)}
    codes = np.array([-1 if value is None else place[value] for value in values])
    return ItemKinds(attribute, tuple(_name(value) for value in known), codes)


def demands(table: pa.Table, attribute: str, item_ids: Sequence[str]) -> Demands:
    """Turn an attribute into demands.

    A level or number counts in proportion to its largest value, a truth value as 0 or 1. Of a
    label, each value but the most frequent is a column of 0 and 1; of several labels, each.

    Args:
        table: the attribute table.
        attribute: as in ``item_kinds``.
        item_ids: as there.

    Raises:
        InputError: as there.
    """
    column, _, label = attribute.partition(":")
    values = _values(table, column, item_ids)
    if label:
        values = _has(values, label, attribute)
    if any(isinstance(value, list) for value in values):
        return _labels(attribute, values)
    known = [value for value in values if value is not None]
    if known and isinstance(known[0], bool | int | float):
        numbers = np.array([np.nan if value is None else float(value) for value in values])
        low, high = np.nanmin(numbers), np.nanmax(numbers)
        if low < high:
            return Demands(
                attribute, (attribute,), ((numbers - min(low, 0)) / (high - min(low, 0)))[:, None]
            )
    kinds = item_kinds(table, attribute, item_ids)
    usual = int(np.bincount(kinds.codes[kinds.codes >= 0]).argmax())
    kept = [position for position in range(len(kinds.names)) if position != usual]
    names = tuple(f"{attribute}:{kinds.names[position]}" for position in kept)
    return Demands(attribute, names, one_column_a_value(kinds.codes, len(kinds.names))[:, kept])


def _values(table: pa.Table, column: str, item_ids: Sequence[str]) -> list[Any]:
    names = [
        name
        for name in table.column_names
        if name not in _TEXTS and not name.endswith((".source", ".confidence"))
    ]
    if column not in names:
        raise InputError(
            f"no attribute {column!r}",
            wanted="an attribute of the catalogue, a computed one, or a field of the items",
            mend=suggestion(column, names),
        )
    of_item = dict(zip(table["item_id"].to_pylist(), table[column].to_pylist(), strict=True))
    return [of_item.get(item) for item in item_ids]


def _has(values: Iterable[Any], label: str, attribute: str) -> list[bool | None]:
    found = [value if isinstance(value, list) or value is None else [value] for value in values]
    labels = sorted({str(one) for value in found if value for one in value})
    if label not in labels:
        raise InputError(
            f"no item with results has the value of {attribute!r}",
            wanted=f"one of {named(labels, 12)}",
            mend=suggestion(label, labels),
        )
    return [None if value is None else label in map(str, value) for value in found]


def _labels(attribute: str, values: Sequence[list[str] | None]) -> Demands:
    known = [value for value in values if value is not None]
    labels = sorted({one for value in known for one in value})
    mixed = [label for label in labels if not all(label in value for value in known)]
    columns = np.array(
        [
            [np.nan] * len(mixed) if value is None else [float(label in value) for label in mixed]
            for value in values
        ]
    )
    return Demands(attribute, tuple(f"{attribute}:{label}" for label in mixed), columns)


def _thirds(attribute: str, values: Sequence[float | None]) -> ItemKinds:
    """Three kinds of about equal size; equal values stay together."""
    numbers = np.array([np.nan if value is None else float(value) for value in values])
    known = numbers[~np.isnan(numbers)]
    cuts = np.unique(np.quantile(known, [1 / 3, 2 / 3], method="inverted_cdf"))
    codes = np.where(np.isnan(numbers), -1, np.searchsorted(cuts, numbers)).astype(np.int64)
    names = []
    for kind in range(int(codes.max()) + 1):
        own = numbers[codes == kind]
        low, high = (f"{end:.1f}".removesuffix(".0") for end in (own.min(), own.max()))
        names.append(low if low == high else f"{low} to {high}")
    return ItemKinds(attribute, tuple(names), codes)


def _name(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)
