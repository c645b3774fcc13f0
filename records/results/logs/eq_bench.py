"""Results of EQ-Bench 2: ``<model>_eqbench_v2_results.json``.

A question's score is at most 10 and falls below 0 for answers that are far off; of the two scores
of a question the first pass is the headline.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from .batches import batches
from .content import Content
from .findings import LogFinding, expecting, not_laid_out
from .json_files import load_json
from .runs import LogBatch, LogRun, Sample, StatedScore
from .scales import Scale, number

FORMAT = "eq-bench"
_SCALE = Scale(0.0, 10.0)
_METRICS = ("first_pass_score", "revised_score")


def read(path: Path) -> Iterator[LogBatch | LogFinding]:
    """Read one file of results; each iteration is a trial."""
    data = load_json(path)
    if not isinstance(data, Mapping) or not isinstance(data.get("raw_results"), Mapping):
        raise not_laid_out(path, FORMAT, "no object with raw_results")
    with expecting(path, FORMAT):
        run = LogRun(
            run=str(data.get("run_id") or data.get("index_string") or path.stem),
            model=str(data.get("model_path") or path.stem),
            benchmark=f"eqbench_{data.get('eqbench_version', 'v2')}",
            source_format=FORMAT,
            source_file=str(path),
            metric=_METRICS[0],
            n_shot=0,
            stated=tuple(_stated(data)),
            scales=dict.fromkeys(_METRICS, _SCALE),
        )
        samples = list(_samples(data["raw_results"]))
    yield from batches(run, samples)


def _stated(data: Mapping[str, Any]) -> Iterator[StatedScore]:
    """The benchmark's own score, which is not the mean of the questions'."""
    value = number(data.get("benchmark_score"))
    if value is not None:
        yield StatedScore("benchmark_score", "", value, is_mean=False, decimals=2)


def _samples(iterations: Mapping[str, Any]) -> Iterator[Sample]:
    for trial, iteration in enumerate(iterations.values()):
        replies = iteration.get("raw_inference") or {}
        for question, scores in iteration["individual_scores"].items():
            reply = replies.get(question)
            yield Sample(
                doc_id=str(question),
                scores={metric: scores.get(metric) for metric in _METRICS},
                trial=trial,
                content=Content(source_id=str(question)),
                response=reply if isinstance(reply, str) else None,
            )
