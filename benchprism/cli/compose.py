"""``benchprism compose``: subsets of items that meet criteria."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from benchprism.cli import explain
from benchprism.cli.options import HERE, JsonOption, ProjectOption
from benchprism.cli.output import counted, print_json, print_table, say
from benchprism.cli.pull import pull
from benchprism.project import Project, find_project
from benchprism.records.errors import InputError, enumerated, suggestion

if TYPE_CHECKING:
    from benchprism.cli.recompose import CheckFinding
    from benchprism.compose.composer import Composition
    from benchprism.compose.language.errors import Relaxation
    from benchprism.compose.language.expectations import Finding
    from benchprism.compose.screening import Screening, Step

_Format = Literal["text", "github"]


def register(app: typer.Typer) -> None:
    """Add the commands to the command line."""
    app.command()(compose)
    explain.register(app)


def compose(
    criteria: Annotated[
        Path | None,
        typer.Argument(help="The criteria file.", metavar="CRITERIA", show_default=False),
    ] = None,
    project: ProjectOption = HERE,
    json: JsonOption = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what each rule leaves; write nothing.")
    ] = False,
    locked: Annotated[
        bool,
        typer.Option(
            "--locked", help="Rebuild the subset as its lock says, or say what moved (exit 1)."
        ),
    ] = False,
    check: Annotated[
        bool,
        typer.Option(
            "--check",
            help="Write nothing; exit 1 unless the subset, or that of each criteria file of the"
            " project if none is named, is up to date and as expected.",
        ),
    ] = False,
    sensitivity: Annotated[
        bool,
        typer.Option(
            "--sensitivity",
            help="Write nothing; compose again by each annotator alone, under each version of a"
            " prompt, with each threshold on a level moved by one, and with other seeds.",
        ),
    ] = False,
    seeds: Annotated[
        int | None,
        typer.Option(
            "--seeds", min=0, help="Of --sensitivity: how many other seeds; 10 unless given."
        ),
    ] = None,
    output_format: Annotated[
        _Format, typer.Option(help="Of --check: a table, or annotations for GitHub's checks.")
    ] = "text",
    from_hub: Annotated[
        str | None,
        typer.Option(
            "--from-hub",
            metavar="ORG/NAME",
            help="Take up a subset again that was exported to this dataset of the Hub.",
        ),
    ] = None,
    revision: Annotated[
        str | None,
        typer.Option("--revision", help="Of --from-hub: a branch, tag or commit; else the newest."),
    ] = None,
) -> None:
    """Choose the items that meet the criteria, and keep the reason why each other one is out.

    Nothing is written unless everything is true that the criteria expect.

    Example: benchprism compose criteria/reasoning.yaml

    Example: benchprism compose criteria/reasoning.yaml --sensitivity
    """
    pulls = from_hub is not None
    ways = {"--dry-run": dry_run, "--locked": locked, "--check": check}
    _one_of({**ways, "--sensitivity": sensitivity, "--from-hub": pulls})
    opened = find_project(project)
    if revision is not None and not pulls:
        raise _misused("--revision", "--from-hub")
    if from_hub is not None:
        _one_of({"a criteria file": criteria is not None, "--from-hub": True})
        pull(opened, from_hub, revision, as_json=json)
        return
    if check:
        _check(opened, criteria, output_format, as_json=json)
        return
    if output_format != "text":
        raise _misused("--output-format", "--check")
    if seeds is not None and not sensitivity:
        raise _misused("--seeds", "--sensitivity")
    if criteria is None:
        raise InputError(
            "no criteria file is named",
            wanted="one",
            mend=f"run 'benchprism compose {_known_files(opened) or 'criteria/NAME.yaml'}'",
        )
    path = criteria_path(criteria, opened)
    if sensitivity:
        from benchprism.cli.sensitivity import print_sensitivity

        print_sensitivity(opened, path, 10 if seeds is None else seeds, as_json=json)
    elif locked:
        _rebuild(opened, path, as_json=json)
    else:
        _compose(opened, path, criteria, dry_run=dry_run, as_json=json)


def _one_of(given: Mapping[str, bool]) -> None:
    used = [option for option, value in given.items() if value]
    if len(used) > 1:
        raise InputError(
            f"{enumerated(used)} together", wanted="one of them", mend="leave out the others"
        )


def _misused(option: str, other: str) -> InputError:
    return InputError(f"{option} without {other}", wanted="both", mend=f"add {other}")


def criteria_path(path: Path, project: Project) -> Path:
    """Find a criteria file from the working folder or, failing that, from the project's."""
    for candidate in (path, project.root / path):
        if candidate.is_file():
            return candidate
    known = {file.stem: os.path.relpath(file) for file in criteria_files(project)}
    mend = "write one; 'benchprism schema criteria' prints what it may hold"
    if path.stem in known:
        mend = f"did you mean {known[path.stem]!r}?"
    elif known:
        mend = suggestion(str(path), known.values())
    raise InputError(f"no criteria file {str(path)!r}", wanted="a YAML file", mend=mend)


def criteria_files(project: Project) -> list[Path]:
    """The criteria files of a project, in the order of their names."""
    folder = project.root / "criteria"
    return sorted(file for pattern in ("*.yaml", "*.yml") for file in folder.glob(pattern))


def _known_files(project: Project) -> str:
    return next((os.path.relpath(file) for file in criteria_files(project)), "")


def _compose(project: Project, path: Path, given: Path, *, dry_run: bool, as_json: bool) -> None:
    from benchprism.cli.judgement import say_verdict
    from benchprism.cli.recompose import composed, lock_of
    from benchprism.compose.store import write_subset

    shown = _Shown(as_json, dry_run)
    composition = composed(project, path, shown.shortage)
    folder = project.subsets / composition.name
    writes = not dry_run and composition.met
    if writes:
        written = lock_of(project, composition)
        write_subset(folder, composition, written)
        _say_unjudged(composition, written)
    if as_json:
        print_json(_summary(composition, folder if writes else None))
    else:
        _print_waterfall(composition.name, composition.available, composition.steps)
        _print_findings(composition.findings)
    _say_cautions(composition)
    if not composition.met:
        say("Nothing was written: not all is true that the criteria expect.")
        raise typer.Exit(1)
    items = counted(sum(composition.counts.values()), "item")
    if not writes:
        say(f"{items} would be chosen. Next: benchprism compose {given}")
    else:
        say(f"Wrote {items} to {os.path.relpath(folder)}. Next: benchprism score {folder.name}")
        say_verdict(project, folder.name)


class _Shown:
    """What is shown of criteria that cannot be met, before the error says why."""

    def __init__(self, as_json: bool, dry_run: bool) -> None:
        self.as_json, self.dry_run = as_json, dry_run

    def shortage(self, screening: Screening, relaxations: Sequence[Relaxation]) -> None:
        """Show what each rule leaves, and what single changes would leave."""
        if not self.as_json:
            name, available = screening.criteria.name, screening.available
            _print_waterfall(name, available, screening.steps)
            _print_relaxations(relaxations)
        elif self.dry_run:
            steps = [_step(step) for step in screening.steps]
            changes = [asdict(change) for change in relaxations]
            print_json({"items": screening.available, "rules": steps, "relaxations": changes})


def _rebuild(project: Project, path: Path, *, as_json: bool) -> None:
    from benchprism.cli.recompose import composed, lock_of
    from benchprism.compose.locking.verification import verify
    from benchprism.compose.store import write_subset

    composition = composed(project, path)
    folder = project.subsets / composition.name
    now = lock_of(project, composition)
    found = verify(folder, now)
    if as_json:
        print_json({"name": composition.name, **asdict(found)})
    elif found.moved:
        print_table(["moved"], [[sentence] for sentence in found.moved])
    if found.moved:
        say(f"{composition.name!r} is not rebuilt: what it rests on has moved.")
        raise typer.Exit(1)
    write_subset(folder, composition, now)
    for sentence in found.damaged:
        say(f"Mended: {sentence}.")
    items = counted(len(composition.rows), "item")
    say(f"Rebuilt {items} in {os.path.relpath(folder)}, bit for bit.")


def _check(project: Project, given: Path | None, output_format: _Format, *, as_json: bool) -> None:
    from benchprism.cli.recompose import check_files

    paths = [criteria_path(given, project)] if given is not None else criteria_files(project)
    if not paths:
        raise InputError(
            f"no criteria files in {project.root / 'criteria'}",
            wanted="at least one to check",
            mend="write one; 'benchprism schema criteria' prints what it may hold",
        )
    findings = check_files(project, paths)
    if as_json:
        print_json([asdict(finding) for finding in findings])
    elif output_format == "github":
        for finding in findings:
            typer.echo(finding.annotation)
    elif findings:
        _print_check(findings)
    if findings:
        raise typer.Exit(1)
    files = counted(len(paths), "criteria file")
    say(f"Checked {files}: every subset is as its criteria say.")


def _print_check(findings: Sequence[CheckFinding]) -> None:
    rows = [[finding.file, finding.line, finding.message] for finding in findings]
    print_table(["file", "line", "finding"], rows)


def _summary(composition: Composition, folder: Path | None) -> dict[str, Any]:
    from benchprism.compose.calibration import calibration_data

    return {
        "name": composition.name,
        "items": composition.available,
        "rules": [_step(step) for step in composition.steps],
        "groups": [asdict(group) for group in composition.groups],
        "expectations": [
            {name: value for name, value in asdict(finding).items() if name != "place"}
            for finding in composition.findings
        ],
        "calibration": calibration_data(composition.screening.calibration),
        "chosen": composition.counts,
        "folder": None if folder is None else str(folder),
    }


def _step(step: Step) -> dict[str, Any]:
    return {
        "rule": step.rule,
        "left_out": step.left_out,
        "missing": step.missing,
        "left": dict(step.left),
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


def _print_findings(findings: Sequence[Finding]) -> None:
    if findings:
        rows = [[f.text, f.group, f"{f.value:.4g}", "yes" if f.met else "no"] for f in findings]
        print_table(["expectation", "of", "found", "true"], rows)


def _say_cautions(composition: Composition) -> None:
    for judgement in composition.screening.calibration.values():
        if judgement.verdict != "usable":
            say(f"Warning: {judgement.sentence}. 'benchprism review calibrate' says more.")


def _say_unjudged(composition: Composition, lock: Mapping[str, Any]) -> None:
    from benchprism.compose.calibration import unjudged

    for annotator in unjudged(composition.screening.calibration, lock["annotators"]):
        say(
            f"Warning: the calibration has not seen values by {annotator}; run"
            " 'benchprism review calibrate' again."
        )


def _print_relaxations(relaxations: Sequence[Relaxation]) -> None:
    if relaxations:
        rows = [[c.change, c.left, "yes" if c.enough else "no"] for c in relaxations]
        print_table(["a single change", "would leave", "enough"], rows)
