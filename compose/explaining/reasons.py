"""Reasons: why items are left out, in words, for a million items as for one."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ..rules import FaultRule, FieldRule, Rule, field_rules
from .values import values_in_words


def reasons(rule: Rule, table: pa.Table) -> pa.ChunkedArray:
    """Say for each row, on the understanding that the rule leaves it out, why it does.

    For example ``reasoning_depth is 1, wanted at least 2``. Where it matters who gave a value, and
    how sure they were, it says so: ``reasoning_depth is 3 (llm_single, 0.6), wanted ...``.

    Args:
        rule: the rule.
        table: the items, with the rule's columns.
    """
    pieces: list[Any] = []
    for field in rule.fields:
        pieces += [", " if pieces else "", f"{field} is ", values_in_words(table[field])]
        if any(test.field == field and test.trust.asks for test in field_rules(rule)):
            pieces.append(_given_by(table, field))
    if isinstance(rule, FieldRule):
        pieces.append(f", wanted {rule.wanted}")
    elif isinstance(rule, FaultRule):
        pieces = ["faulty: ", *pieces[2:], ", wanted an item without faults"]
    else:
        pieces.append(f"; wanted {rule.text}")
    return pc.binary_join_element_wise(*pieces, "")


def _given_by(table: pa.Table, field: str) -> pa.ChunkedArray:
    source, sure = table[f"{field}.source"], values_in_words(table[f"{field}.confidence"])
    words = pc.binary_join_element_wise(" (", source, ", ", sure, ")", "")
    return pc.fill_null(words, "")
