"""Cells: a matrix of scores that grows while rows of it come in any order."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .codes import Codes

_BLOCK = 64
"""Models that are laid out at once."""
_RIGHT_OR_WRONG = np.array([np.nan, 0.0, 1.0], dtype=np.float32)


class Cells:
    """Scores by item and model, each at most once.

    While every score is 0 or 1 a cell takes one byte; the first graded score widens all of them.
    Models stand in rows, as in tables that list one model after the other.
    """

    def __init__(self) -> None:
        self._cells: NDArray[Any] = np.zeros((4096, 32768), dtype=np.uint8)
        self._models = 0

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
        cells = self._cells.reshape(-1)
        flat = np.multiply(models, self._cells.shape[1], dtype=np.intp)
        flat += items
        is_free = self._is_free(cells.take(flat))
        if is_free.all():
            cells[flat] = values
            if (flat[1:] > flat[:-1]).all():
                return None
        else:
            cells[flat[is_free]] = values[is_free]
        differs = cells.take(flat) != values
        return int(differs.argmax()) if differs.any() else None

    def _values(self, scores: NDArray[np.float64]) -> NDArray[Any]:
        """Scores as cells hold them."""
        if not self._is_graded:
            right = scores == 1
            if (right | (scores == 0)).all():
                coded: NDArray[np.uint8] = right.astype(np.uint8) + np.uint8(1)
                return coded
            self._cells = _RIGHT_OR_WRONG.astype(np.float64)[self._cells]
        return scores

    def make_room(self, models: int, items: int) -> None:
        """Have a cell for this many models and items.

        Grows by doubling; memory that no score touches is not taken while cells are bytes.
        """
        height, width = self._cells.shape
        if models > height or items > width:
            shape = (_grown(height, models), _grown(width, items))
            empty = np.full(shape, np.nan) if self._is_graded else np.zeros(shape, dtype=np.uint8)
            empty[: self._models, :width] = self._cells[: self._models]
            self._cells = empty
        self._models = max(self._models, models)

    def arranged(
        self, items: Codes, models: Codes, threads: int = 1
    ) -> NDArray[np.float32 | np.float64]:
        """Lay out some items (rows) by some models (columns), missing ones as NaN.

        In single precision where that holds every score exactly.
        """
        scores = np.empty((len(items), len(models)), dtype=self._precision(items, models))

        def fill(start: int) -> None:
            block = self._cells[models[start : start + _BLOCK]].take(items, axis=1)
            part = block.T if self._is_graded else _RIGHT_OR_WRONG.take(block.T)
            scores[:, start : start + _BLOCK] = part

        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(fill, range(0, len(models), _BLOCK)))
        return scores

    def scored(self, items: Codes) -> Codes:
        """The models that have a score on some of the items."""
        blocks = range(0, self._models, _BLOCK)
        free = [self._is_free(self._cells[at : at + _BLOCK].take(items, axis=1)) for at in blocks]
        has_some = [~own.all(axis=1) for own in free] or [np.empty(0, dtype=bool)]
        return np.flatnonzero(np.concatenate(has_some)).astype(np.int32)

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


def _grown(size: int, needed: int) -> int:
    return size if needed <= size else int(2 ** np.ceil(np.log2(needed)))
