"""Rules: conditions that can be put into words and evaluated on a table of items.

Truth has three values. A condition on a missing value is neither true nor false, and neither is
its ``not``; an item stays only where its rules are true.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from .language.conditions import Scalar, Where
from .language.extends import Place
from .language.trust import NO_DEMANDS, NO_TRUST, Demands, Trust

_WORD = re.compile(
    r"(?!(?:true|false|null|\.inf|\.nan)\Z)(?![+.]?[0-9])[\w./][\w./-]*", re.IGNORECASE
)
"""Text that YAML reads as text without quotes, and that nobody takes for a number."""


def spell(value: Scalar) -> str:
    """Write a value as a criteria file would.

    >>> spell(True), spell("deductive"), spell("two words"), spell("2"), spell(2)
    ('true', 'deductive', '"two words"', '"2"', '2')
    """
    if isinstance(value, str) and _WORD.fullmatch(value):
        return value
    return json.dumps(value, ensure_ascii=False)


def _spell_all(values: Sequence[Scalar]) -> str:
    return ", ".join(spell(value) for value in values)


@dataclass(frozen=True, slots=True)
class FieldRule:
    """One test of one field."""

    field: str
    operator: str
    """A key of ``Condition``: ``min``, ``max``, ``is``, ``in``, ``contains``, ..."""
    operand: Any
    place: Place = ()
    trust: Trust = NO_TRUST

    @property
    def fields(self) -> tuple[str, ...]:
        """The fields that the rule looks at."""
        return (self.field,)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that decide: the field's and those that say whether its value counts."""
        return (self.field, *self.trust.columns(self.field))

    @property
    def text(self) -> str:
        """The rule in short, such as ``reasoning_depth >= 2``."""
        demands = f" ({self.trust.text})" if self.trust.asks else ""
        match self.operator:
            case "missing":
                test = "is missing" if self.operand else "is present"
            case "in" | "contains_any":
                sign = "in" if self.operator == "in" else "contains one of"
                test = f"{sign} [{_spell_all(self.operand)}]"
            case _:
                signs = {"min": ">=", "max": "<=", "is": "=", "contains": "contains"}
                test = f"{signs[self.operator]} {spell(self.operand)}"
        return f"{self.field} {test}{demands}"

    @property
    def wanted(self) -> str:
        """What the field should have been, in words, such as ``at least 2``."""
        demands = f", {self.trust.text}" if self.trust.asks else ""
        match self.operator:
            case "missing":
                test = "no value" if self.operand else "a value"
            case "in":
                test = f"one of {_spell_all(self.operand)}"
            case "contains_any":
                test = f"one of {_spell_all(self.operand)} in it"
            case "contains":
                test = f"{spell(self.operand)} in it"
            case _:
                words = {"min": "at least ", "max": "at most ", "is": ""}
                test = words[self.operator] + spell(self.operand)
        return test + demands

    def truth(self, table: pa.Table) -> pa.ChunkedArray:
        """Evaluate the rule on each row: true, false, or null where the value is missing."""
        column = self.trust.counted(table, self.field)
        match self.operator:
            case "missing":
                return pc.is_null(column) if self.operand else pc.is_valid(column)
            case "min":
                return pc.greater_equal(column, self.operand)
            case "max":
                return pc.less_equal(column, self.operand)
            case "is":
                return pc.equal(column, self.operand)
            case "in":
                return _one_of(column, self.operand)
        labels = self.operand if self.operator == "contains_any" else [self.operand]
        if pa.types.is_list(column.type):
            return _contains_label(column, labels)
        return reduce(pc.or_, (pc.match_substring(column, piece) for piece in labels))


def _one_of(column: pa.ChunkedArray, values: Sequence[Scalar]) -> pa.ChunkedArray:
    if not pa.types.is_string(column.type):
        return reduce(pc.or_, (pc.equal(column, value) for value in values))
    found = pc.is_in(column, value_set=pa.array(values, pa.string()))
    return pc.if_else(pc.is_valid(column), found, None)


def _contains_label(column: pa.ChunkedArray, labels: Sequence[str]) -> pa.ChunkedArray:
    lists = column.combine_chunks()
    found = pc.is_in(pc.list_flatten(lists), value_set=pa.array(labels, pa.string()))
    holders = pc.list_parent_indices(lists).filter(found)
    hit = np.zeros(len(lists), dtype=bool)
    hit[holders.to_numpy()] = True
    return pa.chunked_array([pa.array(hit, mask=pc.is_null(lists).to_numpy(zero_copy_only=False))])


@dataclass(frozen=True, slots=True)
class JointRule:
    """Several rules of which all must be true, or one at least."""

    joint: Literal["and", "or"]
    rules: tuple[Rule, ...]

    @property
    def fields(self) -> tuple[str, ...]:
        """The fields that the rules look at, each once."""
        return tuple(dict.fromkeys(field for rule in self.rules for field in rule.fields))

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that decide, each once."""
        return tuple(dict.fromkeys(name for rule in self.rules for name in rule.columns))

    @property
    def text(self) -> str:
        """The rules in short."""
        texts = (f"({r.text})" if isinstance(r, JointRule) else r.text for r in self.rules)
        return f" {self.joint} ".join(texts)

    def truth(self, table: pa.Table) -> pa.ChunkedArray:
        """For ``and``, false where one is false and true where all are true; else null.

        For ``or``, true where one is true and false where all are false; else null.
        """
        join = pc.and_kleene if self.joint == "and" else pc.or_kleene
        return reduce(join, (rule.truth(table) for rule in self.rules))


@dataclass(frozen=True, slots=True)
class NotRule:
    """A rule that must be false."""

    rule: Rule

    @property
    def fields(self) -> tuple[str, ...]:
        """The fields that the rule looks at."""
        return self.rule.fields

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that decide."""
        return self.rule.columns

    @property
    def text(self) -> str:
        """The rule in short."""
        return f"not ({self.rule.text})"

    def truth(self, table: pa.Table) -> pa.ChunkedArray:
        """True where the rule is false, and null where it is null."""
        return pc.invert(self.rule.truth(table))


@dataclass(frozen=True, slots=True)
class FaultRule:
    """The item's first fault is another one, or it has none."""

    fault: str

    @property
    def fields(self) -> tuple[str, ...]:
        """The field that the rule looks at."""
        return ("faults",)

    @property
    def columns(self) -> tuple[str, ...]:
        """The column that decides."""
        return self.fields

    @property
    def text(self) -> str:
        """The rule in short, such as ``fault: bad_key``."""
        return f"fault: {self.fault}"

    def truth(self, table: pa.Table) -> pa.ChunkedArray:
        """True where the first fault is not this one."""
        other = pc.fill_null(pc.not_equal(_first_fault(table), self.fault), True)
        return pa.chunked_array([other])


Rule = FieldRule | JointRule | NotRule | FaultRule


def _first_fault(table: pa.Table) -> pa.Array:
    faults = table["faults"].combine_chunks()
    some = pc.greater(pc.list_value_length(faults), 0)
    return pc.list_element(pc.if_else(some, faults, pa.scalar([None], faults.type)), 0)


def fault_rules(table: pa.Table) -> list[FaultRule]:
    """One rule for each fault that comes first in some item of the table, by name."""
    found = pc.unique(_first_fault(table)).drop_null().to_pylist()
    return [FaultRule(fault) for fault in sorted(found)]


def conjuncts(where: Where, place: Place = ("where",), demands: Demands = NO_DEMANDS) -> list[Rule]:
    """Take conditions apart into the rules that must all be true.

    The order is that of evaluation: ``all`` (taken apart itself), ``any``, ``not``, then the
    fields.

    Args:
        where: the conditions.
        place: where they stand in the criteria file.
        demands: what the criteria ask of values, unless a condition asks for itself.
    """
    rules: list[Rule] = []
    for position, part in enumerate(where.all_):
        rules += conjuncts(part, (*place, "all", position), demands)
    if where.any_:
        parts = enumerate(where.any_)
        either = tuple(joined(part, (*place, "any", at), demands) for at, part in parts)
        rules.append(either[0] if len(either) == 1 else JointRule("or", either))
    if where.not_ is not None:
        rules.append(NotRule(joined(where.not_, (*place, "not"), demands)))
    for field, condition in where.fields.items():
        asked = demands.on(field).within(condition)
        for operator, operand in condition.tests():
            rules.append(FieldRule(field, operator, operand, (*place, field, operator), asked))
    return rules


def joined(where: Where, place: Place, demands: Demands = NO_DEMANDS) -> Rule:
    """Put conditions that must all be true into one rule; see ``conjuncts``."""
    rules = conjuncts(where, place, demands)
    return rules[0] if len(rules) == 1 else JointRule("and", tuple(rules))


def field_rules(rule: Rule) -> list[FieldRule]:
    """The tests of single fields that a rule is made of."""
    match rule:
        case FieldRule():
            return [rule]
        case JointRule():
            return [test for part in rule.rules for test in field_rules(part)]
        case NotRule():
            return field_rules(rule.rule)
    return []
