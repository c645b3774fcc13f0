"""Screening: which rule, if any, leaves each item out, and how many items each rule leaves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ..prompts.catalogue import Catalogue
from ..records.errors import InputError, suggestion
from .criteria import Criteria
from .fields import CriteriaError, check_rule, field_kind, require_field
from .rules import FieldRule, Rule, conjuncts, fault_rules, field_rules

_SOURCE_ORDER = ("benchmark", "subset", "split", "row", "item_id")


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
class Screening:
    """Items and the first rule that leaves each of them out."""

    criteria: Criteria
    """Resolved: the benchmarks and the seed are written out."""
    pool: pa.Table
    """The items of the benchmarks that the criteria name."""
    order: NDArray[np.int64]
    """Rows of the pool in the order of their sources, however the table was ordered."""
    rules: tuple[Rule, ...]
    dropped_by: NDArray[np.int16]
    """For each row of the pool, the position of the first rule that leaves it out, or -1."""
    undecided: NDArray[np.bool_]
    """For each row of the pool, whether that rule leaves it out because a value is missing."""

    @property
    def available(self) -> dict[str, int]:
        """Items before any rule, by benchmark."""
        return self.count(np.arange(self.pool.num_rows))

    @property
    def steps(self) -> list[Step]:
        """The waterfall: what each rule leaves of what the rules before it left."""
        steps = []
        for position, rule in enumerate(self.rules):
            left = (self.dropped_by < 0) | (self.dropped_by > position)
            out = self.dropped_by == position
            left_out, missing = int(out.sum()), int((out & self.undecided).sum())
            steps.append(Step(rule.text, left_out, missing, self.count(np.flatnonzero(left))))
        return steps

    @property
    def survivors(self) -> NDArray[np.int64]:
        """Rows of the pool that no rule leaves out, in the order of their sources."""
        return self.order[self.dropped_by[self.order] < 0]

    def count(self, rows: NDArray[np.int64]) -> dict[str, int]:
        """Count rows of the pool by benchmark; a benchmark without any counts 0."""
        found = pc.value_counts(self.pool["benchmark"].take(pa.array(rows))).to_pylist()
        counts = {pair["values"]: pair["counts"] for pair in found}
        return {name: counts.get(name, 0) for name in sorted(self.criteria.from_)}


def screen(
    criteria: Criteria, table: pa.Table, *, catalogue: Catalogue | None = None, seed: int = 0
) -> Screening:
    """Find the first rule that leaves out each item.

    Args:
        criteria: what is wanted.
        table: an attribute table; see ``annotate.attribute_table``.
        catalogue: the catalogue behind the table's attributes; with it, levels and labels that do
            not exist are refused.
        seed: the project's seed, for criteria that give none.

    Raises:
        CriteriaError: the criteria name a benchmark, a field or a value that the items do not have.
        InputError: the table is empty or holds an item twice.
    """
    benchmarks = pc.unique(table["benchmark"]).to_pylist()
    _check(criteria, table, benchmarks, catalogue)
    criteria = criteria.resolved(benchmarks, seed)
    wanted = pc.is_in(table["benchmark"], value_set=pa.array(criteria.from_, pa.string()))
    pool = table if pc.all(wanted).as_py() else table.filter(wanted)
    keys = [(name, "ascending") for name in _SOURCE_ORDER]
    rules = rules_for(criteria, pool)
    dropped_by, undecided = _first_to_drop(rules, pool)
    return Screening(
        criteria=criteria,
        pool=pool,
        order=pc.sort_indices(pool, sort_keys=keys).to_numpy().astype(np.int64),
        rules=tuple(rules),
        dropped_by=dropped_by,
        undecided=undecided,
    )


def rules_for(criteria: Criteria, pool: pa.Table) -> list[Rule]:
    """All rules in the order in which they are asked: faults, conditions, a value to balance by."""
    rules: list[Rule] = [*fault_rules(pool)] if criteria.faults == "drop" else []
    rules += conjuncts(criteria.where) if criteria.where else []
    balance = criteria.sample.balance if criteria.sample is not None else None
    if balance is not None and pool[balance].null_count:
        rules.append(FieldRule(balance, "missing", False, ("sample", "balance")))
    return rules


def _first_to_drop(
    rules: list[Rule], pool: pa.Table
) -> tuple[NDArray[np.int16], NDArray[np.bool_]]:
    first = np.full(pool.num_rows, -1, dtype=np.int16)
    undecided = np.zeros(pool.num_rows, dtype=bool)
    for position, rule in enumerate(rules):
        truth = rule.truth(pool)
        dropped = (first < 0) & ~pc.fill_null(truth, False).to_numpy()
        first[dropped] = position
        undecided |= dropped & pc.is_null(truth).to_numpy()
    return first, undecided


def _check(
    criteria: Criteria, table: pa.Table, benchmarks: list[str], catalogue: Catalogue | None
) -> None:
    _check_items(table)
    for position, name in enumerate(criteria.from_ if criteria.from_ != "all" else []):
        if name not in benchmarks:
            raise CriteriaError(
                f"the unknown benchmark {name!r}",
                wanted="benchmarks whose items are in the project",
                mend=f"{suggestion(name, benchmarks)} (benchmarks are added by"
                " 'benchprism items add')",
                place=("from", position),
            )
    for rule in conjuncts(criteria.where) if criteria.where else []:
        for test in field_rules(rule):
            check_rule(test, table, catalogue)
    if criteria.sample is not None and criteria.sample.balance is not None:
        _check_balance(criteria.sample.balance, table, catalogue)


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


def _check_balance(field: str, table: pa.Table, catalogue: Catalogue | None) -> None:
    place = ("sample", "balance")
    require_field(table, field, place)
    if field_kind(table, field, catalogue).startswith("list") or pa.types.is_floating(
        table.schema.field(field).type
    ):
        raise CriteriaError(
            f"{field!r} cannot be balanced",
            wanted="a field with one of a few values an item, such as benchmark or a level",
            mend="choose another field",
            place=place,
        )
