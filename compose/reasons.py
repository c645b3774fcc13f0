"""Reasons: why items are left out, in words, for a million items as for one."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from .rules import FaultRule, FieldRule, Rule

_LONGEST = 60


def values_in_words(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Write each value as text; a value that is not there is ``missing``."""
    if pa.types.is_list(column.type):
        text = pc.binary_join(column, ", ")
    elif pa.types.is_boolean(column.type):
        text = pc.if_else(column, "true", "false")
    elif pa.types.is_floating(column.type):
        text = pc.cast(pc.round(column, ndigits=3), pa.string())
    else:
        text = pc.cast(column, pa.string())
    long = pc.greater(pc.utf8_length(text), _LONGEST)
    short = pc.binary_join_element_wise(pc.utf8_slice_codeunits(text, 0, _LONGEST), "...", "")
    return pc.fill_null(pc.if_else(long, short, text), "missing")


def reasons(rule: Rule, table: pa.Table) -> pa.ChunkedArray:
    """Say for each row, on the understanding that the rule leaves it out, why it does.

    For example ``reasoning_depth is 1, wanted at least 2``.
    """
    pieces: list[Any] = []
    for field in rule.fields:
        pieces += [", " if pieces else "", f"{field} is ", values_in_words(table[field])]
    if isinstance(rule, FieldRule):
        pieces.append(f", wanted {rule.wanted}")
    elif isinstance(rule, FaultRule):
        pieces = ["faulty: ", *pieces[2:], ", wanted an item without faults"]
    else:
        pieces.append(f"; wanted {rule.text}")
    return pc.binary_join_element_wise(*pieces, "")
