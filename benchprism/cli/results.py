"""``benchprism results``: what models scored on items, added and listed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from benchprism.cli.options import HERE, JsonOption, ProjectOption
from benchprism.cli.output import print_json, print_table, say
from benchprism.project import find_project
from benchprism.records.errors import InputError

if TYPE_CHECKING:
    import pyarrow as pa


def register(app: typer.Typer) -> None:
    """Add the commands to the command line."""
    group = typer.Typer(
        name="results", help="Add and list the scores of models on items.", no_args_is_help=True
    )
    group.command("add")(add)
    group.command("list")(list_)
    app.add_typer(group)


def add(
    file: Annotated[
        Path,
        typer.Argument(
            help="A .csv or .parquet table: benchmark, item_id, model, score in each row."
        ),
    ],
    name: Annotated[
        str | None, typer.Option(help="Name of the results in the project; the file's own if none.")
    ] = None,
    columns: Annotated[
        list[str] | None,
        typer.Option("--map", help="Which column holds what, as score=COLUMN; may be repeated."),
    ] = None,
    benchmark: Annotated[
        str | None, typer.Option(help="Benchmark of all rows, when the file does not name it.")
    ] = None,
    replace: Annotated[
        bool, typer.Option("--replace", help="Replace results of the same name.")
    ] = False,
    as_json: JsonOption = False,
    project: ProjectOption = HERE,
) -> None:
    """Add a table of results to the project.

    A score is between 0 and 1. An empty score is missing, which is not wrong.

    Example: benchprism results add scores.csv --map score=correct
    """
    from benchprism.records.results.store import write_results
    from benchprism.records.results.tidy import read_tidy

    if name is not None and Path(name).name != name:
        raise InputError(
            f"--name {name!r}", wanted="a name without folders", mend="leave out the slashes"
        )
    target = find_project(project).results / f"{name or file.stem}.parquet"
    if target.exists() and not replace:
        raise InputError(
            f"{target.name} is among the results already",
            wanted="a new name",
            mend="give one with --name, or replace the old results with --replace",
        )
    table = read_tidy(file, columns=_mapping(columns or []), benchmark=benchmark)
    contents = [{**row, "file": target.name} for row in _contents({file.name: table})]
    write_results(target, table)
    if as_json:
        print_json(contents)
        return
    for row in contents:
        repeated = f", {row['repeated']} given twice" if row["repeated"] else ""
        say(
            f"Added {row['benchmark']}: items {row['items']}, models {row['models']}, "
            f"scores {row['scores']}, missing {row['missing']}{repeated}"
        )
    say("Next: give the models' families in models.yaml; benchprism score")


def list_(as_json: JsonOption = False, project: ProjectOption = HERE) -> None:
    """List the results of the project, by file and benchmark.

    Example: benchprism results list
    """
    from benchprism.records.results.store import read_results

    tables = read_results(find_project(project).results)
    contents = [row for name, table in tables.items() for row in _contents({name: table})]
    if as_json:
        print_json(contents)
        return
    columns = ["file", "benchmark", "items", "models", "scores", "missing"]
    print_table(columns, [[row[column] for column in columns] for row in contents])


def _mapping(pairs: Sequence[str]) -> dict[str, str]:
    mapping = {}
    for pair in pairs:
        field, equals, column = pair.partition("=")
        if not equals or not field or not column:
            raise InputError(
                f"--map {pair!r}",
                wanted="a pair such as score=correct",
                mend="write our column, an equals sign, and the file's column",
            )
        mapping[field] = column
    return mapping


def _contents(tables: Mapping[str, pa.Table]) -> list[dict[str, str | int]]:
    """Count what one results table holds of each benchmark, and refuse conflicting scores."""
    import numpy as np
    import pyarrow.compute as pc

    from benchprism.records.results.matrix import outcomes

    ((name, table),) = tables.items()
    rows = []
    for found in outcomes(tables):
        own = table.filter(pc.equal(table["benchmark"], found.benchmark))
        scores = int(np.isfinite(found.scores).sum())
        rows.append(
            {
                "file": name,
                "benchmark": found.benchmark,
                "items": len(found.item_ids),
                "models": len(found.models),
                "scores": scores,
                "missing": found.scores.size - scores,
                "repeated": own.num_rows - own["score"].null_count - scores,
            }
        )
    return rows
