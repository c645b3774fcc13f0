"""Screening: which rule, if any, leaves each item out, and how many items each rule leaves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ..annotate.review.judging.gate import Gate, Judgement
from ..prompts.catalogue import Catalogue
from .calibration import judgements
from .evidence import Evidence, with_evidence
from .explaining.reasons import reasons
from .language.checks import check_criteria, named_fields
from .language.criteria import Criteria
from .language.trust import Demands
from .pool import Earlier, Pool, pool_of
from .rules import FieldRule, Rule, conjuncts, fault_rules


@dataclass(frozen=True, slots=True)
class Step:
    """How many items a rule leaves, of those that the rules before it left."""

    rule: str
    left_out: int
    missing: int
    """Of those left out: items for which it cannot be decided, since a value is missing."""
    left: Mapping[str, int]
    """Items left after it, by benchmark."""


@dataclass(frozen=True, slots=True, eq=False)
class Exclusion:
    """Items that one rule leaves out."""

    rule: str
    rows: NDArray[np.int64]
    """Rows of the pool."""
    details: pa.ChunkedArray
    """Why, in words, item by item."""
    missing: int = 0
    """As in ``Step``."""
    instead: pa.ChunkedArray | None = None
    """Of copies: the id of the item that stays in place of each."""
    group: pa.ChunkedArray | None = None
    """Of items that are not drawn: the group that each was drawn in."""
    turn: NDArray[np.int64] | None = None
    """Of items that are not drawn: the turn of each in its group, from 1."""


@dataclass(frozen=True, slots=True, eq=False)
class Screening:
    """Items and the first rule that leaves each of them out."""

    criteria: Criteria
    """Resolved: the benchmarks and the seed are written out."""
    pool: Pool
    rules: tuple[Rule, ...]
    dropped_by: NDArray[np.int16]
    """For each row of the pool, the position of the first rule that leaves it out, or -1."""
    undecided: NDArray[np.bool_]
    """For each row of the pool, whether that rule leaves it out because a value is missing."""
    seed: int = 0
    """The project's."""
    evidence: Evidence | None = None
    calibration: Mapping[str, Judgement] = field(default_factory=dict)
    """What people's review says of the attributes that decide; of some it may say nothing."""

    @property
    def demands(self) -> Demands:
        """What values need to count."""
        return Demands.of(self.criteria, self.pool.table)

    @property
    def available(self) -> dict[str, int]:
        """Items before any rule, by benchmark."""
        return self.pool.count(self.pool.order)

    @property
    def steps(self) -> list[Step]:
        """The waterfall: what each rule leaves of what the rules before it left."""
        size = (len(self.rules) + 1, len(self.pool.benchmarks.names))
        cells = (self.dropped_by.astype(np.int64) + 1) * size[1] + self.pool.benchmarks.codes
        counts = np.bincount(cells, minlength=size[0] * size[1]).reshape(size)
        undecided = np.bincount(self.dropped_by[self.undecided] + 1, minlength=size[0])
        left, steps = counts.sum(axis=0), []
        for position, rule in enumerate(self.rules, 1):
            left = left - counts[position]
            by_benchmark = dict(zip(self.pool.benchmarks.names, left.tolist(), strict=True))
            missing = int(undecided[position])
            steps.append(Step(rule.text, int(counts[position].sum()), missing, by_benchmark))
        return steps

    @property
    def survivors(self) -> NDArray[np.int64]:
        """Rows of the pool that no rule leaves out, in the order of their sources."""
        return self.pool.order[self.dropped_by[self.pool.order] < 0]

    def exclusions(self) -> list[Exclusion]:
        """What each rule leaves out, and why."""
        found = []
        for position, rule in enumerate(self.rules):
            rows = np.flatnonzero(self.dropped_by == position)
            looked_at = self.pool.table.select(rule.columns).take(pa.array(rows))
            missing = int(self.undecided[rows].sum())
            found.append(Exclusion(rule.text, rows, reasons(rule, looked_at), missing))
        return found

    def under(self, rules: Sequence[Rule]) -> Screening:
        """The same items under other rules."""
        dropped_by, undecided = _first_to_drop(rules, self.pool.table)
        return replace(self, rules=tuple(rules), dropped_by=dropped_by, undecided=undecided)


def screen(
    criteria: Criteria,
    table: pa.Table,
    *,
    catalogue: Catalogue | None = None,
    seed: int = 0,
    evidence: Evidence | None = None,
    earlier: Mapping[str, Earlier] | None = None,
    gate: Gate | None = None,
) -> Screening:
    """Find the first rule that leaves out each item.

    Args:
        criteria: what is wanted.
        table: an attribute table; see ``annotate.attribute_table``.
        catalogue: the catalogue behind the table's attributes; with it, levels and labels that do
            not exist are refused.
        seed: the project's seed, for criteria that give none.
        evidence: what models scored on the items, for criteria that ask.
        earlier: the compositions that ``from`` names, by name.
        gate: what people's review says of the attributes; none when they were not calibrated.

    Raises:
        CriteriaError: the criteria name a benchmark, a field or a value that the items do not have,
            or rest on an attribute that is not usable where they ask for usable ones.
        InputError: the table is empty or holds an item twice.
    """
    pool = pool_of(criteria, table, earlier or {})
    known = with_evidence(pool.table, named_fields(criteria), evidence)
    pool = replace(pool, table=known)
    check_criteria(criteria, known, catalogue)
    calibration = judgements(criteria, known, gate)
    criteria = criteria.resolved(pool.benchmarks.names, seed)
    rules = rules_for(criteria, known)
    dropped_by, undecided = _first_to_drop(rules, known)
    return Screening(
        criteria, pool, tuple(rules), dropped_by, undecided, seed, evidence, calibration
    )


def rules_for(criteria: Criteria, table: pa.Table) -> list[Rule]:
    """All rules in the order in which they are asked: faults, conditions, a value to group by."""
    demands = Demands.of(criteria, table)
    rules: list[Rule] = [*fault_rules(table)] if criteria.faults == "drop" else []
    rules += conjuncts(criteria.where, demands=demands) if criteria.where else []
    if criteria.sample is not None:
        for grouping, place in criteria.sample.grouping_places():
            trust = demands.on(grouping.field)
            if trust.counted(table, grouping.field).null_count:
                whole = ("sample", *place)
                rules.append(FieldRule(grouping.field, "missing", False, whole, trust))
    return rules


def _first_to_drop(
    rules: Sequence[Rule], table: pa.Table
) -> tuple[NDArray[np.int16], NDArray[np.bool_]]:
    first = np.full(table.num_rows, -1, dtype=np.int16)
    undecided = np.zeros(table.num_rows, dtype=bool)
    for position, rule in enumerate(rules):
        truth = rule.truth(table)
        dropped = (first < 0) & ~pc.fill_null(truth, False).to_numpy()
        first[dropped] = position
        undecided |= dropped & pc.is_null(truth).to_numpy()
    return first, undecided
