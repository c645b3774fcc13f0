"""Gold labels: values that are known to be right, read from a file and joined to items."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from ...prompts.catalogue import Attribute, Catalogue, Value
from ...records.errors import InputError
from ...records.items.cells import cell, is_empty, is_list, text_of
from ...records.items.choices import several
from ...records.items.readers import read_file
from ...records.items.source import Row, Source
from ..reading.parsing import read_values
from .join import FOUND, ItemFinder, Match, Way
from .layout import gold_layout
from .mapping import GoldMapping, folded

EXAMPLES = 5
_IDS = ("item_id", "id")


@dataclass(frozen=True, slots=True)
class JoinReport:
    """What became of the rows of a gold file."""

    rows: int
    ways: Mapping[Way, int]
    """Rows by how their item was found, or why it was not."""
    not_found: tuple[str, ...]
    """Where the first rows stand whose item was not found."""
    set_aside: Mapping[str, int]
    """Values that the mapping sets aside, with how many rows of known items have them."""
    conflicts: tuple[str, ...]
    """Items for which two rows give an attribute different values: it has none there."""
    items: int
    """Items that have a gold value."""

    @property
    def joined(self) -> int:
        """Rows whose item was found."""
        return sum(self.ways.get(way, 0) for way in FOUND)


@dataclass(frozen=True, slots=True)
class GoldLabels:
    """Gold values by attribute, and by row of the items table."""

    values: Mapping[str, Mapping[int, Value]]
    join: JoinReport


def read_gold(
    path: Path,
    items: pa.Table,
    catalogue: Catalogue,
    *,
    mapping: GoldMapping | None = None,
    attributes: Collection[str] = (),
) -> GoldLabels:
    """Read gold labels and find their items.

    Empty cells are no values. A cell that holds something else than a value of its attribute is
    refused, never guessed at.

    Args:
        path: A file that ``records.items.readers.read_file`` reads; for its layout see
            ``gold_layout``.
        items: A table with ``ITEM_SCHEMA``.
        catalogue: The criteria.
        mapping: Where the file has its parts, and what its values are called here.
        attributes: The attributes that are wanted; all that the file has when none are named.

    Raises:
        InputError: the file cannot be read, does not tell its items, has no values of the
            attributes, or holds something that is no value; the sentence names the line.
    """
    source, known = read_file(path), mapping or GoldMapping()
    cells = gold_layout(source, known, catalogue, attributes)
    find = _finding(source, known, ItemFinder(items))
    taken = _Taken(source, known)
    for row in source.rows:
        taken.match(row, match := find(row))
        for attribute, value in cells(row):
            taken.value(row, match, attribute, value)
    return taken.labels(items["item_id"])


class _Taken:
    """What has been taken from a file so far."""

    def __init__(self, source: Source, mapping: GoldMapping) -> None:
        self._source, self._mapping = source, mapping
        self._ways: Counter[Way] = Counter()
        self._not_found: list[str] = []
        self._set_aside: Counter[str] = Counter()
        self._given: dict[str, dict[int, list[Value]]] = {}

    def match(self, row: Row, match: Match) -> None:
        self._ways[match.way] += 1
        if match.item is None:
            self._not_found.append(row.place)

    def value(self, row: Row, match: Match, attribute: Attribute, given: Any) -> None:
        """Take a value; it is checked whether or not the item is known."""
        values = self._given.setdefault(attribute.id, {})
        if is_empty(given):
            return
        value = self._read(row, attribute, given)
        if match.item is None:
            return
        if value is None:
            self._set_aside[text_of(given)] += 1
        elif value not in values.setdefault(match.item, []):
            values[match.item].append(value)

    def labels(self, ids: pa.ChunkedArray) -> GoldLabels:
        """Everything that was taken; where rows contradict each other, nothing."""
        agreed = {
            name: {item: values[0] for item, values in given.items() if len(values) == 1}
            for name, given in self._given.items()
        }
        against = {
            item
            for given in self._given.values()
            for item, values in given.items()
            if len(values) > 1
        }
        report = JoinReport(
            rows=len(self._source.rows),
            ways=dict(self._ways),
            not_found=tuple(self._not_found[:EXAMPLES]),
            set_aside=dict(self._set_aside),
            conflicts=tuple(ids[item].as_py() for item in sorted(against)),
            items=len({item for given in agreed.values() for item in given}),
        )
        return GoldLabels(agreed, report)

    def _read(self, row: Row, attribute: Attribute, given: Any) -> Value | None:
        """Read a cell as a value; none when the mapping sets it aside."""
        mapped = self._mapping.attributes.get(attribute.id)
        names = {folded(name): value for name, value in mapped.values.items()} if mapped else {}
        value: Any = given
        if folded(text_of(given)) in names:
            value = names[folded(text_of(given))]
            if value is None:
                return None
        elif attribute.type == "labels":
            parts = _parts(given)
            value = [names.get(folded(part), part) for part in parts]
            value = [part for part in value if part is not None]
        verdict = read_values({"values": {attribute.id: value}}, [attribute])[0]
        if verdict.value is None:
            raise InputError(
                f"{self._source.name}, {row.place}: {attribute.id}: {verdict.reason}",
                wanted=f"one of {', '.join(map(text_of, attribute.values))}",
                mend="mend it, or say in a mapping file what it is called here (--map)",
            )
        return verdict.value


def _parts(given: Any) -> list[Any]:
    """Several labels in one cell: a list, a JSON list as text, or labels with ``;`` between."""
    if isinstance(given, str) and not given.strip().startswith("["):
        return several(given, ";")
    return several(given) if is_list(given) or isinstance(given, str) else [given]


def _finding(source: Source, mapping: GoldMapping, finder: ItemFinder) -> Callable[[Row], Match]:
    """Decide what tells the item of a row."""
    known = mapping.id or next((name for name in _IDS if name in source.columns), None)
    if mapping.id is None and mapping.question is not None:
        known = None
    for column in (known, mapping.question, mapping.context, mapping.choices):
        if column is not None and column not in source.columns:
            raise InputError(
                f"{source.name} has no column {column!r}",
                wanted=f"one of its columns: {', '.join(source.columns)}",
                mend="mend the mapping",
            )
    if known is not None:
        column = known
        return lambda row: finder.by_id(text_of(cell(row.cells, column)).strip())
    if mapping.question is not None:
        return lambda row: _by_text(row, source, mapping, finder)
    raise InputError(
        f"{source.name} has neither a column 'item_id' nor 'id'",
        wanted="something that tells the item of each row",
        mend="name the column of the id, or those of question and choices, in a mapping file",
    )


def _by_text(row: Row, source: Source, mapping: GoldMapping, finder: ItemFinder) -> Match:
    def text(column: str | None) -> str:
        return text_of(cell(row.cells, column)) if column else ""

    choices = cell(row.cells, mapping.choices) if mapping.choices else []
    try:
        return finder.by_text(text(mapping.question), text(mapping.context), several(choices))
    except ValueError as error:
        raise InputError(
            f"{source.name}, {row.place}: the choices are {error}",
            wanted="a list of options",
            mend="mend the row or the mapping",
        ) from error
