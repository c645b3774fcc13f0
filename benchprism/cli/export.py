"""``benchprism export``: a subset as one folder that others can run."""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from benchprism.cli.export_verification import (
    print_verification,
    require_provable,
    verification,
    verified,
)
from benchprism.cli.options import HERE, JsonOption, ProjectOption
from benchprism.cli.output import counted, print_json, print_table, say
from benchprism.cli.publish import (
    export_place,
    publication,
    publish,
    require_permission,
    writable_hub,
)
from benchprism.project import Project, find_project
from benchprism.records.errors import enumerated

if TYPE_CHECKING:
    import pyarrow as pa

    from benchprism.annotate.consolidation.agreement import AttributeAgreement, Comparison
    from benchprism.compose.export.subset import AgreementFigure, ExportedSubset


_PUBLISHING = "Publishing"


def register(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command()(export)


def export(
    subset: Annotated[str, typer.Argument(help="The subset's name.", show_default=False)],
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", metavar="FOLDER", help="The folder to write; exports/SUBSET if none."
        ),
    ] = None,
    ids_only: Annotated[
        bool,
        typer.Option(
            "--ids-only",
            help="Leave out all texts and keys, for sources that may not be passed on.",
        ),
    ] = False,
    csv: Annotated[bool, typer.Option("--csv", help="Write a CSV for people too.")] = False,
    verify: Annotated[
        bool,
        typer.Option(
            "--verify",
            help="Prove it by datasets, lm-evaluation-harness and Inspect, those installed.",
        ),
    ] = False,
    python: Annotated[
        Path | None,
        typer.Option(
            "--python", metavar="PATH", help="The Python of an environment with the harnesses."
        ),
    ] = None,
    names: Annotated[
        bool,
        typer.Option("--names", help="Name the people who annotated, instead of numbering them."),
    ] = False,
    to: Annotated[
        tuple[str, str] | None,
        typer.Option(
            "--to",
            metavar="hub ORG/NAME",
            help="Push it to this dataset of the Hub, as one commit.",
            rich_help_panel=_PUBLISHING,
        ),
    ] = None,
    public: Annotated[
        bool,
        typer.Option("--public", help="Open to all; private if not.", rich_help_panel=_PUBLISHING),
    ] = False,
    create_pr: Annotated[
        bool,
        typer.Option(
            "--create-pr", help="Offer it as a pull request.", rich_help_panel=_PUBLISHING
        ),
    ] = False,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run",
            help="Show what a push would change; write nothing.",
            rich_help_panel=_PUBLISHING,
        ),
    ] = False,
    accept_non_commercial: Annotated[
        bool,
        typer.Option(
            "--accept-non-commercial",
            help="Publish sources that forbid commercial use.",
            rich_help_panel=_PUBLISHING,
        ),
    ] = False,
    project: ProjectOption = HERE,
    json: JsonOption = False,
) -> None:
    """Write a subset as one folder that is a dataset of the Hugging Face Hub.

    It holds the items in Parquet, a card with composition, licences and citations, the lock, and
    task files for lm-evaluation-harness, Inspect and lighteval. An export that is there already is
    replaced; your own files beside it, and your own text in its card, are kept.

    Example: benchprism export reasoning --to hub ORG/NAME
    """
    from benchprism.compose.export.folder import export_subset

    require_provable(verify=verify, ids_only=ids_only, python=python)
    wanted = publication(
        to,
        {
            "--public": public,
            "--create-pr": create_pr,
            "--dry-run": dry_run,
            "--accept-non-commercial": accept_non_commercial,
        },
    )
    opened = find_project(project)
    hub = writable_hub(opened, wanted) if wanted is not None else None
    exported = _assembled(
        opened, subset, ids_only=ids_only, names=names, repo_id=hub.repo_id if hub else None
    )
    if hub is not None and wanted is not None:
        require_permission(hub, wanted, exported)
    folder = out if out is not None else opened.root / "exports" / subset
    told: dict[str, Any] = {}
    with export_place(folder, wanted) as place:
        export_subset(exported, place, sheet=csv)
        reports = verified(place, opened.subsets / subset, python) if verify else []
        holds = all(report.holds for report in reports)
        if not json:
            _print_sources(exported)
        _say_licences(exported)
        if place == folder:
            say(f"Wrote {counted(exported.items.num_rows, 'item')} to {os.path.relpath(folder)}.")
        if verify:
            print_verification(reports, figures=not json)
            told["verification"] = verification(reports)
        if hub is not None and wanted is not None and holds:
            told["hub"] = publish(hub, wanted, exported, place, as_json=json)
    if json:
        print_json({**_summary(exported, folder), **told})
    if not holds:
        raise typer.Exit(1)


def _assembled(
    project: Project, subset: str, *, ids_only: bool, names: bool, repo_id: str | None
) -> ExportedSubset:
    from benchprism.cli.gather import project_catalogue
    from benchprism.compose.export.assembly import assemble
    from benchprism.compose.export.subset import REPOSITORY
    from benchprism.compose.store import read_subset
    from benchprism.scoring.judgement_record import read_judgement

    stored = read_subset(project.subsets / subset)
    return assemble(
        stored,
        project_catalogue(project),
        ids_only=ids_only,
        agreement=_agreement(project, stored.items),
        judgement=read_judgement(stored),
        repo_id=repo_id or REPOSITORY,
        names=names,
    )


def _agreement(project: Project, items: pa.Table) -> list[AgreementFigure]:
    """How far people, or else models, agree on the attributes of some items."""
    from benchprism.annotate.consolidation.agreement import (
        Resampling,
        attribute_agreement,
        comparisons,
    )
    from benchprism.annotate.consolidation.rating_matrix import rating_matrix
    from benchprism.annotate.ledger.current import current_annotations
    from benchprism.annotate.ledger.store import Ledger
    from benchprism.cli.gather import project_catalogue

    with Ledger(project.ledger) as ledger:
        said = current_annotations(ledger, project_catalogue(project), items)
    matrices = [rating_matrix(one, items.num_rows) for one in said]
    names = sorted({name for matrix in matrices for name in matrix.annotators})
    found = {one.between: one for one in comparisons(names)}
    compared = found.get("people") or found.get("models")
    if compared is None:
        return []
    settings = Resampling(replicates=1)  # the card has no intervals
    compared_only = (matrix.of(compared.annotators) for matrix in matrices)
    return [_figure(compared, attribute_agreement(one, settings)) for one in compared_only]


def _figure(compared: Comparison, found: AttributeAgreement) -> AgreementFigure:
    from benchprism.compose.export.subset import AgreementFigure

    alpha = found.alpha
    return AgreementFigure(
        attribute=found.attribute.id,
        between=compared.between,
        annotators=compared.annotators,
        items=alpha.pairable,
        raw=alpha.raw,
        alpha=alpha.estimate,
        reason=alpha.reason if math.isnan(alpha.estimate) else None,
    )


def _summary(exported: ExportedSubset, folder: Path) -> dict[str, Any]:
    from benchprism.compose.export.licences import strictest

    return {
        "name": exported.name,
        "folder": str(folder),
        "items": exported.items.num_rows,
        "ids_only": exported.ids_only,
        "configs": {config: exported.table(config).num_rows for config in exported.configs},
        "licence": strictest(source.licence for source in exported.sources).hub,
        "sources": [
            {
                "benchmark": source.benchmark,
                "dataset": source.dataset,
                "revisions": [*source.revisions],
                "items": source.items,
                "licence": source.stated_licence,
                "redistribution": source.licence.redistribution,
            }
            for source in exported.sources
        ],
    }


def _print_sources(exported: ExportedSubset) -> None:
    rows = [
        [source.benchmark, source.items, source.dataset or source.file, source.stated_licence]
        for source in exported.sources
    ]
    print_table(["benchmark", "items", "source", "licence"], rows, title=exported.name)


def _say_licences(exported: ExportedSubset) -> None:
    names = {
        kind: [s.benchmark for s in exported.sources if s.licence.redistribution == kind]
        for kind in ("unknown", "non_commercial")
    }
    if exported.ids_only:
        return
    if names["unknown"]:
        say(f"Note: it is not known whether {enumerated(names['unknown'])} may be passed on.")
    if names["non_commercial"]:
        say(f"Note: no commercial use of {enumerated(names['non_commercial'])}.")
