"""Feasibility: what is short when a sample cannot be drawn, and which single change would do.

A change is tried for what it is: the rules are asked again with it, copies are left out again, and
the sample is tried on what is left.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..language.conditions import Scalar
from ..language.errors import Infeasible, Relaxation
from ..narrowing import Narrowing, drawn, narrow
from ..rules import FaultRule, FieldRule, Rule, spell
from ..screening import Screening
from .draw import Shortage

_VALUES = 12  # further values of a rule that are tried, at most


_Change = tuple[str, Callable[[], Screening]]
"""What is changed, and the screening with it."""


def relaxations(screening: Screening) -> list[Relaxation]:
    """Find, for each rule and step, the smallest change that suffices.

    Returns:
        The changes that suffice, the ones that let in the fewest items first; then, where dropping
        a rule does not suffice, that, the one that lets in the most first.
    """
    now = len(narrow(screening).rows)
    found = [_smallest(screening, drop, position) for drop, position in _drops(screening)]
    better = [change for change in found if change.left > now]
    return sorted(better, key=lambda c: (not c.enough, c.left if c.enough else -c.left))


def _smallest(screening: Screening, drop: _Change, position: int | None) -> Relaxation:
    """The smallest change of a rule that suffices, or what doing without it gives."""
    dropped = _tried(drop)
    if not dropped.enough or position is None:
        return dropped
    chains = _chains(screening.rules[position], screening)
    changes = ([_with_rule(screening, position, form) for form in chain] for chain in chains)
    found = [first for chain in changes if (first := _first_enough(chain)) is not None]
    return min([*found, dropped], key=lambda change: change.left)


def _first_enough(chain: Sequence[_Change]) -> Relaxation | None:
    """Of changes that let in ever more items, the first that suffices, by halving."""
    low, high, found = 0, len(chain), None
    while low < high:
        middle = (low + high) // 2
        tried = _tried(chain[middle])
        if tried.enough:
            high, found = middle, tried
        else:
            low = middle + 1
    return found


def _tried(change: _Change) -> Relaxation:
    text, changed = change
    narrowing = narrow(changed())
    left = len(narrowing.rows)
    outcome = drawn(narrowing) if left else None
    by_benchmark = narrowing.screening.pool.count(narrowing.rows)
    if not isinstance(outcome, Shortage):
        return Relaxation(text, left, by_benchmark, left > 0)
    of_a_quota = outcome.place != ("sample", "size")
    return Relaxation(text, left, by_benchmark, False, outcome.found if of_a_quota else "")


def _drops(screening: Screening) -> Iterator[tuple[_Change, int | None]]:
    """Doing without each rule or step, and the position of a rule that has looser forms."""
    if any(isinstance(rule, FaultRule) for rule in screening.rules):
        faultless = [rule for rule in screening.rules if not isinstance(rule, FaultRule)]
        yield ("faults: keep", partial(screening.under, faultless)), None
    for position, rule in enumerate(screening.rules):
        needed = isinstance(rule, FieldRule) and rule.place[:1] == ("sample",)
        if not needed and not isinstance(rule, FaultRule):
            others = [*screening.rules[:position], *screening.rules[position + 1 :]]
            yield (f"without {rule.text!r}", partial(screening.under, others)), position
    for step in ("deduplicate", "select"):
        if getattr(screening.criteria, step) is not None:
            less = screening.criteria.model_copy(update={step: None})
            yield (f"without {step!r}", partial(replace, screening, criteria=less)), None


def _with_rule(screening: Screening, position: int, rule: FieldRule) -> _Change:
    rules = [*screening.rules[:position], rule, *screening.rules[position + 1 :]]
    return rule.text, partial(screening.under, rules)


def _chains(rule: Rule, screening: Screening) -> Iterator[list[FieldRule]]:
    """Looser forms of a test; each next one of a chain lets in what the one before does."""
    if not isinstance(rule, FieldRule):
        return
    column = rule.trust.counted(screening.pool.table, rule.field)
    if rule.operator in {"min", "max"}:
        beyond = (pc.less if rule.operator == "min" else pc.greater)(column, rule.operand)
        values = np.unique(column.filter(beyond).drop_null().to_numpy()).tolist()
        nearest_first = values[::-1] if rule.operator == "min" else values
        yield [replace(rule, operand=value) for value in nearest_first]
    elif rule.operator in {"is", "in"}:
        known = rule.operand if rule.operator == "in" else [rule.operand]
        others = [v for v in pc.unique(column).drop_null().to_pylist() if v not in known]
        numbers = pa.types.is_integer(column.type) or pa.types.is_floating(column.type)
        for values in _neighbours(known, others) if numbers else _one_more(others):
            yield [replace(rule, operator="in", operand=_in_order([*known, *v])) for v in values]
    trust = rule.trust
    if trust.min_confidence is not None:
        lower = [n / 10 for n in range(9, 0, -1) if n / 10 < trust.min_confidence]
        yield [replace(rule, trust=replace(trust, min_confidence=c)) for c in [*lower, None]]
    if trust.human_only:
        yield [replace(rule, trust=replace(trust, human_only=False))]


def _one_more(others: Sequence[str]) -> Iterator[list[list[str]]]:
    """Each further value alone."""
    yield from ([[value]] for value in sorted(others, key=spell)[:_VALUES])


def _neighbours(known: Sequence[float], others: Sequence[float]) -> Iterator[list[list[float]]]:
    """Ever more of the numbers below and above the known ones, the nearest first.

    Numbers and levels have an order, and one that is further off says less of what was meant.
    """
    nearest = sorted((min((abs(v - k), k < v) for k in known), v) for v in others)
    for above in (False, True):
        side = [value for (_, over), value in nearest if over is above][:_VALUES]
        yield [side[: end + 1] for end in range(len(side))]


def _in_order(values: list[Scalar]) -> list[Scalar]:
    """Numbers by size; words as they come."""
    return values if any(isinstance(v, str) for v in values) else sorted(values, key=float)


def require_feasible(narrowing: Narrowing, shortage: Shortage | None) -> None:
    """Refuse what cannot be drawn, and say which single change would help.

    Raises:
        Infeasible: no item is left, or the sample asks for more than there is.
    """
    if len(narrowing.rows) and shortage is None:
        return
    found = relaxations(narrowing.screening)
    error = _infeasible(narrowing, shortage, _in_words(found, narrowing.screening))
    error.relaxations = found
    raise error


def _infeasible(narrowing: Narrowing, shortage: Shortage | None, mend: str) -> Infeasible:
    if not len(narrowing.rows) or shortage is None:
        return Infeasible("no item is left", wanted="at least one", mend=mend)
    lower = ".".join(map(str, shortage.place))
    return Infeasible(
        shortage.found + _by_benchmark(narrowing, shortage),
        wanted=shortage.wanted,
        mend=f"{mend}; or change {lower}, or take what there is with if_short: take_all",
        place=shortage.place,
    )


def _by_benchmark(narrowing: Narrowing, shortage: Shortage) -> str:
    """Of which benchmarks the items are that a shortage counts, such as `` (arc 1, gsm 12)``."""
    if shortage.counted is None or not shortage.counted.any():
        return ""
    counts = narrowing.screening.pool.count(narrowing.rows[shortage.counted])
    return f" ({', '.join(f'{name} {n}' for name, n in counts.items() if n)})"


def _in_words(found: Sequence[Relaxation], screening: Screening) -> str:
    enough = [change for change in found if change.enough][:3]
    mends = []
    blank = max(screening.steps, key=lambda step: step.missing, default=None)
    if blank is not None and 2 * blank.missing > blank.left_out:
        mends.append(
            f"annotate more items: {blank.rule!r} leaves out {blank.left_out},"
            f" {blank.missing} of them without a value"
        )
    if enough:
        mends.append("; or ".join(f"{change.change} gives {change.left}" for change in enough))
    elif found:
        most = found[0]
        gives = f": {most.short}" if most.short else f" gives {most.left}"
        mends.append(f"no single change is enough ({most.change}{gives})")
    return "; ".join(mends) or "add items with 'benchprism items add'"
