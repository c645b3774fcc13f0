"""Assembling a report from what a project holds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from benchprism.annotate.ledger.standing import ValueCount
from benchprism.annotate.review.judging.gate import Judgement, worst_first
from benchprism.compose.store import Subset
from benchprism.metrics.scorecard import Scorecard, ScoreSettings
from benchprism.prompts.catalogue import Catalogue
from benchprism.records.items.check import Finding
from benchprism.records.items.store import Provenance
from benchprism.records.results.matrix import Outcomes
from benchprism.report.confidence import confidences
from benchprism.report.content import AnnotatorNote, FaultNote, Report, SourceNote
from benchprism.report.declined import declined
from benchprism.report.heterogeneity import heterogeneity
from benchprism.report.missing import Ends, value_ends
from benchprism.report.profile import profiles
from benchprism.report.said import Awaited, Said
from benchprism.report.subsets import view_subset

EXAMPLES = 3


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
    verdicts: Sequence[ValueCount]
    """How the latest verdicts of each annotator ended."""
    said: Iterable[Said]
    """The same verdict by verdict, the latest last."""
    awaited: Sequence[Awaited]
    """What waits in batches."""
    undecided: pa.Table
    """What consolidation left open; ``UNDECIDED_SCHEMA``."""
    notes: Sequence[str]
    """What consolidation has to say."""
    findings: Iterable[Finding]
    """What ``items check`` finds."""
    results: Results | None
    """None before any results were added."""
    subsets: Sequence[Subset]
    seed: int
    calibration: Sequence[Judgement] = ()
    """What people's review says of attributes as hard criteria."""


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
    ends = value_ends(held.table, held.catalogue, held.said, held.awaited, held.undecided)
    return Report(
        project=held.project,
        catalogue=held.catalogue,
        annotators=tuple(held.annotators),
        sources=_sources(held, ends, outcomes),
        profiles=profiles(held.table, held.catalogue),
        heterogeneity=tuple(
            heterogeneity(held.table, held.catalogue, found, results.families, seed=held.seed)
            for found in results.outcomes
        ),
        subsets=tuple(
            view_subset(subset, held.table, held.catalogue, outcomes) for subset in held.subsets
        ),
        scores=results.scores,
        ends=ends,
        verdicts=tuple(held.verdicts),
        declined=declined(held.verdicts, held.catalogue),
        confidence=confidences(held.table, held.catalogue),
        notes=tuple(held.notes),
        faults=_faults(held.findings),
        models=len(models),
        seed=held.seed,
        calibration=worst_first(held.calibration),
    )


def _scored(outcomes: Outcomes) -> list[bool]:
    """Tell for each model whether it has any score."""
    return [not np.isnan(column).all() for column in outcomes.scores.T]


def _sources(
    held: Holdings, ends: Ends, outcomes: Mapping[str, Outcomes]
) -> tuple[SourceNote, ...]:
    blank: dict[str, dict[str, int]] = {}
    for name, end, items in ends.blank:
        blank.setdefault(name, {})[end] = items
    return tuple(
        _source(name, items, blank.get(name, {}), held.provenance.get(name, {}), outcomes.get(name))
        for name, items in Counter(held.table["benchmark"].to_pylist()).items()
    )


def _source(
    name: str, items: int, blank: Mapping[str, int], known: Provenance, found: Outcomes | None
) -> SourceNote:
    return SourceNote(
        benchmark=name,
        dataset=known.get("dataset") or known.get("file") or "",
        revision=known.get("revision", ""),
        licence=known.get("licence", "unknown"),
        items=items,
        annotated=items - sum(blank.values()),
        failures=tuple(blank.items()),
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
