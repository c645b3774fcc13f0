"""Segments: what one model scored on one task in one run, on the chosen metric alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..logs import LogRun
from .collected import CollectedRun, Pair, Rows, Status, Task
from .metric_choice import Choice
from .resolving import UNKNOWN

EXAMPLES = 3
"""How many items that were not found are named."""


@dataclass(frozen=True, slots=True, eq=False)
class Segment:
    """Results of one model, task, subset and run."""

    run: LogRun
    task: Task
    model: int
    subset: str
    pair: Pair
    benchmark: str | None
    """Where the task's items are; none when the project has none of them."""
    examples: tuple[str, ...]
    """Some of its items that the project does not have."""
    items: NDArray[np.int32]
    """The item of each row, or ``UNKNOWN``."""
    trials: NDArray[np.int32]
    scores: NDArray[np.float64]
    """NaN where there is none."""
    status: NDArray[np.int8]

    def __len__(self) -> int:
        return len(self.items)

    @property
    def scored(self) -> int:
        """How many rows have a score."""
        return int((self.status == Status.SCORED).sum())

    @property
    def unknown(self) -> int:
        """How many rows are of no item of the project."""
        return int((self.items == UNKNOWN).sum())

    def take(self, rows: NDArray[Any]) -> Segment:
        """Some of the rows."""
        return Segment(
            *(getattr(self, name) for name in self.__slots__[:7]),
            *(getattr(self, name)[rows] for name in self.__slots__[7:]),
        )


def segments_of(
    run: CollectedRun, choice: Choice, items: NDArray[np.int32], benchmark: str | None
) -> Iterator[Segment]:
    """Split a run by model and subset.

    Args:
        run: the run.
        choice: its task's metric and filter.
        items: the item of each of the run's items, or ``UNKNOWN``.
        benchmark: where the task's items are.
    """
    rows = run.rows.take(_chosen(run, choice.pair))
    subset = run.docs.subset[rows.doc]
    keys = rows.model.astype(np.int64) * len(run.docs.subsets) + subset
    for own in _groups(keys):
        part = rows.take(own)
        yield Segment(
            run=run.run,
            task=run.task,
            model=int(part.model[0]),
            subset=run.docs.subsets[int(subset[own[0]])],
            pair=choice.pair,
            benchmark=benchmark,
            examples=_examples(run, part, items),
            items=items[part.doc],
            trials=part.trial,
            scores=np.where(part.status == Status.SCORED, part.score, np.nan),
            status=part.status,
        )


def _examples(run: CollectedRun, part: Rows, items: NDArray[np.int32]) -> tuple[str, ...]:
    if not run.unknown:
        return ()
    own = set(part.doc[items[part.doc] == UNKNOWN].tolist())
    found = [at for at in run.unknown if at in own]
    return tuple(run.unknown[at] for at in found[:EXAMPLES])


def _chosen(run: CollectedRun, pair: Pair) -> NDArray[np.intp]:
    """Rows of the chosen metric, and rows without any metric where the item has no other."""
    rows = run.rows
    of_pair = rows.pair == (run.pairs.index(pair) if pair in run.pairs else -1)
    blank = [at for at, own in enumerate(run.pairs) if not own.metric]
    if not blank:
        return np.flatnonzero(of_pair)
    is_blank = np.isin(rows.pair, blank)
    keys = _keys(rows)
    lacking = is_blank & ~np.isin(keys, keys[of_pair])
    _, first = np.unique(keys[lacking], return_index=True)
    return np.concatenate([np.flatnonzero(of_pair), np.flatnonzero(lacking)[first]])


def _keys(rows: Rows) -> NDArray[np.int64]:
    """One number for each model, item and trial."""
    trials = int(rows.trial.max(initial=0)) + 1
    docs = int(rows.doc.max(initial=0)) + 1
    keys: NDArray[np.int64] = (rows.model.astype(np.int64) * docs + rows.doc) * trials + rows.trial
    return keys


def _groups(keys: NDArray[np.int64]) -> Iterator[NDArray[np.intp]]:
    """Positions of equal keys, group by group, each in its order."""
    order = np.argsort(keys, kind="stable")
    starts = np.flatnonzero(np.diff(keys[order], prepend=-1))
    yield from np.split(order, starts[1:]) if len(order) else ()
