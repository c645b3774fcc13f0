"""Outcomes: which model scored what on which item of a benchmark."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ..errors import InputError


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
    """Items by models, in [0, 1]; NaN where a model has no score for an item. In single precision
    where that holds every score exactly, as it does right and wrong."""


def outcomes(tables: Mapping[str, pa.Table]) -> list[Outcomes]:
    """Arrange results tables as one matrix a benchmark, in the order of their names.

    A result given twice with the same score counts once.

    Args:
        tables: results tables (``store.TIDY_SCHEMA``) by the name of the file each is from.

    Raises:
        InputError: one model has two different scores for one item.
    """
    table = pa.concat_tables(tables.values())
    benchmarks = _Codes.of(table["benchmark"])
    items = _Codes.of(table["item_id"])
    models = _Codes.of(table["model"])
    scores = table["score"].to_numpy()
    found = []
    for code, name in enumerate(benchmarks.names):
        rows = np.flatnonzero(benchmarks.codes == code)
        item_ids, item = items.used_in(rows)
        model_names, model = models.used_in(rows)
        own = scores[rows]
        known = ~np.isnan(own)
        matrix = np.full((len(item_ids), len(model_names)), np.nan, dtype=_precision(own))
        matrix[item[known], model[known]] = own[known]
        clash = np.flatnonzero(known & (matrix[item, model] != own))
        if len(clash):
            where = (item == item[clash[0]]) & (model == model[clash[0]]) & known
            cell = (item_ids[item[clash[0]]], model_names[model[clash[0]]])
            raise _conflict(name, *cell, list(_places(tables, rows[where])))
        found.append(Outcomes(name, item_ids, model_names, matrix))
    return found


@dataclass(frozen=True, slots=True, eq=False)
class _Codes:
    """A column of text as codes into its distinct names, which are sorted."""

    names: list[str]
    codes: NDArray[np.int32]

    @classmethod
    def of(cls, column: pa.ChunkedArray) -> _Codes:
        encoded = column.dictionary_encode().unify_dictionaries()
        if not encoded.num_chunks:
            return cls([], np.empty(0, dtype=np.int32))
        words = encoded.chunk(0).dictionary
        order = pc.sort_indices(words).to_numpy()
        rank = np.empty(len(order), dtype=np.int32)
        rank[order] = np.arange(len(order), dtype=np.int32)
        codes = np.concatenate([rank[chunk.indices.to_numpy()] for chunk in encoded.chunks])
        return cls(words.take(order).to_pylist(), codes)

    def used_in(self, rows: NDArray[np.intp]) -> tuple[tuple[str, ...], NDArray[np.intp]]:
        """The names that some rows use, and each row's position among them."""
        codes = self.codes[rows]
        used = np.zeros(len(self.names), dtype=bool)
        used[codes] = True
        position = np.cumsum(used) - 1
        return tuple(self.names[code] for code in np.flatnonzero(used)), position[codes]


def _precision(scores: NDArray[np.float64]) -> type[np.float32 | np.float64]:
    known = scores[~np.isnan(scores)]
    return np.float32 if (known.astype(np.float32) == known).all() else np.float64


def _places(tables: Mapping[str, pa.Table], rows: NDArray[np.intp]) -> Iterator[tuple[str, float]]:
    """Name the file and the row, and give the score, of rows of the joined tables."""
    start = 0
    for name, table in tables.items():
        for row in rows[(rows >= start) & (rows < start + len(table))] - start:
            yield f"{name} row {row + 1}", table["score"][int(row)].as_py()
        start += len(table)


def _conflict(benchmark: str, item: str, model: str, places: list[tuple[str, float]]) -> InputError:
    (first, score), *others = places
    second, other = next(place for place in others if place[1] != score)
    return InputError(
        f"{model!r} has two scores for item {item!r} of {benchmark!r}: {score!r} in {first}, "
        f"{other!r} in {second}",
        wanted="one score for a model and an item",
        mend="keep the run you want, or average repeated runs first",
    )
