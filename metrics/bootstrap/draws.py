"""Draws: rows of weights of items, as a bootstrap, a random half or a random subset gives them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from .resampling import bootstrap_weights

Weights = NDArray[np.float32]


class Items(Protocol):
    """Items that can be drawn."""

    @property
    def items(self) -> int:
        """Number of items."""

    @property
    def groups(self) -> NDArray[np.intp] | None:
        """(n,), from 0: the items that are drawn together; none when each is drawn alone."""


@dataclass(frozen=True, slots=True, eq=False)
class Draw:
    """K draws of items."""

    weights: Weights
    """(K, n): how often each item is drawn."""
    size: int | None
    """How many items each row draws; none when that is not the same in all, or nothing."""

    @property
    def sizes(self) -> NDArray[np.float64]:
        """(K,): how many items each row draws."""
        if self.size is not None:
            return np.full(len(self.weights), float(self.size))
        sizes: NDArray[np.float64] = self.weights.sum(axis=1, dtype=np.float64)
        return sizes


def every_item(items: Items) -> Draw:
    """Each item once, in a single row."""
    return Draw(np.ones((1, items.items), dtype=np.float32), items.items)


def draw_bootstrap(items: Items, rng: np.random.Generator, replicates: int) -> Draw:
    """As many items as there are, with replacement; of grouped items, as many groups."""
    if items.groups is None:
        return Draw(bootstrap_weights(rng, items.items, replicates), items.items)
    groups = int(items.groups.max(initial=-1)) + 1
    weights = bootstrap_weights(rng, groups, replicates)
    return Draw(np.take(weights, items.groups, axis=1), None)


def draw_half(items: Items, rng: np.random.Generator, replicates: int) -> Draw:
    """Half of the items, at random and each once; of grouped items, half of the groups."""
    if items.groups is None:
        half = items.items // 2
        return Draw(chosen(rng, items.items, half, replicates), half or None)
    groups = int(items.groups.max(initial=-1)) + 1
    return Draw(np.take(chosen(rng, groups, groups // 2, replicates), items.groups, axis=1), None)


def rest(draw: Draw) -> Draw:
    """The items that a draw of each item at most once leaves."""
    size = None if draw.size is None else draw.weights.shape[1] - draw.size
    return Draw(1 - draw.weights, size or None)


def chosen(rng: np.random.Generator, units: int, size: int, replicates: int) -> Weights:
    """Random choices of ``size`` of the units without replacement: (K, units), 1 where chosen.

    >>> chosen(np.random.default_rng(0), 5, 2, 3).sum(axis=1)
    array([2., 2., 2.], dtype=float32)
    """
    weights = np.zeros((replicates, units), dtype=np.float32)
    if size:
        order = rng.random((replicates, units), dtype=np.float32)
        places = np.argpartition(order, size - 1, axis=1)[:, :size]
        np.put_along_axis(weights, places, np.float32(1), axis=1)
    return weights
