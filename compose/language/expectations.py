"""Expectations: what has to be true of a subset, and whether it is."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ..rules import joined, spell
from ..sampling.groups import Groups, group_by, one_group
from .conditions import Where
from .criteria import Criteria, Expectation
from .drawing import Grouping
from .extends import Place
from .trust import Demands


@dataclass(frozen=True, slots=True)
class Finding:
    """Whether one expectation is true of the subset, or of one group of it."""

    text: str
    """The expectation in short, such as ``items per benchmark: at least 50``."""
    group: str
    """The value of the field of ``per``; empty without one."""
    value: float
    """What there is; NaN when it is undefined, as nothing has a value."""
    items: int
    """Items that it was counted over."""
    met: bool
    place: Place


def check_expectations(
    criteria: Criteria, pool: pa.Table, chosen: NDArray[np.int64]
) -> tuple[Finding, ...]:
    """Check every expectation of criteria.

    Args:
        criteria: the criteria.
        pool: the candidates; their values are the groups of ``per``.
        chosen: rows of the pool that make up the subset.
    """
    demands = Demands.of(criteria, pool)
    findings: list[Finding] = []
    for position, wanted in enumerate(criteria.expect or []):
        place: Place = ("expect", position)
        groups, absent = one_group(pool.num_rows), set[int]()
        if wanted.per is not None:
            groups = group_by(pool, [Grouping(field=wanted.per)], demands)
            values = demands.on(wanted.per).counted(pool, wanted.per)
            absent = {*groups.codes[pc.is_null(values).to_numpy()].tolist()}
        found = _findings(wanted, place, pool, groups, chosen, demands)
        findings += (finding for code, finding in enumerate(found) if code not in absent)
    return tuple(findings)


def _findings(
    wanted: Expectation,
    place: Place,
    pool: pa.Table,
    groups: Groups,
    chosen: NDArray[np.int64],
    demands: Demands,
) -> Iterator[Finding]:
    table = pool.select(_columns(wanted, place, demands)).take(pa.array(chosen))
    codes = groups.codes[chosen]
    numbers, counted = _numbers(wanted, place, table, demands)
    for code, name in enumerate(groups.names):
        own = (codes == code) & counted
        items = int(own.sum())
        total = math.fsum(numbers[own].tolist())
        value = total
        if wanted.count is None:
            value = total / items if items else math.nan
        low = -math.inf if wanted.min is None else wanted.min
        high = math.inf if wanted.max is None else wanted.max
        yield Finding(_text(wanted, place), name, value, items, low <= value <= high, place)


def _columns(wanted: Expectation, place: Place, demands: Demands) -> list[str]:
    """The columns that an expectation looks at; never none, as a table needs its length."""
    if wanted.mean is not None:
        return [wanted.mean, *demands.on(wanted.mean).columns(wanted.mean)]
    asked = wanted.count if wanted.count is not None else wanted.share
    return [*joined(asked, place, demands).columns] if isinstance(asked, Where) else ["item_id"]


def _numbers(
    wanted: Expectation, place: Place, table: pa.Table, demands: Demands
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """What is added up over the items, and over which items."""
    every = np.ones(table.num_rows, dtype=bool)
    if wanted.mean is not None:
        values = demands.on(wanted.mean).counted(table, wanted.mean)
        numbers = values.to_numpy().astype(np.float64)
        return numbers, ~np.isnan(numbers)
    asked = wanted.count if wanted.count is not None else wanted.share
    if not isinstance(asked, Where):
        return every.astype(np.float64), every
    met = pc.fill_null(joined(asked, place, demands).truth(table), False)
    return met.to_numpy().astype(np.float64), every


def _text(wanted: Expectation, place: Place) -> str:
    if wanted.mean is not None:
        what = f"mean {wanted.mean}"
    elif isinstance(wanted.count, Where):
        what = f"items with {joined(wanted.count, place).text}"
    elif isinstance(wanted.share, Where):
        what = f"share with {joined(wanted.share, place).text}"
    else:
        what = "items"
    per = f" per {wanted.per}" if wanted.per is not None else ""
    bounds = [f"at least {spell(wanted.min)}"] if wanted.min is not None else []
    bounds += [f"at most {spell(wanted.max)}"] if wanted.max is not None else []
    return f"{what}{per}: {' and '.join(bounds)}"
