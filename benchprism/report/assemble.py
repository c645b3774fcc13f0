"""Assembling a report from what a project holds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from benchprism.compose.store import Subset
from benchprism.metrics.scorecard import Scorecard, ScoreSettings
from benchprism.prompts.catalogue import Catalogue
from benchprism.records.items.check import Finding
from benchprism.records.items.store import Provenance
from benchprism.records.results.matrix import Outcomes
from benchprism.report.content import AnnotatorNote, FaultNote, Report, SourceNote
from benchprism.report.heterogeneity import heterogeneity
from benchprism.report.profile import annotated_rows, profiles
from benchprism.report.subsets import view_subset

EXAMPLES = 3
NOT_ASKED = "not asked"
OUTDATED = "outdated"
"""Annotated as it was before its text, or the catalogue, changed."""


@dataclass(frozen=True, slots=True, eq=False)
class Results:
    """What models scored, and the scores of the benchmarks."""

    outcomes: Sequence[Outcomes]
    families: Mapping[str, str]
    """The family of each model that has one."""
    scores: Scorecard


@dataclass(frozen=True, slots=True, eq=False)
class Holdings:
    """What a project holds, read but not yet looked at."""

    project: str
    catalogue: Catalogue
    table: pa.Table
    """The attribute table of all items."""
    provenance: Mapping[str, Provenance]
    """Where the items of each benchmark are from."""
    annotators: Sequence[AnnotatorNote]
    last_status: Mapping[str, str]
    """How the last reply about each item that was asked ended."""
    findings: Iterable[Finding]
    """What ``items check`` finds."""
    results: Results | None
    """None before any results were added."""
    subsets: Sequence[Subset]
    seed: int


def assemble(held: Holdings) -> Report:
    """Compute everything that a report shows."""
    results = held.results or Results((), {}, Scorecard((), ScoreSettings()))
    outcomes = {found.benchmark: found for found in results.outcomes}
    models = {
        model
        for found in results.outcomes
        for model, scored in zip(found.models, _scored(found), strict=True)
        if scored
    }
    return Report(
        project=held.project,
        catalogue=held.catalogue,
        annotators=tuple(held.annotators),
        sources=_sources(held, outcomes),
        profiles=profiles(held.table, held.catalogue),
        heterogeneity=tuple(
            heterogeneity(held.table, held.catalogue, found, results.families, seed=held.seed)
            for found in results.outcomes
        ),
        subsets=tuple(
            view_subset(subset, held.table, held.catalogue, outcomes) for subset in held.subsets
        ),
        scores=results.scores,
        faults=_faults(held.findings),
        models=len(models),
        seed=held.seed,
    )


def _scored(outcomes: Outcomes) -> list[bool]:
    """Tell for each model whether it has any score."""
    return [not np.isnan(column).all() for column in outcomes.scores.T]


def _sources(held: Holdings, outcomes: Mapping[str, Outcomes]) -> tuple[SourceNote, ...]:
    rows = zip(
        held.table["item_id"].to_pylist(),
        held.table["benchmark"].to_pylist(),
        annotated_rows(held.table, held.catalogue).tolist(),
        strict=True,
    )
    totals: Counter[str] = Counter()
    missing: dict[str, Counter[str]] = {}
    for item_id, benchmark, annotated in rows:
        totals[benchmark] += 1
        counts = missing.setdefault(benchmark, Counter())
        if not annotated:
            status = held.last_status.get(item_id, NOT_ASKED)
            counts[OUTDATED if status == "ok" else status] += 1
    return tuple(
        _source(name, total, missing[name], held.provenance.get(name, {}), outcomes.get(name))
        for name, total in totals.items()
    )


def _source(
    name: str, items: int, missing: Counter[str], known: Provenance, found: Outcomes | None
) -> SourceNote:
    return SourceNote(
        benchmark=name,
        dataset=known.get("dataset") or known.get("file") or "",
        revision=known.get("revision", ""),
        licence=known.get("licence", "unknown"),
        items=items,
        annotated=items - missing.total(),
        failures=tuple(missing.most_common()),
        scored=0 if found is None else int((~np.isnan(found.scores)).any(axis=1).sum()),
        models=0 if found is None else sum(_scored(found)),
    )


def _faults(findings: Iterable[Finding]) -> tuple[FaultNote, ...]:
    items: dict[tuple[str, str], list[str]] = {}
    for finding in findings:
        items.setdefault((finding.benchmark, finding.fault), []).append(finding.item_id)
    return tuple(
        FaultNote(benchmark, fault, len(ids), tuple(ids[:EXAMPLES]))
        for (benchmark, fault), ids in items.items()
    )
