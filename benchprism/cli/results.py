"""``benchprism results``: what models scored on items, added, listed, and put into families."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from benchprism.cli.options import HERE, JsonOption, ProjectOption
from benchprism.cli.output import print_json, print_table, say
from benchprism.project import Project, find_project
from benchprism.records.errors import InputError

if TYPE_CHECKING:
    from benchprism.records.results.join import Joined
    from benchprism.records.results.joining.metric_choice import Wanted
    from benchprism.records.results.store import ResultsFile
    from benchprism.records.results.tidy_values import Scoring


def register(app: typer.Typer) -> None:
    """Add the commands to the command line."""
    group = typer.Typer(
        name="results", help="Add and list the scores of models on items.", no_args_is_help=True
    )
    group.command("add")(add)
    group.command("list")(list_)
    group.command("models")(models)
    app.add_typer(group)


def add(
    paths: Annotated[
        list[Path],
        typer.Argument(
            metavar="PATH...",
            help="Logs of a harness, tables of scores, or folders of them; the format is detected.",
        ),
    ],
    format_name: Annotated[
        str | None,
        typer.Option("--format", help="Format of the files, such as lm-eval, inspect or tidy."),
    ] = None,
    metric: Annotated[
        list[str] | None,
        typer.Option(help="Metric to take, or TASK=METRIC for one task; may be repeated."),
    ] = None,
    filter_: Annotated[
        list[str] | None,
        typer.Option("--filter", help="Filter or scorer, or TASK=FILTER; may be repeated."),
    ] = None,
    benchmark: Annotated[
        str | None,
        typer.Option(help="Benchmark of all results; found by their items when not given."),
    ] = None,
    min_joined: Annotated[
        float,
        typer.Option(min=0, max=1, help="Share of a model's results on a task that has to join."),
    ] = 0.9,
    name: Annotated[
        str | None, typer.Option(help="Name of the results in the project; the path's own if none.")
    ] = None,
    columns: Annotated[
        list[str] | None,
        typer.Option("--map", help="A table's column, as score=COLUMN; may be repeated."),
    ] = None,
    model: Annotated[
        list[str] | None,
        typer.Option(help="Only this model, or column of a wide table; may be repeated."),
    ] = None,
    rename: Annotated[
        list[str] | None,
        typer.Option(help="Call a model otherwise, as OLD=NEW; may be repeated."),
    ] = None,
    scale: Annotated[
        str | None, typer.Option(help="A table's worst and best score, as 0:100; 0:1 if none.")
    ] = None,
    penalties: Annotated[
        bool, typer.Option("--penalties", help="Scores may fall below the worst: points come off.")
    ] = False,
    replace: Annotated[
        bool, typer.Option("--replace", help="Replace results of the same name.")
    ] = False,
    as_json: JsonOption = False,
    project: ProjectOption = HERE,
) -> None:
    """Add results of evaluation logs or tables to the project's items.

    One metric and one filter are taken for each task, and said. Results are joined to items by
    content or by a sound id. A score is 1 at best and 0 at worst; a missing one is not wrong.
    Exit code 1: something was refused or damaged; the rest is added.

    Example: benchprism results add logs/ --metric arc_challenge=acc_norm
    """
    from benchprism.cli.results_reading import Request, read_all
    from benchprism.cli.results_report import print_report
    from benchprism.records.results.join import JoinOptions
    from benchprism.records.results.store import write_results

    own = find_project(project)
    targets = _targets(own, paths, name, replace=replace)
    scoring = _scoring(scale, penalties=penalties)
    is_table = bool(columns or scale)
    request = Request(
        targets,
        "tidy" if is_table and format_name is None else format_name,
        _mapping("--map", columns or []),
        benchmark,
        scoring,
    )
    options = JoinOptions(
        _wanted(metric, filter_, penalties=penalties),
        benchmark,
        min_joined,
        _mapping("--rename", rename or [], "NAME=OTHER"),
        tuple(model or ()),
    )
    others = _others(own, targets.values())
    joined = read_all(request, own.items, options, others)
    _check_against_others(others, joined)
    for target, table in joined.tables.items():
        write_results(own.results / target, table)
    print_report(joined, as_json=as_json)
    if joined.report.has_faults or not joined.tables:
        raise typer.Exit(1)


def _targets(
    project: Project, paths: Sequence[Path], name: str | None, *, replace: bool
) -> dict[Path, str]:
    """Name the results table of each path."""
    if name is not None and (Path(name).name != name or len(paths) > 1):
        raise InputError(
            f"--name {name!r}" + (f" for {len(paths)} paths" if len(paths) > 1 else ""),
            wanted="a name without folders, for one path",
            mend="leave out the slashes, or add the paths one by one",
        )
    targets = {path: f"{name or _name_of(path.resolve())}.parquet" for path in paths}
    for target in targets.values():
        taken = (project.results / target).exists() and not replace
        if taken or list(targets.values()).count(target) > 1:
            raise InputError(
                f"{target} is among the results already"
                if taken
                else f"two paths whose results would be called {target}",
                wanted="a new name",
                mend="give one with --name, or replace the old results with --replace",
            )
    return targets


def _name_of(path: Path) -> str:
    return path.name if path.is_dir() else path.stem


def _scoring(scale: str | None, *, penalties: bool) -> Scoring:
    from benchprism.records.results.logs.scales import Scale
    from benchprism.records.results.tidy_values import Scoring

    if scale is None:
        return Scoring(penalties=penalties)
    worst, _, best = scale.partition(":")
    try:
        stated = Scale(float(worst), float(best))
    except ValueError:
        stated = Scale(0.0, 0.0)
    if stated.worst == stated.best or not abs(stated.worst) + abs(stated.best) < float("inf"):
        raise InputError(
            f"--scale {scale!r}",
            wanted="the worst and the best score, as in 0:100",
            mend="write two different numbers with a colon between them",
        )
    return Scoring(stated, penalties)


def _wanted(
    metric: Sequence[str] | None, filter_: Sequence[str] | None, *, penalties: bool
) -> Wanted:
    from benchprism.records.results.joining.metric_choice import Wanted

    return Wanted(_by_task(metric or []), _by_task(filter_ or []), penalties)


def _by_task(options: Sequence[str]) -> dict[str, str]:
    """Read NAME and TASK=NAME; a name alone stands for every task."""
    split = [option.rpartition("=") for option in options]
    return {task: name for task, _, name in split}


def _mapping(option: str, pairs: Sequence[str], example: str = "score=correct") -> dict[str, str]:
    """Read pairs with an equals sign, each left side once."""
    mapping: dict[str, str] = {}
    for pair in pairs:
        field, equals, column = (part.strip() for part in pair.partition("="))
        if not equals or not field or not column or field in mapping:
            again = f"{field!r} is there already" if field in mapping else ""
            raise InputError(
                f"{option} {pair!r}",
                wanted=f"a pair such as {example}",
                mend=again or "write two names with an equals sign between them",
            )
        mapping[field] = column
    return mapping


def _others(project: Project, targets: Collection[str]) -> dict[str, ResultsFile]:
    """The project's results that are not about to be replaced."""
    from benchprism.records.files import listed
    from benchprism.records.results.store import ResultsFile

    files = listed(project.results, "*.parquet")
    return {path.name: ResultsFile(path) for path in files if path.name not in targets}


def _check_against_others(others: Mapping[str, ResultsFile], joined: Joined) -> None:
    """Refuse results that contradict what the project has already.

    What was found in reading is said first: a damaged log may be why they do.
    """
    from benchprism.cli.results_report import say_findings
    from benchprism.records.results.matrix import outcomes

    if others and joined.tables:
        try:
            outcomes({**others, **joined.tables})
        except InputError:
            say_findings(joined)
            raise


def list_(as_json: JsonOption = False, project: ProjectOption = HERE) -> None:
    """List the results of the project, by file and benchmark.

    Example: benchprism results list
    """
    from benchprism.records.results.store import read_results

    files = read_results(find_project(project).results)
    contents = [row for name, file in files.items() for row in _contents({name: file})]
    if as_json:
        print_json(contents)
        return
    columns = ["file", "benchmark", "items", "models", "scores", "missing"]
    print_table(columns, [[row[column] for column in columns] for row in contents])


def _contents(tables: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Count what one results table holds of each benchmark."""
    import numpy as np

    from benchprism.records.results.matrix import outcomes

    (name,) = tables
    rows: list[dict[str, Any]] = []
    for found in outcomes(tables):
        scores = int(np.isfinite(found.scores).sum())
        rows.append(
            {
                "file": name,
                "benchmark": found.benchmark,
                "items": len(found.item_ids),
                "models": len(found.models),
                "scores": scores,
                "missing": found.scores.size - scores,
            }
        )
    return rows


def models(
    write: Annotated[
        bool, typer.Option("--write", help="Add the guesses to the project's models file.")
    ] = False,
    as_json: JsonOption = False,
    project: ProjectOption = HERE,
) -> None:
    """Draft the models file: family and size of each model that has results.

    What the file does not say is guessed from the model's name, and marked as a guess. Guesses are
    not used until a person confirms them. Families that CAD cannot compare are listed.

    Example: benchprism results models --write
    """
    from benchprism.records.results.model_draft import draft_models, write_draft
    from benchprism.records.results.models import doubtful_entries, unusable_for_cad
    from benchprism.records.results.store import read_results

    own = find_project(project)
    files = read_results(own.results)
    names = {model for file in files.values() for model in file.distinct("model")}
    draft = draft_models(own.models, names)
    if write:
        write_draft(own.models, draft)
    found = draft.file.models
    rows = [
        {
            "model": model,
            "family": found[model].family,
            "size": found[model].size,
            "guessed": list(found[model].guessed),
            "used": draft.file.stands(model),
            "in_file": write or model not in draft.new,
            "has_results": model not in draft.without_results,
        }
        for model in found
    ]
    unusable = unusable_for_cad({model: found[model] for model in sorted(names)})
    in_file = {name: found[name] for name in found if name not in draft.new}
    doubtful = doubtful_entries(in_file, names)
    if as_json:
        print_json({"models": rows, "unusable_for_cad": unusable, "doubtful": doubtful})
        return
    print_table(
        ["model", "family", "size", "from"],
        [
            (
                row["model"],
                row["family"],
                row["size"],
                _status(row),
            )
            for row in rows
        ],
    )
    if unusable:
        print_table(
            ["family", "not usable for CAD because"],
            unusable.items(),
            title="Families that CAD cannot compare",
        )
    for line in doubtful:
        say(f"{own.models.name} {line}")
    _say_what_is_next(own, draft.file.unconfirmed, bool(draft.new) and not write)


def _status(row: Mapping[str, Any]) -> str:
    """Say where an entry is from, and whether any result is of its model."""
    guess = "confirmed guess" if row["used"] else "guess"
    said = guess if row["guessed"] else "declared"
    return said if row["has_results"] else f"{said}; no results"


def _say_what_is_next(project: Project, unconfirmed: Sequence[str], is_unwritten: bool) -> None:
    if unconfirmed:
        say(f"{len(unconfirmed)} entries are guesses from names, and are not used until confirmed.")
    if is_unwritten:
        say(f"Next: benchprism results models --write adds them to {project.models.name}")
    elif unconfirmed:
        say(
            f"Next: read {project.models.name}, mend it, and write 'confirmed: true' into each"
            " entry that is right, or once at its top"
        )
