"""Scoring benchmarks: from item scores, or from accuracies alone, to a scorecard."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from .alignment import capability_alignment
from .consistency import Consistency, cross_benchmark_consistency, peer_matrix
from .discriminability import distance_gap, family_discriminability
from .evidence import Evidence, ItemScores, ReportedScores, item_evidence, reported_evidence
from .item_bootstrap import ItemSample, bootstrap_items
from .model_bootstrap import bootstrap_models
from .reasons import notes_on
from .resampling import UNDEFINED, Interval, basic_interval
from .scorecard import (
    BenchmarkScore,
    FamilyScore,
    IntervalEstimate,
    Model,
    PeerTau,
    Scorecard,
    ScoreSettings,
)
from .standings import Standings, Statistics, measure

DEFAULTS = ScoreSettings()


def score_items(
    benchmarks: Sequence[ItemScores],
    models: Sequence[Model],
    *,
    settings: ScoreSettings = DEFAULTS,
    threads: int = 1,
) -> Scorecard:
    """Score benchmarks from the scores of their items, with intervals over items and over models.

    Args:
        benchmarks: the scores; a model without any score on a benchmark is not one of its models.
        models: every model that has scores, in the order that ``ties="listing"`` falls back on.
        settings: options of the metrics and of the bootstrap.
        threads: as in ``item_bootstrap.bootstrap_items``.
    """
    if not benchmarks:
        return Scorecard((), settings)
    found = [item_evidence(given, models) for given in benchmarks]
    evidence = [known for known, _ in found]
    sample = ItemSample(tuple(columns for _, columns in found), len(models), settings.epsilon)
    ones = (np.ones((1, columns.items), np.float32) for columns in sample.benchmarks)
    standings = sample.weighted(ones)
    standings = replace(
        standings, values=standings.values[0], inversion_rates=standings.inversion_rates[0]
    )
    over_items = None
    if settings.replicates:
        over_items = bootstrap_items(
            sample,
            peer_matrix([known.domain for known in evidence]),
            replicates=settings.replicates,
            seed=settings.seed,
            ties=settings.ties,
            decay=settings.decay,
            threads=threads,
        )
    return _scorecard(evidence, models, standings, over_items, settings)


def score_reported(
    benchmarks: Sequence[ReportedScores],
    models: Sequence[Model],
    *,
    settings: ScoreSettings = DEFAULTS,
) -> Scorecard:
    """Score benchmarks from accuracies alone, with intervals over models.

    CAD needs inversion rates, and without those of single pairs of models it has no interval.

    Args:
        benchmarks: the accuracies and, where they are known, the families' inversion rates.
        models: as in ``score_items``.
        settings: options of the metrics and of the bootstrap.
    """
    if not benchmarks:
        return Scorecard((), settings)
    evidence = [reported_evidence(given, models) for given in benchmarks]
    standings = Standings(
        values=np.array(
            [
                [given.accuracies.get(model.name, math.nan) for model in models]
                for given in benchmarks
            ]
        ),
        units=np.ones(len(benchmarks)),
        gaps=np.full(len(benchmarks), distance_gap(settings.epsilon, None)),
        inversion_rates=np.array([known.pooled_rate for known in evidence]),
    )
    return _scorecard(evidence, models, standings, None, settings)


def _scorecard(
    evidence: Sequence[Evidence],
    models: Sequence[Model],
    standings: Standings,
    over_items: Statistics | None,
    settings: ScoreSettings,
) -> Scorecard:
    domains = [known.domain for known in evidence]
    points = measure(standings, peer_matrix(domains), ties=settings.ties, decay=settings.decay)
    over_models = _over_models(evidence, standings, settings) if settings.replicates else None
    results = _Results(points, over_items, over_models, settings.level)
    consistency = cross_benchmark_consistency(standings.values, domains, ties=settings.ties)
    names = [known.benchmark for known in evidence]
    scores = []
    for row, known in enumerate(evidence):
        peer_taus = _peers(consistency[row], names)
        families = tuple(_family_scores(known, models, standings.accuracies[row], settings))
        score = BenchmarkScore(
            benchmark=known.benchmark,
            domain=known.domain,
            models=len(known.models),
            items=known.items,
            missing=known.missing,
            accuracy=results.estimate("accuracy", row),
            cbrc=results.estimate("cbrc", row),
            ds=results.estimate("ds", row),
            cad=results.estimate("cad", row),
            bqs=results.estimate("bqs", row),
            cbrc_deviation=consistency[row].deviation,
            ds_deviation=_deviation([family.ds for family in families]),
            inversion_rate=float(standings.inversion_rates[row]),
            peers=peer_taus,
            families=families,
            accuracies=_accuracies(known, models, standings.accuracies[row]),
        )
        own = [models[place] for place in known.models]
        notes = tuple(notes_on(score, own, replicates=settings.replicates))
        scores.append(replace(score, notes=notes))
    return Scorecard(tuple(scores), settings)


def _over_models(
    evidence: Sequence[Evidence], standings: Standings, settings: ScoreSettings
) -> Statistics:
    return bootstrap_models(
        standings,
        [known.pairs for known in evidence],
        peer_matrix([known.domain for known in evidence]),
        replicates=settings.replicates,
        seed=settings.seed,
        ties=settings.ties,
        decay=settings.decay,
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Results:
    """The numbers of all benchmarks and their replicates."""

    points: Statistics
    over_items: Statistics | None
    over_models: Statistics | None
    level: float

    def estimate(self, name: str, row: int) -> IntervalEstimate:
        value = float(getattr(self.points, name)[row])

        def interval(replicates: Statistics | None) -> Interval:
            if replicates is None:
                return UNDEFINED
            return basic_interval(value, getattr(replicates, name)[:, row], level=self.level)

        return IntervalEstimate(value, interval(self.over_items), interval(self.over_models))


def _peers(consistency: Consistency, names: Sequence[str]) -> tuple[PeerTau, ...]:
    return tuple(PeerTau(names[p.position], p.tau, p.models) for p in consistency.peers)


def _accuracies(
    known: Evidence, models: Sequence[Model], accuracies: NDArray[np.float64]
) -> dict[str, float]:
    return {models[place].name: float(accuracies[place]) for place in known.models}


def _family_scores(
    known: Evidence,
    models: Sequence[Model],
    accuracies: NDArray[np.float64],
    settings: ScoreSettings,
) -> Iterator[FamilyScore]:
    """Each family's part, families without a comparable pair included."""
    members: dict[str, list[int]] = {}
    for place in known.models:
        family = models[place].family
        if family is not None:
            members.setdefault(family, []).append(place)
    spreads = family_discriminability(
        accuracies, list(members.values()), epsilon=settings.epsilon, items=known.counted
    )
    for (name, places), ds in zip(members.items(), spreads, strict=True):
        rate = known.rates.get(name, math.nan)
        inverted, compared = known.inversions(name)
        cad = capability_alignment(rate, decay=settings.decay)
        yield FamilyScore(name, len(places), ds, rate, cad, inverted, compared)


def _deviation(values: Sequence[float]) -> float:
    known = [value for value in values if not math.isnan(value)]
    return float(np.std(known)) if known else math.nan
