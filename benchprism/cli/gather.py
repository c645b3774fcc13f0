"""What commands gather from a project's folder before a room can work on it."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, Any

from benchprism.cli.output import say
from benchprism.project import Project

if TYPE_CHECKING:
    import pyarrow as pa

    from benchprism.compose.evidence import Evidence
    from benchprism.compose.language.criteria import Criteria
    from benchprism.compose.store import Subset
    from benchprism.prompts.catalogue import Catalogue
    from benchprism.records.items.store import Provenance


def project_catalogue(project: Project) -> Catalogue:
    """The project's catalogue."""
    from benchprism.prompts.library import load_catalogue

    return load_catalogue(project.settings.catalogue, folder=project.root)


def project_attribute_table(project: Project, item_ids: Collection[str] | None = None) -> pa.Table:
    """The project's items with their attributes; before any annotation these are missing.

    Args:
        project: the project.
        item_ids: the items that are wanted, those of them that there are; all when not given.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    from benchprism.annotate.attribute_table import attribute_table
    from benchprism.annotate.consolidation.consolidate import consolidation
    from benchprism.records.items.store import project_items

    catalogue, settings = project_catalogue(project), project.settings.consolidation
    items = everything = project_items(project.items)
    if item_ids is not None:
        items = items.filter(pc.is_in(items["item_id"], value_set=pa.array(item_ids, pa.string())))
    said_of = everything if settings.pools_items else items
    made = consolidation(project.ledger, catalogue, said_of, settings)
    for note in made.notes:
        say(f"Note: {note}.")
    return attribute_table(items, made.values, catalogue)


def project_provenance(project: Project, benchmarks: Iterable[str]) -> dict[str, Provenance]:
    """Where the items of each benchmark are from."""
    from benchprism.records.items.store import benchmark_files, read_provenance

    files = benchmark_files(project.items, [*benchmarks])
    return {name: read_provenance(path) for name, path in files.items()}


def project_evidence(project: Project) -> Evidence | None:
    """What models scored on the items that have no fault; none without any results."""
    from benchprism.compose.evidence import Evidence
    from benchprism.records.files import listed
    from benchprism.scoring import project_results

    if not listed(project.results, "*.parquet"):
        return None
    results = project_results(project)
    return Evidence(results.outcomes, results.models)


def evidence_for(project: Project, criteria: Criteria) -> Evidence | None:
    """What models scored, if criteria ask for it: reading results takes its time."""
    from benchprism.compose.language.checks import needs_results

    return project_evidence(project) if needs_results(criteria) else None


def earlier_compositions(project: Project, criteria: Criteria) -> dict[str, Subset]:
    """The compositions that criteria take items from, by name.

    Raises:
        InputError: one has not been composed, or cannot be read.
    """
    from benchprism.compose.language.criteria import SUBSET
    from benchprism.compose.store import read_subset

    named = [source for source in criteria.from_ if source.startswith(SUBSET)]
    names = [source.removeprefix(SUBSET) for source in named if source != SUBSET + criteria.name]
    return {name: read_subset(project.subsets / name) for name in names}


_ANNOTATORS = """
    SELECT DISTINCT annotator, model, prompt_hash, catalogue_hash, item_id FROM reply r
    WHERE EXISTS (SELECT 1 FROM annotation a WHERE a.reply_id = r.reply_id AND a.status = 'ok')
"""


def project_annotators(project: Project, item_ids: Iterable[str]) -> list[dict[str, Any]]:
    """Who gave values for the items, with which model, prompt and catalogue; sorted."""
    from benchprism.annotate.ledger.store import Ledger

    wanted = set(item_ids)
    with Ledger(project.ledger) as ledger:
        found = {row[:4] for row in ledger.query(_ANNOTATORS) if row[4] in wanted}
    names = ("annotator", "model", "prompt_hash", "catalogue_hash")
    return [dict(zip(names, row, strict=True)) for row in sorted(found, key=repr)]
