"""Records whose vectors lie near a given one."""

from __future__ import annotations

from typing import Any

import numpy as np
from argilla_server.enums import SimilarityOrder
from argilla_server.search_engine.base import SearchResponseItem, SearchResponses


def target_vector(vector_settings: Any, value: list[float] | None, record: Any) -> list[float]:
    """The vector to be near to: given, or a record's own.

    Raises:
        ValueError: neither or both are given, or the record has no vector.
    """
    if bool(value) == bool(record):
        raise ValueError("either a vector or a record must be given")
    target: list[float] | None = value or record.vector_value_by_vector_settings(vector_settings)
    if not target:
        raise ValueError("the record has no such vector")
    return target


def nearest(
    found: list[tuple[Any, list[float]]],
    target: list[float],
    *,
    order: Any,
    most: int,
    threshold: float | None,
) -> SearchResponses:
    """Rank vectors by cosine, scored from 0 (opposite) to 1 (same direction) as Elasticsearch does.

    Args:
        found: record ids with their vectors.
        target: the vector to compare with, or to be far from when ``order`` is least similar.
        order: ``SimilarityOrder``.
        most: how many to return.
        threshold: the least score.
    """
    if not found:
        return SearchResponses(items=[], total=0)
    vectors = np.asarray([vector for _, vector in found], dtype=np.float64)
    wanted = np.asarray(target, dtype=np.float64)
    if order == SimilarityOrder.least_similar:
        wanted = -wanted
    lengths = np.linalg.norm(vectors, axis=1) * np.linalg.norm(wanted)
    scores = (1 + vectors @ wanted / np.where(lengths == 0, 1, lengths)) / 2
    best = np.argsort(-scores, kind="stable")[:most]
    items = [
        SearchResponseItem(record_id=found[row][0], score=float(scores[row]))
        for row in best
        if threshold is None or scores[row] >= threshold
    ]
    return SearchResponses(items=items, total=len(best))
