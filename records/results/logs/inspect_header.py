"""The header of an Inspect log: what was run, and the scores that it states."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from .runs import LogRun, StatedScore
from .scales import number

_MEANS = ("accuracy", "mean")
"""Metrics of Inspect that are the mean of the items' values."""


def run_of(header: Mapping[str, Any], path: Path) -> LogRun:
    """Read the run from a log's header."""
    spec = header["eval"]
    packages = spec.get("packages") or {}
    stated = tuple(_stated(header.get("results")))
    headline = _headline(header.get("results"), stated)
    return LogRun(
        run=str(spec.get("eval_id") or spec.get("run_id") or path.stem),
        model=str(spec["model"]),
        benchmark=str(spec["task"]),
        source_format="inspect",
        source_file=str(path),
        version=str(packages.get("inspect_ai") or ""),
        metric=headline[0] if headline else None,
        filter=headline[1] if headline else "",
        stated=stated,
    )


def _headline(results: Any, stated: tuple[StatedScore, ...]) -> tuple[str, str] | None:
    named = results.get("headline") if isinstance(results, Mapping) else None
    if isinstance(named, Mapping) and named.get("score"):
        return str(named["score"]), str(named.get("scorer") or named["score"])
    return (stated[0].metric, stated[0].filter) if stated else None


def _stated(results: Any) -> Iterator[StatedScore]:
    """Read the aggregates of all layouts: ``scores``, ``scorers``, or one scorer with metrics."""
    if not isinstance(results, Mapping):
        return
    scores = results.get("scores") or results.get("scorers")
    if not scores and isinstance(results.get("scorer"), Mapping):
        scores = [{**results["scorer"], "metrics": results.get("metrics")}]
    for score in scores or ():
        metrics = score.get("metrics") or {}
        named = next((metrics[name] for name in _MEANS if name in metrics), None)
        value = number(named.get("value")) if isinstance(named, Mapping) else None
        yield StatedScore(
            str(score["name"]),
            str(score.get("scorer") or score["name"]),
            float("nan") if value is None else value,
            is_mean=value is not None and score.get("reducer") in {None, "mean"},
        )
