"""Tidy results: a table with a row for each benchmark, item and model (and trial)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NoReturn

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ..errors import InputError, suggestion
from .codes import Names
from .store import TIDY_SCHEMA
from .tidy_rows import columns_of, row_batches
from .tidy_values import Place, Scoring, names_of, scores_of, trials_of

_KEYS = ("benchmark", "item_id", "model")
FIELDS = (*TIDY_SCHEMA.names, "trial")
_SAME = {"score": ("score", "correct")}
"""Other names that a column may have; the first that is there counts."""


def read_tidy(
    path: Path,
    *,
    columns: Mapping[str, str] | None = None,
    benchmark: str | None = None,
    scoring: Scoring | None = None,
    step: Callable[[int], None] | None = None,
) -> pa.Table:
    """Read a tidy results table.

    Args:
        path: a ``.csv``, ``.tsv``, ``.jsonl`` or ``.parquet`` file. Further columns are left aside.
        columns: the file's own name for ``benchmark``, ``item_id``, ``model``, ``score`` or
            ``trial``, where it has another. A column ``correct`` is taken for the score.
        benchmark: the benchmark of all rows, for a file that does not name it or names another.
        scoring: the scale of the scores; 0 to 1 when not given.
        step: called with the number of rows that were read since the last call.

    Returns:
        The columns of ``TIDY_SCHEMA``, texts as dictionaries, and ``trial`` where the file has it;
        rows in their order. Empty cells, NaN and infinities are missing scores; true and false are
        1 and 0.

    Raises:
        InputError: the file cannot be read, lacks a column, or holds a score outside its scale or a
            row without benchmark, item or model.
    """
    sources = _sources(path, columns_of(path), columns or {}, benchmark)
    read = _Columns(path, sources, scoring or Scoring())
    for batch in row_batches(path, list(dict.fromkeys(sources.values()))):
        read.add(batch)
        if step is not None:
            step(batch.num_rows)
    return read.table(benchmark)


class _Columns:
    """The columns that were read so far."""

    def __init__(self, path: Path, sources: Mapping[str, str], scoring: Scoring) -> None:
        self._path, self._sources, self._scoring = path, sources, scoring
        self._names = {field: Names() for field in _KEYS if field in sources}
        self._parts: dict[str, list[NDArray[np.int32 | np.float64]]] = {
            field: [] for field in sources
        }
        self._rows = 0

    def add(self, batch: pa.RecordBatch) -> None:
        for field, column in self._sources.items():
            place = Place(self._path, column, self._rows)
            self._parts[field].append(self._read(field, batch[column], place))
        self._rows += batch.num_rows

    def _read(self, field: str, cells: pa.Array, place: Place) -> NDArray[np.int32 | np.float64]:
        if field == "score":
            return scores_of(cells, self._scoring, place)
        if field == "trial":
            return trials_of(cells, place)
        return names_of(cells, self._names[field], place)

    def table(self, benchmark: str | None) -> pa.Table:
        columns = {field: self._column(field) for field in FIELDS if field in self._sources}
        if benchmark is not None:
            self._check_single()
            codes = np.zeros(self._rows, dtype=np.int32)
            columns["benchmark"] = pa.DictionaryArray.from_arrays(codes, pa.array([benchmark]))
        return pa.table({field: columns[field] for field in FIELDS if field in columns})

    def _column(self, field: str) -> pa.Array:
        parts = self._parts.pop(field)
        values = np.concatenate(parts) if parts else np.empty(0, dtype=np.int32)
        if field in self._names:
            return pa.DictionaryArray.from_arrays(pa.array(values), self._names[field].texts)
        return pa.array(values, from_pandas=field == "score")

    def _check_single(self) -> None:
        """One benchmark for all rows; several of them are not made one."""
        distinct = self._names["benchmark"].texts.to_pylist() if "benchmark" in self._names else []
        if len(distinct) > 1:
            raise InputError(
                f"{self._path}: {len(distinct)} benchmarks ({distinct[0]!r}, {distinct[1]!r}, ...)",
                wanted="rows of a single benchmark to rename",
                mend="leave out --benchmark",
            )


def _sources(
    path: Path, names: list[str], columns: Mapping[str, str], benchmark: str | None
) -> dict[str, str]:
    """Find the file's column for each of ours."""
    for field in columns:
        if field not in FIELDS:
            raise InputError(
                f"a mapping for the unknown column {field!r}",
                wanted=f"one of {', '.join(FIELDS)}",
                mend=suggestion(field, FIELDS),
            )
    found = {}
    for field in FIELDS:
        named = [columns[field]] if field in columns else _SAME.get(field, (field,))
        name = next((name for name in named if name in names), None)
        if name is not None:
            if names.count(name) > 1:
                raise InputError(
                    f"{path}: two columns {name!r}",
                    wanted="each column once",
                    mend="rename one of them",
                )
            found[field] = name
        elif field in columns or not (field == "trial" or (field == "benchmark" and benchmark)):
            _lacks(path, field, named[0], names)
    return found


def _lacks(path: Path, field: str, name: str, names: list[str]) -> NoReturn:
    option = f"--map {field}=COLUMN" + (" or --benchmark NAME" if field == "benchmark" else "")
    known = [column for column in names if column]
    raise InputError(
        f"{path} has no column {name!r}",
        wanted="the columns benchmark, item_id, model and score",
        mend=f"{suggestion(name, known)} (say which with {option})" if known else "add a header",
    )
