"""Benchmark scores: results for all benchmarks at once, told benchmark by benchmark."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .alignment import capability_alignment
from .bootstrap.resampling import UNDEFINED, Interval, sampling_interval
from .consistency import Consistency, cross_benchmark_consistency, peer_matrix, tau_matrix
from .cross_family import CrossFamily
from .discriminability import family_discriminability
from .evidence import Evidence
from .reasons import notes_on, warnings_on
from .reliability import UNKNOWN, Reliability
from .scorecard import (
    BenchmarkScore,
    Curves,
    FamilyScore,
    IntervalEstimate,
    Model,
    PeerTau,
    Scorecard,
    ScoreSettings,
)
from .sensitivity import decay_curve, epsilon_curve
from .shrinkage import ShrunkenConsistency, shrunken_consistency
from .standard_errors import detectable_difference
from .standings import Standings, Statistics


@dataclass(frozen=True, slots=True, eq=False)
class Results:
    """What was worked out for B benchmarks together."""

    evidence: Sequence[Evidence]
    standings: Standings
    """(B, M) scores of the models."""
    epsilons: Sequence[float]
    """Epsilon of DS for each benchmark."""
    decay: float
    """Lambda of CAD."""
    points: Statistics
    over_items: Statistics | None = None
    over_models: Statistics | None = None
    over_both: Statistics | None = None
    reliability: Sequence[Reliability] = ()
    """Of each benchmark; empty without items, as are those that follow."""
    stability: Sequence[float] = ()
    cross_family: Sequence[CrossFamily] = ()

    @property
    def domains(self) -> list[str | None]:
        """Domain of each benchmark."""
        return [known.domain for known in self.evidence]

    @property
    def rankings(self) -> NDArray[Any]:
        """(B, M) scores of the models, NaN throughout for a benchmark that ranks none."""
        unranked = np.array([not known.ranked for known in self.evidence])
        if not unranked.any():
            return self.standings.values
        return np.where(unranked[:, None], np.nan, self.standings.values)

    @property
    def peers(self) -> NDArray[np.bool_]:
        """(B, B), as ``consistency.peer_matrix``, among the benchmarks that rank models."""
        return peer_matrix([known.peer_domain for known in self.evidence])

    def estimate(self, name: str, row: int, level: float) -> IntervalEstimate:
        """One number of a benchmark, and how sure it is."""
        value = float(getattr(self.points, name)[row])

        def interval(replicates: Statistics | None) -> Interval:
            if replicates is None:
                return UNDEFINED
            return sampling_interval(value, getattr(replicates, name)[:, row], level=level)

        known = self.evidence[row]
        units = known.items if known.groups is None else known.groups
        if units is not None and units < 2:
            # Every draw of a single unit is the same: an interval of no width would look sure.
            return IntervalEstimate(value, over_models=interval(self.over_models))
        over_items = interval(self.over_items)
        corrected = deviation = math.nan
        if self.over_items is not None and over_items.defined:
            drawn = getattr(self.over_items, name)[:, row]
            corrected = float(2 * value - np.nanmean(drawn))
            deviation = float(np.nanstd(drawn))
        return IntervalEstimate(
            value,
            over_items,
            interval(self.over_models),
            interval(self.over_both),
            corrected,
            deviation,
        )


def scorecard_of(results: Results, models: Sequence[Model], settings: ScoreSettings) -> Scorecard:
    """Tell results benchmark by benchmark, with what a reader has to know of each."""
    values, names = results.rankings, [known.benchmark for known in results.evidence]
    ties, noise = settings.ties, results.standings.noise
    found = cross_benchmark_consistency(values, results.domains, ties=ties, noise=noise)
    shrunken: list[ShrunkenConsistency] | None = None
    if settings.shrunken:
        tau = tau_matrix(values, ties=ties, noise=noise)
        shrunken = shrunken_consistency(tau, results.domains, level=settings.level)
    scores = []
    for row, consistency in enumerate(found):
        score = _benchmark_score(results, row, consistency, names, models, settings)
        if shrunken is not None:
            score = replace(score, shrunken=shrunken[row])
        own = [models[place] for place in results.evidence[row].models]
        warnings = tuple(warnings_on(score))
        notes = (*warnings, *notes_on(score, own, replicates=settings.replicates))
        scores.append(replace(score, notes=notes, warnings=warnings))
    return Scorecard(tuple(scores), settings, _curves(results) if settings.curves else None)


def _benchmark_score(
    results: Results,
    row: int,
    consistency: Consistency,
    names: Sequence[str],
    models: Sequence[Model],
    settings: ScoreSettings,
) -> BenchmarkScore:
    known, accuracies = results.evidence[row], results.standings.accuracies[row]
    epsilon, decay = results.epsilons[row], results.decay
    families = tuple(_family_scores(known, models, accuracies, epsilon, decay))
    ranked = known.ranked
    return BenchmarkScore(
        benchmark=known.benchmark,
        domain=known.domain,
        models=len(known.models),
        items=known.items,
        missing=known.missing,
        accuracy=results.estimate("accuracy", row, settings.level),
        cbrc=results.estimate("cbrc", row, settings.level),
        ds=results.estimate("ds", row, settings.level),
        cad=results.estimate("cad", row, settings.level),
        bqs=results.estimate("bqs", row, settings.level),
        cbrc_deviation=consistency.deviation,
        ds_deviation=_deviation([family.ds for family in families]),
        inversion_rate=float(results.standings.inversion_rates[row]),
        peers=tuple(PeerTau(names[p.position], p.tau, p.models) for p in consistency.peers),
        families=families,
        accuracies={models[place].name: float(accuracies[place]) for place in known.models},
        groups=known.groups,
        reliability=results.reliability[row] if ranked and results.reliability else UNKNOWN,
        stability=results.stability[row] if ranked and len(results.stability) else math.nan,
        detectable=detectable_difference(known.paired_error, level=settings.level),
        apart=known.apart,
        order=known.order,
        epsilon=epsilon,
        decay=decay,
        cross_family=results.cross_family[row] if results.cross_family else None,
    )


def _family_scores(
    known: Evidence,
    models: Sequence[Model],
    accuracies: NDArray[np.float64],
    epsilon: float,
    decay: float,
) -> Iterator[FamilyScore]:
    """Each family's part, families without a comparable pair included."""
    members: dict[str, list[int]] = {}
    for place in known.models:
        family = models[place].family
        if family is not None:
            members.setdefault(family, []).append(place)
    spreads = family_discriminability(
        accuracies, list(members.values()), epsilon=epsilon, items=known.counted
    )
    for (name, places), ds in zip(members.items(), spreads, strict=True):
        rate = known.rates.get(name, math.nan)
        inverted, compared = known.inversions(name)
        cad = capability_alignment(rate, decay=decay)
        yield FamilyScore(name, len(places), ds, rate, cad, inverted, compared)


def _deviation(values: Sequence[float]) -> float:
    known = [value for value in values if not math.isnan(value)]
    return float(np.std(known)) if known else math.nan


def _curves(results: Results) -> Curves:
    return Curves(
        decay=decay_curve(results.standings.inversion_rates, results.points),
        epsilon=epsilon_curve(results.standings, results.points),
    )
