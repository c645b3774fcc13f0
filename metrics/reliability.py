"""Reliability: how far a benchmark agrees with itself."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .bootstrap.draws import Draw, draw_half, rest
from .bootstrap.over_items import ItemSample, resampled
from .consistency import Ties, noise_for, ranking_keys, tau_between, taus
from .counting.division import ratio
from .counting.pairs import count_pairs
from .counting.threads import one_blas_thread
from .standings import Standings

Floats = NDArray[np.float64]
_PURPOSE = "\0halves"


@dataclass(frozen=True, slots=True)
class Reliability:
    """How far two random halves of a benchmark's items agree about the models."""

    tau: float
    """Mean Kendall's tau between the rankings of the halves; NaN when undefined."""
    coefficient: float
    """Mean correlation of the halves' accuracies, stepped up to the whole length; NaN unless that
    correlation is above 0."""


UNKNOWN = Reliability(math.nan, math.nan)


def split_half_reliability(
    sample: ItemSample,
    *,
    splits: int = 100,
    seed: int = 0,
    ties: Ties = "tau-b",
    threads: int = 1,
) -> list[Reliability]:
    """Split-half reliability of every benchmark.

    Tells how much of a disagreement with other benchmarks is a benchmark's own noise: no benchmark
    can agree with another more than it agrees with itself.

    Formula: the mean over random splits of the items into halves of Kendall's tau between the two
    rankings; and ``2 r / (1 + r)`` (Spearman-Brown) with r the mean of Pearson's correlation of the
    two halves' accuracies. Grouped items stay together. The tau is that of benchmarks half as
    long, and is not stepped up.

    Args:
        sample: the items of B benchmarks.
        splits: number of random splits.
        seed: of the random numbers.
        ties: as in ``consistency.kendall_tau``.
        threads: blocks of splits worked on at once.

    Returns:
        One ``Reliability`` a benchmark: 1 when halves agree wholly, about 0 when accuracies are
        chance. NaN for fewer than two items (or groups) or models, or equal accuracies. The
        coefficient is NaN as well for halves that do not correlate above 0: no length makes them
        agree, and the formula then passes every bound.

    Source: W. Brown, "Some experimental results in the correlation of mental abilities", and C.
    Spearman, "Correlation calculated from faulty data", British Journal of Psychology 3 (1910).
    """

    def work(draws: Sequence[Draw], _: int) -> tuple[Floats, Floats]:
        halves = draws, [rest(draw) for draw in draws]
        one, other = (sample.weighted(half).ranked(ties).pieces() for half in halves)
        found = [_agreement(*pair, ties) for pair in zip(one, other, strict=True)]
        taus, correlations = zip(*found, strict=True)
        return np.concatenate(taus), np.concatenate(correlations)

    found = resampled(
        sample,
        work,
        replicates=splits,
        seed=seed,
        drawing=draw_half,
        purpose=_PURPOSE,
        threads=threads,
    )
    taus = np.concatenate([tau for tau, _ in found])
    correlations = np.concatenate([correlation for _, correlation in found])
    return [
        Reliability(_mean(tau), _stepped_up(_mean(correlation)))
        for tau, correlation in zip(taus.T, correlations.T, strict=True)
    ]


def _agreement(one: Standings, other: Standings, ties: Ties) -> tuple[Floats, Floats]:
    tau = tau_between(one.values, other.values, ties=ties, noise=one.noise)
    return tau, _correlation(one.accuracies, other.accuracies)


def _correlation(one: Floats, other: Floats) -> Floats:
    """Pearson's correlation along the last axis, over the models that both have."""
    both = ~np.isnan(one + other)
    number = both.sum(axis=-1)

    def centred(values: Floats) -> Floats:
        filled = np.where(both, values, 0.0)
        return np.where(both, filled - ratio(filled.sum(axis=-1), number)[..., None], 0.0)

    first, second = centred(one), centred(other)
    spread = np.sqrt((first**2).sum(axis=-1) * (second**2).sum(axis=-1))
    return ratio((first * second).sum(axis=-1), np.where(spread > 1e-15, spread, 0.0))


def _stepped_up(correlation: float) -> float:
    return 2 * correlation / (1 + correlation) if correlation > 0 else math.nan


def _mean(values: Floats) -> float:
    defined = values[~np.isnan(values)]
    return float(defined.mean()) if len(defined) else math.nan


def bootstrap_stability(
    sample: ItemSample,
    *,
    draws: int = 100,
    seed: int = 0,
    ties: Ties = "tau-b",
    threads: int = 1,
) -> list[float]:
    """Stability of every benchmark's ranking over bootstrap draws of all its items.

    As ``stability.stability`` with a share of 1 and replacement, for many benchmarks at once, and
    with grouped items drawn together.

    Args:
        sample: the items of B benchmarks.
        draws: number of rankings.
        seed: of the random numbers.
        ties: as in ``consistency.kendall_tau``.
        threads: blocks of draws worked on at once.

    Returns:
        One number a benchmark, as there.
    """
    found = resampled(
        sample,
        lambda drawn, _: sample.weighted(drawn),
        replicates=draws,
        seed=seed,
        purpose="\0stability",
        threads=threads,
    )
    values = np.concatenate([standings.values for standings in found]).swapaxes(0, 1)
    noise = found[0].noise
    with one_blas_thread():
        return [float(value) for value in mean_tau_between(values, ties=ties, noise=noise)]


def mean_tau_between(
    values: NDArray[Any], *, ties: Ties = "tau-b", noise: Floats | None = None
) -> Floats:
    """Mean Kendall's tau between every two of the K rankings (..., K, M); NaN if none is defined.

    >>> mean_tau_between(np.array([[1, 2, 3], [1, 2, 3], [1, 3, 2]])).round(3)
    np.float64(0.556)
    """
    keys = ranking_keys(values, ties=ties)
    noise = noise_for(ties, noise)
    spread = None if noise is None else noise[..., None, :, :]
    counts = count_pairs(keys, np.zeros(values.shape[-2]), noise=spread)
    first, second = np.triu_indices(values.shape[-2], 1)
    tau = taus(counts)[..., first, second]
    defined = ~np.isnan(tau)
    total, number = np.where(defined, tau, 0.0).sum(axis=-1), defined.sum(axis=-1)
    return np.where(number > 0, total / np.maximum(number, 1), np.nan)[()]
