"""``benchprism annotate``: ask annotators about the items, and say where that stands."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from benchprism.cli.options import HERE, JsonOption, ProjectOption
from benchprism.cli.output import print_json, print_table, progress, say
from benchprism.project import Project, find_project
from benchprism.records.errors import InputError, suggestion

if TYPE_CHECKING:
    import pyarrow as pa

    from benchprism.annotate.annotator import Annotator, Summary
    from benchprism.annotate.outcome import Status
    from benchprism.annotate.replay import Recordings
    from benchprism.annotate.standing import Standing, ValueCount

group = typer.Typer(invoke_without_command=True)

BenchmarkOption = Annotated[
    list[str] | None,
    typer.Option("--benchmark", "-b", help="Only this benchmark; may be given again."),
]


def register(app: typer.Typer) -> None:
    """Add the commands to the command line."""
    app.add_typer(group, name="annotate")


@group.callback()
def annotate(
    context: typer.Context,
    annotator: Annotated[
        list[str] | None,
        typer.Option("--annotator", "-a", help="Only this annotator; may be given again."),
    ] = None,
    benchmark: BenchmarkOption = None,
    only: Annotated[
        Path | None, typer.Option(help="Only the items whose ids this file lists, one a line.")
    ] = None,
    limit: Annotated[
        int | None, typer.Option(min=1, help="At most so many items of each benchmark.")
    ] = None,
    retry_failed: Annotated[
        str, typer.Option(help="Ask again where it ended so: truncated,invalid or all.")
    ] = "",
    replay: Annotated[
        Path | None, typer.Option(help="Replay recorded annotations in place of a model.")
    ] = None,
    concurrency: Annotated[
        int | None, typer.Option(min=1, max=1000, help="Requests in flight at once.")
    ] = None,
    project: ProjectOption = HERE,
    json: JsonOption = False,
) -> None:
    """Ask the annotators about every item that the ledger does not have yet.

    It may be interrupted or killed at any moment and run again: what came is saved.

    Example: benchprism annotate --limit 20
    """
    if context.invoked_subcommand is not None:
        return
    retry = _statuses(retry_failed)
    opened = find_project(project)
    items = _chosen_items(opened, benchmark or [], only, limit)
    recordings = _recordings(replay) if replay else None
    if recordings is not None:
        items = _recorded(items, recordings)
    with _annotators(opened, recordings, annotator or [], concurrency) as annotators:
        summaries = [*_run(opened, annotators, items, retry)]
    if json:
        print_json([_summary(summary) for summary in summaries])
    _say_what_is_next(summaries)


@group.command()
def status(
    attributes: Annotated[
        bool, typer.Option("--attributes", help="Show the values of each attribute too.")
    ] = False,
    project: ProjectOption = HERE,
    json: JsonOption = False,
) -> None:
    """Count items and values by annotator, benchmark, attribute and status, and the tokens spent.

    Example: benchprism annotate status --json
    """
    from benchprism.annotate.ledger import Ledger
    from benchprism.annotate.standing import declined_notes, standing
    from benchprism.cli.gather import project_catalogue

    opened = find_project(project)
    with Ledger(opened.ledger) as ledger:
        now = standing(ledger)
    notes = [*_replay_notes(now), *declined_notes(now.values, project_catalogue(opened))]
    if json:
        print_json({**_standing(now), "notes": notes})
        return
    if not now.annotators:
        say("Nothing is annotated yet. Next: benchprism annotate")
        return
    _print_standing(now)
    if attributes:
        _print_attributes(now.values)
    for note in notes:
        say(f"Note: {note}.")


def _statuses(text: str) -> frozenset[Status]:
    from benchprism.annotate.outcome import FAILURES

    named = [name.strip() for name in text.split(",") if name.strip()]
    if named == ["all"]:
        return frozenset(FAILURES)
    for name in named:
        if name not in FAILURES:
            raise InputError(
                f"--retry-failed {name!r}",
                wanted="'all' or failures with commas between them",
                mend=suggestion(name, FAILURES),
            )
    return frozenset(status for status in FAILURES if status in named)


def _chosen_items(
    project: Project, benchmarks: Sequence[str], only: Path | None, limit: int | None
) -> pa.Table:
    import pyarrow as pa
    import pyarrow.compute as pc

    from benchprism.records.items.store import project_items

    items = project_items(project.items, benchmarks)
    if only is not None:
        wanted = _listed_ids(only, items["item_id"].to_pylist())
        items = items.filter(pc.is_in(items["item_id"], value_set=pa.array(wanted, pa.string())))
    if limit is not None:
        names = pc.unique(items["benchmark"])
        parts = [items.filter(pc.equal(items["benchmark"], name))[:limit] for name in names]
        items = pa.concat_tables(parts) if parts else items
    return items


def _listed_ids(path: Path, known: Sequence[str]) -> list[str]:
    try:
        lines = path.read_text(encoding="utf-8-sig").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "not UTF-8 text"
        raise InputError(
            f"{path} cannot be read ({reason})",
            wanted="item ids, one a line",
            mend="check the path",
        ) from error
    ids = set(known)
    wanted = {line.strip(): number for number, line in enumerate(lines, 1) if line.strip()}
    for item_id, number in wanted.items():
        if item_id not in ids:
            raise InputError(
                f"{path}, line {number}: the unknown item {item_id!r}",
                wanted="an id of the project's items",
                mend="'benchprism items list' shows the benchmarks that are there",
            )
    return list(wanted)


def _recordings(path: Path) -> Recordings:
    from benchprism.annotate.replay import read_recordings

    say(f"A replay of annotations recorded in {path.name}: no model is asked.")
    return read_recordings(path)


def _recorded(items: pa.Table, recordings: Recordings) -> pa.Table:
    import pyarrow as pa
    import pyarrow.compute as pc

    known = pc.is_in(items["content_hash"], value_set=pa.array(recordings, pa.string()))
    recorded = items.filter(known)
    if recorded.num_rows < items.num_rows:
        say(f"{items.num_rows - recorded.num_rows} items have no recording and are left out.")
    return recorded


@contextmanager
def _annotators(
    project: Project, recordings: Recordings | None, names: Sequence[str], concurrency: int | None
) -> Iterator[list[Annotator]]:
    from benchprism.annotate.replay import serving
    from benchprism.cli.annotators import project_annotators, replay_annotators

    if recordings is None:
        yield project_annotators(project, names, concurrency)
        return
    with serving(recordings) as server:
        yield replay_annotators(server, names, concurrency)


def _run(
    project: Project, annotators: Iterable[Annotator], items: pa.Table, retry: frozenset[Status]
) -> Iterator[Summary]:
    from benchprism.annotate.annotator import Signs, run_annotator
    from benchprism.annotate.attribute_table import check_names
    from benchprism.cli.gather import project_catalogue

    catalogue = project_catalogue(project)
    check_names(catalogue)
    for annotator in annotators:
        with progress(annotator.name, items.num_rows) as step:
            summary = run_annotator(
                annotator,
                items,
                catalogue,
                project.ledger,
                retry=retry,
                signs=Signs(step, _halting),
            )
        _say_summary(summary)
        if summary.interrupted:
            say(f"Interrupted; what came is saved. To go on: {_this_command()}")
            raise typer.Exit(130)
        yield summary


def _halting() -> None:
    say("Finishing what is in flight; interrupt again to leave it.")


def _this_command() -> str:
    return shlex.join(["benchprism", *sys.argv[1:]])


def _say_summary(summary: Summary) -> None:
    ended = ", ".join(f"{count} {status}" for status, count in summary.statuses.most_common())
    say(
        f"{summary.annotator}: {summary.asked} items asked{f' ({ended})' if ended else ''},"
        f" {summary.already} were in the ledger; {summary.prompt_tokens} prompt tokens"
        f" ({summary.cached_tokens} cached), {summary.completion_tokens} completion tokens"
    )


def _say_what_is_next(summaries: Sequence[Summary]) -> None:
    failed = sorted({s for summary in summaries for s in summary.statuses if s != "ok"})
    if failed:
        say(f"To ask again where it failed: benchprism annotate --retry-failed={','.join(failed)}")
    say("Next: benchprism annotate status; benchprism compose criteria/reasoning.yaml")


def _summary(summary: Summary) -> dict[str, Any]:
    return {**asdict(summary), "asked": summary.asked, "statuses": dict(summary.statuses)}


def _standing(now: Standing) -> dict[str, Any]:
    annotators = [{**asdict(one), "replayed": one.replayed} for one in now.annotators]
    return {**asdict(now), "annotators": annotators}


def _replay_notes(now: Standing) -> list[str]:
    return [
        f"{one.annotator} is a replay of recorded annotations; its token counts are estimates"
        for one in now.annotators
        if one.replayed
    ]


def _print_standing(now: Standing) -> None:
    counts = [((one.annotator, one.benchmark), one.status, one.items) for one in now.items]
    _print_pivot(["annotator", "benchmark"], counts, "Items")
    print_table(
        ["annotator", "model", "replies", "prompt tokens", "cached", "completion tokens"],
        [
            (a.annotator, a.model, a.replies, a.prompt_tokens, a.cached_tokens, a.completion_tokens)
            for a in now.annotators
        ],
        title="Replies",
    )


def _print_attributes(values: Sequence[ValueCount]) -> None:
    counts = [((one.annotator, one.attribute), one.status, one.values) for one in values]
    _print_pivot(["annotator", "attribute"], counts, "Values")


def _print_pivot(
    columns: Sequence[str], counts: Sequence[tuple[tuple[str, str], Status, int]], title: str
) -> None:
    """Print counts with a column for each status that occurs."""
    from benchprism.annotate.outcome import STATUSES

    shown = [status for status in STATUSES if any(status == other for _, other, _ in counts)]
    rows: dict[tuple[str, str], dict[Status, int]] = {}
    for key, ended, count in counts:
        row = rows.setdefault(key, {})
        row[ended] = row.get(ended, 0) + count
    print_table(
        [*columns, "all", *shown],
        [(*key, sum(row.values()), *(row.get(s, 0) for s in shown)) for key, row in rows.items()],
        title=title,
    )
