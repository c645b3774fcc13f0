"""The join: results of logs and tables, each put on the item of the project that it is of.

Logs are read one after the other into a few numbers a row. Then each task gets one metric and one
filter, its items are found, repeated runs are settled, and what remains is one table with a report
of what became of every result.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa

from .joining.collected import TABLES, CollectedRun, RunCollector, Task
from .joining.items import ProjectItems
from .joining.matching import LoggedItem, Matcher
from .joining.merging import Contradiction, merge, reconcile
from .joining.metric_choice import Choice, Refusal, Wanted, choose_metrics, lacking
from .joining.naming import ModelNames, alike
from .joining.present import leave_repeated
from .joining.report import Conflict, JoinReport, Tally, below_share, unknown_items, ways_found
from .joining.reruns import last_runs
from .joining.resolving import Landing, Resolver, land
from .joining.results_table import results_table
from .joining.segments import Segment, segments_of
from .joining.tables import collect_table
from .logs import Log, LogFinding, LogRun, Sums, read_log
from .metrics_used import benchmarks_of, mixed_metrics
from .store import ResultsFile


@dataclass(frozen=True, slots=True)
class JoinOptions:
    """How to join."""

    wanted: Wanted = field(default_factory=Wanted)
    """Metrics and filters that were asked for."""
    benchmark: str | None = None
    """The project's benchmark of all results; found by the items when not given."""
    min_joined: float = 0.9
    """The share of a task's results that has to join, of each model."""
    renamed: Mapping[str, str] = field(default_factory=dict)
    """What models are to be called, by the name that the logs have."""
    models: tuple[str, ...] = ()
    """Only these models; all when empty."""


@dataclass(frozen=True, slots=True, eq=False)
class Joined:
    """What the join gives."""

    tables: dict[str, pa.Table]
    """Results tables (``RESULTS_SCHEMA``) by their origin."""
    report: JoinReport


class Join:
    """Reads results one source after the other; ``finish`` joins them."""

    def __init__(self, items: ProjectItems, options: JoinOptions | None = None) -> None:
        self._items, self._options = items, options or JoinOptions()
        self._matcher = Matcher(items)
        self._models = ModelNames(self._options.renamed, self._options.models)
        self._runs: list[CollectedRun] = []
        self._origins: dict[str, str] = {}
        self.findings: list[LogFinding] = []
        self.skipped: list[str] = []

    def add_log(self, log: Log, origin: str) -> Iterator[int]:
        """Read one log; give the number of rows of each part that was read.

        Args:
            log: the log.
            origin: what the results table is called that its results go to.
        """
        collectors: dict[tuple[str, str], RunCollector] = {}
        sums = Sums()
        wanted = self._options.models
        columns = [old for old, new in self._options.renamed.items() if new in wanted]
        for event in read_log(log, (*wanted, *columns) if wanted else ()):
            if isinstance(event, LogFinding):
                self.findings.append(event)
                continue
            run = event.run
            key = run.run, run.benchmark
            if key not in collectors:
                self._origins[run.source_file] = origin
                collectors[key] = RunCollector(run, self._find, self._models)
            if run.stated:
                sums.add(event)
            yield collectors[key].add(event)
        runs = [collector.finished() for collector in collectors.values()]
        self._runs += [run for run in runs if len(run.rows.doc)]
        self.findings += sums.findings()

    def add_table(self, path: Path, table: pa.Table, origin: str) -> None:
        """Take a table that ``tidy.read_tidy`` has read."""
        self._origins[str(path)] = origin
        self._runs += collect_table(path, table, self._matcher, self._items, self._models)

    def _find(self, item: LoggedItem, run: LogRun) -> int:
        if run.source_format in TABLES:
            benchmark = self._options.benchmark or self._items.benchmark_called(run.benchmark)
            return self._matcher.code(self._matcher.tabled(benchmark, item.doc_id))
        return self._matcher.code(self._matcher.logged(item, run.source_format))

    def finish(self, present: Mapping[str, ResultsFile] | None = None) -> Joined:
        """Join what was read.

        Args:
            present: results that the project has already, by file; none of them is added again.

        Raises:
            InputError: a metric, a filter, a model or a benchmark that was asked for is nowhere.
        """
        self._models.check()
        answers, names = self._matcher.answers, self._models.texts
        chosen = choose_metrics(self._runs, self._options.wanted)
        landings, doubts = land(self._runs, answers, self._items, self._options.benchmark)
        choices = {one.task: one for one in chosen if isinstance(one, Choice)}
        segments, reruns = last_runs(self._segments(choices, landings))
        parts = [merge(segment) for segment in segments]
        fit = [part for part in parts if part.share >= self._options.min_joined]
        low = [part for part in parts if part.share < self._options.min_joined]
        reconcile(fit, len(self._items.ids))
        repeated = leave_repeated(fit, present or {}, self._items, names)
        tables = self._tables([part.kept for part in fit])
        tally = Tally(self._items, names)
        for added, own in ((True, fit), (False, low)):
            for part in own:
                tally.add(part, added=added)
        report = JoinReport(
            benchmarks=tally.benchmarks(),
            models=tally.models(),
            choices=tuple(choices.values()),
            landings={task: own.benchmark for task, own in landings.items() if own.benchmark},
            found_by=ways_found(self._runs, answers, landings, self._items),
            examples=unknown_items(parts),
            reruns=tuple((names[rerun.model], rerun) for rerun in reruns),
            refused=(
                *(one for one in chosen if isinstance(one, Refusal)),
                *lacking(self._runs, choices),
                *doubts,
            ),
            below_share=below_share(low),
            conflicts=tuple(self._conflict(one) for part in parts for one in part.examples),
            findings=(*self.findings, *self._doubtful_names(present or {})),
            skipped=tuple(self.skipped),
            repeated=tuple(repeated),
            mixed=mixed_metrics({**(present or {}), **tables}, benchmarks_of(tables)),
        )
        return Joined(tables, report)

    def _doubtful_names(self, present: Mapping[str, ResultsFile]) -> Iterator[LogFinding]:
        """Names of models, and of items that the project does not have, that look the same."""
        known = (file.distinct("model") for file in present.values())
        yield from self._models.findings(name for names in known for name in names)
        added = self._items.added()
        benchmarks = {*self._items.names, *added}
        yield from alike(benchmarks, "benchmarks", "mend the names, or use --benchmark", new=added)
        mend = "mend the ids: they count as different items"
        for benchmark, ids in added.items():
            yield from alike(ids, f"items of {benchmark!r}", mend)

    def _segments(
        self, choices: Mapping[Task, Choice], landings: Mapping[Task, Landing]
    ) -> Iterator[Segment]:
        resolver = Resolver(self._items, self._matcher.answers)
        for run in self._runs:
            if run.task in choices and run.task in landings:
                landing = landings[run.task]
                found = resolver.items_of(run, landing)
                yield from segments_of(run, choices[run.task], found, landing.benchmark)

    def _conflict(self, found: Contradiction) -> Conflict:
        model = self._models.texts[found.model]
        return Conflict(model, self._items.ids[found.item], found.sources, found.scores)

    def _tables(self, segments: Sequence[Segment]) -> dict[str, pa.Table]:
        by_origin: dict[str, list[Segment]] = defaultdict(list)
        for segment in segments:
            if len(segment):
                by_origin[self._origins[segment.run.source_file]].append(segment)
        models = self._models.texts
        return {
            origin: results_table(own, self._items, models) for origin, own in by_origin.items()
        }
