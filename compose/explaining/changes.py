"""Changes: what would have to be different for an item to be in a subset."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa

from ..language.criteria import Criteria
from ..language.drawing import Sample
from ..rules import FaultRule, FieldRule, JointRule, NotRule, Rule
from ..sampling.allotment import quotas
from .reasons import reasons


def needed(rule: Rule, row: pa.Table) -> str:
    """Say what a rule that one item does not meet would need, such as ``depth at least 2``.

    Args:
        rule: the rule.
        row: a table of that one item.
    """
    match rule:
        case FieldRule():
            is_ = reasons(rule, row)[0].as_py().rpartition(f", wanted {rule.wanted}")[0]
            return f"{rule.field} {rule.wanted} (it is {is_.removeprefix(f'{rule.field} is ')})"
        case FaultRule():
            return f"no fault {rule.fault} in the source, or 'faults: keep'"
        case NotRule():
            is_ = reasons(rule, row)[0].as_py().removesuffix(f"; wanted {rule.text}")
            return f"that it is false that {rule.rule.text} ({is_})"
        case JointRule():
            unmet = [part for part in rule.rules if not rule_met(part, row)]
            texts = [needed(part, row) for part in unmet]
            return f" {rule.joint} ".join(texts)


def rule_met(rule: Rule, row: pa.Table) -> bool:
    """Whether one item meets a rule."""
    return rule.truth(row)[0].as_py() is True


def needed_after_rules(
    excluded: Mapping[str, Any], criteria: Criteria, groups: Sequence[Mapping[str, Any]]
) -> Iterator[str]:
    """Say what a copy, or an item that was not selected or not drawn, would need.

    Args:
        excluded: the item's row in the table of excluded items.
        criteria: the subset's.
        groups: what was drawn from each group, as in the lock.
    """
    sample = criteria.sample
    if excluded["instead"] is not None:
        yield (
            f"that {excluded['instead']}, of which it is a copy, is left out before, or comes"
            " after it by 'keep' of 'deduplicate'"
        )
    elif excluded["turn"] is None or sample is None:
        yield f"other scores of the held-in models, or a looser 'select' ({excluded['detail']})"
    else:
        size = _size_that_draws(excluded["group"], excluded["turn"], sample, groups)
        drawn = sum(group["drawn"] for group in groups)
        larger = "a larger sample" if size is None else f"a sample of {size} items"
        yield f"{larger} (it has {drawn}), or another seed"


def _size_that_draws(
    group: str, turn: int, sample: Sample, groups: Sequence[Mapping[str, Any]]
) -> int | None:
    """The smallest sample that draws a turn of a group; none when more than its size decides."""
    if sample.weights or sample.quotas:
        return None
    available = {entry["group"]: int(entry["available"]) for entry in groups}
    weights = available if sample.stratify is not None else None
    low, high = 1, sum(available.values())
    while low < high:
        middle = (low + high) // 2
        if quotas(available, middle, weights=weights)[group] >= turn:
            high = middle
        else:
            low = middle + 1
    return low
