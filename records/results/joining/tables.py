"""A tidy table as collected runs: one for each benchmark that it names."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ..logs import TIDY, LogRun
from .collected import HELD, CollectedRun, Docs, Pair, Rows, Status, wanted_rows
from .items import ProjectItems
from .matching import Matcher
from .naming import ModelNames

SCORE = "score"
"""What the only metric of a table is called."""


def collect_table(
    path: Path, table: pa.Table, matcher: Matcher, items: ProjectItems, models: ModelNames
) -> Iterator[CollectedRun]:
    """Collect a table that ``read_tidy`` has read.

    Args:
        path: the table's file.
        table: its rows, texts as dictionaries.
        matcher: finds the items.
        items: the project's items.
        models: the names of all models; new ones are added.
    """
    benchmark, names = _codes(table["benchmark"])
    model, model_names = _codes(table["model"])
    known = [models.code(name, str(path)) for name in model_names.to_pylist()]
    model = np.array(known, dtype=np.int32)[model]
    item, ids = _codes(table["item_id"])
    every = Rows(
        doc=item,
        model=model,
        pair=np.zeros(len(table), dtype=np.int16),
        trial=_trials(table),
        score=table["score"].to_numpy(),
        status=np.where(table["score"].is_null().to_numpy(), Status.UNSCORED, Status.SCORED).astype(
            np.int8
        ),
    )
    texts = ids.to_pylist()
    for code, name in enumerate(names.to_pylist()):
        own = every.take(np.flatnonzero(benchmark == code)) if len(names) > 1 else every
        rows = wanted_rows(own)
        if len(rows.doc):
            yield _run(path, name, rows, texts, matcher, items)


def _run(
    path: Path,
    benchmark: str,
    rows: Rows,
    ids: list[str],
    matcher: Matcher,
    items: ProjectItems,
) -> CollectedRun:
    used, doc = np.unique(rows.doc, return_inverse=True)
    names = tuple(ids[code] for code in used.tolist())
    called = items.benchmark_called(benchmark)
    answers = [matcher.code(matcher.tabled(called, name)) for name in names]
    unknown = {doc: repr(names[doc]) for doc, answer in enumerate(answers) if not answer}
    docs = Docs(
        answer=np.array(answers, dtype=np.int32),
        subset=np.zeros(len(names), dtype=np.int32),
        number=np.full(len(names), -1, dtype=np.int32),
        subsets=("",),
        names=names,
    )
    run = LogRun(path.stem, "", benchmark, TIDY, str(path), metric=SCORE)
    own = Rows(doc.astype(np.int32), rows.model, rows.pair, rows.trial, rows.score, rows.status)
    return CollectedRun(run, own, docs, (Pair(SCORE, ""),), dict(islice(unknown.items(), HELD)))


def _codes(column: pa.ChunkedArray) -> tuple[NDArray[np.int32], pa.Array]:
    chunk = column.combine_chunks()
    return chunk.indices.to_numpy(), chunk.dictionary


def _trials(table: pa.Table) -> NDArray[np.int32]:
    if "trial" not in table.column_names:
        return np.zeros(len(table), dtype=np.int32)
    trials: NDArray[np.int32] = table["trial"].to_numpy()
    return trials
