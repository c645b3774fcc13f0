"""Groups: items told apart by the value of one or more fields."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ..explaining.values import values_in_words
from ..language.drawing import Grouping
from ..language.trust import NO_DEMANDS, Demands


@dataclass(frozen=True, slots=True, eq=False)
class Groups:
    """The group of each of n items."""

    names: tuple[str, ...]
    """In the order of their values: words by letter, ranges from low to high."""
    codes: NDArray[np.int64]
    """(n,): position of the item's group among ``names``."""

    @property
    def counts(self) -> NDArray[np.int64]:
        """Items of each group."""
        return np.bincount(self.codes, minlength=len(self.names)).astype(np.int64)

    def at(self, rows: NDArray[np.int64]) -> Groups:
        """The same groups of some of the items."""
        return Groups(self.names, self.codes[rows])

    def used(self) -> Groups:
        """Without groups of which there is no item."""
        found = self.counts > 0
        position = np.cumsum(found) - 1
        names = tuple(name for name, used in zip(self.names, found, strict=True) if used)
        return Groups(names, position[self.codes])


def one_group(items: int) -> Groups:
    """All items in one group without a name."""
    return Groups(("",), np.zeros(items, dtype=np.int64))


def group_by_value(column: pa.ChunkedArray) -> Groups:
    """Group by value, as it is put into words; no value is the group ``missing``."""
    encoded = column.combine_chunks().dictionary_encode("encode")
    words = values_in_words(pa.chunked_array([encoded.dictionary])).to_pylist()
    order = sorted(range(len(words)), key=words.__getitem__)
    rank = np.empty(len(words), dtype=np.int64)
    rank[order] = np.arange(len(words))
    names = _distinct([words[place] for place in order])
    return Groups(names, rank[encoded.indices.to_numpy()])


def _group_by_range(column: pa.ChunkedArray, cuts: tuple[float, ...]) -> Groups:
    between = [f"{low} to {high}" for low, high in pairwise(cuts)]
    names = (f"below {cuts[0]}", *between, f"{cuts[-1]} or more")
    values = column.to_numpy().astype(np.float64)
    return Groups(names, np.searchsorted(np.array(cuts, np.float64), values, side="right"))


def group_by(
    table: pa.Table, groupings: Iterable[Grouping], demands: Demands = NO_DEMANDS
) -> Groups:
    """Group by one field, or by each combination of several; groups without an item are left out.

    Args:
        table: the items. With cuts, each has to have a value.
        groupings: the fields; without any, all items are one group.
        demands: what values need to count.
    """
    whole = one_group(table.num_rows)
    for grouping in groupings:
        column = demands.on(grouping.field).counted(table, grouping.field)
        cut = bool(grouping.cuts)
        own = _group_by_range(column, grouping.cuts) if cut else group_by_value(column)
        names = [", ".join(filter(None, (a, b))) for a in whole.names for b in own.names]
        whole = Groups(_distinct(names), whole.codes * len(own.names) + own.codes).used()
    return whole


def _distinct(names: list[str]) -> tuple[str, ...]:
    """Number names that stand twice, as those of a missing value and of the word ``missing``."""
    twice = {name for name in names if names.count(name) > 1} if len({*names}) < len(names) else ()
    return tuple(f"{name} #{n}" if name in twice else name for n, name in enumerate(names))
