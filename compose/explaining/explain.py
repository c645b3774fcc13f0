"""Explanation: what each rule of a subset says about one item, and on which values."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import pyarrow as pa
import pyarrow.compute as pc

from ...records.errors import InputError
from ...records.items.record import ITEM_SCHEMA
from .. import selection
from ..calibration import cautions
from ..composer import SAMPLE, sample_text
from ..duplicates import copies as duplicates
from ..evidence import Evidence, is_evidence, with_evidence
from ..language.checks import named_fields
from ..language.criteria import SUBSET, Criteria
from ..language.fields import require_field
from ..rules import Rule
from ..screening import rules_for
from ..store import Subset, require_format
from .changes import needed, needed_after_rules, rule_met
from .reasons import reasons

Outcome = Literal["met", "not met", "missing"]
_OUTCOMES: dict[bool | None, Outcome] = {True: "met", False: "not met", None: "missing"}
_LATER = (duplicates.RULE, selection.RULE, SAMPLE)
"""How the texts of the steps begin that come after the rules."""


@dataclass(frozen=True, slots=True)
class FieldValue:
    """A value that a rule looked at, and where it comes from."""

    field: str
    value: Any
    """None when it is missing."""
    source: str | None
    """The value's provenance, ``item``, ``computed`` or ``results``; none when it is missing."""
    confidence: float | None
    confidence_source: str | None = None
    """What measures the confidence, such as ``agreement`` or ``tie``."""


@dataclass(frozen=True, slots=True)
class RuleVerdict:
    """What one rule says about one item."""

    rule: str
    outcome: Outcome
    """``missing`` when the rule cannot be decided because a value is missing, or does not count."""
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
    """Of every rule before copies, selection and draw; for a chosen item on the values it was
    chosen for, for another one on the values of today."""
    changes: tuple[str, ...] = ()
    """What would have to change for it to be in, all of it; nothing for a chosen item."""
    cautions: tuple[str, ...] = ()
    """What people's review said against attributes that decided, when the subset was composed."""
    today: str | None = None
    """Why the same rule would leave it out today; none where it reads as it did."""

    @property
    def outdated(self) -> bool:
        """Whether a value that left the item out has changed, or another rule would today."""
        if self.today is not None:
            return True
        if self.chosen or (self.rule or "").startswith(_LATER):
            return any(verdict.outcome != "met" for verdict in self.verdicts)
        first = next((v.rule for v in self.verdicts if v.outcome != "met"), None)
        return first != self.rule


def explain(
    subset: Subset, item_id: str, table: pa.Table, evidence: Evidence | None = None
) -> Explanation:
    """Explain one item.

    Args:
        subset: the subset.
        item_id: the item.
        table: the attribute table of today; the row of the item is enough.
        evidence: the results of today, if the subset's criteria ask for any.

    Raises:
        InputError: the item is unknown, or was no candidate when the subset was composed.
    """
    require_format(subset.lock, subset.folder)
    chosen, excluded = _row(subset.items, item_id), _row(subset.excluded, item_id)
    row = chosen if chosen.num_rows else _row(table, item_id)
    if not row.num_rows or not (chosen.num_rows or excluded.num_rows):
        raise _no_candidate(subset, item_id, table)
    row = _complete(subset.criteria, row, evidence)
    rules = rules_for(subset.criteria, row)
    verdicts = tuple(_verdict(rule, row) for rule in rules)
    told = tuple(cautions(subset.lock))
    if chosen.num_rows:
        return Explanation(item_id, True, None, None, verdicts, cautions=told)
    first = excluded.to_pylist()[0]
    changes = tuple(_changes(subset, row, rules, first))
    today = _today(rules, row, first)
    return Explanation(
        item_id, False, first["rule"], first["detail"], verdicts, changes, told, today
    )


def _today(rules: list[Rule], row: pa.Table, first: dict[str, Any]) -> str | None:
    unmet = [rule for rule in rules if rule.text == first["rule"] and not rule_met(rule, row)]
    now: str | None = reasons(unmet[0], row)[0].as_py() if unmet else None
    return None if now == first["detail"] else now


def _row(table: pa.Table, item_id: str) -> pa.Table:
    return table.filter(pc.equal(table["item_id"], item_id))


def _no_candidate(subset: Subset, item_id: str, table: pa.Table) -> InputError:
    names = subset.criteria.from_
    sources = ", ".join(names)
    found = _row(table, item_id)
    if found.num_rows and not _named(found, names):
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


def _named(row: pa.Table, sources: str | list[str]) -> bool:
    """Whether ``from`` names the benchmark of an item, or the part of it that has the item."""
    benchmark, part = row["benchmark"][0].as_py(), row["subset"][0].as_py()
    whole = [source for source in sources if not source.startswith(SUBSET)]
    return benchmark in whole or f"{benchmark}/{part}" in whole


def _complete(criteria: Criteria, row: pa.Table, evidence: Evidence | None) -> pa.Table:
    """Add what models scored, and refuse fields that are gone."""
    fields = named_fields(criteria)
    row = with_evidence(row, fields, evidence)
    for field, place in fields.items():
        require_field(row, field, place)
    return row


def _changes(
    subset: Subset, row: pa.Table, rules: list[Rule], first: dict[str, Any]
) -> Iterator[str]:
    unmet = [rule for rule in rules if not rule_met(rule, row)]
    yield from (needed(rule, row) for rule in unmet)
    if first["rule"].startswith(_LATER):
        yield from needed_after_rules(first, subset.criteria, subset.lock["draw"])
    else:
        later = ", then ".join(_steps_after_rules(subset.criteria))
        if later:
            yield f"after that, to pass {later}"


def _steps_after_rules(criteria: Criteria) -> Iterator[str]:
    if criteria.deduplicate is not None:
        yield duplicates.rule_text(criteria.deduplicate)
    if criteria.select is not None:
        yield f"{selection.RULE} by {criteria.select.by}"
    if criteria.sample is not None:
        yield sample_text(criteria)


def _verdict(rule: Rule, row: pa.Table) -> RuleVerdict:
    values = tuple(_value(field, row) for field in rule.fields)
    return RuleVerdict(rule.text, _OUTCOMES[rule.truth(row)[0].as_py()], values)


def _value(field: str, row: pa.Table) -> FieldValue:
    value = row[field][0].as_py()
    source: str | None = "item" if field in ITEM_SCHEMA.names else "computed"
    confidence = measured = None
    if is_evidence(field):
        source = "results"
    if f"{field}.source" in row.column_names:
        source = row[f"{field}.source"][0].as_py()
        confidence = row[f"{field}.confidence"][0].as_py()
    if f"{field}.confidence_source" in row.column_names:
        measured = row[f"{field}.confidence_source"][0].as_py()
    return FieldValue(field, value, source if value is not None else None, confidence, measured)
