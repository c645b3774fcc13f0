"""Scoring benchmarks: from item scores, or from accuracies alone, to a scorecard."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from .benchmark_scores import Results, scorecard_of
from .bootstrap.draws import every_item
from .bootstrap.over_both import bootstrap_both
from .bootstrap.over_items import ItemSample, bootstrap_items
from .bootstrap.over_models import bootstrap_models
from .consistency import peer_matrix
from .counting.crowds import CROWD
from .counting.pair_columns import pair_columns
from .cross_family import CrossFamily, cross_family_evidence
from .discriminability import distance_gap
from .evidence import (
    Evidence,
    ItemScores,
    ItemTable,
    ReportedScores,
    item_evidence,
    item_table,
    reported_evidence,
)
from .reliability import bootstrap_stability, split_half_reliability
from .scorecard import Model, Scorecard, ScoreSettings
from .sensitivity import adaptive_decay
from .standard_errors import MOST_MODELS, difference_errors, noise_epsilon
from .standings import Standings, measure

DEFAULTS = ScoreSettings()

Floats = NDArray[np.float64]

_DRAWS, _DRAWS_OF_CROWD = 100, 20
"""Rankings behind the stability; among many models each pair of rankings says as much as many."""


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

    Raises:
        ValueError: ``ties="noise"`` with more models than differences can be held of.
    """
    if not benchmarks:
        return Scorecard((), settings)
    tables = [item_table(given, models) for given in benchmarks]
    evidence = [
        item_evidence(given, table, seed=settings.seed)
        for given, table in zip(benchmarks, tables, strict=True)
    ]
    sample = ItemSample(
        benchmarks=tuple(table.columns for table in tables),
        models=len(models),
        epsilon=tuple(_epsilon(known, settings) for known in evidence),
        noise=_noise(tables, len(models), settings) if settings.ties == "noise" else None,
    )
    standings = sample.weighted(every_item(columns) for columns in sample.benchmarks)
    standings = replace(
        standings, values=standings.values[0], inversion_rates=standings.inversion_rates[0]
    )
    results = _results(evidence, standings, sample.epsilons, settings)
    if settings.replicates:
        results = _bootstrapped(results, sample, tables, settings, threads)
    if settings.cross_family:
        found = [_cross_family(table, results.decay, settings) for table in tables]
        results = replace(results, cross_family=found)
    results = replace(
        results,
        reliability=split_half_reliability(
            sample, seed=settings.seed, ties=settings.ties, threads=threads
        ),
        stability=bootstrap_stability(
            sample,
            draws=_DRAWS if len(models) < CROWD else _DRAWS_OF_CROWD,
            seed=settings.seed,
            ties=settings.ties,
            threads=threads,
        ),
    )
    return scorecard_of(results, models, settings)


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
        settings: options of the metrics and of the bootstrap; epsilon and ties cannot be taken from
            noise, which only items tell of.

    Raises:
        ValueError: epsilon or ties from noise.
    """
    if "noise" in (settings.ties, settings.epsilon):
        raise ValueError("accuracies without items do not say how large their noise is")
    if not benchmarks:
        return Scorecard((), settings)
    evidence = [reported_evidence(given, models) for given in benchmarks]
    values = [
        [given.accuracies.get(model.name, math.nan) for model in models] for given in benchmarks
    ]
    epsilons = [_epsilon(known, settings) for known in evidence]
    standings = Standings(
        values=np.array(values),
        units=np.ones(len(benchmarks)),
        gaps=np.array([distance_gap(epsilon, None) for epsilon in epsilons]),
        inversion_rates=np.array([known.pooled_rate for known in evidence]),
    )
    return scorecard_of(_results(evidence, standings, epsilons, settings), models, settings)


def _epsilon(known: Evidence, settings: ScoreSettings) -> float:
    if settings.epsilon == "noise":
        return noise_epsilon(known.error, level=settings.level)
    return settings.epsilon


def _noise(tables: Sequence[ItemTable], models: int, settings: ScoreSettings) -> Floats:
    """Differences that chance in the choice of items stays under, (B, M, M)."""
    if models > MOST_MODELS:
        raise ValueError(f"ties by noise for {models} models; at most {MOST_MODELS}")
    reach = NormalDist().inv_cdf((1 + settings.level) / 2)
    noise = np.full((len(tables), models, models), np.nan)
    for row, table in enumerate(tables):
        places = table.columns.places
        errors = difference_errors(table.scores, table.columns.groups)
        noise[row, places[:, None], places] = reach * errors
    return noise


def _results(
    evidence: Sequence[Evidence],
    standings: Standings,
    epsilons: Sequence[float],
    settings: ScoreSettings,
) -> Results:
    """The numbers themselves, and how sure they are over models."""
    decay = settings.decay
    if decay == "adaptive":
        decay = adaptive_decay(standings.inversion_rates.tolist())
    peers = peer_matrix([known.peer_domain for known in evidence])
    results = Results(
        evidence=evidence,
        standings=standings,
        epsilons=epsilons,
        decay=decay,
        points=measure(standings, peers, ties=settings.ties, decay=decay),
    )
    if not settings.replicates:
        return results
    over_models = bootstrap_models(
        standings,
        [known.pairs for known in evidence],
        peers,
        replicates=settings.replicates,
        seed=settings.seed,
        ties=settings.ties,
        decay=decay,
    )
    return replace(results, over_models=over_models)


def _bootstrapped(
    results: Results,
    sample: ItemSample,
    tables: Sequence[ItemTable],
    settings: ScoreSettings,
    threads: int,
) -> Results:
    """The results with how sure they are over items, and over items and models."""
    peers = results.peers
    over_items = bootstrap_items(
        sample,
        peers,
        replicates=settings.replicates,
        seed=settings.seed,
        ties=settings.ties,
        decay=results.decay,
        threads=threads,
    )
    over_both = bootstrap_both(
        sample,
        [pair_columns(table.scores, table.families) for table in tables],
        peers,
        replicates=settings.replicates,
        seed=settings.seed,
        ties=settings.ties,
        decay=results.decay,
        threads=threads,
    )
    return replace(results, over_items=over_items, over_both=over_both)


def _cross_family(table: ItemTable, decay: float, settings: ScoreSettings) -> CrossFamily:
    return cross_family_evidence(
        table.scores,
        table.families,
        decay=decay,
        level=settings.level,
    )
