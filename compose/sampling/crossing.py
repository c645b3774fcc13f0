"""Crossing quotas: counts by group and value whose sums by group and by value are both in bounds.

The counts start as the plain draw gives them and change as little as the quotas demand: an item
more of one value takes the place of an item of another, in the same group where that is possible.
"""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Counts = NDArray[np.int64]
_PORTIONS = 16  # a change is made in so many steps, so that no one group bears it all


@dataclass(frozen=True, slots=True, eq=False)
class Bounds:
    """The least and the most of each of several sums."""

    least: Counts
    most: Counts


@dataclass(frozen=True, slots=True)
class Unmet:
    """A value whose quota cannot be met."""

    value: int
    """Its position."""
    reached: int
    """How many there would be: fewer than the least, or more than the most."""


def settle(drawn: Counts, available: Counts, groups: Bounds, values: Bounds) -> Counts | Unmet:
    """Change counts so that the sums by value are in bounds; the total stays.

    If there is a way, it is found: each step moves an item along a path of exchanges, and a flow
    that no path can improve is the largest.

    Args:
        drawn: (R, C) items of each group and value, with sums by group in bounds.
        available: (R, C) as many as there are.
        groups: bounds of the R sums by group.
        values: bounds of the C sums by value.

    Returns:
        (R, C) counts, or the first value whose quota cannot be met.
    """
    table = _Exchange(drawn.copy(), available, groups)
    while (over := table.by_value - values.most).max(initial=0) > 0:
        under = values.least - table.by_value
        for room in (under, values.most - table.by_value):
            if table.move(np.maximum(over, 0), np.maximum(room, 0)):
                break
        else:
            place = int(np.argmax(over > 0))
            return Unmet(place, int(table.by_value[place]))
    while (under := values.least - table.by_value).max(initial=0) > 0:
        spare = np.maximum(table.by_value - values.least, 0)
        if not table.move(spare, np.maximum(under, 0)):
            place = int(np.argmax(under > 0))
            return Unmet(place, int(table.by_value[place]))
    return table.counts


@dataclass(slots=True)
class _Exchange:
    """Counts that change by exchanges of items.

    The places of a path are values, then groups, then one in which groups give up items for other
    groups to take.
    """

    counts: Counts
    available: Counts
    groups: Bounds

    @property
    def by_value(self) -> Counts:
        sums: Counts = self.counts.sum(axis=0)
        return sums

    def move(self, give: Counts, take: Counts) -> bool:
        """Move items from values that can give to values that can take, if there is a path."""
        for between_groups in (False, True):
            path = self._path(give, take, between_groups)
            if path is not None:
                limits = [self._room(a, b) for a, b in itertools.pairwise(path)]
                need = min(int(give.sum()), int(take.sum()))
                portion = -(-need // _PORTIONS)
                self._push(path, min(*limits, give[path[0]], take[path[-1]], portion))
                return True
        return False

    def _path(self, give: Counts, take: Counts, between_groups: bool) -> list[int] | None:
        """The shortest path, going first where there is the most room."""
        came_from = {int(value): -1 for value in np.flatnonzero(give)}
        queue = deque(came_from)
        while queue:
            here = queue.popleft()
            if here < len(take) and take[here]:
                path = [here]
                while came_from[path[-1]] >= 0:
                    path.append(came_from[path[-1]])
                return path[::-1]
            for there in self._onward(here, between_groups):
                if there not in came_from:
                    came_from[there] = here
                    queue.append(there)
        return None

    def _onward(self, here: int, between_groups: bool) -> Iterator[int]:
        rows, columns = self.counts.shape
        pool = rows + columns
        places = range(columns, pool) if here < columns or here == pool else range(columns)
        rooms = sorted((-self._room(here, there), there) for there in places)
        yield from (there for room, there in rooms if room < 0)
        if between_groups and columns <= here < pool and self._room(here, pool) > 0:
            yield pool

    def _room(self, here: int, there: int) -> int:
        """How many items can go this way: leave a value in a group, or a group for a value."""
        rows, columns = self.counts.shape
        if here < columns:
            return int(self.counts[there - columns, here])
        if there < columns:
            return int((self.available - self.counts)[here - columns, there])
        if there == rows + columns:
            row = here - columns
            return int(self.counts[row].sum() - self.groups.least[row])
        row = there - columns
        return int(self.groups.most[row] - self.counts[row].sum())

    def _push(self, path: list[int], items: int) -> None:
        columns = self.counts.shape[1]
        for here, there in itertools.pairwise(path):
            if here < columns:
                self.counts[there - columns, here] -= items
            elif there < columns:
                self.counts[here - columns, there] += items
