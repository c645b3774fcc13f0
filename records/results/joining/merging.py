"""Segments put together: each model and item once, contradictions left out and counted."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from .resolving import UNKNOWN
from .segments import Segment


@dataclass(frozen=True, slots=True)
class Contradiction:
    """An item with two different scores of one model."""

    model: int
    item: int
    sources: tuple[str, ...]
    """The tasks that give the scores."""
    scores: tuple[float, ...]


@dataclass(slots=True, eq=False)
class Merged:
    """A segment's part in the results: each row of ``given`` is in one of the others."""

    given: Segment
    kept: Segment
    unknown: int = 0
    duplicated: int = 0
    conflicting: int = 0
    examples: list[Contradiction] = field(default_factory=list)

    @property
    def share(self) -> float:
        """The share that joined, of what is no mere repetition."""
        wanted = len(self.given) - self.duplicated
        return len(self.kept) / wanted if wanted else 1.0


def merge(segment: Segment) -> Merged:
    """Enter a segment's rows, each item and trial once.

    Rows that repeat a score are duplicates. Rows that contradict each other are all left out:
    which of them is right is not known.
    """
    known = np.flatnonzero(segment.items != UNKNOWN)
    order = known[np.lexsort((np.isnan(segment.scores[known]), _keys(segment)[known]))]
    starts, sizes = _runs(_keys(segment)[order])
    scores = segment.scores[order]
    low, high = _extremes(scores, starts)
    differs = high > low
    kept = order[starts[~differs]]
    merged = Merged(segment, segment.take(kept), unknown=segment.unknown)
    merged.conflicting = int(sizes[differs].sum())
    merged.duplicated = len(order) - len(kept) - merged.conflicting
    if merged.conflicting:
        first = int(np.flatnonzero(differs)[0])
        row = order[starts[first]]
        merged.examples.append(
            Contradiction(
                segment.model,
                int(segment.items[row]),
                (str(segment.task),),
                (float(low[first]), float(high[first])),
            )
        )
    return merged


def _keys(segment: Segment) -> NDArray[np.int64]:
    trials = int(segment.trials.max(initial=0)) + 1
    keys: NDArray[np.int64] = segment.items.astype(np.int64) * trials + segment.trials
    return keys


def _runs(ordered: NDArray[np.int64]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Where equal keys start, and how many there are."""
    starts = np.flatnonzero(np.diff(ordered, prepend=-1))
    return starts, np.diff(starts, append=len(ordered))


def _extremes(
    scores: NDArray[np.float64], starts: NDArray[np.intp]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    if not len(starts):
        return scores, scores
    return np.fmin.reduceat(scores, starts), np.fmax.reduceat(scores, starts)


def reconcile(parts: Sequence[Merged], items: int) -> None:
    """Enter the segments of each model, the fullest first; ``items`` is how many items there are.

    An item that an earlier segment has with the same score is a duplicate. A segment that
    contradicts an earlier one anywhere is left out whole: keeping the items on which both agree
    would choose items by their scores.
    """
    by_model: dict[int, list[Merged]] = defaultdict(list)
    for part in parts:
        by_model[part.kept.model].append(part)
    for own in by_model.values():
        entered = _Entered(items)
        for part in sorted(own, key=lambda one: -len(one.kept)):
            entered.enter(part)


class _Entered:
    """What the segments of one model that were entered say of each item."""

    def __init__(self, items: int) -> None:
        self._scores = np.full(items, np.nan)
        self._owner = np.full(items, -1, dtype=np.int32)
        self._parts: list[Merged] = []

    def enter(self, part: Merged) -> None:
        items, means = item_means(part.kept.items, part.kept.scores)
        before = self._scores[items]
        clash = np.flatnonzero(before != means)
        clash = clash[~np.isnan(before[clash]) & ~np.isnan(means[clash])]
        if len(clash):
            self._leave_out(part, int(items[clash[0]]), float(means[clash[0]]))
            return
        is_known = self._owner[items] >= 0
        is_repeated = is_known & (~np.isnan(before) | np.isnan(means))
        new = items[~is_repeated]
        self._scores[new] = means[~is_repeated]
        self._owner[new] = len(self._parts)
        self._parts.append(part)
        again = np.isin(part.kept.items, items[is_repeated])
        part.duplicated += int(again.sum())
        part.kept = part.kept.take(np.flatnonzero(~again))

    def _leave_out(self, part: Merged, item: int, score: float) -> None:
        other = self._parts[self._owner[item]].given
        sources = (str(other.task), str(part.given.task))
        scores = (float(self._scores[item]), score)
        part.examples.append(Contradiction(part.given.model, item, sources, scores))
        part.conflicting += len(part.kept)
        part.kept = part.kept.take(np.empty(0, dtype=np.intp))


def item_means(
    rows: NDArray[np.int32], scores: NDArray[np.float64]
) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """The items of some rows in order, and each one's mean over its trials that have a score."""
    items, place = np.unique(rows, return_inverse=True)
    known = ~np.isnan(scores)
    sums = np.bincount(place[known], scores[known], len(items))
    counts = np.bincount(place[known], minlength=len(items))
    with np.errstate(invalid="ignore"):
        return items, sums / counts
