"""What a log is of: the run, its samples, and the scores that the harness itself states."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import pyarrow as pa

from .content import NO_CONTENT, Content
from .scales import Scale


@dataclass(frozen=True, slots=True)
class StatedScore:
    """An aggregate that the harness states, in the metric's own units."""

    metric: str
    filter: str
    value: float
    benchmark: str = ""
    """The group of tasks that it is for; empty when it is for the run's own task."""
    subset: str = ""
    """The part of the task that it is for; empty when it is for all of it."""
    is_mean: bool = True
    """Whether it is the mean over items, so that the rows have to give the same number."""
    decimals: int | None = None
    """To how many places the harness rounds it; none when it does not."""


@dataclass(frozen=True, slots=True)
class LogRun:
    """One task of one run. The harness's own names throughout."""

    run: str
    """The harness's id of the run, or what comes nearest."""
    model: str
    """Empty when the rows name several models."""
    benchmark: str
    source_format: str
    source_file: str
    version: str = ""
    """The harness's version, as far as the log tells."""
    metric: str | None = None
    """The headline metric: the one to take unless another is asked for; none when unscored."""
    filter: str = ""
    n_shot: int | None = None
    subset: str = ""
    groups: tuple[str, ...] = ()
    """The groups of tasks that contain this one, the narrowest first."""
    stated: tuple[StatedScore, ...] = ()
    scales: Mapping[str, Scale] = field(default_factory=dict)
    """Ranges of metrics that the log states."""
    lower_is_better: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Sample:
    """One item once: what the model answered and how that was scored, as the log has it."""

    doc_id: str
    scores: Mapping[str, object]
    """Values by metric: numbers, or whatever stands in their place."""
    filter: str = ""
    trial: int = 0
    content: Content = NO_CONTENT
    response: str | None = None
    choice_index: int | None = None
    errored: bool | frozenset[str] = False
    """Whether the run failed on this item, or for which metrics it failed."""
    subset: str | None = None
    """Where it differs from the run's."""
    model: str | None = None
    """Where it differs from the run's."""


@dataclass(frozen=True, slots=True, eq=False)
class LogBatch:
    """Some results of one run, with ``RESULT_SCHEMA``."""

    run: LogRun
    table: pa.Table


def stated_scores(run: LogRun) -> dict[tuple[str, str], float]:
    """The scores that the harness states for what the run's rows are of, by metric and filter."""
    return {
        (score.metric, score.filter): score.value
        for score in run.stated
        if not score.benchmark and score.subset in {"", run.subset}
    }
