"""Composing: from criteria and a table of items to a subset in which every choice has a reason."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ..annotate.review.judging.gate import Gate
from ..prompts.catalogue import Catalogue
from .evidence import Evidence
from .explaining.values import join
from .language.criteria import Criteria
from .language.drawing import Grouping, Sample
from .language.expectations import Finding, check_expectations
from .narrowing import Narrowing, drawn, narrow
from .pool import Earlier, Pool
from .sampling.draw import Draw, Shortage
from .sampling.feasibility import require_feasible
from .sampling.preferences import preferences_in_words
from .screening import Exclusion, Screening, Step, screen
from .selection import Selection

SAMPLE = "sample:"
"""How the text of the draw begins, where the texts of rules stand."""
BATCH = 65_536
"""Rows of a part of the chosen table."""
EXCLUDED_SCHEMA = pa.schema(
    [
        ("item_id", pa.string()),
        ("benchmark", pa.string()),
        ("rule", pa.string()),
        ("detail", pa.string()),
        ("instead", pa.string()),
        ("group", pa.string()),
        ("turn", pa.int64()),
    ]
)
"""The items left out, each with the first rule that left it out and why, in words; of a copy, the
item that stays instead; of an item that was not drawn, its group and its turn in it, from 1."""


@dataclass(frozen=True, slots=True)
class DrawnGroup:
    """How many items of a group were drawn."""

    group: str
    available: int
    drawn: int


@dataclass(frozen=True, eq=False)
class Composition:
    """A composed subset. Every item of the named sources is chosen or excluded, once."""

    criteria: Criteria
    """Resolved: the benchmarks and the seed are written out."""
    pool: Pool
    """The candidates, with every column that the choice rests on."""
    rows: NDArray[np.int64]
    """Rows of the pool that are chosen, in the order of their sources."""
    excluded: pa.Table
    """``EXCLUDED_SCHEMA``, in the order of the sources."""
    available: dict[str, int]
    """Items before any rule, by benchmark."""
    steps: tuple[Step, ...]
    """The waterfall, the draw included."""
    screening: Screening
    """What the rules were asked of."""
    findings: tuple[Finding, ...] = ()
    """Whether each expectation is true."""
    groups: tuple[DrawnGroup, ...] = ()
    """What was drawn from each group; empty when nothing was drawn."""
    selection: Selection | None = None
    """What the choice by models' scores rests on."""

    @property
    def name(self) -> str:
        """The subset's name."""
        return self.criteria.name

    @cached_property
    def chosen(self) -> pa.Table:
        """The attribute table's rows of the chosen items, in the order of their sources."""
        return self.pool.table.take(pa.array(self.rows)).combine_chunks()

    @property
    def chosen_ids(self) -> list[str]:
        """The ids of the chosen items."""
        ids: list[str] = self.pool.table["item_id"].take(pa.array(self.rows)).to_pylist()
        return ids

    def batches(self) -> Iterator[pa.Table]:
        """The chosen rows, part by part, so that there need not be two of a large table."""
        for start in range(0, len(self.rows), BATCH):
            rows = self.rows[start : start + BATCH]
            low, high = int(rows.min()), int(rows.max())
            window = self.pool.table.slice(low, high - low + 1)
            yield window.take(pa.array(rows - low)).combine_chunks()

    @property
    def counts(self) -> dict[str, int]:
        """Chosen items, by benchmark."""
        return dict(self.steps[-1].left) if self.steps else self.available

    @property
    def met(self) -> bool:
        """Whether every expectation is true."""
        return all(finding.met for finding in self.findings)


def compose(
    criteria: Criteria,
    table: pa.Table,
    *,
    catalogue: Catalogue | None = None,
    seed: int = 0,
    evidence: Evidence | None = None,
    earlier: Mapping[str, Earlier] | None = None,
    gate: Gate | None = None,
) -> Composition:
    """Compose a subset of the items of an attribute table; see ``screen`` for the arguments.

    Raises:
        CriteriaError: the criteria do not fit the items, or fewer are left than are to be drawn.
        InputError: no item is left.
    """
    found = screen(
        criteria,
        table,
        catalogue=catalogue,
        seed=seed,
        evidence=evidence,
        earlier=earlier,
        gate=gate,
    )
    return finish(found)


def finish(screening: Screening) -> Composition:
    """Draw from the items that the rules leave, and say why each other item is out."""
    narrowing = narrow(screening)
    outcome = drawn(narrowing) if len(narrowing.rows) else None
    require_feasible(narrowing, outcome if isinstance(outcome, Shortage) else None)
    exclusions, rows = [*narrowing.exclusions()], narrowing.rows
    if isinstance(outcome, Draw):
        exclusions.append(_undrawn(narrowing, outcome))
        rows = rows[outcome.drawn]
    pool = narrowing.pool
    return Composition(
        criteria=screening.criteria,
        pool=pool,
        rows=rows,
        excluded=_excluded(screening, exclusions),
        available=screening.available,
        steps=tuple(_steps(screening, exclusions)),
        screening=screening,
        findings=check_expectations(screening.criteria, pool.table, rows),
        groups=_groups(outcome) if isinstance(outcome, Draw) else (),
        selection=narrowing.selection,
    )


def _undrawn(narrowing: Narrowing, outcome: Draw) -> Exclusion:
    """Say of each item that is not drawn when its turn would have come."""
    left = ~outcome.drawn
    group = outcome.groups.codes[left]
    names = pa.array([f" ({name})" if name else "" for name in outcome.groups.names], pa.string())
    turn = outcome.turn[left] + 1
    details = join(
        "its turn is ",
        turn,
        " of ",
        outcome.groups.counts[group],
        names.take(pa.array(group)),
        ", wanted the first ",
        outcome.quota[group],
    )
    groups = pa.chunked_array([pa.array(outcome.groups.names, pa.string()).take(pa.array(group))])
    text = sample_text(narrowing.screening.criteria)
    return Exclusion(text, narrowing.rows[left], details, group=groups, turn=turn)


def sample_text(criteria: Criteria) -> str:
    """The draw in short, such as ``sample: size 200, seed 0, balance benchmark``."""
    sample = criteria.sample or Sample()
    size = f"size {sample.size}" if sample.size is not None else f"share {sample.share}"
    parts = [f"{SAMPLE} {size}", f"seed {sample.seed}"]
    for key, given in (("balance", sample.balance), ("stratify", sample.stratify)):
        if given is not None:
            parts.append(f"{key} {' and '.join(_grouping_text(g) for g in sample.groupings)}")
    parts += [f"weights on {field}" for field in sample.weights or {}]
    parts += [f"quotas on {field}" for field in sample.quotas or {}]
    parts += [f"first {preferences_in_words(criteria)}"] if criteria.prefer else []
    return ", ".join(parts)


def _grouping_text(grouping: Grouping) -> str:
    cuts = f" cut at {', '.join(map(str, grouping.cuts))}" if grouping.cuts else ""
    return f"{grouping.field}{cuts}"


def _groups(outcome: Draw) -> tuple[DrawnGroup, ...]:
    counts = outcome.groups.counts.tolist(), outcome.quota.tolist()
    return tuple(
        DrawnGroup(*group) for group in zip(outcome.groups.names, *counts, strict=True) if group[1]
    )


def _steps(screening: Screening, exclusions: list[Exclusion]) -> list[Step]:
    """The waterfall of the rules, and of the steps after them."""
    steps = screening.steps
    left = steps[-1].left if steps else screening.available
    for exclusion in exclusions[len(steps) :]:
        out = screening.pool.count(exclusion.rows)
        left = {name: left[name] - out[name] for name in left}
        steps.append(Step(exclusion.rule, len(exclusion.rows), exclusion.missing, left))
    return steps


def _excluded(screening: Screening, exclusions: list[Exclusion]) -> pa.Table:
    """Put the exclusions of all rules into the order of the sources."""
    pool = screening.pool
    rows = np.concatenate([np.empty(0, np.int64), *(part.rows for part in exclusions)])
    by_row = np.full(pool.table.num_rows, -1, dtype=np.int64)
    by_row[rows] = np.arange(len(rows))
    order = by_row[pool.order]
    order = order[order >= 0]
    ids = pool.table.select(["item_id", "benchmark"]).take(pa.array(rows[order]))
    parts = [pa.table(_told(part), schema=_TOLD) for part in exclusions]
    told = pa.concat_tables([_TOLD.empty_table(), *parts]).take(pa.array(order))
    columns = [*ids.columns, *told.columns]
    return pa.Table.from_arrays(columns, schema=EXCLUDED_SCHEMA).combine_chunks()


_TOLD = pa.schema([*EXCLUDED_SCHEMA][2:])


def _told(part: Exclusion) -> list[pa.ChunkedArray | pa.Array]:
    """What is told of each item that a rule leaves out: the columns after its id and benchmark."""
    size = len(part.rows)
    rule = pa.array([part.rule], pa.string()).take(pa.array(np.zeros(size, np.int64)))
    missing = pa.nulls(size, pa.string())
    turn = pa.nulls(size, pa.int64()) if part.turn is None else pa.array(part.turn, pa.int64())
    instead, group = (missing if c is None else c for c in (part.instead, part.group))
    return [rule, part.details, instead, group, turn]
