"""``benchprism review export`` and ``import``: review without a server, on a page or a sheet."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

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
from benchprism.cli.output import counted, print_json, print_table, say
from benchprism.cli.review_choice import (
    AttributeOption,
    BlindOption,
    Choice,
    NoPlanOption,
    review_tasks,
)
from benchprism.project import Project, find_project
from benchprism.records.errors import InputError

if TYPE_CHECKING:
    from benchprism.annotate.review.argilla.deliveries import Standpoint, Task
    from benchprism.annotate.review.offline.handout import Handout
    from benchprism.annotate.review.offline.importing import Imported
    from benchprism.annotate.review.offline.returned import Known

_MANY = 1000
"""Items from which on a hint says how to make smaller pages."""


def register(group: typer.Typer) -> None:
    """Add the commands to ``benchprism review``."""
    group.command()(export)
    group.command(name="import")(import_)


def export(
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="The page; review/NAME.html in the project otherwise."),
    ] = None,
    csv: Annotated[
        bool, typer.Option("--csv", help="Write a sheet for a spreadsheet program too.")
    ] = False,
    benchmark: BenchmarkOption = None,
    subset: PartOption = None,
    only: OnlyOption = None,
    limit: LimitOption = None,
    attribute: AttributeOption = None,
    blind: BlindOption = False,
    no_plan: NoPlanOption = False,
    reviewer: Annotated[
        str, typer.Option(help="Whose page it is: only what is assigned to them, or to nobody.")
    ] = "",
    project: ProjectOption = HERE,
    json: JsonOption = False,
) -> None:
    """Write the items with their suggestions as one HTML page that works without a server.

    It holds the review plan, or without one every item that has a value. The page loads nothing and
    sends nothing: open it in a browser, answer, and save the answers to a file for import.

    Example: benchprism review export --reviewer alice --csv
    """
    from benchprism.annotate.review.offline.page import render_page
    from benchprism.annotate.review.offline.sheet import write_sheet
    from benchprism.records.files import write_text

    opened = find_project(project)
    if reviewer:
        _check_reviewer(reviewer)
    choice = Choice(benchmark or (), subset or (), only, limit, blind)
    known, tasks = review_tasks(opened, choice, no_plan=no_plan)
    handout = _handout(opened, known, tasks, attribute, reviewer)
    name = _file_name(opened.settings.project, "review", "blind" * blind, reviewer)
    page = output or opened.root / "review" / f"{name}.html"
    sheet, guidelines = page.with_suffix(".csv"), page.with_suffix(".md")
    if page in {sheet, guidelines}:
        raise InputError(
            f"the page would be called {page.name!r}",
            wanted="a name that ends in .html",
            mend="name the page with --output; the sheet gets the same name with .csv",
        )
    if csv:
        _write_sheet(sheet, write_sheet(handout))
        write_text(guidelines, f"{handout.form.guidelines}\n")
    write_text(page, render_page(handout, name))
    written = {"page": page, "sheet": sheet, "guidelines": guidelines}
    paths = {kind: str(path) for kind, path in written.items() if csv or kind == "page"}
    if json:
        print_json({**paths, "id": handout.id, "items": len(handout.cases)})
    else:
        for path in paths.values():
            typer.echo(path)
    _hint(handout)


def import_(
    files: Annotated[
        list[Path], typer.Argument(metavar="FILE...", help="Saved answers or filled-in sheets.")
    ],
    reviewer: Annotated[
        str | None, typer.Option(help="Who answered, in place of the names in the files.")
    ] = None,
    project: ProjectOption = HERE,
    json: JsonOption = False,
) -> None:
    """Read the answers that a page saved, or a sheet that was filled in, into the ledger.

    However often a file is read, each state of a response is there once. Exit code 1: something was
    not taken; mend it in the file, and import that again.

    Example: benchprism review import audit-review-alice.json
    """
    from benchprism.annotate.ledger.store import Ledger
    from benchprism.annotate.review.offline.importing import read_returned, record_returned

    opened = find_project(project)
    if reviewer is not None:
        _check_reviewer(reviewer)
    known = _known(opened)
    try:
        returned = [read_returned(path, known, reviewer) for path in files]
    except InputError:
        if len(files) > 1:
            say("Nothing was taken, of the other files neither: mend this one, or leave it out.")
        raise
    with Ledger(opened.ledger, write=True) as ledger:
        imported = [record_returned(ledger, one) for one in returned]
    _tell(imported, json=json)
    if any(one.faults for one in imported):
        raise typer.Exit(1)


def _handout(
    project: Project,
    known: Standpoint,
    tasks: Sequence[Task],
    attributes: Sequence[str] | None,
    reviewer: str,
) -> Handout:
    from benchprism.annotate.ledger.store import Ledger
    from benchprism.annotate.review.argilla.deliveries import deliveries
    from benchprism.annotate.review.offline.handout import Handout, HandoutCase

    found = deliveries("", known, tasks, attributes=attributes)
    cases = [HandoutCase(case, one.mode) for one in found for case in one.cases()]
    own = [one for one in cases if one.is_for(reviewer)]
    if not own:
        raise _nothing(reviewer, cases)
    with Ledger(project.ledger, write=True) as ledger:
        ledger.remember(known.catalogue)  # or answers to it could not be read once it has changed
    return Handout(project.settings.project, found[0].form, tuple(own), reviewer)


def _nothing(reviewer: str, cases: Sequence[object]) -> InputError:
    if not cases:
        return InputError(
            "there is no item to review",
            wanted="at least one",
            mend="add items with 'benchprism items add', or choose others",
        )
    return InputError(
        f"no item is assigned to {reviewer!r}",
        wanted="a reviewer of the plan",
        mend="check the name, or plan again with 'benchprism review plan'",
    )


def _check_reviewer(name: str) -> None:
    from benchprism.annotate.review.offline.returned import check_name

    try:
        check_name(name)
    except ValueError as error:
        raise InputError(
            str(error), wanted="the name of a person", mend="give another --reviewer"
        ) from error


def _file_name(*parts: str) -> str:
    return "-".join(re.sub(r"[^\w.-]+", "_", part) for part in parts if part)


def _write_sheet(path: Path, text: str) -> None:
    """Write a sheet, unless a filled-in one would be lost."""
    from benchprism.records.files import replacing

    content = text.encode("utf-8-sig")  # by its mark spreadsheet programs know the encoding
    if path.exists() and path.read_bytes() != content:
        raise InputError(
            f"{path} is there, and may have been filled in",
            wanted="a name that is not taken",
            mend="import it and move it away, or give another --output",
        )
    with replacing(path) as temporary:
        temporary.write_bytes(content)


def _hint(handout: Handout) -> None:
    number = len(handout.cases)
    say(
        f"{counted(number, 'item')} with {counted(len(handout.form.questions), 'question')}. "
        "Open the page in a browser; then: benchprism review import FILE"
    )
    if number > _MANY:
        say("That is much for one page: --limit, --benchmark or a plan make it smaller.")


def _known(project: Project) -> Known:
    from benchprism.annotate.ledger.store import Ledger
    from benchprism.annotate.review.argilla.pull import ProjectItems
    from benchprism.annotate.review.offline.returned import Known
    from benchprism.prompts.library import load_catalogue
    from benchprism.records.items.store import project_items

    today = load_catalogue(project.settings.catalogue, folder=project.root)
    with Ledger(project.ledger) as ledger:
        catalogues = {**ledger.catalogues(), today.hash: today}
    items = ProjectItems.of(project_items(project.items))
    return Known(project.settings.project, catalogues, items)


def _tell(imported: Sequence[Imported], *, json: bool) -> None:
    if json:
        print_json({"files": [_data(one) for one in imported]})
    else:
        print_table(
            ["file", "new: submitted", "draft", "discarded", "known before", "not taken", "open"],
            [_row(one) for one in imported],
        )
    for one in imported:
        for fault in one.faults:
            say(f"Not taken: {fault}")
        if one.ahead:
            say(
                f"Note: {one.path}: {counted(one.ahead, 'response')} of a time that is still to"
                " come: a clock was wrong. Taken as given when first imported."
            )
        if one.changed:
            say(
                f"Note: {one.path}: {counted(one.changed, 'response')} about another text than the"
                " item has today; kept, and not counted."
            )


def _row(one: Imported) -> list[object]:
    new = one.recorded.new
    counts = [new["submitted"], new["draft"], new["discarded"], one.recorded.known]
    return [one.path.name, *counts, len(one.faults), one.pending]


def _data(one: Imported) -> dict[str, object]:
    recorded = {**asdict(one.recorded), "new": dict(one.recorded.new)}
    return {**asdict(one), "path": str(one.path), "recorded": recorded}
