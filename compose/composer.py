"""Composing: from criteria and a table of items to a subset in which every choice has a reason."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ..prompts.catalogue import Catalogue
from ..records.errors import InputError
from .criteria import Criteria, Sample
from .fields import CriteriaError
from .reasons import reasons, values_in_words
from .sampling import Draw, draw
from .screening import Screening, Step, screen

SAMPLE = "sample:"
"""How the text of the draw begins, where the texts of rules stand."""
EXCLUDED_SCHEMA = pa.schema(
    [
        ("item_id", pa.string()),
        ("benchmark", pa.string()),
        ("rule", pa.string()),
        ("detail", pa.string()),
    ]
)
"""The items left out, each with the first rule that left it out and why, in words."""


@dataclass(frozen=True, slots=True, eq=False)
class Composition:
    """A composed subset. Every item of the named benchmarks is chosen or excluded, once."""

    criteria: Criteria
    """Resolved: the benchmarks and the seed are written out."""
    chosen: pa.Table
    """The attribute table's rows of the chosen items, in the order of their sources."""
    excluded: pa.Table
    """``EXCLUDED_SCHEMA``, in the order of the sources."""
    available: dict[str, int]
    """Items before any rule, by benchmark."""
    steps: tuple[Step, ...]
    """The waterfall, the draw included."""

    @property
    def name(self) -> str:
        """The subset's name."""
        return self.criteria.name

    @property
    def counts(self) -> dict[str, int]:
        """Chosen items, by benchmark."""
        return dict(self.steps[-1].left) if self.steps else self.available


@dataclass(frozen=True, slots=True, eq=False)
class _Exclusion:
    """Items that one rule leaves out."""

    rule: str
    rows: NDArray[np.int64]
    details: pa.ChunkedArray


def compose(
    criteria: Criteria, table: pa.Table, *, catalogue: Catalogue | None = None, seed: int = 0
) -> Composition:
    """Compose a subset of the items of an attribute table; see ``screen`` for the arguments.

    Raises:
        CriteriaError: the criteria do not fit the items, or fewer are left than are to be drawn.
        InputError: no item is left.
    """
    return finish(screen(criteria, table, catalogue=catalogue, seed=seed))


def finish(screening: Screening) -> Composition:
    """Draw from the items that the rules leave, and say why each other item is out."""
    _require_items(screening)
    exclusions = [_left_out(screening, position) for position in range(len(screening.rules))]
    steps = screening.steps
    rows = screening.survivors
    if screening.criteria.sample is not None:
        drawn, exclusion = _drawn(screening, screening.criteria.sample)
        rows = rows[drawn]
        exclusions.append(exclusion)
        steps.append(Step(exclusion.rule, len(exclusion.rows), 0, screening.count(rows)))
    return Composition(
        criteria=screening.criteria,
        chosen=screening.pool.take(pa.array(rows)).combine_chunks(),
        excluded=_excluded(screening, exclusions),
        available=screening.available,
        steps=tuple(steps),
    )


def _require_items(screening: Screening) -> None:
    sample, left = screening.criteria.sample, len(screening.survivors)
    short = sample is not None and sample.if_short == "refuse" and left < sample.size
    if left and not short:
        return
    mend = _loosening(screening)
    if not left or sample is None:
        raise InputError("no item is left", wanted="at least one", mend=mend)
    counts = screening.count(screening.survivors).items()
    raise CriteriaError(
        f"{left} items are left to draw from ({', '.join(f'{b} {n}' for b, n in counts)})",
        wanted=str(sample.size),
        mend=f"{mend}; or lower sample.size, or take what there is with if_short: take_all",
        place=("sample", "size"),
    )


def _loosening(screening: Screening) -> str:
    """Name the rule that leaves out the most, and what would make it leave more."""
    if not screening.steps:
        return "add items with 'benchprism items add'"
    step = max(screening.steps, key=lambda step: step.left_out)
    if 2 * step.missing > step.left_out:
        return (
            f"annotate more items: {step.rule!r} leaves out {step.left_out},"
            f" {step.missing} of them without a value"
        )
    return f"loosen {step.rule!r}, which leaves out {step.left_out}"


def _left_out(screening: Screening, position: int) -> _Exclusion:
    rule = screening.rules[position]
    rows = np.flatnonzero(screening.dropped_by == position)
    looked_at = screening.pool.select(rule.fields).take(pa.array(rows))
    return _Exclusion(rule.text, rows, reasons(rule, looked_at))


def _drawn(screening: Screening, sample: Sample) -> tuple[NDArray[np.bool_], _Exclusion]:
    """Draw among the survivors; say which are drawn, and why each other one is not."""
    rows = screening.survivors
    survivors = screening.pool.select({"item_id", sample.balance or "item_id"}).take(pa.array(rows))
    groups = [""] * len(rows)
    text = f"{SAMPLE} size {sample.size}, seed {sample.seed}"
    if sample.balance is not None:
        groups = values_in_words(survivors[sample.balance]).to_pylist()
        text += f", balance {sample.balance}"
    seed = sample.seed or 0
    outcome = draw(survivors["item_id"].to_pylist(), groups, size=sample.size, seed=seed)
    left = ~outcome.drawn
    return outcome.drawn, _Exclusion(text, rows[left], _turns(outcome, left))


def _turns(outcome: Draw, left: NDArray[np.bool_]) -> pa.ChunkedArray:
    group = outcome.group[left]
    names = [f" ({name})" if name else "" for name in outcome.groups]
    pieces = [
        "its turn is ",
        pc.cast(pa.array(outcome.turn[left] + 1), pa.string()),
        " of ",
        pc.cast(pa.array(outcome.available[group]), pa.string()),
        pa.array(names, pa.string()).take(pa.array(group)),
        ", wanted the first ",
        pc.cast(pa.array(outcome.quota[group]), pa.string()),
    ]
    return pa.chunked_array([pc.binary_join_element_wise(*pieces, "")])


def _excluded(screening: Screening, exclusions: list[_Exclusion]) -> pa.Table:
    """Put the exclusions of all rules into the order of the sources."""
    rows = np.concatenate([np.empty(0, np.int64), *(part.rows for part in exclusions)])
    rule = np.repeat(np.arange(len(exclusions)), [len(part.rows) for part in exclusions])
    rank = np.empty(screening.pool.num_rows, dtype=np.int64)
    rank[screening.order] = np.arange(len(rank))
    order = pa.array(np.argsort(rank[rows], kind="stable"))
    details = [chunk for part in exclusions for chunk in part.details.chunks]
    columns = screening.pool.select(["item_id", "benchmark"]).take(pa.array(rows)).columns
    texts = pa.array([part.rule for part in exclusions], pa.string()).take(pa.array(rule))
    columns += [texts, pa.chunked_array(details, pa.string())]
    table = pa.Table.from_arrays(columns, schema=EXCLUDED_SCHEMA)
    return table.take(order).combine_chunks()
