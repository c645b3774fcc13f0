"""Consequence: items that another value would move into or out of a subset."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from benchprism.annotate.attribute_table import VALUE_TYPES
from benchprism.annotate.consolidation.rating_matrix import possible_values
from benchprism.annotate.ledger.current import Current
from benchprism.compose.rules import Rule
from benchprism.compose.screening import Screening
from benchprism.prompts.catalogue import Attribute, Value

_Mask = NDArray[np.bool_]


def consequences(
    screening: Screening,
    item_ids: Sequence[str],
    said: Sequence[Current],
    doubtful: Mapping[str, Collection[str]],
) -> dict[str, frozenset[str]]:
    """Find the attributes of which another possible value would change what the rules decide.

    One attribute changes at a time, and no rule that does not look at it leaves the item out. The
    value would be a person's: it counts where only values by people, or sure ones, do. Possible
    are the values that some annotator gave the item, of a level also the next one up and down; of
    a label or a truth value that is in doubt, and of anything that is missing, every one. What
    comes after the rules (copies, selection, draw) does not count.

    Args:
        screening: The subset's criteria on the items of today.
        item_ids: The items that ``said`` is about, in their order.
        said: What the annotators say of the attributes that are reviewed.
        doubtful: The attributes in doubt, by item id.

    Returns:
        By item id; only items that have one.
    """
    found: dict[str, set[str]] = {}
    ids: list[str] = screening.pool.table["item_id"].to_pylist()
    rows = {item_id: row for row, item_id in enumerate(ids)}
    place = np.array([rows.get(item_id, -1) for item_id in item_ids], dtype=np.int64)
    truths = [_met([rule], screening.pool.table) for rule in screening.rules]
    for one in said:
        name = one.attribute.id
        own = [rule for rule in screening.rules if name in rule.fields]
        if own:
            others = [t for t, rule in zip(truths, screening.rules, strict=True) if rule not in own]
            open_ = np.all(others, axis=0) if others else np.ones(len(ids), np.bool_)
            in_doubt = np.array([name in doubtful.get(item_id, ()) for item_id in ids], np.bool_)
            flipped = open_ & _flipped(own, screening.pool.table, one, place, in_doubt)
            for row in np.flatnonzero(flipped).tolist():
                found.setdefault(ids[row], set()).add(name)
    return {item_id: frozenset(attributes) for item_id, attributes in found.items()}


def _flipped(
    rules: Sequence[Rule], table: pa.Table, said: Current, place: NDArray[np.int64], doubt: _Mask
) -> _Mask:
    """Where a possible value changes whether all the rules are met."""
    columns = dict.fromkeys(name for rule in rules for name in rule.columns)
    looked_at = table.select([*columns])
    now, flipped = _met(rules, looked_at), np.zeros(table.num_rows, np.bool_)
    for value in _values(said):
        possible = _possible(said, value, table[said.attribute.id], place, doubt)
        if possible.any():
            changed = _with_value(looked_at, said.attribute, value)
            flipped |= possible & (_met(rules, changed) != now)
    return flipped


def _met(rules: Sequence[Rule], table: pa.Table) -> _Mask:
    met = np.ones(table.num_rows, np.bool_)
    for rule in rules:
        met &= np.asarray(pc.fill_null(rule.truth(table), False), np.bool_)
    return met


def _values(said: Current) -> Iterator[Value]:
    """Every value of the attribute; of several labels, the sets that were given and single ones."""
    given = possible_values(said.attribute, said.values)
    yield from given
    if said.attribute.type == "labels":
        singles: list[Value] = [[str(label)] for label in said.attribute.values]
        yield from (value for value in singles if value not in given)


def _possible(
    said: Current, value: Value, column: pa.ChunkedArray, place: NDArray[np.int64], doubt: _Mask
) -> _Mask:
    given = np.zeros(len(column), np.bool_)
    codes = [code for code, one in enumerate(said.values) if _same(one, value)]
    rows = place[said.rows[np.isin(said.codes, codes)]]
    given[rows[rows >= 0]] = True
    missing = np.asarray(pc.is_null(column), np.bool_)
    match said.attribute.type:
        case "level":
            now = np.asarray(pc.fill_null(pc.cast(column, pa.int64()), -9))
            near: _Mask = np.abs(now - np.int64(str(value))) == 1
            return given | missing | near
        case "labels":
            single = isinstance(value, list) and len(value) == 1
            return given | (missing & single)
    return given | missing | doubt


def _same(one: Value, other: Value) -> bool:
    return type(one) is type(other) and one == other


def _with_value(table: pa.Table, attribute: Attribute, value: Value) -> pa.Table:
    """The table in which a person gave every item this value, and is sure of it."""
    name, size = attribute.id, table.num_rows
    given = {
        name: pa.scalar(value, VALUE_TYPES[attribute.type]),
        f"{name}.source": pa.scalar("human_majority"),
        f"{name}.confidence": pa.scalar(1.0),
    }
    for column, scalar in given.items():
        if column in table.column_names:
            at = table.column_names.index(column)
            table = table.set_column(at, column, pa.chunked_array([pa.repeat(scalar, size)]))
    return table
