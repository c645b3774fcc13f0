"""Finding the item that a row of a gold file is about."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import pyarrow as pa

from ...records.items.record import content_hash

Way = Literal["id", "end of id", "text", "unknown", "ambiguous", "without id"]
"""How an item was found; or why it was not: no item has this id or text, several have it, or the
row has none."""
FOUND: tuple[Way, ...] = ("id", "end of id", "text")


@dataclass(frozen=True, slots=True)
class Match:
    """What was found for one row."""

    way: Way
    item: int | None = None
    """Row of the item in the items table; none when it was not found."""


class ItemFinder:
    """Finds items by their id, by the end of their id, or by their text.

    ``abstract_algebra/test/34`` is the end of ``mmlu/abstract_algebra/test/34``. The end has to be
    that of one item only, and has to be more than a number: every benchmark has a row 34.
    """

    def __init__(self, items: pa.Table) -> None:
        """Prepare to find the items of a table with ``ITEM_SCHEMA``."""
        ids = items["item_id"].to_pylist()
        self._ids = {item_id: row for row, item_id in enumerate(ids)}
        self._ends = _places(
            (end, row) for row, item_id in enumerate(ids) for end in _ends(item_id)
        )
        hashes = items["content_hash"].to_pylist()
        self._texts = _places((text, row) for row, text in enumerate(hashes))

    def by_id(self, given: str) -> Match:
        """Find an item by its id, or by the end of it."""
        if not given:
            return Match("without id")
        if given in self._ids:
            return Match("id", self._ids[given])
        return _match("end of id", self._ends.get(given, ()))

    def by_text(self, question: str, context: str, choices: Iterable[str]) -> Match:
        """Find an item by what it asks, whatever its white space and Unicode variants."""
        if not question:
            return Match("without id")
        return _match("text", self._texts.get(content_hash(question, context, choices), ()))


def _match(way: Way, rows: Sequence[int]) -> Match:
    if len(rows) == 1:
        return Match(way, rows[0])
    return Match("ambiguous" if rows else "unknown")


def _places(pairs: Iterable[tuple[str, int]]) -> dict[str, list[int]]:
    places: dict[str, list[int]] = {}
    for text, row in pairs:
        places.setdefault(text, []).append(row)
    return places


def _ends(item_id: str) -> Iterator[str]:
    parts = item_id.split("/")
    for start in range(1, len(parts)):
        end = "/".join(parts[start:])
        if not end.isdecimal():
            yield end
