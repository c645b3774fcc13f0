"""Sampling: which of the items that are left are drawn.

The order of drawing comes from a keyed hash of seed and item id alone. It does not change with the
machine, the engine, the order of the rows or the other items; and a larger sample of the same
items holds the smaller one.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


def drawing_keys(item_ids: Sequence[str], seed: int) -> NDArray[np.uint64]:
    """One number an item: BLAKE2b (64 bits) of the id, keyed by the seed. The smallest is first."""
    keyed = hashlib.blake2b(key=str(seed).encode(), digest_size=8)

    def digest(item_id: str) -> bytes:
        state = keyed.copy()
        state.update(item_id.encode())
        return state.digest()

    digests = b"".join(map(digest, item_ids))
    return np.frombuffer(digests, dtype=">u8").astype(np.uint64)


def quotas(available: Mapping[str, int], size: int) -> dict[str, int]:
    """Share ``size`` out as evenly as the groups allow; a short group gives all it has.

    Places that do not divide evenly go to the first groups by name.

    >>> quotas({"arc": 5, "gsm8k": 40, "mmlu": 100}, 50)
    {'arc': 5, 'gsm8k': 23, 'mmlu': 22}
    """
    shares: dict[str, int] = {}
    left = min(size, sum(available.values()))
    open_ = sorted(available, key=lambda group: (available[group], group))
    while open_ and available[open_[0]] <= left // len(open_):
        group = open_.pop(0)
        shares[group] = available[group]
        left -= available[group]
    for position, group in enumerate(sorted(open_)):
        even, extra = divmod(left, len(open_))
        shares[group] = even + (position < extra)
    return {group: shares[group] for group in sorted(shares)}


@dataclass(frozen=True, slots=True, eq=False)
class Draw:
    """The outcome of a draw, item by item and group by group."""

    groups: tuple[str, ...]
    available: NDArray[np.int64]
    """Items of each group."""
    quota: NDArray[np.int64]
    """Items drawn from each group."""
    group: NDArray[np.int64]
    """For each item, the position of its group."""
    turn: NDArray[np.int64]
    """For each item, its 0-based turn in its group's order of drawing."""

    @property
    def drawn(self) -> NDArray[np.bool_]:
        """Which items are drawn."""
        return self.turn < self.quota[self.group]


def draw(item_ids: Sequence[str], groups: Sequence[str], *, size: int, seed: int) -> Draw:
    """Draw ``size`` items, or all there are, evenly over the groups.

    Args:
        item_ids: the items, in an order of their own that settles equal keys.
        groups: each item's group; one name for all when nothing is balanced.
        size: how many to draw.
        seed: another seed is another draw.
    """
    names, group, available = np.unique(
        np.asarray(groups, dtype=object), return_inverse=True, return_counts=True
    )
    shares = quotas(dict(zip(names.tolist(), available.tolist(), strict=True)), size)
    order = np.lexsort((drawing_keys(item_ids, seed), group))
    starts = np.cumsum(available) - available
    turn = np.empty(len(item_ids), dtype=np.int64)
    turn[order] = np.arange(len(item_ids)) - starts[group[order]]
    quota = np.array([shares[name] for name in names], dtype=np.int64)
    return Draw(tuple(names), available, quota, group, turn)
