"""``benchprism report``: what the benchmarks are made of, as one page and as tables."""

from __future__ import annotations

import os
import stat
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from benchprism.cli.options import HERE, JsonOption, ProjectOption
from benchprism.cli.output import print_json, print_table, say
from benchprism.project import Project, find_project
from benchprism.records.errors import InputError

if TYPE_CHECKING:
    from benchprism.annotate.ledger.standing import Standing
    from benchprism.compose.store import Subset
    from benchprism.report.assemble import Holdings, Results
    from benchprism.report.content import AnnotatorNote


def register(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command()(report)


def report(
    out: Annotated[
        Path | None, typer.Option(help="Where the page goes; reports/report.html by default.")
    ] = None,
    subset: Annotated[
        list[str] | None,
        typer.Option(help="A composed subset to show; may be given again. All by default."),
    ] = None,
    project: ProjectOption = HERE,
    json: JsonOption = False,
) -> None:
    """Write one HTML page about the project's benchmarks, and print its main tables.

    Example: benchprism report --out audit.html
    """
    from benchprism.records.files import write_text
    from benchprism.report.assemble import assemble
    from benchprism.report.data import plain
    from benchprism.report.page import render
    from benchprism.report.remarks import remarks
    from benchprism.report.tables import tables

    opened = find_project(project)
    path = _page_path(out or opened.reports / "report.html")
    content = assemble(_holdings(opened, subset))
    write_text(path, render(content))
    if json:
        print_json({**plain(content), "page": str(path)})
    else:
        for table in tables(content):
            print_table(table.columns, table.rows, title=table.title)
    for remark in remarks(content):
        say(remark)
    say(f"Wrote {os.path.relpath(path)}. It is one file; open it in a browser.")


def _page_path(path: Path) -> Path:
    """Accept the path of an HTML file, there or not; anything else might be something of value."""
    if path.suffix.lower() not in {".html", ".htm"}:
        fault = "does not end in .html"
    elif not _free_or_regular(path):
        fault = "is not a regular file"
    else:
        return path
    raise InputError(
        f"the page cannot go to {str(path)!r}, which {fault}",
        wanted="a new file, or an HTML file to replace",
        mend="name one that ends in .html, such as --out audit.html",
    )


def _free_or_regular(path: Path) -> bool:
    try:
        return stat.S_ISREG(path.lstat().st_mode)
    except OSError:
        return True  # what hinders writing there is told when the page is written


def _holdings(project: Project, wanted: Sequence[str] | None) -> Holdings:
    """Read everything that a report is made of."""
    from benchprism.annotate.attribute_table import attribute_table
    from benchprism.annotate.consolidation.consolidate import consolidation
    from benchprism.annotate.ledger.standing import standing
    from benchprism.annotate.ledger.store import Ledger
    from benchprism.annotate.review.judging.gate import CALIBRATION, read_gate
    from benchprism.cli.gather import project_catalogue, project_provenance
    from benchprism.records.items.check import find_faults
    from benchprism.records.items.store import project_items
    from benchprism.report.assemble import Holdings
    from benchprism.report.said import awaited, last_said

    catalogue, items = project_catalogue(project), project_items(project.items)
    made = consolidation(project.ledger, catalogue, items, project.settings.consolidation)
    with Ledger(project.ledger) as ledger:
        now = standing(ledger)
    gate = read_gate(project.review / CALIBRATION, catalogue) or {}
    return Holdings(
        project=project.settings.project,
        catalogue=catalogue,
        table=attribute_table(items, made.values, catalogue),
        provenance=project_provenance(project, items["benchmark"].unique().to_pylist()),
        annotators=_annotators(now),
        verdicts=now.values,
        said=last_said(project.ledger),
        awaited=awaited(project.ledger),
        undecided=made.undecided,
        notes=made.notes,
        findings=find_faults(items),
        results=_results(project),
        subsets=_subsets(project, wanted),
        seed=project.settings.seed,
        calibration=[*gate.values()],
    )


def _annotators(now: Standing) -> list[AnnotatorNote]:
    from benchprism.report.content import AnnotatorNote

    given = Counter[str]()
    for count in now.values:
        given[count.annotator] += count.values if count.status == "ok" else 0
    return [
        AnnotatorNote(name=one.annotator, values=given[one.annotator], replayed=one.replayed)
        for one in now.annotators
    ]


def _results(project: Project) -> Results | None:
    """Results and scores; none before any results were added."""
    from benchprism.metrics.scorecard import ScoreSettings
    from benchprism.records.files import listed
    from benchprism.report.assemble import Results
    from benchprism.scoring import project_results, score_project

    if not listed(project.results, "*.parquet"):
        return None
    found = project_results(project)
    return Results(
        outcomes=found.outcomes,
        families={model.name: model.family for model in found.models if model.family},
        scores=score_project(project, settings=ScoreSettings(seed=project.settings.seed)),
    )


def _subsets(project: Project, wanted: Sequence[str] | None) -> list[Subset]:
    """The named subsets, or all; none before any is composed."""
    from benchprism.compose.store import read_subset, subset_folders

    found = [path.name for path in subset_folders(project.subsets)]
    return [read_subset(project.subsets / name) for name in wanted or found]
