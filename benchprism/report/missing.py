"""What is missing and why: each value that the catalogue asks for, and how asking for it ended."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from benchprism.annotate.ledger.outcome import STATUSES
from benchprism.prompts.catalogue import Catalogue
from benchprism.report.said import Awaited, Said

OK = "ok"
AWAITED = "in a batch"
OUTDATED = "outdated"
"""What was said is of an earlier text of the item, or of an earlier meaning of the attribute."""
NOT_ASKED = "not asked"
_LAST = (AWAITED, OUTDATED, NOT_ASKED)


@dataclass(frozen=True, slots=True)
class EndCount:
    """Values of one attribute, over the items of one benchmark, that ended one way."""

    attribute: str
    benchmark: str
    end: str
    """``ok``, a status of the ledger, why consolidation left it open, or one of those above."""
    values: int


@dataclass(frozen=True, slots=True)
class Ends:
    """How the values that the catalogue asks for ended, each counted once."""

    counts: tuple[EndCount, ...]
    blank: tuple[tuple[str, str, int], ...]
    """Benchmark, end and number of the items without any value: how most of theirs ended."""
    untouched: int
    """Values missing of items that no annotator was asked about."""

    @property
    def values(self) -> int:
        """Values that the catalogue asks for."""
        return sum(count.values for count in self.counts)

    @property
    def by_end(self) -> tuple[tuple[str, int], ...]:
        """How many are missing for each reason, in the order of the tables."""
        return _totals(self.counts)

    @property
    def missing(self) -> int:
        """Values that are not there."""
        return sum(values for _, values in self.by_end)


def value_ends(
    table: pa.Table,
    catalogue: Catalogue,
    said: Iterable[Said],
    waiting: Iterable[Awaited],
    undecided: pa.Table,
) -> Ends:
    """Tell of each value how it ended: the last that was said of it, unless something newer holds.

    A value that is there is ``ok``, whatever other annotators did. Where annotators gave values and
    consolidation made none of them, its reason stands.

    Args:
        table: the attribute table.
        catalogue: its attributes.
        said: how replies ended, the latest last.
        waiting: what is on its way.
        undecided: a table with ``UNDECIDED_SCHEMA``.
    """
    ends = _ends(table, catalogue, said, waiting, undecided)
    benchmarks = np.array(table["benchmark"].to_pylist(), dtype=object)
    counts = [
        EndCount(attribute.id, name, end, values)
        for name in dict.fromkeys(benchmarks)
        for attribute, column in zip(catalogue, ends[benchmarks == name].T, strict=True)
        for end, values in Counter(filter(None, column)).items()
    ]
    blank: Counter[tuple[str, str]] = Counter()
    untouched = 0
    for row in np.flatnonzero(~(ends == OK).any(axis=1)):
        asked = Counter(filter(None, ends[row])) or Counter([NOT_ASKED])
        blank[benchmarks[row], asked.most_common(1)[0][0]] += 1
        if [*asked] == [NOT_ASKED]:
            untouched += int((ends[row] == NOT_ASKED).sum())
    return Ends(
        tuple(counts),
        tuple((name, end, items) for (name, end), items in blank.most_common()),
        untouched,
    )


def _ends(
    table: pa.Table,
    catalogue: Catalogue,
    said: Iterable[Said],
    waiting: Iterable[Awaited],
    undecided: pa.Table,
) -> NDArray[Any]:
    """(items, attributes) of ends; None where an attribute is not asked of an item."""
    rows = {item: row for row, item in enumerate(table["item_id"].to_pylist())}
    columns = {attribute.id: column for column, attribute in enumerate(catalogue)}
    parts = {d.id: [columns[a.id] for a in d.attributes] for d in catalogue.dimensions}
    contents = table["content_hash"].to_pylist()
    ends = np.full((len(rows), len(columns)), NOT_ASKED, dtype=object)
    for item, content, name, status in said:
        if item in rows and name in columns:
            row = rows[item]
            holds = status != OK and content == contents[row]
            ends[row, columns[name]] = status if holds else OUTDATED
    for item, part in waiting:
        if item in rows:
            asked = parts.get(part, [*columns.values()])
            cells = ends[rows[item], asked]
            ends[rows[item], asked] = np.where(cells == NOT_ASKED, AWAITED, cells)
    for open_ in undecided.select(["item_id", "attribute", "reason"]).to_pylist():
        ends[rows[open_["item_id"]], columns[open_["attribute"]]] = open_["reason"]
    kinds = table["kind"].to_pylist()
    for attribute in catalogue:
        column = ends[:, columns[attribute.id]]
        column[[not attribute.asks(kind) for kind in kinds]] = None
        column[pc.is_valid(table[attribute.id]).to_numpy()] = OK
    return ends


@dataclass(frozen=True, slots=True)
class TallyRow:
    """The values of one benchmark or attribute."""

    name: str
    values: int
    """All that are asked for."""
    counts: tuple[int, ...]
    """Those missing, by the tally's ends."""

    @property
    def missing(self) -> int:
        """Values that are not there."""
        return sum(self.counts)


@dataclass(frozen=True, slots=True)
class Tally:
    """Missing values: benchmarks, or attributes, by how they ended."""

    ends: tuple[str, ...]
    """Those that occur."""
    rows: tuple[TallyRow, ...]
    """Those where something is missing."""


def by_benchmark(counts: Sequence[EndCount]) -> Tally:
    """Tally missing values by benchmark, in the order of the counts."""
    return _tally([(count.benchmark, count) for count in counts])


def by_attribute(counts: Sequence[EndCount], catalogue: Catalogue) -> Tally:
    """Tally missing values by attribute, in the catalogue's order; others come last."""
    place = {attribute.id: position for position, attribute in enumerate(catalogue)}
    arranged = sorted(counts, key=lambda count: place.get(count.attribute, len(place)))
    return _tally([(count.attribute, count) for count in arranged])


def _tally(named: Sequence[tuple[str, EndCount]]) -> Tally:
    ends = tuple(end for end, _ in _totals([count for _, count in named]))
    found: dict[str, Counter[str]] = {}
    for name, count in named:
        found.setdefault(name, Counter())[count.end] += count.values
    rows = [
        TallyRow(name, ended.total(), tuple(ended[end] for end in ends))
        for name, ended in found.items()
    ]
    return Tally(ends, tuple(row for row in rows if row.missing))


def _totals(counts: Sequence[EndCount]) -> tuple[tuple[str, int], ...]:
    """Missing values by end: failures, what consolidation left open, what nobody was asked."""
    totals: Counter[str] = Counter()
    for count in counts:
        totals[count.end] += count.values
    return tuple((end, totals[end]) for end in sorted(totals, key=_rank) if end != OK)


def _rank(end: str) -> tuple[int, int, str]:
    if end in STATUSES:
        return 0, STATUSES.index(end), ""
    return (2, _LAST.index(end), "") if end in _LAST else (1, 0, end)
