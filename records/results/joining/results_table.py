"""Segments laid out as one results table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from .collected import TABLES
from .items import ProjectItems
from .segments import Segment


def results_table(
    segments: Sequence[Segment], items: ProjectItems, models: Sequence[str]
) -> pa.Table:
    """Lay out segments with ``RESULTS_SCHEMA``, texts as dictionaries.

    Rows are in the order of the models' names, then of the project's items.
    """
    ordered = sorted(segments, key=lambda own: (models[own.model], own.items.min(initial=0)))
    ordered = [own.take(np.lexsort((own.trials, own.items))) for own in ordered]
    item = np.concatenate([own.items for own in ordered])
    benchmarks, owners = items.owners()
    scores = np.concatenate([own.scores for own in ordered])

    def named(name: Callable[[Segment], str | None]) -> pa.Array:
        return _repeated([name(own) for own in ordered], [len(own) for own in ordered])

    return pa.table(
        {
            "benchmark": _dictionary(owners[item], benchmarks),
            "item_id": _used(item, items.ids),
            "model": named(lambda own: models[own.model]),
            "score": pa.array(scores, from_pandas=True),
            "trial": np.concatenate([own.trials for own in ordered]),
            "metric": named(lambda own: None if own.task.format in TABLES else own.pair.metric),
            "filter": named(lambda own: own.pair.filter or None),
            "run": named(lambda own: own.run.run),
            "source_format": named(lambda own: own.task.format),
        }
    )


def _used(codes: np.ndarray[Any, Any], texts: Sequence[str]) -> pa.DictionaryArray:
    """A column of few of the texts, with a dictionary of just these."""
    used, place = np.unique(codes, return_inverse=True)
    return _dictionary(place, [texts[code] for code in used.tolist()])


def _repeated(texts: Sequence[str | None], lengths: Sequence[int]) -> pa.DictionaryArray:
    """A column that repeats each text; null stays null."""
    names = list(dict.fromkeys(text for text in texts if text is not None))
    places = {name: place for place, name in enumerate(names)}
    codes = np.array([places.get(text or "", -1) for text in texts], dtype=np.int32)
    column = np.repeat(codes, lengths)
    mask = column < 0 if (codes < 0).any() else None
    return pa.DictionaryArray.from_arrays(pa.array(column, mask=mask), pa.array(names, pa.string()))


def _dictionary(codes: np.ndarray[Any, Any], texts: Sequence[str]) -> pa.DictionaryArray:
    return pa.DictionaryArray.from_arrays(
        pa.array(codes.astype(np.int32, copy=False)), pa.array(texts, pa.string())
    )
