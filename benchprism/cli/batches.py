"""``benchprism annotate --batch``: annotation by files that are answered within a day."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict
from enum import StrEnum
from typing import TYPE_CHECKING

from benchprism.cli.annotation_job import Job, check, job_estimates
from benchprism.cli.estimates import confirm
from benchprism.cli.output import print_json, print_table, say

if TYPE_CHECKING:
    from benchprism.annotate.annotator import Annotator
    from benchprism.annotate.batch import BatchReport


class BatchStep(StrEnum):
    """What is done with batches."""

    submit = "submit"
    status = "status"
    collect = "collect"


def run_batches(
    job: Job, annotators: list[Annotator], step: BatchStep, *, yes: bool, json: bool
) -> None:
    """Submit what is missing, or say how far batches are, or keep what they brought."""
    if step is BatchStep.submit:
        check(job, annotators)
        priced = [one for one in annotators if one.price is not None]
        confirm(
            [*job_estimates(job, priced, batch=True)], job.project.settings.confirm_above, yes=yes
        )
    reports = [*_said(_reports(job, annotators, step))]
    if json:
        print_json([asdict(report) for report in reports])
    elif step is not BatchStep.submit and reports:
        _print(reports)
    _say_what_is_next(reports, step)


def _reports(job: Job, annotators: Iterable[Annotator], step: BatchStep) -> Iterator[BatchReport]:
    from benchprism.annotate.batch import collect, submit

    for annotator in annotators:
        if step is BatchStep.submit:
            yield from submit(
                annotator,
                job.items,
                job.catalogue,
                job.ledger,
                retry=job.retry,
                known=job.known,
                budget=job.budget,
            )
        else:
            yield from collect(annotator, job.ledger, wait=step is BatchStep.status)


def _said(reports: Iterable[BatchReport]) -> Iterator[BatchReport]:
    """Say of each batch what became of it, when it does."""
    for report in reports:
        ended = ", ".join(f"{n} {status}" for status, n in report.statuses.most_common())
        said = f"{report.annotator}: batch {report.batch_id or '(never started)'}"
        say(f"{said} is {report.state}, {report.calls} calls{f' ({ended})' if ended else ''}.")
        if report.problem:
            say(f"{said}: {report.problem}")
        yield report


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
    elif any(report.missing or report.state == "abandoned" for report in reports):
        say("To send again what was not answered: benchprism annotate --batch submit")
    elif step is BatchStep.collect:
        say("Next: benchprism annotate status")
    else:
        say("Next: benchprism annotate --batch collect")
