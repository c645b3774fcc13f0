"""Sensitivity: what the constants of CAD and DS do, and constants taken from the data."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .alignment import DECAY
from .consistency import kendall_tau
from .discriminability import distance_gap
from .quality import benchmark_quality
from .standings import Standings, Statistics, measure

Floats = NDArray[np.float64]

FEWEST_RATES = 3
DECAYS = (2.0, 4.0, 6.0, 8.0, 10.0, 12.0, 16.0, 24.0, 36.0)
EPSILONS = (0.0, 0.005, 0.01, 0.02, 0.03, 0.05, 0.1)


@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """What a metric and the quality of B benchmarks become as a constant changes, in P steps."""

    constants: tuple[float, ...]
    metric: Floats
    """(P, B): CAD or DS."""
    quality: Floats
    """(P, B): BQS."""
    order: Floats
    """(P,): Kendall's tau between the order of the benchmarks by BQS and that with the paper's
    constant; NaN for fewer than two benchmarks."""


def adaptive_decay(rates: Sequence[float]) -> float:
    """Lambda of CAD that sets the benchmarks at hand apart.

    Tells which decay makes CAD tell benchmarks apart. With a fixed one, benchmarks with many
    inversions all end near 0, and those with few all near 1.

    Formula: ``ln(high / low) / (high - low)``, with low and high the quartiles of the inversion
    rates: the lambda at which ``exp(-lambda low) - exp(-lambda high)`` is largest; ``1 / low`` when
    both are equal.

    Args:
        rates: inversion rates of several benchmarks, in [0, 1]; NaN where undefined.

    Returns:
        A number above 0, the larger the smaller the rates are. NaN for fewer than three rates, or
        when a quarter of them is 0.

    Source: ours; the maximum of the difference, found by setting its derivative to 0.

    >>> round(adaptive_decay([0.05, 0.1, 0.2]), 2)
    9.24
    """
    known = [rate for rate in rates if not math.isnan(rate)]
    if len(known) < FEWEST_RATES:
        return math.nan
    low, high = (float(end) for end in np.quantile(known, [0.25, 0.75]))
    if low <= 0:
        return math.nan
    if math.isclose(low, high, rel_tol=1e-9):
        return 1 / low
    return math.log(high / low) / (high - low)


def decay_curve(rates: Floats, points: Statistics, *, decays: Sequence[float] = DECAYS) -> Curve:
    """CAD and BQS of B benchmarks for several values of lambda.

    Args:
        rates: (B,) inversion rates.
        points: the numbers of the benchmarks, (B,) each; their CAD is not used.
        decays: the values of lambda.
    """
    metric = np.exp(-np.outer(decays, rates))
    quality = benchmark_quality(points.cbrc, points.ds, metric)
    paper = benchmark_quality(points.cbrc, points.ds, np.exp(-DECAY * rates))
    return Curve(tuple(decays), metric, quality, _orders(quality, paper))


def epsilon_curve(
    standings: Standings,
    points: Statistics,
    *,
    epsilons: Sequence[float] = EPSILONS,
) -> Curve:
    """DS and BQS of B benchmarks for several values of epsilon.

    Args:
        standings: (B, M) scores of the models.
        points: the numbers of the benchmarks, (B,) each, with DS under the paper's epsilon.
        epsilons: the differences that do not count, in accuracy.
    """
    none = np.zeros((len(standings.units),) * 2, dtype=bool)
    rows = []
    for epsilon in epsilons:
        gaps = [distance_gap(epsilon, None if unit == 1 else int(unit)) for unit in standings.units]
        rows.append(measure(_with_gaps(standings, gaps), none).ds)
    metric = np.stack(rows)
    quality = benchmark_quality(points.cbrc, metric, points.cad)
    return Curve(tuple(epsilons), metric, quality, _orders(quality, points.bqs))


def _with_gaps(standings: Standings, gaps: Sequence[float]) -> Standings:
    return Standings(standings.values, standings.units, np.array(gaps), standings.inversion_rates)


def _orders(quality: Floats, paper: Floats) -> Floats:
    return np.array([kendall_tau(row.round(12), paper.round(12)) for row in quality])
