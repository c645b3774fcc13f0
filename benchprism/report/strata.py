"""Strata: the items of a benchmark grouped by the value of one attribute."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from benchprism.prompts.catalogue import Attribute, Catalogue
from benchprism.records.items.record import ITEM_SCHEMA

Codes = NDArray[np.int64]
FEW = 4
"""Computed numbers with at most this many values are strata as they are; others are thirds."""


@dataclass(frozen=True, slots=True, eq=False)
class Strata:
    """Scored items grouped by one attribute."""

    attribute: str
    title: str
    computed: bool
    values: tuple[tuple[str, str], ...]
    """Name and meaning of each stratum that is large enough, in the attribute's order."""
    codes: Codes
    """Position among ``values`` for each scored item; -1 without one."""
    known: NDArray[np.bool_]
    """Which scored items have a value, be it of a stratum that is too small."""

    @property
    def left_out(self) -> int:
        """Items with a value whose stratum is too small."""
        return int((self.known & (self.codes < 0)).sum())


def grouped_items(
    table: pa.Table, catalogue: Catalogue, item_ids: Sequence[str], *, smallest: int
) -> Iterator[Strata]:
    """Group the scored items by every attribute that makes at least two strata of them.

    Attributes with several labels an item are passed over: their values are no strata.
    """
    position = {item: row for row, item in enumerate(table["item_id"].to_pylist())}
    rows = [position.get(item) for item in item_ids]
    for attribute in catalogue:
        if attribute.type != "labels":
            values = _values(table, attribute.id, rows)
            yield from _enough(_annotated(attribute, values), smallest)
    asked = {attribute.id for attribute in catalogue}
    for name in table.column_names:
        if name not in ITEM_SCHEMA.names and name.partition(".")[0] not in asked:
            yield from _enough(_computed(name, _values(table, name, rows)), smallest)


def _values(table: pa.Table, column: str, rows: Sequence[int | None]) -> list[Any]:
    values = table[column].to_pylist()
    return [None if row is None else values[row] for row in rows]


def _enough(strata: Strata, smallest: int) -> Iterator[Strata]:
    """Keep the strata with at least ``smallest`` items, when two or more are left."""
    counts = np.bincount(strata.codes[strata.codes >= 0], minlength=len(strata.values))
    kept = np.flatnonzero(counts >= smallest)
    if len(kept) > 1:
        renumbered = np.full(len(strata.values) + 1, -1)
        renumbered[kept] = np.arange(len(kept))
        yield Strata(
            strata.attribute,
            strata.title,
            strata.computed,
            tuple(strata.values[k] for k in kept),
            renumbered[strata.codes],
            strata.codes >= 0,
        )


def _annotated(attribute: Attribute, values: list[Any]) -> Strata:
    known = list(attribute.values)
    codes = np.array([-1 if v is None else known.index(v) for v in values], dtype=np.int64)
    named = tuple((value_name(value), attribute.values[value]) for value in known)
    return Strata(attribute.id, attribute.name, False, named, codes, codes >= 0)


def value_name(value: int | str | bool) -> str:
    """Name a single value as people read it.

    >>> value_name(True), value_name(2), value_name("short_answer")
    ('yes', '2', 'short answer')
    """
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value).replace("_", " ")


def _computed(name: str, values: list[Any]) -> Strata:
    title = name.replace("_", " ").capitalize()
    known = [value for value in values if value is not None]
    numbers = all(isinstance(v, int | float) and not isinstance(v, bool) for v in known)
    if numbers and len(set(known)) > FEW:
        return _thirds(name, title, values)
    if any(isinstance(value, list) for value in known):
        known = []
    order = sorted(set(known))
    codes = np.array([order.index(v) if v in order else -1 for v in values], dtype=np.int64)
    named = tuple((value_name(value), "") for value in order)
    return Strata(name, title, True, named, codes, codes >= 0)


def _thirds(name: str, title: str, values: list[Any]) -> Strata:
    """Three strata of about equal size; equal values stay together."""
    numbers = np.array([np.nan if v is None else v for v in values], dtype=float)
    known = numbers[~np.isnan(numbers)]
    cuts = np.quantile(known, [1 / 3, 2 / 3], method="inverted_cdf")
    codes = np.where(np.isnan(numbers), -1, np.searchsorted(cuts, numbers)).astype(np.int64)
    spans = [known[np.searchsorted(cuts, known) == k] for k in range(3)]
    named = tuple((_span(span), f"{len(span) / len(known):.0%} of the items") for span in spans)
    return Strata(name, title, True, named, codes, codes >= 0)


def _span(values: NDArray[np.float64]) -> str:
    if not len(values):
        return "none"
    low, high = (f"{value:.1f}".removesuffix(".0") for value in (values.min(), values.max()))
    return low if low == high else f"{low} to {high}"
