"""``benchprism review pull``: what people said in Argilla, into the ledger."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from benchprism.cli.environment import environment
from benchprism.cli.options import HERE, JsonOption, ProjectOption
from benchprism.cli.output import counted, print_json, print_table, progress, say
from benchprism.project import Project, find_project

if TYPE_CHECKING:
    from benchprism.annotate.ledger.store import Ledger
    from benchprism.annotate.review.argilla.client import Argilla
    from benchprism.annotate.review.argilla.pull import ProjectItems, Pulled
    from benchprism.annotate.review.server import Access
    from benchprism.prompts.catalogue import Catalogue

DatasetOption = Annotated[
    list[str] | None,
    typer.Option(help="Only this dataset, with its version; may be given again."),
]
HomeOption = Annotated[
    Path | None,
    typer.Option(help="The server's folder; review-server in the project when not given."),
]


def register(group: typer.Typer) -> None:
    """Add the command to ``benchprism review``."""
    group.command()(pull)


def pull(
    dataset: DatasetOption = None,
    home: HomeOption = None,
    project: ProjectOption = HERE,
    json: JsonOption = False,
) -> None:
    """Read what people submitted, drafted and discarded in Argilla into the ledger.

    However often it runs, each state of a response is there once. Only submitted answers count; of
    several by one person about an item, the latest. What is deleted in Argilla stays in the ledger.
    Exit code 1: something could not be read.

    Example: benchprism review pull
    """
    from benchprism.annotate.ledger.store import Ledger
    from benchprism.annotate.review.argilla.client import Argilla
    from benchprism.annotate.review.argilla.pull import ProjectItems
    from benchprism.cli.gather import project_catalogue
    from benchprism.records.items.store import project_items

    opened = find_project(project)
    access = review_access(opened, home)
    items = ProjectItems.of(project_items(opened.items))
    with Argilla(access) as argilla:
        datasets = wanted_datasets(argilla, opened, dataset or [], items)
        with Ledger(opened.ledger, write=True) as ledger:
            pulled = _pull(argilla, datasets, ledger, items, project_catalogue(opened))
    if json:
        print_json({"server": access.api_url, "datasets": [_data(one) for one in pulled]})
    else:
        _print(pulled)
    for note in _notes(pulled):
        say(f"Note: {note}.")
    if any(one.unreadable or one.missed for one in pulled):
        raise typer.Exit(1)


def review_access(project: Project, home: Path | None) -> Access:
    """How the project's server is reached, or the one that the environment names."""
    from benchprism.annotate.review.server import FOLDER, ServerHome, find_access

    folder = home.absolute() if home else project.root / FOLDER
    return find_access(ServerHome(folder), environment(project.root))


def wanted_datasets(
    argilla: Argilla, project: Project, names: Sequence[str], items: ProjectItems
) -> list[dict[str, Any]]:
    """The datasets that are named; without names, those of the project."""
    from benchprism.annotate.review.argilla.progress import pushed_datasets
    from benchprism.annotate.review.argilla.pull import belongs
    from benchprism.annotate.review.project_id import project_id

    found, own_id = pushed_datasets(argilla, names), project_id(project.review)
    own = found if names else [one for one in found if belongs(argilla, one, items, own_id)]
    others = sorted({str(one["name"]) for one in found} - {str(one["name"]) for one in own})
    if others:
        say(
            f"Note: left alone, since they are not this project's: {', '.join(others)};"
            " --dataset takes one all the same."
        )
    return own


def _pull(
    argilla: Argilla,
    datasets: Sequence[dict[str, Any]],
    ledger: Ledger,
    items: ProjectItems,
    catalogue: Catalogue,
) -> list[Pulled]:
    from benchprism.annotate.review.argilla.pull import pull as pull_dataset

    pulled = []
    for dataset in datasets:
        total = argilla.get(f"datasets/{dataset['id']}/progress")["total"]
        with progress(f"Pulling {dataset['name']}", total) as step:
            one = pull_dataset(argilla, dataset, ledger, items, catalogue, progress=step)
        pulled.append(one)
    return pulled


def _data(one: Pulled) -> dict[str, Any]:
    return {**asdict(one), "recorded": {**asdict(one.recorded), "new": dict(one.recorded.new)}}


def _print(pulled: Sequence[Pulled]) -> None:
    if not pulled:
        say("There is nothing to pull. Next: benchprism review push")
        return
    print_table(
        ["dataset", "records", "new: submitted", "draft", "discarded", "known before"],
        [
            [
                one.dataset,
                one.records,
                *(one.recorded.new[status] for status in ("submitted", "draft", "discarded")),
                one.recorded.known,
            ]
            for one in pulled
        ],
    )


def _notes(pulled: Sequence[Pulled]) -> Iterator[str]:
    for one in pulled:
        if one.recorded.invalid:
            answers = counted(one.recorded.invalid, "answer")
            yield f"{one.dataset}: {answers} that is no value of its attribute; kept as invalid"
        if one.changed:
            yield (
                f"{one.dataset}: {counted(one.changed, 'response')} about another text than the"
                " item has today; kept, and not counted"
            )
        if one.gone:
            yield (
                f"{one.dataset}: {counted(one.gone, 'response')} about items that the project"
                " does not have; kept, and not counted"
            )
        if one.outdated:
            yield (
                f"{one.dataset}: {counted(one.outdated, 'answer')} to attributes that mean"
                " something else today; kept, and not counted"
            )
        if one.unreadable:
            yield (
                f"{one.dataset}: {counted(one.unreadable, 'response')} to a catalogue that this"
                " project's ledger does not know, left on the server; pull in the project that"
                " pushed it, or merge its ledger"
            )
        if one.missed:
            yield (
                f"{one.dataset}: {counted(one.missed, 'record')} missed, since the dataset changed"
                " meanwhile; pull again"
            )
