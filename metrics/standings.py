"""Standings: where every model stands on every benchmark, and what is measured on them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .alignment import DECAY
from .consistency import Ties, mean_over_peers, ranking_keys, taus
from .discriminability import spread_and_distance
from .division import ratio
from .pairs import count_pairs
from .quality import benchmark_quality

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Standings:
    """Scores of M models on B benchmarks, each benchmark in a unit of its own."""

    values: NDArray[Any]
    """(..., B, M): right answers, as whole numbers, where every item of a benchmark is right or
    wrong for every model; accuracies otherwise. NaN where a benchmark does not have a model."""
    units: Floats
    """(B,): number of items of a benchmark whose values are right answers, otherwise 1."""
    gaps: Floats
    """(B,): the largest difference of values that does not tell two models apart."""
    inversion_rates: Floats
    """(..., B): inversion rate, NaN where no pair was compared."""

    @property
    def accuracies(self) -> Floats:
        """The values as accuracies, in [0, 1]."""
        accuracies: Floats = self.values / self.units[:, None]
        return accuracies


@dataclass(frozen=True, slots=True, eq=False)
class Statistics:
    """The numbers of B benchmarks, (..., B) each; NaN where undefined."""

    accuracy: Floats
    """Mean over the models."""
    cbrc: Floats
    ds: Floats
    cad: Floats

    @property
    def bqs(self) -> Floats:
        """Benchmark quality score of the other three."""
        quality: Floats = benchmark_quality(self.cbrc, self.ds, self.cad)
        return quality


def measure(
    standings: Standings, peers: NDArray[np.bool_], *, ties: Ties = "tau-b", decay: float = DECAY
) -> Statistics:
    """Measure every benchmark at once.

    Args:
        standings: the scores, with leading axes for replicates if there are any.
        peers: (B, B), true where the column's benchmark is a peer of the row's.
        ties: as in ``consistency.kendall_tau``.
        decay: as in ``alignment.capability_alignment``.
    """
    counts = count_pairs(standings.values, standings.gaps)
    accuracies = standings.accuracies
    if ties == "tau-b":
        tau = taus(counts)
    else:
        keys = ranking_keys(standings.values, ties=ties)
        tau = taus(count_pairs(keys, np.zeros_like(standings.gaps)))
    return Statistics(
        accuracy=mean_over_models(accuracies),
        cbrc=mean_over_peers(tau, peers),
        ds=spread_and_distance(accuracies, counts.distant),
        cad=np.exp(-decay * standings.inversion_rates),
    )


def stacked(parts: Sequence[Statistics]) -> Statistics:
    """Put blocks of replicates, (K, B) each, under one another."""
    return Statistics(
        accuracy=np.concatenate([part.accuracy for part in parts]),
        cbrc=np.concatenate([part.cbrc for part in parts]),
        ds=np.concatenate([part.ds for part in parts]),
        cad=np.concatenate([part.cad for part in parts]),
    )


def mean_over_models(accuracies: Floats) -> Floats:
    """Mean over the models that a benchmark has, (..., M) to (...); NaN for none."""
    known = ~np.isnan(accuracies)
    return ratio(np.where(known, accuracies, 0.0).sum(axis=-1), known.sum(axis=-1))
