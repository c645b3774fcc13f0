"""What ``benchprism results add`` says: decisions and findings on stderr, counts on stdout."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import TYPE_CHECKING

from benchprism.cli.output import counted, print_json, print_table, say

if TYPE_CHECKING:
    from benchprism.records.results.join import Joined
    from benchprism.records.results.joining.report import Counts, JoinReport
    from benchprism.records.results.joining.reruns import Rerun

_COUNTS = (
    "read", "joined", "not_joined", "duplicated", "conflicting", "unscored", "errored",
)  # fmt: skip
_SHOWN = 20
"""Lines of a kind that are shown; the rest is counted."""


def print_report(joined: Joined, *, as_json: bool) -> None:
    """Print what became of the results."""
    report = joined.report
    if as_json:
        rows = {name: len(table) for name, table in joined.tables.items()}
        print_json({"files": rows, **report.as_json()})
        return
    for line in _said(report):
        say(line)
    if report.benchmarks:
        print_table(
            ["benchmark", "models", "items", *(name.replace("_", " ") for name in _COUNTS)],
            [
                (row.benchmark, row.models, _covered(row.items, row.of_items), *_cells(row.counts))
                for row in report.benchmarks
            ],
        )
    _print_models(report)
    for name, table in joined.tables.items():
        say(f"Added {counted(len(table), 'result')} as {name}")
    for one in report.repeated:
        of = counted(one.models, "model")
        say(f"{counted(one.results, 'result')} of {of} not added: {one.file} has the same already")
    if not joined.tables:
        empty = "" if report.benchmarks or report.findings else ": there is no result in the files"
        say(f"Nothing was added{empty}.")
    else:
        say("Next: benchprism results models --write, then benchprism score")


def _covered(items: int, of_items: int | None) -> str:
    return f"{items}" if of_items is None else f"{items} of {of_items}"


def _cells(counts: Counts) -> list[int]:
    return [getattr(counts, name) for name in _COUNTS]


def _print_models(report: JoinReport) -> None:
    """The models of which something is missing."""
    rows = [row for row in report.models if not (row.added and row.counts.is_clean)]
    if rows:
        print_table(
            ["model", "benchmark", "added", *(name.replace("_", " ") for name in _COUNTS)],
            [
                (row.model, row.benchmark, "yes" if row.added else "no", *_cells(row.counts))
                for row in rows[:_SHOWN]
            ],
            title="Models with results that did not join, or have no score",
        )
    if len(rows) > _SHOWN:
        say(f"{len(rows) - _SHOWN} more of such models; --json lists all")


def _said(report: JoinReport) -> Iterable[str]:
    yield from _choices(report)
    yield from _reruns(report)
    for benchmark, ways in report.found_by.items():
        found = ", ".join(f"{count} by {_WAYS[how]}" for how, count in ways.items() if how in _WAYS)
        if found:
            yield f"{benchmark}: items found: {found}"
    for row in report.benchmarks:
        if not row.in_project and row.items:
            yield (
                f"{row.benchmark}: the project has no items of it; ids are kept as they are"
                " (--benchmark NAME joins them to one that it has)"
            )
    if report.skipped:
        names = ", ".join(report.skipped[:3]) + (", ..." if report.skipped[3:] else "")
        yield f"{counted(len(report.skipped), 'file')} in no known format left aside ({names})"
    yield from _limited(
        f"{one.task}: {one.joined} of {one.read} results of {counted(one.models, 'model')} join,"
        " which is too few; add the items, or lower --min-joined"
        for one in report.below_share
    )
    for task, examples in report.examples.items():
        yield f"{task}: not in the project, for example: {'; '.join(examples)}"
    yield from _limited(map(str, report.refused))
    yield from _limited(
        f"{one.model!r} has contradicting scores for {one.item_id!r}: "
        f"{' and '.join(f'{score:g}' for score in one.scores)} in {' and '.join(one.sources)}"
        for one in report.conflicts
    )
    yield from _findings(report)


_WAYS = {
    "id": "id",
    "content": "content",
    "source_id": "source id",
    "processed": "processed form",
    "choice_order": "content with choices in another order",
    "question": "question alone",
}


def _choices(report: JoinReport) -> Iterable[str]:
    """One line for the tasks of a benchmark that have the same metric and filter."""
    groups: dict[tuple[str, str, str, str, str], list[str]] = defaultdict(list)
    others: dict[tuple[str, str, str, str, str], dict[str, None]] = defaultdict(dict)
    for choice in report.choices:
        if choice.task.format == "tidy":
            continue
        benchmark = report.landings.get(choice.task, "")
        key = (benchmark, choice.task.format, *choice.pair, choice.why)
        groups[key].append(choice.task.name)
        others[key].update(dict.fromkeys(" ".join(filter(None, pair)) for pair in choice.others))
    for key, tasks in groups.items():
        benchmark, format_name, metric, kept, why = key
        named = tasks[0] if len(tasks) == 1 else f"{len(tasks)} tasks such as {tasks[0]}"
        after = f", filter {kept}" if kept else ""
        left = f"; not {', '.join(others[key])}" if others[key] else ""
        lands = f" -> {benchmark}" if benchmark else ""
        yield f"{named} ({format_name}){lands}: metric {metric}{after} ({why}{left})"
    for benchmark, metrics in report.mixed.items():
        ways = ", ".join(map(str, metrics))
        yield f"{benchmark}: results are of different metrics, which need not compare: {ways}"


def _reruns(report: JoinReport) -> Iterable[str]:
    """One line for the tasks of a model that the same run counts for."""
    groups: dict[tuple[str, str, int, bool], list[Rerun]] = defaultdict(list)
    for model, rerun in report.reruns:
        groups[model, rerun.used, rerun.runs, rerun.is_last].append(rerun)
    yield from _limited(_rerun_line(*key, own) for key, own in groups.items())


def _rerun_line(model: str, used: str, runs: int, is_last: bool, own: list[Rerun]) -> str:
    task = own[0].task if len(own) == 1 else f"{len(own)} tasks such as {own[0].task}"
    which = "the last" if is_last else "the last complete one"
    shots = sorted({number for rerun in own for number in rerun.shots})
    prompts = f"; they differ in examples in the prompt: {shots}" if shots else ""
    return f"{model}, {task}: {runs} runs; {which} is used, {used} ({own[0].file}){prompts}"


def say_findings(joined: Joined) -> None:
    """Say what was found in reading."""
    for line in _findings(joined.report):
        say(line)


def _findings(report: JoinReport) -> Iterable[str]:
    yield from _limited(map(str, report.findings))


def _limited(lines: Iterable[str]) -> Iterable[str]:
    every = list(lines)
    yield from every[:_SHOWN]
    if len(every) > _SHOWN:
        yield f"... and {len(every) - _SHOWN} more of this kind; --json lists all"
