"""From candidates to items: the benchmark where most of a task's items land, then one item each."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...errors import InputError, suggestion
from .collected import CollectedRun, Docs, Task
from .items import ProjectItems, plain_name
from .matching import Candidates
from .metric_choice import Refusal

UNKNOWN = -1
"""In place of an item that the project does not have."""


@dataclass(frozen=True, slots=True)
class Landing:
    """Where a task's items are."""

    benchmark: str | None
    """None when the project has none of them."""
    is_in_project: bool = True
    """False for a table whose benchmark the project has no items of: its ids are kept."""


def land(
    runs: Sequence[CollectedRun],
    answers: Sequence[Candidates],
    items: ProjectItems,
    benchmark: str | None,
) -> tuple[dict[Task, Landing], list[Refusal]]:
    """Find the benchmark of each task.

    Args:
        runs: what was read.
        answers: the candidates, by code.
        items: the project's items.
        benchmark: the benchmark of all tasks, where the user states it.

    Returns:
        The tasks' benchmarks, and the tasks that could be of several.

    Raises:
        InputError: the stated benchmark is not in the project.
    """
    votes = _votes(runs, answers, items)
    names: dict[Task, set[str]] = defaultdict(set)
    for run in runs:
        names[run.task] |= {run.run.benchmark, *run.run.groups}
    tables = {run.task for run in runs if run.is_table}
    landings, refusals = {}, []
    for task, own in names.items():
        found = _most(votes[task], own, items)
        if benchmark is not None:
            landings[task] = _stated(benchmark, items, task in tables)
        elif len(found) > 1:
            refusals.append(_doubt(task, found))
        elif found:
            landings[task] = Landing(found[0])
        else:
            keeps = task in tables and items.benchmark_called(task.name) is None
            landings[task] = Landing(task.name if keeps else None, is_in_project=not keeps)
    return landings, refusals


def _votes(
    runs: Sequence[CollectedRun], answers: Sequence[Candidates], items: ProjectItems
) -> dict[Task, Counter[str]]:
    """For each task, how many of its items each benchmark has.

    An item that is named by the project's id is where it is, whatever the others; such items vote
    only where there are no others, and then for one benchmark.
    """
    votes: dict[Task, Counter[str]] = defaultdict(Counter)
    named: dict[Task, Counter[str]] = defaultdict(Counter)
    for run in runs:
        codes, counts = np.unique(run.docs.answer, return_counts=True)
        for code, count in zip(codes.tolist(), counts.tolist(), strict=True):
            answer = answers[code]
            owners = {items.benchmarks[at] for at in answer.items}
            box = named if answer.how == "id" else votes
            box[run.task].update(dict.fromkeys(owners, count))
    for task, own in named.items():
        votes[task] = votes[task] or Counter(dict(own.most_common(1)))
    return votes


def _stated(benchmark: str, items: ProjectItems, is_table: bool) -> Landing:
    if benchmark not in items.names and not is_table:
        raise InputError(
            f"--benchmark {benchmark!r}",
            wanted="a benchmark whose items the project has",
            mend=suggestion(benchmark, items.names)
            if items.names
            else "add its items first with 'benchprism items add'",
        )
    return Landing(benchmark, is_in_project=benchmark in items.names)


def _most(votes: Counter[str], names: set[str], items: ProjectItems) -> list[str]:
    """The benchmark with most votes; of several, the one that the task is called after."""
    ranked = votes.most_common()
    found = [name for name, count in ranked if count == ranked[0][1]]
    if len(found) > 1:
        called = [name for name in found if name in {items.benchmark_called(own) for own in names}]
        return called[:1] or sorted(found)
    return found


def _doubt(task: Task, found: Sequence[str]) -> Refusal:
    return Refusal(
        task,
        f"items that are in {' and in '.join(map(repr, found))} alike",
        "one benchmark",
        f"say which with --benchmark, as in --benchmark {found[0]}",
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Answers:
    """All answers, restricted to one benchmark."""

    items: list[tuple[int, ...]]
    single: NDArray[np.int32]
    are_several: NDArray[np.bool_]


class Resolver:
    """Chooses one item of the candidates of each of a run's items."""

    def __init__(self, items: ProjectItems, answers: Sequence[Candidates]) -> None:
        self._items, self._answers = items, answers
        self._foreign: dict[str, dict[str, int]] = defaultdict(dict)
        self._by_benchmark: dict[str | None, _Answers] = {}

    def items_of(self, run: CollectedRun, landing: Landing) -> NDArray[np.int32]:
        """The item of each of a run's items, or ``UNKNOWN``."""
        if not landing.is_in_project:
            return self._kept(landing.benchmark or "", run.docs.names)
        own = self._answers_of(landing.benchmark)
        found: NDArray[np.int32] = own.single[run.docs.answer]
        used = set(found.tolist())
        for doc in np.flatnonzero(own.are_several[run.docs.answer]).tolist():
            code = int(run.docs.answer[doc])
            found[doc] = self._one(own.items[code], self._answers[code].how, run, doc, used)
            used.add(int(found[doc]))
        return found

    def _answers_of(self, benchmark: str | None) -> _Answers:
        if benchmark not in self._by_benchmark:
            within = [self._within(answer, benchmark) for answer in self._answers]
            single = [own[0] if len(own) == 1 else UNKNOWN for own in within]
            several = [len(own) > 1 for own in within]
            self._by_benchmark[benchmark] = _Answers(
                within, np.array(single, dtype=np.int32), np.array(several)
            )
        return self._by_benchmark[benchmark]

    def _within(self, answer: Candidates, benchmark: str | None) -> tuple[int, ...]:
        """Candidates of the task's benchmark; an item named by its id may be of any."""
        if answer.how == "id":
            return answer.items
        return tuple(at for at in answer.items if self._items.benchmarks[at] == benchmark)

    def _one(
        self, found: Sequence[int], how: str, run: CollectedRun, doc: int, used: set[int]
    ) -> int:
        """Of items with the same content: that of the same subset and row, else the next one."""
        named = self._of_subset(found, run.run.benchmark, run.docs, doc)
        number = str(run.docs.number[doc])
        placed = [at for at in named if self._items.rows[at] == number]
        if len(placed) == 1:
            return placed[0]
        if len(named) == 1:
            return named[0]
        if how == "question":
            return UNKNOWN
        return next((at for at in named if at not in used), named[0])

    def _of_subset(self, found: Sequence[int], task: str, docs: Docs, doc: int) -> list[int]:
        subset, whole = plain_name(docs.subsets[docs.subset[doc]]), plain_name(task)
        subsets = self._items.subsets
        named = [at for at in found if subset and subsets[at] == subset]
        ending = [at for at in found if subsets[at] and whole.endswith(subsets[at])]
        return named or ending or list(found)

    def _kept(self, benchmark: str, names: Sequence[str]) -> NDArray[np.int32]:
        known = self._foreign[benchmark]
        new = [name for name in dict.fromkeys(names) if name not in known]
        start = self._items.add(benchmark, new)
        known.update({name: start + at for at, name in enumerate(new)})
        return np.array([known[name] for name in names], dtype=np.int32)
