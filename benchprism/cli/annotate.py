"""``benchprism annotate``: ask annotators about the items, within a budget, and merge ledgers."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from benchprism.cli.annotation_job import Job, check, job_estimates, make_job
from benchprism.cli.annotation_status import status
from benchprism.cli.batches import BatchStep, run_batches
from benchprism.cli.chosen_items import chosen_items, recorded_items
from benchprism.cli.estimates import confirm, print_estimates
from benchprism.cli.options import (
    HERE,
    BenchmarkOption,
    JsonOption,
    LimitOption,
    OnlyOption,
    ProjectOption,
)
from benchprism.cli.output import print_json, progress, say, this_command
from benchprism.cli.propose import propose
from benchprism.project import Project, find_project
from benchprism.records.errors import EndpointError, InputError, suggestion

if TYPE_CHECKING:
    from benchprism.annotate.asking.annotator import Annotator
    from benchprism.annotate.asking.recorder import Signs, Summary
    from benchprism.annotate.ledger.outcome import Status
    from benchprism.annotate.ledger.shards import Shard
    from benchprism.annotate.replay import Recordings

group = typer.Typer(invoke_without_command=True)
group.command()(status)
group.command()(propose)


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
    only: OnlyOption = None,
    limit: LimitOption = None,
    retry_failed: Annotated[
        str, typer.Option(help="Ask again where it ended so: truncated,invalid or all.")
    ] = "",
    replay: Annotated[
        Path | None, typer.Option(help="Replay recorded annotations in place of a model.")
    ] = None,
    gguf: Annotated[
        Path | None,
        typer.Option(help="Serve this GGUF model on this machine and ask it; extra 'local'."),
    ] = None,
    concurrency: Annotated[
        int | None, typer.Option(min=1, max=1000, help="Requests in flight at once.")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print calls, tokens and price, and ask nothing.")
    ] = False,
    budget: Annotated[
        float | None,
        typer.Option(min=0, help="The most that the ledger's replies may cost in all; a hard cap."),
    ] = None,
    yes: Annotated[
        bool, typer.Option("--yes", help="Do not ask whether it may cost that.")
    ] = False,
    shard: Annotated[
        str, typer.Option(help="Only this part of the items, such as 2/8, in a ledger of its own.")
    ] = "",
    ledger: Annotated[
        Path | None,
        typer.Option(help="Write this ledger; what the project's ledger has is not asked again."),
    ] = None,
    batch: Annotated[
        BatchStep | None,
        typer.Option(help="Use the Batch API: send what is missing, look, collect, let go."),
    ] = None,
    batch_id: Annotated[
        str, typer.Option(help="With --batch forget: let go of this batch, whatever its state.")
    ] = "",
    ray: Annotated[
        str,
        typer.Option(help="Ask from the workers of the Ray cluster at this address, or 'auto'."),
    ] = "",
    project: ProjectOption = HERE,
    json: JsonOption = False,
) -> None:
    """Ask the annotators about every item that the ledger does not have yet.

    It may be interrupted or killed at any moment and run again: what came is saved. The exit code
    is 0 when every request is answered, 1 when some failed or wait in a batch.

    Example: benchprism annotate --limit 20 --budget 5.00
    """
    if context.invoked_subcommand is not None:
        return
    _one_way(
        batch=batch is not None, ray=bool(ray), replay=replay is not None, gguf=gguf is not None
    )
    if bool(batch_id) != (batch is BatchStep.forget):
        raise InputError(
            "--batch-id without --batch forget" if batch_id else "--batch forget and no --batch-id",
            wanted="both",
            mend="to see the ids: benchprism annotate --batch status",
        )
    retry = _statuses(retry_failed)
    opened = find_project(project)
    items = chosen_items(opened, benchmark or [], only, limit)
    recordings = _recordings(replay) if replay else None
    if recordings is not None:
        items = recorded_items(items, recordings)
    job = make_job(
        opened, items, ledger=ledger, shard=_shard(shard), retry=retry, budget=budget, ray=ray
    )
    if gguf is None:
        asked = _annotators(opened, recordings, annotator or [], concurrency, keyless=dry_run)
    else:
        asked = _served(gguf, concurrency or 1)
    with asked as annotators:
        if dry_run:
            found = job_estimates(job, annotators, others=True, batch=batch is not None)
            print_estimates([*found], json=json)
            return
        if batch is not None:
            run_batches(job, annotators, batch, batch_id=batch_id, yes=yes, json=json)
            return
        check(job, annotators)
        priced = [one for one in annotators if one.price is not None]
        confirm([*job_estimates(job, priced)], opened.settings.confirm_above, yes=yes)
        summaries = [*_run(job, annotators)]
    if json:
        print_json([_summary(summary) for summary in summaries])
    _refuse_useless(summaries)
    _say_what_is_next(summaries, job)
    if not all(summary.complete for summary in summaries):
        raise typer.Exit(1)


@group.command()
def merge(
    ledgers: Annotated[list[Path], typer.Argument(help="Ledgers of shards.", metavar="LEDGER...")],
    project: ProjectOption = HERE,
) -> None:
    """Add what other ledgers have to the project's; merging again changes nothing.

    Example: benchprism annotate merge shards/*.sqlite
    """
    from benchprism.annotate.ledger.claim import claimed
    from benchprism.annotate.ledger.store import Ledger

    opened = find_project(project)
    with claimed(opened.ledger), Ledger(opened.ledger, write=True) as ledger:
        for path in ledgers:
            say(f"{path}: {ledger.merge(path)} replies are new.")
    say("Next: benchprism annotate status")


def _one_way(**ways: bool) -> None:
    named = [f"--{way}" for way, taken in ways.items() if taken]
    if len(named) > 1:
        raise InputError(
            f"{' and '.join(named)} together",
            wanted="one way to get replies",
            mend="leave one of them out",
        )


def _statuses(text: str) -> frozenset[Status]:
    from benchprism.annotate.ledger.outcome import FAILURES

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


def _shard(text: str) -> Shard | None:
    from benchprism.annotate.ledger.shards import shard_of

    return shard_of(text) if text else None


def _recordings(path: Path) -> Recordings:
    from benchprism.annotate.replay import read_recordings

    say(f"A replay of annotations recorded in {path.name}: no model is asked.")
    return read_recordings(path)


@contextmanager
def _annotators(
    project: Project,
    recordings: Recordings | None,
    names: Sequence[str],
    concurrency: int | None,
    *,
    keyless: bool,
) -> Iterator[list[Annotator]]:
    from benchprism.annotate.replay import serving
    from benchprism.cli.annotators import project_annotators, replay_annotators

    if recordings is None:
        yield project_annotators(project, names, concurrency, keyless=keyless)
        return
    with serving(recordings) as server:
        yield replay_annotators(server, names, concurrency)


@contextmanager
def _served(gguf: Path, concurrency: int) -> Iterator[list[Annotator]]:
    from benchprism.annotate.keyless.local_server import local_server
    from benchprism.cli.annotators import served_annotator

    with local_server(gguf, parallel=concurrency) as server:
        yield [served_annotator(server, concurrency)]


def _run(job: Job, annotators: Iterable[Annotator]) -> Iterator[Summary]:
    from benchprism.annotate.asking.recorder import Signs

    for annotator in annotators:
        requests = annotator.plan(job.catalogue).count(job.items)
        with progress(annotator.name, requests) as step:
            summary = _annotated(job, annotator, Signs(step, _halting, say))
        _say_summary(summary)
        for note in summary.notes:
            say(f"Learned of {annotator.endpoint.model}: {note}.")
        if summary.interrupted:
            say(f"Interrupted; what came is saved. To go on: {this_command()}")
            raise typer.Exit(130)
        yield summary


def _annotated(job: Job, annotator: Annotator, signs: Signs) -> Summary:
    """Annotate here, or on a cluster."""
    from benchprism.annotate.asking.annotator import run_annotator
    from benchprism.annotate.cluster.ray_data import annotate_on_ray

    annotate = partial(annotate_on_ray, address=job.ray) if job.ray else run_annotator
    return annotate(
        annotator,
        job.items,
        job.catalogue,
        job.ledger,
        retry=job.retry,
        known=job.known,
        budget=job.budget,
        signs=signs,
    )


def _halting() -> None:
    say("Finishing what is in flight; interrupt again to leave it.")


def _say_summary(summary: Summary) -> None:
    from benchprism.annotate.money.prices import money

    price = "" if summary.price is None else f"; price {money(summary.price)}"
    waiting = f", {summary.waiting} wait in a batch" if summary.waiting else ""
    say(
        f"{summary.annotator}: {summary.asked} items asked{_ends(summary.statuses)},"
        f" {summary.already} were in the ledger{_ends(summary.failed_before)}{waiting};"
        f" {summary.prompt_tokens} prompt tokens ({summary.cached_tokens} cached),"
        f" {summary.completion_tokens} completion tokens{price}"
    )
    for reason, count in summary.reasons.most_common(3):
        say(f"  {count} × {' '.join(reason.split())[:200]}")


def _ends(statuses: Counter[Status]) -> str:
    ended = ", ".join(f"{count} {status}" for status, count in statuses.most_common())
    return f" ({ended})" if ended else ""


def _refuse_useless(summaries: Sequence[Summary]) -> None:
    for summary in summaries:
        if summary.useless:
            why = next(iter(summary.reasons.most_common(1)), ("no reason is given", 0))[0]
            raise EndpointError(
                f"none of {summary.asked} requests of {summary.annotator} gave an annotation"
                f" ({' '.join(why.split())[:200]})",
                wanted="an OpenAI-compatible endpoint whose model answers in JSON",
                mend="check model and base_url in benchprism.yaml, then add --retry-failed=all",
            )


def _say_what_is_next(summaries: Sequence[Summary], job: Job) -> None:
    from benchprism.annotate.ledger.outcome import FAILURES

    ended = {s for summary in summaries for s in (*summary.statuses, *summary.failed_before)}
    failed = sorted(ended.intersection(FAILURES))
    if "too_long" in failed:
        failed.remove("too_long")
        say("Items too long are asked once max_prompt_characters allows them.")
    if failed:
        say(f"To ask again where it failed: benchprism annotate --retry-failed={','.join(failed)}")
    if any(summary.waiting for summary in summaries):
        say("To collect what waits in batches: benchprism annotate --batch collect")
    if job.known:
        say(f"Next: benchprism annotate merge {shlex.quote(str(job.ledger))}")
        return
    say("Next: benchprism annotate status; benchprism compose criteria/reasoning.yaml")


def _summary(summary: Summary) -> dict[str, Any]:
    counts = {
        "statuses": dict(summary.statuses),
        "failed_before": dict(summary.failed_before),
        "reasons": dict(summary.reasons),
    }
    plain = replace(summary, statuses=Counter(), failed_before=Counter(), reasons=Counter())
    return {**asdict(plain), "asked": summary.asked, "complete": summary.complete, **counts}
