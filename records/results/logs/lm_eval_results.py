"""The results file of lm-evaluation-harness: model, headline, groups, and what it states."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from .json_files import Beside, beside
from .runs import StatedScore

_MEANS = frozenset({"acc", "acc_norm", "acc_mutual_info", "exact_match"})
"""Metrics that the harness averages when a task does not say how to aggregate."""
_MODEL_ARGUMENTS = ("peft", "delta", "pretrained", "model", "path", "engine")
_RANDOM_NAME = re.compile(r"[a-z0-9]{8}\Z")
_STAMP = r"\d{4}-\d{2}-\d{2}T\d{2}-\d{2}-\d{2}(?:\.\d+)?"
SAMPLES_NAME = re.compile(rf"samples_(?P<task>.+)_(?P<time>{_STAMP})\.jsonl?\Z")


@dataclass(frozen=True)
class Results:
    """What a results file says. Without a file nothing is stated."""

    file: Beside

    @property
    def data(self) -> Mapping[str, Any]:
        """The file's content."""
        return self.file.data

    @cached_property
    def tasks(self) -> Mapping[str, Any]:
        """The configuration of each task."""
        configs = self.data.get("configs")
        return configs if isinstance(configs, Mapping) else {}

    @cached_property
    def model(self) -> str:
        """The model's name, or nothing when the file does not tell."""
        name = self.data.get("model_name")
        if isinstance(name, str) and name:
            return name
        arguments = self._model_arguments
        return next((arguments[key] for key in _MODEL_ARGUMENTS if arguments.get(key)), "")

    @cached_property
    def has_made_up_name(self) -> bool:
        """Tell whether the harness had no name for the model and drew eight letters."""
        named = any(self._model_arguments.get(key) for key in _MODEL_ARGUMENTS)
        return not named and _RANDOM_NAME.match(self.model) is not None

    @cached_property
    def _model_arguments(self) -> Mapping[str, str]:
        config = self.data.get("config")
        arguments = config.get("model_args") if isinstance(config, Mapping) else None
        if isinstance(arguments, Mapping):
            return {key: str(value) for key, value in arguments.items() if value}
        parts = str(arguments or "").split(",")
        return dict(part.split("=", 1) for part in parts if "=" in part)

    @property
    def version(self) -> str:
        """The harness's version; 0.4.5 and older do not say."""
        return str(self.data.get("lm_eval_version") or "")

    def filters(self, task: str) -> tuple[str, ...]:
        """The task's filters, in the order in which the harness writes their rows."""
        listed = self.tasks.get(task, {}).get("filter_list") or []
        names = tuple(
            str(one["name"]) for one in listed if isinstance(one, Mapping) and "name" in one
        )
        return names or tuple(dict.fromkeys(score.filter for score in self.stated(task)))

    def n_shot(self, task: str) -> int | None:
        """The number of examples in the prompt."""
        shots = self._table("n-shot").get(task)
        return shots if isinstance(shots, int) else None

    def samples(self, task: str) -> int | None:
        """How many items the run says it evaluated."""
        counts = self._table("n-samples").get(task)
        count = counts.get("effective") if isinstance(counts, Mapping) else None
        return count if isinstance(count, int) else None

    def lower_is_better(self, task: str) -> frozenset[str]:
        """The metrics of a task for which a lower number is better."""
        better = self._table("higher_is_better").get(task)
        items = better.items() if isinstance(better, Mapping) else ()
        return frozenset(metric for metric, higher in items if higher is False)

    def groups(self, task: str) -> tuple[str, ...]:
        """The groups that contain a task, the narrowest first."""
        found: dict[str, None] = {}
        wanted = [task]
        while wanted:
            child = wanted.pop(0)
            for group, members in self._table("group_subtasks").items():
                if isinstance(members, list) and child in members and group not in found:
                    found[group] = None
                    wanted.append(group)
        return tuple(found)

    def subset(self, task: str) -> str:
        """The task's name within its group: its alias, or what follows the group's name."""
        alias = self.tasks.get(task, {}).get("task_alias")
        if isinstance(alias, str) and alias:
            return alias
        inside = [group for group in self.groups(task) if task.startswith(f"{group}_")]
        return task.removeprefix(f"{inside[0]}_") if inside else ""

    def stated(self, task: str) -> tuple[StatedScore, ...]:
        """The scores of a task and of its groups, in the file's order."""
        groups = [score for group in self.groups(task) for score in self._scores(group, group)]
        return (*self._scores(task, ""), *groups)

    def headline(self, task: str) -> tuple[str, str] | None:
        """The task's first metric, with the filter that the file states it for first."""
        own = list(self._scores(task, ""))
        listed = self.tasks.get(task, {}).get("metric_list") or []
        names = [one.get("metric") for one in listed if isinstance(one, Mapping)]
        ranked = [score for name in names for score in own if score.metric == name] or own
        return (ranked[0].metric, ranked[0].filter) if ranked else None

    def _scores(self, name: str, benchmark: str) -> Iterator[StatedScore]:
        means = self._means(name)
        entry = self._table("results").get(name)
        for key, value in entry.items() if isinstance(entry, Mapping) else ():
            metric, comma, kept = key.partition(",")
            if not comma or metric.endswith("_stderr") or metric == "bypass":
                continue
            if isinstance(value, int | float):
                yield StatedScore(metric, kept, float(value), benchmark, is_mean=metric in means)

    def _means(self, task: str) -> frozenset[str]:
        listed = self.tasks.get(task, {}).get("metric_list") or []
        stated = {
            one["metric"]: one["aggregation"]
            for one in listed
            if isinstance(one, Mapping) and isinstance(one.get("aggregation"), str)
        }
        means = {metric for metric, how in stated.items() if how == "mean"}
        return frozenset(means | (_MEANS - stated.keys()))

    def _table(self, key: str) -> Mapping[str, Any]:
        table = self.data.get(key)
        return table if isinstance(table, Mapping) else {}


def find_results(samples: Path) -> Results:
    """Find the results file of the run that wrote a samples file: the one with the same time.

    Files from before 0.4.3 bear no time; their results are in ``results.json`` beside them.
    """
    named = SAMPLES_NAME.match(samples.name)
    if named:
        candidates = sorted(samples.parent.glob(f"*_{named['time']}.json"))
    else:
        candidates = [samples.with_name("results.json")]
    for path in candidates:
        if path == samples or path.name.startswith("samples_"):
            continue
        file = beside(path)
        if file.finding is not None or isinstance(file.data.get("results"), Mapping):
            return Results(file)
    return Results(Beside())


def task_of(samples: Path, results: Results) -> str:
    """Read the task from a file's name.

    ``samples_<task>_<time>``: what stands between the first and the last underscore. Older files
    end in ``_<task>``, and only the results file tells how much of the name that is.
    """
    named = SAMPLES_NAME.match(samples.name)
    if named:
        return named["task"]
    fitting = [task for task in results.tasks if samples.stem.endswith(f"_{task}")]
    return max(fitting, key=len, default=samples.stem.removeprefix("samples_"))
