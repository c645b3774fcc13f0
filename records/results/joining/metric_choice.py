"""One metric and one filter for each task, chosen aloud."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from ...errors import InputError, suggestion
from .collected import CollectedRun, Pair, Status, Task

PENALISING = frozenset({"first_pass_score", "revised_score", "eqbench"})
"""Metrics of logs that take points off, so that a score may be below 0: those of EQ-Bench."""
_SLACK = 1e-9


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a user asks for."""

    metrics: Mapping[str, str] = field(default_factory=dict)
    """Metric by task; the empty name stands for every task that has the metric."""
    filters: Mapping[str, str] = field(default_factory=dict)
    """Filter by task, likewise."""
    penalties: bool = False
    """Let any metric go below 0."""


@dataclass(frozen=True, slots=True)
class Choice:
    """The metric and the filter that a task's results are taken from."""

    task: Task
    pair: Pair
    others: tuple[Pair, ...]
    """What else there was."""
    why: str


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a task's results are not added."""

    task: Task
    found: str
    wanted: str
    mend: str

    def __str__(self) -> str:
        return f"{self.task}: {self.found}; wanted {self.wanted}; {self.mend}"


def choose_metrics(runs: Sequence[CollectedRun], wanted: Wanted) -> list[Choice | Refusal]:
    """Choose for each task, in the order in which tasks are met.

    Raises:
        InputError: a metric or a filter that was asked for is nowhere.
    """
    tasks: dict[Task, list[CollectedRun]] = defaultdict(list)
    for run in runs:
        tasks[run.task].append(run)
    pairs = {task: _pairs(own) for task, own in tasks.items()}
    _check("metric", wanted.metrics, pairs)
    _check("filter", wanted.filters, pairs)
    return [_choose(task, own, pairs[task], wanted) for task, own in tasks.items()]


def lacking(runs: Sequence[CollectedRun], choices: Mapping[Task, Choice]) -> Iterator[Refusal]:
    """Name the runs that have nothing of what was chosen for their task."""
    for run in runs:
        choice = choices.get(run.task)
        if choice is not None and not {choice.pair, *_blank(run)} & {*run.pairs}:
            yield Refusal(
                run.task,
                f"{run.run.source_file} has no {' '.join(filter(None, choice.pair))}",
                "the same metric and filter in every run of the task",
                _option(run.task, run.pairs),
            )


def _blank(run: CollectedRun) -> list[Pair]:
    return [pair for pair in run.pairs if not pair.metric]


def _pairs(runs: Sequence[CollectedRun]) -> tuple[Pair, ...]:
    return tuple(dict.fromkeys(pair for run in runs for pair in run.pairs if pair.metric))


def _check(kind: str, asked: Mapping[str, str], pairs: Mapping[Task, Sequence[Pair]]) -> None:
    for name, value in asked.items():
        known = {
            getattr(pair, kind) for task, own in pairs.items() if name in {"", task.name}
            for pair in own
        }  # fmt: skip
        tasks = {task.name for task in pairs}
        if name and name not in tasks:
            raise InputError(
                f"--{kind} {name}={value}",
                wanted="a task of the logs",
                mend=suggestion(name, tasks),
            )
        if value not in known:
            raise InputError(
                f"--{kind} {value!r}",
                wanted=f"a {kind} that the logs have",
                mend=suggestion(value, known - {""}) if known - {""} else f"leave out --{kind}",
            )


def _choose(
    task: Task, runs: Sequence[CollectedRun], pairs: tuple[Pair, ...], wanted: Wanted
) -> Choice | Refusal:
    if not pairs:
        return Refusal(task, "no scores", "a log with scores", "score the run, then add it again")
    headline = _headline(runs, pairs)
    asked = wanted.metrics.get(task.name, wanted.metrics.get("", ""))
    metrics = {pair.metric for pair in pairs}
    metric = asked if asked in metrics else headline.metric
    filters = [pair.filter for pair in pairs if pair.metric == metric]
    asked_filter = wanted.filters.get(task.name, wanted.filters.get("", headline.filter))
    kept = next((name for name in (asked_filter, "none") if name in filters), filters[0])
    chosen = Pair(metric, kept)
    others = tuple(pair for pair in pairs if pair != chosen)
    why = "the log's headline" if chosen == headline else "as asked"
    return _unusable(task, runs, chosen, others, wanted) or Choice(task, chosen, others, why)


def _headline(runs: Sequence[CollectedRun], pairs: Sequence[Pair]) -> Pair:
    """The headline of most runs, among what there is."""
    named = Counter(Pair(run.run.metric or "", run.run.filter) for run in runs)
    for (metric, kept), _ in named.most_common():
        own = [pair for pair in pairs if pair.metric == metric]
        ranked = [pair for name in (kept, "none") for pair in own if pair.filter == name]
        if own:
            return (ranked or own)[0]
    first = [pair for pair in pairs if pair.metric == pairs[0].metric]
    return next((pair for pair in first if pair.filter == "none"), first[0])


def _unusable(
    task: Task,
    runs: Sequence[CollectedRun],
    pair: Pair,
    others: tuple[Pair, ...],
    wanted: Wanted,
) -> Refusal | None:
    """Refuse a metric without scores, on an unknown scale, or outside its scale."""
    scores, statuses = _values(runs, pair)
    off = int((statuses == Status.OFF_SCALE).sum())
    known = scores[statuses == Status.SCORED]
    option = _option(task, others)
    if off:
        return Refusal(
            task,
            f"{off} values of {pair.metric!r} on a scale that is not known",
            "a metric on 0 to 1, or on a known scale",
            option,
        )
    if not len(known):
        found = f"no score of {pair.metric!r} ({len(statuses)} unscored or errored)"
        return Refusal(task, found, "scores", option)
    may_fall = wanted.penalties or pair.metric in PENALISING
    low, high = float(known.min()), float(known.max())
    if high > 1 + _SLACK or (low < -_SLACK and not may_fall):
        found = f"values of {pair.metric!r} that are {low:g} to {high:g} on its scale"
        mend = option if high > 1 + _SLACK else f"{option}, or add --penalties if it takes points"
        return Refusal(task, found, "0 to 1", mend)
    return None


def _values(runs: Sequence[CollectedRun], pair: Pair) -> tuple[np.ndarray, np.ndarray]:
    scores, statuses = [np.empty(0)], [np.empty(0, dtype=np.int8)]
    for run in runs:
        if pair in run.pairs:
            rows = run.rows.pair == run.pairs.index(pair)
            scores.append(run.rows.score[rows])
            statuses.append(run.rows.status[rows])
    return np.concatenate(scores), np.concatenate(statuses)


def _option(task: Task, others: Sequence[Pair]) -> str:
    metrics = list(dict.fromkeys(pair.metric for pair in others))
    if not metrics:
        return "leave the log out"
    return f"choose another: --metric {task.name}={metrics[0]}" + (
        f" (or {', '.join(metrics[1:6])})" if metrics[1:] else ""
    )
