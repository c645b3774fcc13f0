"""Pair columns: for each item, which pairs of a weaker and a stronger model it inverts.

A bootstrap over items needs the inversions of an item; one over items and models at once needs
those of each pair, as every pair then has a weight of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..alignment import Family
from ..bootstrap.draws import Draw
from ..scores import Scores, is_complete
from .division import ratio

_KEPT = 1 << 22
_TILE = 256

Tile = tuple[NDArray[np.float32], NDArray[np.float32] | None]


@dataclass(frozen=True, slots=True, eq=False)
class PairColumns:
    """P pairs of models of one benchmark, and its items."""

    scores: Scores
    """(n, m)."""
    weaker: NDArray[np.intp]
    """(P,): column of the weaker model."""
    stronger: NDArray[np.intp]
    complete: bool
    """Whether no score is missing, so that every item compares every pair."""
    kept: tuple[Tile, ...]
    """The columns, where they are small enough to be made once."""

    def rates(self, draw: Draw, models: NDArray[np.float64]) -> NDArray[np.float64]:
        """Inversion rate, (K,), under K rows of weights of items and of the m models."""
        inverted, compared = np.zeros(len(models)), np.zeros(len(models))
        start = 0
        for worse, both in self.kept or self._tiles():
            part = slice(start, start + worse.shape[1])
            start = part.stop
            together = models[:, self.weaker[part]] * models[:, self.stronger[part]]
            inverted += np.einsum("kp,kp->k", together, draw.weights @ worse)
            if both is None:
                compared += together.sum(axis=1) * draw.sizes
            else:
                compared += np.einsum("kp,kp->k", together, draw.weights @ both)
        return ratio(inverted, compared)

    def _tiles(self) -> Iterator[Tile]:
        for start in range(0, len(self.weaker), _TILE):
            low = self.scores[:, self.weaker[start : start + _TILE]]
            high = self.scores[:, self.stronger[start : start + _TILE]]
            both = None if self.complete else ((low >= 0) & (high >= 0)).astype(np.float32)
            yield (high < low).astype(np.float32), both


def pair_columns(scores: Scores, families: Sequence[Family]) -> PairColumns:
    """Lay out the pairs of the families of a benchmark.

    Args:
        scores: (n, m) scores of m models on n items, NaN where there is none.
        families: the families, as columns of ``scores``.
    """
    pairs = np.array([pair for family in families for pair in family.each_pair()], dtype=np.intp)
    weaker, stronger = pairs.reshape(-1, 2).T
    lazy = PairColumns(scores, weaker, stronger, is_complete(scores), ())
    if len(scores) * len(pairs) > _KEPT:
        return lazy
    return PairColumns(scores, weaker, stronger, lazy.complete, tuple(lazy._tiles()))
