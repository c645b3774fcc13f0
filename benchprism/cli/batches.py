"""``benchprism annotate --batch``: annotation by files that are answered within a day."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import asdict, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any

import typer

from benchprism.cli.annotation_job import Job, check, job_estimates
from benchprism.cli.estimates import confirm
from benchprism.cli.output import print_json, print_table, say
from benchprism.records.errors import BenchprismError

if TYPE_CHECKING:
    from benchprism.annotate.asking.annotator import Annotator
    from benchprism.annotate.batch.collecting import BatchReport


class BatchStep(StrEnum):
    """What is done with batches."""

    submit = "submit"
    status = "status"
    collect = "collect"
    forget = "forget"


def run_batches(
    job: Job,
    annotators: list[Annotator],
    step: BatchStep,
    *,
    batch_id: str = "",
    yes: bool,
    json: bool,
) -> None:
    """Submit what is missing, say how far batches are, keep what they brought, or let them go.

    Args:
        job: What is to be annotated.
        annotators: Whose batches.
        step: What is done.
        batch_id: The one batch that is let go.
        yes: Whether it may cost what it costs.
        json: Whether reports are printed as JSON.

    Raises:
        BenchprismError: a step failed; what the others brought is kept and printed.
        Exit: with 1 when something that was collected lacks answers, or is not over.
    """
    if step is BatchStep.submit:
        check(job, annotators)
        priced = [one for one in annotators if one.price is not None]
        confirm(
            [*job_estimates(job, priced, batch=True)], job.project.settings.confirm_above, yes=yes
        )
    reports: list[BatchReport] = []
    failures: list[BenchprismError] = []
    for annotator in _addressed(job, annotators, batch_id):
        try:
            for report in _reports(job, annotator, step, batch_id):
                _say(report)
                reports.append(report)
        except BenchprismError as error:
            failures.append(error)
            if step is BatchStep.submit:
                break
    if step is not BatchStep.submit:
        for report in _left_over(job, step, batch_id, found=bool(reports or failures)):
            _say(report)
            reports.append(report)
    if json:
        print_json([_report(report) for report in reports])
    elif step is not BatchStep.submit and reports:
        _print(reports)
    if failures:
        raise failures[0]
    _say_what_is_next(reports, step)
    if step is BatchStep.collect and not all(report.complete for report in reports):
        raise typer.Exit(1)


def _addressed(job: Job, annotators: list[Annotator], batch_id: str) -> list[Annotator]:
    """Whose batches are looked at; of one that is named only its own annotator."""
    from benchprism.annotate.batch.book import BatchBook
    from benchprism.annotate.ledger.store import Ledger

    if not batch_id:
        return annotators
    with Ledger(job.ledger) as ledger:
        named = {one.annotator for one in BatchBook(ledger).open() if one.name == batch_id}
    return [annotator for annotator in annotators if annotator.name in named]


def _reports(
    job: Job, annotator: Annotator, step: BatchStep, batch_id: str
) -> Iterator[BatchReport]:
    from benchprism.annotate.batch.batches import submit
    from benchprism.annotate.batch.collecting import collect, forget

    if step is BatchStep.submit:
        return submit(
            annotator,
            job.items,
            job.catalogue,
            job.ledger,
            retry=job.retry,
            known=job.known,
            budget=job.budget,
        )
    if step is BatchStep.forget:
        return forget(annotator, job.ledger, batch_id)
    return collect(annotator, job.ledger, wait=step is BatchStep.status)


def _left_over(job: Job, step: BatchStep, batch_id: str, *, found: bool) -> Iterable[BatchReport]:
    """Batches whose annotator is not in the project any more; the named one is let go."""
    from benchprism.annotate.batch.collecting import forget_orphan, orphans
    from benchprism.cli.annotators import project_annotators

    if step is BatchStep.forget:
        return () if found else [forget_orphan(job.ledger, batch_id)]
    names = [one.name for one in project_annotators(job.project, [], None, keyless=True)]
    return orphans(job.ledger, names)


def _report(report: BatchReport) -> dict[str, Any]:
    counts = {"statuses": dict(report.statuses)}
    return {**asdict(replace(report, statuses=Counter())), **counts}


def _say(report: BatchReport) -> None:
    """Say of a batch what became of it, when it does."""
    ended = ", ".join(f"{n} {status}" for status, n in report.statuses.most_common())
    said = f"{report.annotator}: batch {report.batch_id or '(never started)'}"
    again = f", {report.missing} requests are missing again" if report.missing else ""
    say(f"{said} is {report.state}, {report.calls} calls{f' ({ended})' if ended else ''}{again}.")
    if report.problem:
        say(f"{said}: {report.problem}")


def _print(reports: Iterable[BatchReport]) -> None:
    print_table(
        ["annotator", "batch", "state", "calls", "completed", "failed", "kept", "missing again"],
        [
            (
                report.annotator,
                report.batch_id,
                report.state,
                report.calls,
                report.completed,
                report.failed,
                report.statuses.total(),
                report.missing,
            )
            for report in reports
        ],
    )


def _say_what_is_next(reports: list[BatchReport], step: BatchStep) -> None:
    if not reports:
        say("Nothing is missing." if step is BatchStep.submit else "No batch is open.")
        return
    for report in reports:
        if report.key:
            say(
                "To let go of a batch that cannot be collected:"
                f" benchprism annotate --batch forget --batch-id {report.batch_id}"
            )
    if any(report.missing or report.state == "abandoned" for report in reports):
        say("To send again what was not answered: benchprism annotate --batch submit")
    elif step is BatchStep.collect and all(report.complete for report in reports):
        say("Next: benchprism annotate status")
    elif not any(report.key for report in reports):
        say("Next: benchprism annotate --batch collect")
