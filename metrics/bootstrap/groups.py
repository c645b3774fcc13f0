"""Groups: items that belong together, and are no independent witnesses."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import NDArray


def joined_groups(*keys: Sequence[Hashable | None]) -> NDArray[np.intp] | None:
    """Join items that have a key in common, over any number of kinds of keys.

    Items about one passage, or copies of one another, are right or wrong together. Resampled one by
    one they would make every interval too narrow.

    Args:
        keys: for each kind (the passage, the content), the key of each of n items; none for an
            item that shares nothing of that kind.

    Returns:
        (n,) group of each item, from 0 in the order of their first items. None when no two items
        have a key in common.

    >>> joined_groups(["p", None, "p", None], ["x", "y", "z", "y"])
    array([0, 1, 0, 1])
    >>> joined_groups([None, None]) is None
    True
    """
    items = len(keys[0]) if keys else 0
    leader = list(range(items))

    def lead(item: int) -> int:
        while leader[item] != item:
            leader[item] = leader[leader[item]]
            item = leader[item]
        return item

    for column in keys:
        first: dict[Hashable, int] = {}
        for item, key in enumerate(column):
            if key is not None:
                one, other = lead(first.setdefault(key, item)), lead(item)
                leader[max(one, other)] = min(one, other)
    leaders = np.array([lead(item) for item in range(items)], dtype=np.intp)
    different, groups = np.unique(leaders, return_inverse=True)
    return None if len(different) == items else groups


def summed_by_group(
    rows: NDArray[np.float64], groups: NDArray[np.intp] | None
) -> NDArray[np.float64]:
    """Sums of rows (n, ...) by group (G, ...); the rows themselves when there are no groups.

    >>> summed_by_group(np.array([[1.0], [2.0], [4.0]]), np.array([0, 1, 0])).tolist()
    [[5.0], [2.0]]
    """
    if groups is None:
        return rows
    order = np.argsort(groups, kind="stable")
    starts = np.flatnonzero(np.diff(groups[order], prepend=-1))
    sums: NDArray[np.float64] = np.add.reduceat(rows[order], starts, axis=0)
    return sums
