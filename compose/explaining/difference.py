"""Difference: what two compositions do not have in common, and why."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from ...records.items.record import ITEM_SCHEMA
from ..language.drawing import value_text
from ..locking.moved import causes
from ..store import Subset, require_format

NO_CANDIDATE = "no candidate"
"""In place of a rule, for an item that a composition did not start from."""


@dataclass(frozen=True, slots=True)
class MovedItem:
    """An item that one of two compositions has, and why the other has not."""

    item_id: str
    benchmark: str
    rule: str
    detail: str


@dataclass(frozen=True, slots=True)
class Shift:
    """How much there is of an attribute in either composition."""

    attribute: str
    measure: str
    """``mean``, or the value that the share of items with it is meant."""
    before: float | None
    """None when no item has a value."""
    after: float | None


@dataclass(frozen=True, slots=True)
class Difference:
    """What two compositions do not have in common."""

    before: str
    after: str
    both: int
    """Items that both have."""
    came: tuple[MovedItem, ...]
    """Items of the second alone, with the rule of the first that left each out."""
    went: tuple[MovedItem, ...]
    """Items of the first alone, with the rule of the second that left each out."""
    edited: tuple[str, ...]
    """Items that both have, with other content."""
    causes: tuple[str, ...]
    """What the second rests on that the first did not."""
    shifts: tuple[Shift, ...]
    """Of every attribute, each of its values; those of one attribute together."""


def difference(before: Subset, after: Subset) -> Difference:
    """Compare two compositions: of other criteria, or of the same at another time."""
    for subset in (before, after):
        require_format(subset.lock, subset.folder)
    then, now = before.contents, after.contents
    return Difference(
        before=before.name,
        after=after.name,
        both=len(then.keys() & now.keys()),
        came=tuple(_moved(after, before)),
        went=tuple(_moved(before, after)),
        edited=tuple(item for item in then if item in now and then[item] != now[item]),
        causes=tuple(causes(before.lock, after.lock)),
        shifts=tuple(_shifts(before.items, after.items)),
    )


def _moved(has: Subset, lacks: Subset) -> Iterator[MovedItem]:
    columns = ["item_id", "rule", "detail"]
    reasons = {row["item_id"]: row for row in lacks.excluded.select(columns).to_pylist()}
    names = (has.items[name].to_pylist() for name in ("item_id", "benchmark"))
    for item, benchmark in zip(*names, strict=True):
        if item not in lacks.contents:
            why = reasons.get(item, {"rule": NO_CANDIDATE, "detail": "its source is not named"})
            yield MovedItem(item, benchmark, why["rule"], why["detail"])


def _shifts(before: pa.Table, after: pa.Table) -> Iterator[Shift]:
    for field in before.schema:
        name = field.name
        own = name not in ITEM_SCHEMA.names and "." not in name and name in after.column_names
        if not own or after.schema.field(name).type != field.type:
            continue
        if pa.types.is_integer(field.type) or pa.types.is_floating(field.type):
            yield Shift(name, "mean", pc.mean(before[name]).as_py(), pc.mean(after[name]).as_py())
        else:
            old, new = _shares(before[name]), _shares(after[name])
            for value in sorted({*old, *new}):
                yield Shift(name, value, _share(old, value), _share(new, value))


def _shares(column: pa.ChunkedArray) -> Mapping[str, float]:
    """Share of the items with a value that have each value, or each label among theirs."""
    known = column.drop_null()
    values = pc.list_flatten(known) if pa.types.is_list(column.type) else known
    counts = pc.value_counts(values).to_pylist()
    return {value_text(entry["values"]): entry["counts"] / len(known) for entry in counts}


def _share(shares: Mapping[str, float], value: str) -> float | None:
    return shares.get(value, 0.0) if shares else None
