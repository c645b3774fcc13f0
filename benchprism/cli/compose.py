"""``benchprism compose`` and ``benchprism explain``: subsets, and why items are in or out."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from benchprism.cli.options import HERE, JsonOption, ProjectOption
from benchprism.cli.output import print_json, print_table, say
from benchprism.project import Project, find_project
from benchprism.records.errors import InputError, suggestion

if TYPE_CHECKING:
    from benchprism.compose.composer import Composition
    from benchprism.compose.explain import Explanation
    from benchprism.compose.screening import Screening, Step
    from benchprism.prompts.catalogue import Catalogue

CriteriaFile = Annotated[
    Path, typer.Argument(help="The criteria file.", metavar="CRITERIA", show_default=False)
]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Show what each rule leaves; write nothing.")
]


def register(app: typer.Typer) -> None:
    """Add the commands to the command line."""
    app.command()(compose)
    app.command()(explain)


def compose(
    criteria: CriteriaFile,
    project: ProjectOption = HERE,
    json: JsonOption = False,
    dry_run: DryRun = False,
) -> None:
    """Choose the items that meet the criteria, and keep the reason why each other one is out.

    Example: benchprism compose criteria/reasoning.yaml
    """
    from benchprism.cli.gather import project_attribute_table, project_catalogue
    from benchprism.compose.criteria import read_criteria
    from benchprism.compose.fields import located
    from benchprism.compose.screening import screen

    opened = find_project(project)
    path = _criteria_path(criteria, opened)
    wanted = read_criteria(path)
    catalogue = project_catalogue(opened)
    table = project_attribute_table(opened)
    with located(path):
        screening = screen(wanted, table, catalogue=catalogue, seed=opened.settings.seed)
        composition = _finish(screening, quiet=json)
    folder = None if dry_run else opened.subsets / composition.name
    if folder is not None:
        _write(composition, folder, opened, catalogue)
    if json:
        print_json(_summary(composition, folder))
    else:
        _print_waterfall(composition.name, composition.available, composition.steps)
    _say_where(composition, folder, criteria)


def _finish(screening: Screening, *, quiet: bool) -> Composition:
    """Draw; when too few items are left, show first what each rule left."""
    from benchprism.compose.composer import finish

    try:
        return finish(screening)
    except InputError:
        if not quiet:
            _print_waterfall(screening.criteria.name, screening.available, screening.steps)
        raise


def _criteria_path(path: Path, project: Project) -> Path:
    """Find a criteria file from the working folder or, failing that, from the project's."""
    for candidate in (path, project.root / path):
        if candidate.is_file():
            return candidate
    folder = project.root / "criteria"
    files = [file for pattern in ("*.yaml", "*.yml") for file in folder.glob(pattern)]
    known = {file.stem: os.path.relpath(file) for file in files}
    mend = "write one; 'benchprism schema criteria' prints what it may hold"
    if path.stem in known:
        mend = f"did you mean {known[path.stem]!r}?"
    elif known:
        mend = suggestion(str(path), known.values())
    raise InputError(f"no criteria file {str(path)!r}", wanted="a YAML file", mend=mend)


def _write(composition: Composition, folder: Path, project: Project, catalogue: Catalogue) -> None:
    from benchprism.cli.gather import project_annotators, project_provenance
    from benchprism.compose.lock import lock
    from benchprism.compose.store import write_subset

    locked = lock(
        composition,
        catalogue=catalogue,
        provenance=project_provenance(project, composition.criteria.from_),
        annotators=project_annotators(project, composition.chosen["item_id"].to_pylist()),
    )
    write_subset(folder, composition, locked)


def _summary(composition: Composition, folder: Path | None) -> dict[str, Any]:
    return {
        "name": composition.name,
        "items": composition.available,
        "rules": [
            {
                "rule": step.rule,
                "left_out": step.left_out,
                "missing": step.missing,
                "left": step.left,
            }
            for step in composition.steps
        ],
        "chosen": composition.counts,
        "folder": None if folder is None else str(folder),
    }


def _print_waterfall(name: str, available: Mapping[str, int], steps: Sequence[Step]) -> None:
    """Print what each rule leaves: in all with its text, then by benchmark under its number."""
    total = sum(available.values())
    rows: list[list[object]] = [["", "items of the benchmarks", None, None, total]]
    for number, step in enumerate(steps, 1):
        missing = step.missing or None
        rows.append([number, step.rule, step.left_out, missing, sum(step.left.values())])
    columns = ["", "rule", "left out", "value missing", "left"]
    print_table(columns, rows, title=f"{name}: what each rule leaves")
    numbers = [f"after {number}" for number in range(1, len(steps) + 1)]
    counts = [available, *(step.left for step in steps)]
    by_benchmark = [[b, *(count[b] for count in counts)] for b in available]
    print_table(["benchmark", "items", *numbers], by_benchmark, title=f"{name}: by benchmark")


def _say_where(composition: Composition, folder: Path | None, criteria: Path) -> None:
    items = f"{sum(composition.counts.values())} items"
    if folder is None:
        say(f"{items} would be chosen. Next: benchprism compose {criteria}")
    else:
        say(f"Wrote {items} to {os.path.relpath(folder)}. Next: benchprism score {folder.name}")


def explain(
    subset: Annotated[str, typer.Argument(help="The subset's name.", show_default=False)],
    item: Annotated[str, typer.Argument(help="The item's id.", show_default=False)],
    project: ProjectOption = HERE,
    json: JsonOption = False,
) -> None:
    """Say why an item is in a subset or out of it: each rule's verdict, on which values.

    Example: benchprism explain reasoning mmlu/abstract_algebra/test/34
    """
    from dataclasses import asdict

    from benchprism.cli.gather import project_attribute_table
    from benchprism.compose import explain as explaining
    from benchprism.compose.store import read_subset

    opened = find_project(project)
    stored = read_subset(opened.subsets / subset)
    answer = explaining.explain(stored, item, project_attribute_table(opened, [item]))
    if json:
        print_json({"subset": stored.name, **asdict(answer), "outdated": answer.outdated})
    else:
        _print_explanation(stored.name, answer)
    if answer.outdated:
        say(f"Values have changed since {stored.name!r} was composed; compose it again.")


def _print_explanation(name: str, answer: Explanation) -> None:
    typer.echo(f"{answer.item_id} is {'in' if answer.chosen else 'out of'} {name}.")
    if not answer.chosen:
        typer.echo(f"Left out by {answer.rule!r}: {answer.detail}.")
    rows = [
        [verdict.rule, verdict.outcome, value.field, _cell(value.value), value.source, confidence]
        for verdict in answer.verdicts
        for value in verdict.values
        for confidence in [None if value.confidence is None else f"{value.confidence:.2f}"]
    ]
    if rows:
        print_table(["rule", "verdict", "field", "value", "source", "confidence"], rows)


def _cell(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.3g}"
    if isinstance(value, list):
        return ", ".join(map(str, value))
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return "missing" if value is None else text if len(text) <= 60 else f"{text[:57]}..."
