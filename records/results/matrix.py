"""Outcomes: which model scored what on which item of a benchmark."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ..errors import InputError
from .cells import Cells
from .codes import Coded, Codes, Names, PairNames, coded, steps
from .store import TIDY_SCHEMA, ResultsFile

THREADS = min(4, os.cpu_count() or 1)
_SLICE = 2**20
"""Rows that are coded at once."""


@dataclass(frozen=True, slots=True, eq=False)
class Outcomes:
    """Scores of models on the items of one benchmark.

    A score that is not there is NaN: missing is not wrong.
    """

    benchmark: str
    item_ids: tuple[str, ...]
    """In the order of their names."""
    models: tuple[str, ...]
    """In the order of their names."""
    scores: NDArray[np.floating[Any]]
    """Items by models; NaN where a model has no score for an item. At most 1, and below 0 only
    where a metric takes points off; the mean over trials where there are several. In single
    precision where that holds every score exactly, as it does right and wrong."""


Tables = Mapping[str, pa.Table | ResultsFile]


def outcomes(tables: Tables, *, threads: int = THREADS) -> list[Outcomes]:
    """Arrange results tables as one matrix a benchmark, in the order of their names.

    A result given twice with the same score counts once. Files are read a part at a time, so that
    little more than the matrix is in memory.

    Args:
        tables: results tables, or files of them, by name.
        threads: how many parts to read at once; the outcome does not depend on it.

    Raises:
        InputError: a file cannot be read, or one model has two different scores for one item.
    """
    grid = _Grid()
    for table in tables.values():
        clash = _enter(table, grid, threads)
        if clash is not None:
            raise _conflict(tables, clash)
    return grid.outcomes(threads)


@dataclass(frozen=True, slots=True, eq=False)
class _Rows:
    """Some rows of a table, coded."""

    items: Coded
    """Pairs of benchmark and item."""
    models: Coded
    scores: NDArray[np.float64]


class _Grid:
    """All benchmarks' cells in one matrix; threads may enter parts at once."""

    def __init__(self) -> None:
        self._items, self._unscored, self._models = PairNames(), PairNames(), Names()
        self._cells = Cells()
        self._lock = Lock()

    def code(self, part: pa.Table) -> _Rows:
        """Code the rows of a part of a table."""
        (batch,) = part.combine_chunks().to_batches()
        if batch["score"].null_count:
            rows = batch.filter(batch["score"].is_null())
            self._unscored.coded(rows["benchmark"], rows["model"])
        return _Rows(
            self._items.coded(batch["benchmark"], batch["item_id"]),
            coded(batch["model"], self._models),
            batch["score"].to_numpy(zero_copy_only=False),
        )

    def put(self, rows: _Rows) -> _Cell | None:
        """Enter scores; return the cell of the first row that contradicts an earlier one."""
        with self._lock:
            for part in steps(len(rows.scores)):
                items, models = rows.items.of(part), rows.models.of(part)
                clash = self._cells.put(items, models, rows.scores[part])
                if clash is not None:
                    return self._named(int(items[clash]), int(models[clash]))
        return None

    def _named(self, item: int, model: int) -> _Cell:
        benchmarks, items = self._items.split()
        text = self._models.texts[model]
        return _Cell(benchmarks[item].as_py(), items[item].as_py(), text.as_py())

    def outcomes(self, threads: int) -> list[Outcomes]:
        """Lay out each benchmark by the names of its items and models."""
        pa.default_memory_pool().release_unused()
        self._cells.make_room(len(self._models), len(self._items))
        benchmarks, items = self._items.split()
        found = []
        for name in sorted(pc.unique(benchmarks).to_pylist()):
            own = pc.indices_nonzero(pc.equal(benchmarks, name))
            rows, item_ids = _by_name(items, own)
            columns, models = _by_name(self._models.texts, self._models_on(name, own))
            scores = self._cells.arranged(rows, columns, threads)
            found.append(Outcomes(name, item_ids, models, scores))
        return found

    def _models_on(self, benchmark: str, items: pa.Array) -> pa.Array:
        """The models that have a row on a benchmark, with a score or without."""
        owners, names = self._unscored.split()
        unscored = names.filter(pc.equal(owners, benchmark))
        scored = pa.array(self._cells.scored(items.to_numpy()))
        return pc.unique(pa.concat_arrays([scored, pc.index_in(unscored, self._models.texts)]))


def _by_name(names: pa.Array, chosen: pa.Array) -> tuple[Codes, tuple[str, ...]]:
    """Chosen positions in the order of their names, and the names."""
    order = chosen.take(pc.sort_indices(names.take(chosen)))
    return order.to_numpy(), tuple(names.take(order).to_pylist())


class _Cell(NamedTuple):
    benchmark: str
    item: str
    model: str


def _enter(table: pa.Table | ResultsFile, grid: _Grid, threads: int) -> _Cell | None:
    """Enter the rows of a table, several parts at once; trials are averaged."""
    of_table = table.parts if isinstance(table, ResultsFile) else partial(_slices, table)
    parts = of_table(TIDY_SCHEMA.names)
    if _has_trials(table):
        return grid.put(_averaged([grid.code(part()) for part in parts]))
    with ThreadPoolExecutor(threads) as pool:
        clashes = pool.map(lambda part: grid.put(grid.code(part())), parts)
        return next((clash for clash in clashes if clash is not None), None)


def _has_trials(table: pa.Table | ResultsFile) -> bool:
    if isinstance(table, ResultsFile):
        return table.has_trials
    return "trial" in table.column_names and bool(pc.max(table["trial"]).as_py())


def _slices(table: pa.Table, columns: list[str]) -> list[Callable[[], pa.Table]]:
    own = table.select(columns)
    return [partial(own.slice, start, _SLICE) for start in range(0, len(table), _SLICE)]


def _averaged(parts: Sequence[_Rows]) -> _Rows:
    """One row a cell: the mean over the trials that have a score."""
    whole = slice(None)
    items = np.concatenate([part.items.of(whole) for part in parts])
    models = np.concatenate([part.models.of(whole) for part in parts])
    scores = np.concatenate([part.scores for part in parts])
    known = ~np.isnan(scores)
    width = int(items.max(initial=0)) + 1
    cells, place = np.unique(models.astype(np.int64) * width + items, return_inverse=True)
    sums = np.bincount(place[known], scores[known], len(cells))
    counts = np.bincount(place[known], minlength=len(cells))
    with np.errstate(invalid="ignore"):
        return _Rows(_plain(cells % width), _plain(cells // width), sums / counts)


def _plain(codes: NDArray[np.int64]) -> Coded:
    return Coded(codes.astype(np.int32), np.arange(len(codes), dtype=np.int32))


def _conflict(tables: Tables, cell: _Cell) -> InputError:
    places = list(_places(tables, cell))
    first, score = places[0]
    second, other = next(place for place in places if place[1] != score)
    return InputError(
        f"{cell.model!r} has two scores for item {cell.item!r} of {cell.benchmark!r}: "
        f"{score!r} in {first}, {other!r} in {second}",
        wanted="one score for a model and an item",
        mend="keep the run that you want: leave the other out, or remove its file from the results",
    )


def _places(tables: Tables, cell: _Cell) -> Iterator[tuple[str, float]]:
    """Name the file and the row, and give the score, of each row of a cell; trials are one."""
    for name, table in tables.items():
        whole = table.read(TIDY_SCHEMA.names) if isinstance(table, ResultsFile) else table
        columns = (whole["benchmark"], whole["item_id"], whole["model"])
        matches = [pc.equal(column, text) for column, text in zip(columns, cell, strict=True)]
        rows = pc.indices_nonzero(pc.and_(pc.and_(matches[0], matches[1]), matches[2]))
        scores = {row: whole["score"][row].as_py() for row in rows.to_pylist()}
        known = {row: score for row, score in scores.items() if score is not None}
        if known and _has_trials(table):
            yield f"{name} (mean of {len(known)})", sum(known.values()) / len(known)
        else:
            yield from ((f"{name} row {row + 1}", score) for row, score in known.items())
