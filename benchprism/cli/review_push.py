"""``benchprism review push``: send what is to be reviewed to the Argilla server."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated, Any

import typer

from benchprism.cli.options import (
    HERE,
    BenchmarkOption,
    JsonOption,
    LimitOption,
    OnlyOption,
    PartOption,
    ProjectOption,
)
from benchprism.cli.output import counted, print_json, print_table, progress, say, this_command
from benchprism.cli.review_choice import (
    AttributeOption,
    BlindOption,
    Choice,
    NoPlanOption,
    review_tasks,
)
from benchprism.cli.review_pull import HomeOption, review_access
from benchprism.project import Project, find_project
from benchprism.records.errors import EndpointError, InputError

if TYPE_CHECKING:
    from benchprism.annotate.review.argilla.client import Argilla
    from benchprism.annotate.review.argilla.comparison import Push
    from benchprism.annotate.review.argilla.deliveries import Standpoint


def register(group: typer.Typer) -> None:
    """Add the command to ``benchprism review``."""
    group.command()(push)


def push(
    name: Annotated[
        str | None, typer.Option(help="The dataset's name; the project's when not given.")
    ] = None,
    benchmark: BenchmarkOption = None,
    subset: PartOption = None,
    only: OnlyOption = None,
    limit: LimitOption = None,
    attribute: AttributeOption = None,
    blind: BlindOption = False,
    by_dimension: Annotated[
        bool, typer.Option("--by-dimension", help="Make a dataset of each dimension.")
    ] = False,
    vectors: Annotated[
        bool, typer.Option("--vectors", help="Let reviewers find similar items; extra 'embed'.")
    ] = False,
    no_plan: NoPlanOption = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Tell what would be sent, and send nothing.")
    ] = False,
    home: HomeOption = None,
    project: ProjectOption = HERE,
    json: JsonOption = False,
) -> None:
    """Send the items with their suggestions to Argilla; only what is not there already.

    It sends the review plan, or without one every item that has a value. It may be interrupted and
    run again. Nothing that people answered is changed or removed.

    Example: benchprism review push --benchmark mmlu --limit 50
    """
    if name is not None and not name.strip():
        raise InputError(
            f"--name {name!r}", wanted="a name", mend="leave --name out for the project's own"
        )
    opened = find_project(project)
    choice = Choice(benchmark or (), subset or (), only, limit, blind)
    known, tasks = review_tasks(opened, choice, no_plan=no_plan)
    from benchprism.annotate.review.argilla.client import Argilla
    from benchprism.annotate.review.argilla.comparison import compare
    from benchprism.annotate.review.argilla.deliveries import deliveries
    from benchprism.annotate.review.planning.plan_store import PLAN
    from benchprism.annotate.review.project_id import project_id

    encoder, dimensions = _encoder() if vectors else (None, None)
    wanted = deliveries(
        name or opened.settings.project,
        known,
        tasks,
        by_dimension=by_dimension,
        attributes=attribute,
        encoder=encoder,
        dimensions=dimensions,
    )
    access = review_access(opened, home)
    if no_plan and not name and (opened.review / PLAN).exists():
        say(
            "Note: this goes into the plan's own dataset, without its reviewers and reasons;"
            " --name makes another."
        )
    own = project_id(opened.review, make=not dry_run)
    with Argilla(access) as argilla:
        found = compare(argilla, wanted, own)
        tell_versions(found)
        errands = [errand for task in tasks for errand in task.errands.values()]
        tell_strangers(argilla, {name for errand in errands for name in errand.reviewers})
        if not dry_run:
            send_all(argilla, opened, known, found)
    show_pushed(found, access.api_url, json=json, dry_run=dry_run)


def _encoder() -> tuple[Any, int]:
    from benchprism.annotate.keyless.minilm import DIMENSIONS, MiniLM

    return MiniLM(), DIMENSIONS


def tell_versions(found: Sequence[Push]) -> None:
    """Say which datasets are new versions, and why."""
    for push in found:
        if push.found.misfits:
            say(
                f"The catalogue has changed in what a published dataset cannot take "
                f"({'; '.join(push.found.misfits)}): {push.found.name!r} is a new version. "
                "The former one stays, with all its responses."
            )


def tell_strangers(argilla: Argilla, assigned: AbstractSet[str]) -> None:
    """Say which reviewers cannot log in; a key that may not list users tells nothing."""
    with suppress(EndpointError):
        users = {user["username"] for user in argilla.get("users")["items"]} if assigned else set()
        for name in sorted(assigned - users):
            say(f"Note: items are assigned to {name!r}, who is no user of the server.")


def send_all(argilla: Any, project: Project, known: Standpoint, found: Sequence[Push]) -> None:
    """Send what pushes have to send; the ledger first learns what the questions mean."""
    from benchprism.annotate.ledger.store import Ledger
    from benchprism.annotate.review.argilla.push import send

    with Ledger(project.ledger, write=True) as ledger:
        ledger.remember(known.catalogue)
    for push in found:
        try:
            with progress(f"Pushing to {push.found.name}", push.size) as step:
                send(argilla, push, step)
        except KeyboardInterrupt:
            say(f"Interrupted; what arrived is kept. To go on: {this_command()}")
            raise typer.Exit(130) from None


def show_pushed(found: Sequence[Push], url: str, *, json: bool, dry_run: bool) -> None:
    """Show what was, or would be, sent to each dataset."""
    rows = [_row(push) for push in found]
    if json:
        print_json({"server": url, "sent": not dry_run, "datasets": rows})
        return
    columns = ["dataset", "mode", "records", "new", "changed", "beside", "unchanged", "left"]
    print_table(columns, [[row[column] for column in columns] for row in rows])
    beside = sum(row["beside"] for row in rows)
    if beside:
        say(
            f"{counted(beside, 'item')} or the questions about them were changed after people had "
            "answered: the answered records stay, today's stand beside them."
        )
    if withdrawn := sum(push.withdrawn for push in found):
        say(
            f"{counted(withdrawn, 'record')} of former plans: the reviewers are taken off,"
            " responses stay."
        )
    say("Nothing was sent (--dry-run)." if dry_run else f"Review at {url}.")


def _row(push: Push) -> dict[str, Any]:
    changes = ("new", "changed", "beside", "unchanged")
    return {
        "dataset": push.found.name,
        "version": push.found.mark.version,
        "mode": push.delivery.mode,
        "records": len(push.sendings),
        **{change: push.counts[change] for change in changes},
        "left": push.left,
        "withdrawn": push.withdrawn,
    }
