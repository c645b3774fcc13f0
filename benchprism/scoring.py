"""Scoring: results, models, domains and items of a project, or an accuracy table, put together."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pyarrow as pa

from benchprism.compose.store import read_subset
from benchprism.metrics.evidence import ItemScores, ReportedScores
from benchprism.metrics.reasons import named
from benchprism.metrics.score_benchmarks import DEFAULTS, score_items, score_reported
from benchprism.metrics.scorecard import BenchmarkScore, Model, Scorecard, ScoreSettings
from benchprism.metrics.stability import ranking_consistency
from benchprism.metrics.standings import mean_over_models
from benchprism.project import Project
from benchprism.records.errors import InputError
from benchprism.records.items.store import read_items, read_provenance
from benchprism.records.results.accuracy import (
    AccuracyTable,
    Unit,
    read_accuracy,
    read_domains,
    read_inversions,
)
from benchprism.records.results.matrix import Outcomes, outcomes
from benchprism.records.results.models import read_models
from benchprism.records.results.store import read_results

ONE_DOMAIN = "all"
"""The domain of every benchmark when none is stated for any."""

Notes = dict[str, list[str]]


@dataclass(frozen=True, slots=True, eq=False)
class ProjectResults:
    """The results of a project, ready to be scored."""

    outcomes: tuple[Outcomes, ...]
    """By benchmark, in the order of their names, without the items that are left out."""
    models: tuple[Model, ...]
    """Every model with results: as the models file lists them, then the others by name."""
    domains: Mapping[str, str | None]
    """Domain of each benchmark."""
    notes: Notes
    """What was left out and what did not join, by benchmark."""


def project_results(project: Project) -> ProjectResults:
    """Read a project's results and what is known of their models, items and domains.

    Results are matched to the project's items by id. Items that have a fault of their own are left
    out; results on other items are kept, and counted in the notes.

    Raises:
        InputError: there are no results, or a file cannot be read.
    """
    found, notes = [], Notes()
    for given in outcomes(read_results(project.results)):
        joined, notes[given.benchmark] = _joined(given, project.items)
        if joined.item_ids:
            found.append(joined)
    names = {model for given in found for model in given.models}
    domains = _domains(project, [given.benchmark for given in found], notes)
    return ProjectResults(tuple(found), _project_models(project, names), domains, notes)


def _joined(given: Outcomes, folder: Path) -> tuple[Outcomes, list[str]]:
    """Leave out the items that have faults, and say which results have no item."""
    path = folder / f"{given.benchmark}.parquet"
    if not path.is_file():
        return given, []
    items = read_items(path)
    faults = dict(zip(items["item_id"].to_pylist(), items["faults"].to_pylist(), strict=True))
    notes = []
    strangers = [item for item in given.item_ids if item not in faults]
    if strangers:
        share = f"{len(strangers)} of {len(given.item_ids)}"
        notes.append(f"{share} items with results are not in {path.name} ({named(strangers, 1)})")
    unanswered = len(faults) - (len(given.item_ids) - len(strangers))
    if unanswered:
        notes.append(f"{unanswered} of {len(faults)} items have no results")
    faulty = {item for item in given.item_ids if faults.get(item)}
    if faulty:
        notes.append(f"{len(faulty)} items left out for their faults; see 'benchprism items check'")
    return _without(given, faulty), notes


def _without(given: Outcomes, left_out: Collection[str]) -> Outcomes:
    kept = np.array([item not in left_out for item in given.item_ids], dtype=bool)
    ids = tuple(item for item in given.item_ids if item not in left_out)
    return replace(given, item_ids=ids, scores=given.scores[kept])


def _project_models(project: Project, names: Collection[str]) -> tuple[Model, ...]:
    declared = read_models(project.models) if project.models.is_file() else {}
    listed = [
        Model(name, known.family, known.size) for name, known in declared.items() if name in names
    ]
    return (*listed, *(Model(name) for name in sorted(names) if name not in declared))


def _domains(project: Project, benchmarks: Sequence[str], notes: Notes) -> dict[str, str | None]:
    """Find the stated domain of each benchmark; when none is stated for any, all are one."""
    domains: dict[str, str | None] = {}
    for name in benchmarks:
        path = project.items / f"{name}.parquet"
        own = read_provenance(path).get("domain") if path.is_file() else None
        domains[name] = project.settings.domains.get(name) or own
    if not any(domains.values()):
        for name in benchmarks:
            notes[name].append("no domain is stated for any benchmark: all are compared as one")
        return dict.fromkeys(benchmarks, ONE_DOMAIN)
    for name, domain in domains.items():
        if not domain:
            notes[name].append("no domain is stated: name it under 'domains' in benchprism.yaml")
    return domains


def score_project(
    project: Project,
    *,
    subset: str | None = None,
    settings: ScoreSettings = DEFAULTS,
    threads: int = 1,
) -> Scorecard:
    """Score the benchmarks of a project, or a composed subset.

    With a subset, each benchmark is scored on the subset's items alone, and a last row, named
    after the subset, scores all of them together over the models that have results on each
    benchmark.

    Args:
        project: the project.
        subset: name of a composed subset; none for all items with results.
        settings: options of the metrics and of the bootstrap.
        threads: how many threads to use; the numbers do not depend on it.

    Raises:
        InputError: there are no results, no such subset, or no results on its items.
    """
    results = project_results(project)
    if subset is None:
        given = [_item_scores(found, results) for found in results.outcomes]
        card = score_items(given, results.models, settings=settings, threads=threads)
        return _annotated(card, results.notes)
    parts, notes = _restricted(results, read_subset(project.subsets / subset).items, subset)
    given = [_item_scores(part, results) for part in parts]
    given.append(_item_scores(_pooled(parts, subset), results))
    card = score_items(given, results.models, settings=settings, threads=threads)
    scored = {part.benchmark for part in parts}
    sources = [found for found in results.outcomes if found.benchmark in scored]
    full = [*sources, _pooled(sources, subset)]
    scores = [
        _compared(score, everything)
        for score, everything in zip(card.benchmarks, full, strict=True)
    ]
    return _annotated(replace(card, benchmarks=tuple(scores)), notes)


def _item_scores(given: Outcomes, results: ProjectResults) -> ItemScores:
    domain = results.domains.get(given.benchmark)
    return ItemScores(given.benchmark, domain, given.models, given.scores)


def _restricted(
    results: ProjectResults, items: pa.Table, subset: str
) -> tuple[list[Outcomes], Notes]:
    """Keep the results on a subset's items, and say on how many of them there are none."""
    wanted: dict[str, set[str]] = {}
    columns = items["benchmark"].to_pylist(), items["item_id"].to_pylist()
    for benchmark, item in zip(*columns, strict=True):
        wanted.setdefault(benchmark, set()).add(item)
    parts, notes = [], Notes()
    for given in results.outcomes:
        ids = wanted.get(given.benchmark, set())
        part = _without(given, {item for item in given.item_ids if item not in ids})
        if part.item_ids:
            parts.append(part)
            lacking = len(ids) - len(part.item_ids)
            note = f"no results on {lacking} of the subset's {len(ids)} items"
            notes[given.benchmark] = [note] if lacking else []
    if not parts:
        others = named(given.benchmark for given in results.outcomes)
        raise InputError(
            f"no results on the items of the subset {subset!r}, which are of {named(wanted)}",
            wanted=f"results on some of them, under the same item ids; there are some of {others}",
            mend="add them with 'benchprism results add FILE'",
        )
    unscored = [name for name in wanted if name not in notes]
    if unscored:
        notes[subset] = [f"without {named(unscored)}, on whose items there are no results"]
    return parts, notes


def _pooled(parts: Sequence[Outcomes], name: str) -> Outcomes:
    """All items together, with the models that have results on every part."""
    common = [model for model in parts[0].models if all(model in part.models for part in parts)]
    scores = [part.scores[:, [part.models.index(model) for model in common]] for part in parts]
    ids = tuple(item for part in parts for item in part.item_ids)
    return Outcomes(name, ids, tuple(common), np.concatenate(scores))


def _compared(score: BenchmarkScore, full: Outcomes) -> BenchmarkScore:
    """Add how far the ranking on a subset's items is that on all items."""
    on_all = dict(zip(full.models, mean_over_models(full.scores.T.astype(float)), strict=True))
    models = list(score.accuracies)
    tau = ranking_consistency(
        np.array([on_all[model] for model in models]),
        np.array([score.accuracies[model] for model in models]),
    )
    return replace(score, ranking_consistency=tau)


def score_accuracy(
    path: Path,
    unit: Unit,
    *,
    domains: Path | None = None,
    inversions: Path | None = None,
    settings: ScoreSettings = DEFAULTS,
) -> Scorecard:
    """Score an accuracy table, without items.

    Args:
        path: the table, as ``records.results.accuracy.read_accuracy`` reads it.
        unit: whether its accuracies go to 100 or to 1.
        domains: the domain of each benchmark; without it all are one domain.
        inversions: inversion rates of families; without it CAD is undefined.
        settings: options of the metrics and of the bootstrap.

    Raises:
        InputError: a file cannot be read, or does not fit the table.
    """
    table = read_accuracy(path, unit)
    domain = read_domains(domains, table.accuracies) if domains else {}
    rates = read_inversions(inversions, table) if inversions else {}
    given = [
        ReportedScores(name, domain.get(name, ONE_DOMAIN), row, rates.get(name, {}))
        for name, row in table.accuracies.items()
    ]
    card = score_reported(given, [*_reported_models(table)], settings=settings)
    remarks = []
    if domains is None:
        remarks.append("no domains are given: all benchmarks are compared as one")
    if inversions is not None and table.sizes is None:
        remarks.append("cad: no sizes are given: models of a family are taken to differ in size")
    if unit == "percent" and table.looks_like_proportions:
        remarks.append("no accuracy exceeds 1 per cent: is the unit proportion?")
    return _annotated(card, dict.fromkeys(table.accuracies, remarks))


def _reported_models(table: AccuracyTable) -> Iterator[Model]:
    """Models in the table's order; without sizes, their order stands for them."""
    for place, name in enumerate(table.models):
        size = float(place) if table.sizes is None else table.sizes.get(name)
        yield Model(name, table.families.get(name), size)


def _annotated(card: Scorecard, notes: Mapping[str, Sequence[str]]) -> Scorecard:
    """Put what is known before scoring in front of each benchmark's notes."""
    scores = [
        replace(score, notes=(*notes.get(score.benchmark, ()), *score.notes))
        for score in card.benchmarks
    ]
    return replace(card, benchmarks=tuple(scores))
