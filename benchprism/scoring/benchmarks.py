"""Scoring the benchmarks of a project, or a composed subset."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from benchprism.metrics.reasons import named
from benchprism.metrics.score_benchmarks import DEFAULTS, score_items
from benchprism.metrics.scorecard import Scorecard, ScoreSettings
from benchprism.metrics.standard_errors import MOST_MODELS
from benchprism.project import Project
from benchprism.records.errors import InputError
from benchprism.scoring.results import EVERYTHING, ProjectResults, Scope, project_results
from benchprism.scoring.subsets import SubsetResults, compared_with_sources, subset_results


def score_project(
    project: Project,
    *,
    subset: str | None = None,
    settings: ScoreSettings = DEFAULTS,
    scope: Scope = EVERYTHING,
    threads: int = 1,
) -> Scorecard:
    """Score the benchmarks of a project, or a composed subset; see ``score_results``.

    Args:
        project: the project.
        subset: name of a composed subset; none for all items with results.
        settings: options of the metrics and of the bootstrap.
        scope: which results are looked at.
        threads: how many threads to use; the numbers do not depend on it.

    Raises:
        InputError: there are no results, no such subset, or no results on its items.
    """
    results = project_results(project, scope)
    chosen = None if subset is None else subset_results(project, subset, results)
    return score_results(results, chosen, settings=settings, threads=threads)


def score_results(
    results: ProjectResults,
    subset: SubsetResults | None = None,
    *,
    settings: ScoreSettings = DEFAULTS,
    threads: int = 1,
) -> Scorecard:
    """Score benchmarks on all items with results, or on those of a subset.

    With a subset, each benchmark is scored on the subset's items alone, and a last row, named
    after the subset, scores all of them together over the models that have results on each
    benchmark.

    Args:
        results: the results.
        subset: those on a subset's items; none for all items.
        settings: options of the metrics and of the bootstrap.
        threads: how many threads to use; the numbers do not depend on it.

    Raises:
        InputError: ties by noise between too many models.
    """
    if settings.ties == "noise" and len(results.models) > MOST_MODELS:
        raise InputError(
            f"ties by noise between {len(results.models)} models",
            wanted=f"at most {MOST_MODELS}, since every two of them are compared",
            mend="use --ties tau-b, or fewer models (--family)",
        )
    found = results.outcomes if subset is None else (*subset.parts, subset.whole)
    given = [results.item_scores(one) for one in found]
    card = score_items(given, results.models, settings=settings, threads=threads)
    if subset is None:
        return annotated(card, results.notes)
    scores = compared_with_sources(card.benchmarks, subset)
    card = annotated(replace(card, benchmarks=scores), subset.notes)
    return _warned(card, subset.judges_that_chose) if subset.judges_that_chose else card


def _warned(card: Scorecard, families: Sequence[str]) -> Scorecard:
    """Say that the models which judge a subset's items have chosen them."""
    warning = (
        f"its items were chosen by the scores of {named(families)}, who also judge them: that"
        " flatters the choice (--held-out leaves them out)"
    )
    scores = [
        replace(score, warnings=(warning, *score.warnings), notes=(warning, *score.notes))
        for score in card.benchmarks
    ]
    return replace(card, benchmarks=tuple(scores))


def annotated(card: Scorecard, notes: Mapping[str, Sequence[str]]) -> Scorecard:
    """Put what is known before scoring in front of each benchmark's notes, after its warnings."""
    scores = []
    for score in card.benchmarks:
        known, rest = notes.get(score.benchmark, ()), score.notes[len(score.warnings) :]
        scores.append(replace(score, notes=(*score.warnings, *known, *rest)))
    return replace(card, benchmarks=tuple(scores))
