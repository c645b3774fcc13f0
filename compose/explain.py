"""Explanation: what each rule of a subset says about one item, and on which values."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import Any, Literal

import pyarrow as pa
import pyarrow.compute as pc

from ..records.errors import InputError
from ..records.items.record import ITEM_SCHEMA
from .composer import SAMPLE
from .criteria import Criteria
from .fields import require_field
from .rules import Rule, conjuncts, field_rules
from .screening import rules_for
from .store import Subset

Outcome = Literal["met", "not met", "missing"]
_OUTCOMES: dict[bool | None, Outcome] = {True: "met", False: "not met", None: "missing"}


@dataclass(frozen=True, slots=True)
class FieldValue:
    """A value that a rule looked at, and where it comes from."""

    field: str
    value: Any
    """None when it is missing."""
    source: str | None
    """The value's provenance, ``item`` or ``computed``; none when the value is missing."""
    confidence: float | None


@dataclass(frozen=True, slots=True)
class RuleVerdict:
    """What one rule says about one item."""

    rule: str
    outcome: Outcome
    """``missing`` when the rule cannot be decided because a value is missing."""
    values: tuple[FieldValue, ...]


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why an item is in a subset or out of it."""

    item_id: str
    chosen: bool
    rule: str | None
    """The first rule that left the item out, when the subset was composed."""
    detail: str | None
    """Why, in words."""
    verdicts: tuple[RuleVerdict, ...]
    """Of every rule before the draw; for a chosen item on the values it was chosen for, for
    another one on the values of today."""

    @property
    def outdated(self) -> bool:
        """Whether a value has changed so that another rule would leave the item out today."""
        if self.chosen or (self.rule or "").startswith(SAMPLE):
            return any(verdict.outcome != "met" for verdict in self.verdicts)
        first = next((v.rule for v in self.verdicts if v.outcome != "met"), None)
        return first != self.rule


def explain(subset: Subset, item_id: str, table: pa.Table) -> Explanation:
    """Explain one item.

    Args:
        subset: the subset.
        item_id: the item.
        table: the attribute table of today; the row of the item is enough.

    Raises:
        InputError: the item is unknown, or was no candidate when the subset was composed.
    """
    chosen, excluded = _row(subset.items, item_id), _row(subset.excluded, item_id)
    row = chosen if chosen.num_rows else _row(table, item_id)
    if not row.num_rows or not (chosen.num_rows or excluded.num_rows):
        raise _no_candidate(subset, item_id, table)
    first = excluded.to_pylist()[0] if excluded.num_rows else {"rule": None, "detail": None}
    return Explanation(
        item_id, bool(chosen.num_rows), first["rule"], first["detail"],
        tuple(verdicts(subset.criteria, row)),
    )  # fmt: skip


def _row(table: pa.Table, item_id: str) -> pa.Table:
    return table.filter(pc.equal(table["item_id"], item_id))


def _no_candidate(subset: Subset, item_id: str, table: pa.Table) -> InputError:
    sources = ", ".join(subset.criteria.from_)
    found = _row(table, item_id)
    if found.num_rows and found["benchmark"][0].as_py() not in subset.criteria.from_:
        return InputError(
            f"{item_id!r} was no candidate for {subset.name!r}",
            wanted=f"an item of {sources}",
            mend="name its benchmark under 'from' and compose again",
        )
    if found.num_rows:
        return InputError(
            f"{item_id!r} was added after {subset.name!r} was composed",
            wanted="an item that was there",
            mend="compose the subset again",
        )
    candidates = [*subset.items["item_id"].to_pylist(), *subset.excluded["item_id"].to_pylist()]
    close = difflib.get_close_matches(item_id, candidates, n=1)
    return InputError(
        f"no item {item_id!r} among those of {subset.name!r}",
        wanted="an item id such as 'mmlu/abstract_algebra/test/34'",
        mend=f"did you mean {close[0]!r}?" if close else f"its items are of {sources}",
    )


def verdicts(criteria: Criteria, row: pa.Table) -> list[RuleVerdict]:
    """Ask every rule of the criteria about one item: an attribute table of one row.

    Raises:
        CriteriaError: the table has not got a field that the criteria name.
    """
    for rule in conjuncts(criteria.where) if criteria.where else []:
        for test in field_rules(rule):
            require_field(row, test.field, test.place)
    if criteria.sample is not None and criteria.sample.balance is not None:
        require_field(row, criteria.sample.balance, ("sample", "balance"))
    return [_verdict(rule, row) for rule in rules_for(criteria, row)]


def _verdict(rule: Rule, row: pa.Table) -> RuleVerdict:
    values = tuple(_value(field, row) for field in rule.fields)
    return RuleVerdict(rule.text, _OUTCOMES[rule.truth(row)[0].as_py()], values)


def _value(field: str, row: pa.Table) -> FieldValue:
    value = row[field][0].as_py()
    source: str | None = "item" if field in ITEM_SCHEMA.names else "computed"
    confidence = None
    if f"{field}.source" in row.column_names:
        source = row[f"{field}.source"][0].as_py()
        confidence = row[f"{field}.confidence"][0].as_py()
    return FieldValue(field, value, source if value is not None else None, confidence)
