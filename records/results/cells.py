"""Cells: a matrix of scores that grows while rows of it come in any order."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .codes import Codes

_BLOCK = 64
"""Models, or items, that are looked at together."""
_SHORT = 64
"""Items below which a run of neighbours is not worth a step of its own."""


class Cells:
    """Scores by item and model, each at most once.

    While every score is 0 or 1 a cell takes one byte; the first graded score widens all of them.
    Models stand in rows, as in tables that list one model after the other.
    """

    def __init__(self) -> None:
        self._cells: NDArray[Any] = np.zeros((8192, 32768), dtype=np.uint8)
        self._models = self._items = 0

    @property
    def _is_graded(self) -> bool:
        return self._cells.dtype != np.uint8

    def put(self, items: Codes, models: Codes, scores: NDArray[np.float64]) -> int | None:
        """Enter scores; a score that is NaN is not entered.

        Returns:
            The first row whose score differs from one that its cell has already; none if all fit.
        """
        if np.isnan(scores).any():
            rows = np.flatnonzero(~np.isnan(scores))
            clash = self.put(items[rows], models[rows], scores[rows])
            return None if clash is None else int(rows[clash])
        if not len(scores):
            return None
        self.make_room(int(models.max()) + 1, int(items.max()) + 1)
        values = self._values(scores)
        if self._put_runs(items, models, values):
            return None
        cells = self._cells.reshape(-1)
        flat = np.multiply(models, self._cells.shape[1], dtype=np.intp)
        flat += items
        is_free = self._is_free(cells.take(flat))
        cells[flat[is_free]] = values[is_free]
        differs = cells.take(flat) != values
        return int(differs.argmax()) if differs.any() else None

    def _put_runs(self, items: Codes, models: Codes, values: NDArray[Any]) -> bool:
        """Enter rows that list neighbouring items of one model after the other, as tables do.

        Returns:
            Whether all are entered; not if the runs are short or a cell is taken.
        """
        breaks = (items[1:] - items[:-1] != 1) | (models[1:] != models[:-1])
        starts = [0, *(np.flatnonzero(breaks) + 1).tolist(), len(items)]
        if len(starts) > len(items) // _SHORT + 2:
            return False
        for start, end in pairwise(starts):
            first = items[start]
            run = self._cells[models[start], first : first + end - start]
            if not self._is_free(run).all():
                return False
            run[:] = values[start:end]
        return True

    def _values(self, scores: NDArray[np.float64]) -> NDArray[Any]:
        """Scores as cells hold them."""
        if not self._is_graded:
            right = scores == 1
            if (right | (scores == 0)).all():
                coded: NDArray[np.uint8] = right.astype(np.uint8) + np.uint8(1)
                return coded
            used = self._cells[: self._models, : self._items]
            self._cells = _decoded(used).astype(np.float64)
        return scores

    def make_room(self, models: int, items: int) -> None:
        """Have a cell for this many models and items.

        Grows by doubling; memory that no score touches is not taken while cells are bytes.
        """
        height, width = self._cells.shape
        if models > height or items > width:
            shape = (_grown(height, models), _grown(width, items))
            empty = np.full(shape, np.nan) if self._is_graded else np.zeros(shape, dtype=np.uint8)
            used = slice(self._models), slice(self._items)
            empty[used] = self._cells[used]
            self._cells = empty
        self._models, self._items = max(self._models, models), max(self._items, items)

    def arranged(
        self, items: Codes, models: Codes, threads: int = 1
    ) -> NDArray[np.float32 | np.float64]:
        """Lay out some items (rows) by some models (columns), missing ones as NaN.

        In single precision where that holds every score exactly.
        """
        scores = np.empty((len(items), len(models)), dtype=self._precision(items, models))

        def fill(start: int) -> None:
            block = self._cells[models[start : start + _BLOCK]].take(items, axis=1)
            scores[:, start : start + _BLOCK] = block.T if self._is_graded else _decoded(block.T)

        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(fill, range(0, len(models), _BLOCK)))
        return scores

    def scored(self, items: Codes) -> Codes:
        """The models that have a score on some of the items."""
        has_some = np.zeros(self._models, dtype=bool)
        for start in range(0, len(items), _BLOCK):
            rest = np.flatnonzero(~has_some)
            if not len(rest):
                break
            part = self._cells[np.ix_(rest, items[start : start + _BLOCK])]
            has_some[rest] = ~self._is_free(part).all(axis=1)
        return np.flatnonzero(has_some).astype(np.int32)

    def _is_free(self, cells: NDArray[Any]) -> NDArray[np.bool_]:
        free: NDArray[np.bool_] = np.isnan(cells) if self._is_graded else cells == 0
        return free

    def _precision(self, items: Codes, models: Codes) -> type[np.float32 | np.float64]:
        if not self._is_graded:
            return np.float32
        for model in models:
            own = self._cells[model].take(items)
            known = own[~np.isnan(own)]
            if (known.astype(np.float32) != known).any():
                return np.float64
        return np.float32


def _decoded(cells: NDArray[np.uint8]) -> NDArray[np.float32]:
    """Right and wrong as 1 and 0, missing as NaN."""
    scores = cells.astype(np.float32, order="C")
    scores -= 1
    scores[scores < 0] = np.nan
    return scores


def _grown(size: int, needed: int) -> int:
    return size if needed <= size else int(2 ** np.ceil(np.log2(needed)))
