"""What became of every result that was read, by model and benchmark."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from ..logs import LogFinding
from ..metrics_used import MetricUse
from .collected import CollectedRun, Status, Task
from .items import ProjectItems
from .matching import Candidates
from .merging import Merged
from .metric_choice import Choice, Refusal
from .present import Repeated
from .reruns import Rerun
from .resolving import Landing
from .segments import EXAMPLES


@dataclass(slots=True)
class Counts:
    """Results of one model on one benchmark: an item once, on the chosen metric."""

    read: int = 0
    joined: int = 0
    """On an item of the project; scored or not."""
    not_joined: int = 0
    duplicated: int = 0
    """On an item that has the same score already."""
    conflicting: int = 0
    """Left out because the scores of an item contradict each other."""
    unscored: int = 0
    """Of the joined: without a usable score. They are missing, not wrong."""
    errored: int = 0
    """Of the joined: the run failed on the item."""

    def add(self, other: Counts) -> None:
        """Add the counts of another."""
        for name in self.__slots__:
            setattr(self, name, getattr(self, name) + getattr(other, name))

    @property
    def is_clean(self) -> bool:
        """Whether every result that says something new joined with a score."""
        lost = self.read - self.joined - self.duplicated
        return not (lost or self.unscored or self.errored)


@dataclass(frozen=True, slots=True)
class ModelCounts:
    """Counts of one model on one benchmark."""

    model: str
    benchmark: str
    added: bool
    """False for results that joined in too small a part."""
    counts: Counts


@dataclass(frozen=True, slots=True)
class BenchmarkCounts:
    """Counts of all models on one benchmark."""

    benchmark: str
    in_project: bool
    """Whether the project has items of it; of a table without them the ids are kept."""
    models: int
    """How many have results that were added."""
    items: int
    """How many of its items have such results."""
    of_items: int | None
    """How many it has in the project."""
    counts: Counts


@dataclass(frozen=True, slots=True)
class Conflict:
    """An item with contradicting scores."""

    model: str
    item_id: str
    sources: tuple[str, ...]
    scores: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Unjoined:
    """A task whose results joined in too small a part."""

    task: str
    models: int
    joined: int
    read: int


@dataclass(frozen=True, slots=True)
class JoinReport:
    """Everything that the join decided and counted."""

    benchmarks: tuple[BenchmarkCounts, ...]
    models: tuple[ModelCounts, ...]
    choices: tuple[Choice, ...]
    landings: Mapping[Task, str]
    """The benchmark where each task's items are."""
    found_by: Mapping[str, Mapping[str, int]]
    """By benchmark: how many of the logs' items were found in which way."""
    examples: Mapping[str, tuple[str, ...]]
    """By task: items that the project does not have."""
    reruns: tuple[tuple[str, Rerun], ...]
    """With the model's name."""
    refused: tuple[Refusal, ...]
    below_share: tuple[Unjoined, ...]
    conflicts: tuple[Conflict, ...]
    findings: tuple[LogFinding, ...]
    skipped: tuple[str, ...]
    """Files of a folder that are in no known format."""
    repeated: tuple[Repeated, ...] = ()
    """Results that the project had already."""
    mixed: Mapping[str, tuple[MetricUse, ...]] = field(default_factory=dict)
    """By benchmark: how its models are scored, with what the project has, where that differs."""

    @property
    def has_faults(self) -> bool:
        """Whether something could not be added as it stands."""
        faults = any(finding.is_fault for finding in self.findings)
        return bool(faults or self.refused or self.below_share or self.conflicts)

    def as_json(self) -> dict[str, Any]:
        """The report as plain data."""
        return {
            "benchmarks": [_flat(row) for row in self.benchmarks],
            "models": [_flat(row) for row in self.models],
            "choices": [
                {
                    "format": choice.task.format,
                    "task": choice.task.name,
                    "benchmark": self.landings.get(choice.task),
                    "metric": choice.pair.metric,
                    "filter": choice.pair.filter,
                    "why": choice.why,
                    "others": [list(pair) for pair in choice.others],
                }
                for choice in self.choices
            ],
            "mixed_metrics": {
                name: [asdict(use) for use in uses] for name, uses in self.mixed.items()
            },
            "repeated": [asdict(one) for one in self.repeated],
            "found_by": self.found_by,
            "not_joined": self.examples,
            "reruns": [{**asdict(rerun), "model": model} for model, rerun in self.reruns],
            "refused": [str(refusal) for refusal in self.refused],
            "below_share": [asdict(one) for one in self.below_share],
            "conflicts": [asdict(conflict) for conflict in self.conflicts],
            "findings": [
                {"kind": finding.kind, "file": finding.file, "says": str(finding)}
                for finding in self.findings
            ],
            "skipped": self.skipped,
        }


def _flat(row: ModelCounts | BenchmarkCounts) -> dict[str, Any]:
    data = asdict(row)
    return {**{key: data[key] for key in data if key != "counts"}, **data["counts"]}


class Tally:
    """Counts as segments are entered."""

    def __init__(self, items: ProjectItems, model_names: Sequence[str]) -> None:
        self._items, self._model_names = items, model_names
        self._names, self._owners = items.owners()
        self._covered = np.zeros(len(self._owners), dtype=bool)
        self._models: dict[tuple[str, str, bool], Counts] = {}

    def add(self, part: Merged, *, added: bool) -> None:
        """Count one segment; what did not join counts for the benchmark of what did."""
        given, kept = part.given, part.kept
        self._covered[kept.items] |= added
        owners = self._owners[kept.items]
        for code in np.unique(owners).tolist():
            status = kept.status[owners == code]
            errored = int((status == Status.ERRORED).sum())
            unscored = len(status) - errored - int((status == Status.SCORED).sum())
            joined = Counts(len(status), len(status), unscored=unscored, errored=errored)
            self._counts(given.model, self._names[code], added).add(joined)
        label = self._names[int(owners[0])] if len(owners) else given.benchmark or given.task.name
        left = Counts(0, 0, part.unknown, part.duplicated, part.conflicting)
        left.read = left.not_joined + left.duplicated + left.conflicting
        self._counts(given.model, label, added).add(left)

    def _counts(self, model: int, benchmark: str, added: bool) -> Counts:
        return self._models.setdefault((benchmark, self._model_names[model], added), Counts())

    def models(self) -> tuple[ModelCounts, ...]:
        """Counts by benchmark and model, in the order of their names."""
        return tuple(
            ModelCounts(model, benchmark, added, self._models[benchmark, model, added])
            for benchmark, model, added in sorted(self._models)
        )

    def benchmarks(self) -> tuple[BenchmarkCounts, ...]:
        """Counts by benchmark, in the order of their names."""
        sums: dict[str, Counts] = defaultdict(Counts)
        models: Counter[str] = Counter()
        for (benchmark, _, added), counts in self._models.items():
            sums[benchmark].add(counts)
            models[benchmark] += added and counts.joined > 0
        return tuple(self._of(name, models[name], sums[name]) for name in sorted(sums))

    def _of(self, benchmark: str, models: int, counts: Counts) -> BenchmarkCounts:
        code = self._names.index(benchmark) if benchmark in self._names else -1
        own = self._owners == code
        in_project = benchmark in self._items.names
        size = int(own.sum()) if in_project else None
        covered = int(self._covered[own].sum())
        return BenchmarkCounts(benchmark, in_project, models, covered, size, counts)


def ways_found(
    runs: Iterable[CollectedRun],
    answers: Sequence[Candidates],
    landings: Mapping[Task, Landing],
    items: ProjectItems,
) -> dict[str, dict[str, int]]:
    """Count by which way the logs' items were found, by benchmark; one log can be of several."""
    ways: dict[str, Counter[str]] = defaultdict(Counter)
    for run in runs:
        landing = landings.get(run.task)
        if landing is not None and landing.benchmark is not None and landing.is_in_project:
            codes, counts = np.unique(run.docs.answer, return_counts=True)
            for code, count in zip(codes.tolist(), counts.tolist(), strict=True):
                found = answers[code]
                own = items.benchmarks[found.items[0]] if found.items else landing.benchmark
                ways[own][found.how] += count
    return {benchmark: dict(own) for benchmark, own in ways.items()}


def unknown_items(parts: Iterable[Merged]) -> dict[str, tuple[str, ...]]:
    """Some items that the project does not have, by task."""
    found: dict[str, dict[str, None]] = defaultdict(dict)
    for part in parts:
        if part.given.examples:
            found[str(part.given.task)].update(dict.fromkeys(part.given.examples))
    return {task: tuple(own)[:EXAMPLES] for task, own in found.items()}


def below_share(parts: Iterable[Merged]) -> tuple[Unjoined, ...]:
    """Sum up what joined in too small a part, by task."""
    tasks: dict[Task, list[Merged]] = defaultdict(list)
    for part in parts:
        tasks[part.given.task].append(part)
    return tuple(
        Unjoined(
            str(task),
            len({part.given.model for part in own}),
            sum(len(part.kept) for part in own),
            sum(len(part.given) - part.duplicated for part in own),
        )
        for task, own in tasks.items()
    )
