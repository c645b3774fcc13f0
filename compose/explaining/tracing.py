"""Tracing: the items behind a number of the waterfall."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from ...records.errors import InputError, suggestion
from ..store import Subset, require_format


@dataclass(frozen=True, slots=True, eq=False)
class LeftOut:
    """The items that a rule left out."""

    rule: str
    items: pa.Table
    """``composer.EXCLUDED_SCHEMA``, in the order of the sources."""


def left_out_by(subset: Subset, rule: str) -> LeftOut:
    """Find the items that a rule of a subset left out.

    Args:
        subset: the subset.
        rule: the rule's text, or its number in the waterfall, from 1.

    Raises:
        InputError: the subset has no such rule.
    """
    require_format(subset.lock, subset.folder)
    rules = [step["rule"] for step in subset.lock["steps"]]
    text = rule
    if rule.isdecimal() and 0 < int(rule) <= len(rules):
        text = rules[int(rule) - 1]
    if text not in rules:
        raise InputError(
            f"no rule {rule!r} of {subset.name!r}",
            wanted=f"a number from 1 to {len(rules)}, or a rule's text",
            mend=suggestion(rule, rules) if rules else "it has no rules",
        )
    return LeftOut(text, subset.excluded.filter(pc.equal(subset.excluded["rule"], text)))
