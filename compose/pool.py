"""The pool: the items that criteria start from, in the order of their sources."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ..records.errors import InputError, suggestion
from .language.criteria import SUBSET, Criteria
from .language.errors import CriteriaError
from .sampling.groups import Groups, group_by_value

_SOURCE_ORDER = ("benchmark", "subset", "split", "row", "item_id")


class Earlier(Protocol):
    """An earlier composition that items are taken from."""

    @property
    def contents(self) -> Mapping[str, str]:
        """Content hash of each of its items, by item id."""


@dataclass(frozen=True, slots=True, eq=False)
class Pool:
    """The candidates."""

    table: pa.Table
    order: NDArray[np.int64]
    """Rows of the table in the order of their sources, however the table is ordered."""
    benchmarks: Groups
    """The benchmark of each row."""

    def count(self, rows: NDArray[np.int64]) -> dict[str, int]:
        """Count rows by benchmark; a benchmark without any counts 0."""
        counts = self.benchmarks.at(rows).counts.tolist()
        return dict(zip(self.benchmarks.names, counts, strict=True))


def pool_of(criteria: Criteria, table: pa.Table, earlier: Mapping[str, Earlier]) -> Pool:
    """Take what ``from`` names out of an attribute table.

    Args:
        criteria: what is wanted.
        table: an attribute table.
        earlier: the compositions that ``from`` names, by name.

    Raises:
        CriteriaError: ``from`` names something that is not there.
        InputError: the table is empty or holds an item twice.
    """
    _check_items(table)
    known = pc.unique(table["benchmark"]).to_pylist()
    if criteria.from_ == "all":
        return _pool(table, known)
    wanted = pa.array(np.zeros(table.num_rows, dtype=bool))
    for position, source in enumerate(criteria.from_):
        found = _taken_from(source, position, table, known, criteria.name, earlier)
        wanted = pc.or_(wanted, found)
    inside = table if pc.all(wanted).as_py() else table.filter(wanted)
    named = {s.partition("/")[0] for s in criteria.from_ if not s.startswith(SUBSET)}
    return _pool(inside, [*named, *pc.unique(inside["benchmark"]).to_pylist()])


def _pool(table: pa.Table, names: list[str]) -> Pool:
    found = group_by_value(table["benchmark"])
    every = sorted({*names})
    place = np.array([every.index(name) for name in found.names], dtype=np.int64)
    return Pool(table, _source_order(table, found), Groups(tuple(every), place[found.codes]))


def _taken_from(
    source: str,
    position: int,
    table: pa.Table,
    benchmarks: list[str],
    name: str,
    earlier: Mapping[str, Earlier],
) -> pa.ChunkedArray:
    place = ("from", position)
    if source.startswith(SUBSET):
        return _in_earlier(source.removeprefix(SUBSET), place, table, name, earlier)
    benchmark, _, part = source.partition("/")
    if benchmark not in benchmarks:
        raise CriteriaError(
            f"the unknown benchmark {benchmark!r}",
            wanted="benchmarks whose items are in the project",
            mend=f"{suggestion(benchmark, benchmarks)} (benchmarks are added by"
            " 'benchprism items add')",
            place=place,
        )
    found = pc.equal(table["benchmark"], benchmark)
    if not part:
        return found
    parts = pc.unique(table["subset"].filter(found)).to_pylist()
    if part not in parts:
        raise CriteriaError(
            f"the unknown part {part!r} of {benchmark!r}",
            wanted="one of its subsets",
            mend=suggestion(part, filter(None, parts)) if any(parts) else f"name {benchmark!r}",
            place=place,
        )
    return pc.and_(found, pc.equal(table["subset"], part))


def _in_earlier(
    name: str,
    place: tuple[str | int, ...],
    table: pa.Table,
    own: str,
    earlier: Mapping[str, Earlier],
) -> pa.ChunkedArray:
    if name == own or name not in earlier:
        raise CriteriaError(
            f"the composition {name!r}" + (" itself" if name == own else ", which is not there"),
            wanted="an earlier composition",
            mend="name another one" if name == own else "compose it first",
            place=place,
        )
    contents = earlier[name].contents
    ids = pa.array(list(contents), pa.string())
    then = pa.array(list(contents.values()), pa.string())
    position = pc.index_in(table["item_id"], value_set=ids)
    same = pc.fill_null(
        pc.equal(then.take(position.combine_chunks()), table["content_hash"]), False
    )
    if pc.sum(same).as_py() != len(contents):
        raise CriteriaError(
            f"{len(contents) - (pc.sum(same).as_py() or 0)} of the {len(contents)} items of"
            f" {name!r} are not in the project as they were composed",
            wanted="all of them",
            mend=f"compose {name!r} again",
            place=place,
        )
    return same


def _check_items(table: pa.Table) -> None:
    if not table.num_rows:
        raise InputError(
            "there are no items", wanted="items to choose from", mend="run 'benchprism items add'"
        )
    if pc.count_distinct(table["item_id"]).as_py() != table.num_rows:
        counts = pc.value_counts(table["item_id"])
        twice = counts.field("values").filter(pc.greater(counts.field("counts"), 1))[0]
        raise InputError(
            f"the item id {twice.as_py()!r} stands twice",
            wanted="each item once",
            mend="add the items of its benchmark again",
        )


def _source_order(table: pa.Table, benchmarks: Groups) -> NDArray[np.int64]:
    """Sort by ``_SOURCE_ORDER``; by numbers, as that is several times faster than by text."""
    texts = [group_by_value(table[name]).codes for name in ("subset", "split")]
    keys = [benchmarks.codes, *texts, table["row"].to_numpy()]
    order = np.lexsort(keys[::-1])
    ties = np.ones(max(len(order) - 1, 0), dtype=bool)
    for key in keys:
        ties &= key[order[1:]] == key[order[:-1]]
    if not ties.any():
        return order.astype(np.int64)
    by_id = [(name, "ascending") for name in _SOURCE_ORDER]
    found: NDArray[np.int64] = pc.sort_indices(table, sort_keys=by_id).to_numpy().astype(np.int64)
    return found
