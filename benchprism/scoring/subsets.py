"""Subsets: the results on the items of a composition, beside those on all items."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from benchprism.compose.evidence import is_evidence
from benchprism.compose.language.checks import named_fields
from benchprism.compose.locking.lock import lock_digest
from benchprism.compose.store import Subset, read_subset
from benchprism.metrics.reasons import counted, named
from benchprism.metrics.scorecard import BenchmarkScore
from benchprism.metrics.stability import ranking_consistency
from benchprism.metrics.standings import mean_over_models
from benchprism.project import Project
from benchprism.records.errors import InputError
from benchprism.records.results.matrix import Outcomes
from benchprism.scoring.results import Notes, ProjectResults, pooled, without


@dataclass(frozen=True, slots=True, eq=False)
class SubsetResults:
    """What models scored on a subset's items."""

    name: str
    parts: tuple[Outcomes, ...]
    """By benchmark: the outcomes on the subset's items."""
    sources: tuple[Outcomes, ...]
    """The same benchmarks with all their items."""
    notes: Notes
    judges_that_chose: tuple[str, ...] = ()
    """Families whose models had a part in choosing the items, and judge them as well."""

    @property
    def whole(self) -> Outcomes:
        """All items of the subset together, for the models that all its benchmarks have."""
        return pooled(self.parts, self.name)


def subset_results(project: Project, name: str, results: ProjectResults) -> SubsetResults:
    """The outcomes on a composed subset's items, and what of the subset has none.

    Raises:
        InputError: there is no such subset, or there are no results on any of its items.
    """
    subset = read_subset(project.subsets / name)
    found = results_on(results, subset.items, name)
    try:
        chose = families_that_chose(project, subset)
    except InputError as error:
        found.notes.setdefault(name, []).append(f"who chose its items is not known: {error.found}")
        return found
    judging = {model.family for model in results.models} & chose
    families = sorted(one or "models without a family" for one in judging)
    return replace(found, judges_that_chose=tuple(families))


def results_on(results: ProjectResults, items: pa.Table, subset: str) -> SubsetResults:
    """The outcomes on some items, and what of them has none.

    Args:
        results: the results.
        items: a table with the columns ``benchmark`` and ``item_id``.
        subset: what the items are called.

    Raises:
        InputError: there are no results on any of the items.
    """
    wanted: dict[str, set[str]] = {}
    columns = items["benchmark"].to_pylist(), items["item_id"].to_pylist()
    for benchmark, item in zip(*columns, strict=True):
        wanted.setdefault(benchmark, set()).add(item)
    parts, sources, notes = [], [], Notes()
    for given in results.outcomes:
        ids = wanted.get(given.benchmark, set())
        part = without(given, {item for item in given.item_ids if item not in ids})
        if part.item_ids:
            parts.append(part)
            sources.append(given)
            lacking = len(ids) - len(part.item_ids)
            note = f"no results on {lacking} of the subset's {counted(len(ids), 'item')}"
            notes[given.benchmark] = [note] if lacking else []
    if not parts:
        others = named(given.benchmark for given in results.outcomes)
        raise InputError(
            f"no results on the items of the subset {subset!r}, which are of {named(wanted)}",
            wanted=f"results on some of them, under the same item ids; there are some of {others}",
            mend="add them with 'benchprism results add PATH'",
        )
    unscored = [name for name in wanted if name not in notes]
    if unscored:
        notes[subset] = [f"without {named(unscored)}, on whose items there are no results"]
    return SubsetResults(subset, tuple(parts), tuple(sources), notes)


def compared_with_sources(
    scores: Sequence[BenchmarkScore], subset: SubsetResults
) -> tuple[BenchmarkScore, ...]:
    """Add how far each ranking on the subset's items is that on all items."""
    full = [*subset.sources, pooled(subset.sources, subset.name)]
    return tuple(
        _compared(score, everything) for score, everything in zip(scores, full, strict=True)
    )


def _compared(score: BenchmarkScore, full: Outcomes) -> BenchmarkScore:
    if score.apart == 1:  # no two models have an item in common, and nothing is ranked
        return score
    on_all = dict(zip(full.models, mean_over_models(full.scores.T.astype(float)), strict=True))
    models = list(score.accuracies)
    tau = ranking_consistency(
        np.array([on_all[model] for model in models]),
        np.array([score.accuracies[model] for model in models]),
    )
    return replace(score, ranking_consistency=tau)


def held_out_families(project: Project, name: str, results: ProjectResults) -> tuple[str, ...]:
    """Families whose scores had no part in choosing a subset's items.

    Raises:
        InputError: there is no such subset, its items were not chosen by scores, or every family
            had a part.
    """
    subset = read_subset(project.subsets / name)
    chose = families_that_chose(project, subset)
    if not chose:
        raise InputError(
            f"the items of the subset {name!r} were not chosen by scores",
            wanted="a subset with 'select' in its criteria: only then are families held out",
            mend="leave out --held-out",
        )
    families = tuple(family for family in results.families if family not in chose)
    if not families:
        asked = statistics_asked(subset)
        raise InputError(
            f"every family had a part in choosing the items of the subset {name!r}"
            + (f", whose criteria ask for {named(asked)}" if asked else ""),
            wanted="families that were held out, to judge the choice",
            mend="compose it again with 'held_in: half' under 'select'"
            + (", and without what all models scored" if asked else ""),
        )
    return families


def families_that_chose(project: Project, subset: Subset) -> set[str | None]:
    """Families whose scores had a part in choosing a subset's items, or those they are taken from.

    Models without a family count as one, ``None``.

    Raises:
        InputError: an earlier composition that items are taken from is not there any more, or is
            another one by now.
    """
    lock = subset.lock
    chose: set[str | None] = {*(lock.get("selection") or {}).get("held_in", ())}
    if statistics_asked(subset):
        models = (lock.get("results") or {}).get("models", {})
        chose |= {model["family"] for model in models.values()}
    for name, digest in lock.get("compositions", {}).items():
        earlier = read_subset(project.subsets / name)
        if lock_digest(earlier.lock) != digest:
            raise InputError(
                f"the subset {name!r}, which items of {subset.name!r} are taken from, was composed"
                " anew since",
                wanted="the one that it was",
                mend=f"compose {subset.name!r} again",
            )
        chose |= families_that_chose(project, earlier)
    return chose


def statistics_asked(subset: Subset) -> list[str]:
    """The fields of a subset's criteria that rest on the scores of all models."""
    return sorted(filter(is_evidence, named_fields(subset.criteria)))
