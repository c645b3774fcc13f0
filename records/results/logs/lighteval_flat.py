"""One row of flat details: lighteval before 0.11, and the first archive of the leaderboard."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from .content import NO_CONTENT, Content
from .prompts import content_of_prompt
from .runs import Sample
from .scales import number

_METRICS = ("acc", "acc_norm", "mc1", "mc2", "em", "f1", "qem", "quasi_exact_match", "exact_match")
"""Scores that stand in columns of their own where there is no column of metrics."""
FLAT_COLUMNS = frozenset({"metrics", "choices", "predictions", "example", "query", *_METRICS})
"""The columns that are read; the others hold tokens and prompts."""


def flat_sample(row: Mapping[str, Any], place: int) -> Sample:
    """Read one row; without an id, ``place`` is the item's place in the file."""
    metrics = row.get("metrics")
    if isinstance(metrics, str):
        metrics = json.loads(metrics.replace("'", '"'))
    if not isinstance(metrics, Mapping):
        metrics = {name: row[name] for name in _METRICS if name in row}
    choices = [str(choice).strip() for choice in row.get("choices") or ()]
    predictions = row.get("predictions")
    return Sample(
        doc_id=str(place),
        scores=metrics,
        content=_content(row, choices),
        response=_text(predictions),
        choice_index=_choice(predictions, len(choices)),
    )


def _content(row: Mapping[str, Any], choices: list[str]) -> Content:
    """The item; early files hold its id in ``example`` and its text in ``query``."""
    example, query = row.get("example"), row.get("query")
    source_id = example if isinstance(query, str) and isinstance(example, str) else None
    prompt = query if isinstance(query, str) else example
    if not isinstance(prompt, str) or not prompt.strip():
        return NO_CONTENT
    return content_of_prompt(prompt, choices if len(choices) > 1 else (), source_id=source_id)


def _text(predictions: Any) -> str | None:
    first = predictions[0] if isinstance(predictions, list) and predictions else predictions
    return first if isinstance(first, str) and number(first) is None else None


def _choice(predictions: Any, count: int) -> int | None:
    """The choice with the highest log-likelihood: a number, or a pair of it and a flag."""
    if not isinstance(predictions, list) or len(predictions) != count or count < 2:
        return None
    logliks = [number(one[0] if isinstance(one, list) and one else one) for one in predictions]
    known = [value for value in logliks if value is not None]
    return known.index(max(known)) if len(known) == count else None
