from __future__ import annotations

import math

import numpy as np
import pytest

from benchprism.metrics.discriminability import discriminability
from benchprism.metrics.quality import benchmark_quality
from benchprism.metrics.sensitivity import adaptive_decay, decay_curve, epsilon_curve
from benchprism.metrics.standings import Standings, Statistics

ACCURACIES = np.array([[0.2, 0.21, 0.5, 0.9], [0.3, 0.4, 0.5, 0.6]])
RATES = np.array([0.1, 0.02])
POINTS = Statistics(
    accuracy=ACCURACIES.mean(axis=1),
    cbrc=np.array([0.5, 0.7]),
    ds=np.array([discriminability(row) for row in ACCURACIES]),
    cad=np.exp(-12 * RATES),
)


def test_adaptive_decay_sets_the_quartiles_apart() -> None:
    rates = [0.04, 0.05, 0.1, 0.2, 0.22]
    found = adaptive_decay(rates)
    decays = np.linspace(0.1, 60, 6000)
    apart = np.exp(-decays * 0.05) - np.exp(-decays * 0.2)
    assert found == pytest.approx(decays[apart.argmax()], abs=0.02)


def test_rates_that_are_half_as_large_double_it() -> None:
    rates = [0.1, 0.2, 0.3, 0.4]
    assert adaptive_decay([rate / 2 for rate in rates]) == pytest.approx(2 * adaptive_decay(rates))


def test_adaptive_decay_undefined_or_equal() -> None:
    assert math.isnan(adaptive_decay([0.1, 0.2]))
    assert math.isnan(adaptive_decay([0.1, 0.2, math.nan]))
    assert math.isnan(adaptive_decay([0.0, 0.0, 0.1]))
    assert adaptive_decay([0.1, 0.1, 0.1]) == pytest.approx(10)


def test_the_curve_of_lambda_holds_the_papers_numbers() -> None:
    found = decay_curve(RATES, POINTS, decays=(6, 12))
    assert found.metric[1] == pytest.approx(POINTS.cad)
    assert found.metric[0] == pytest.approx(np.sqrt(POINTS.cad))
    assert found.quality[1] == pytest.approx(POINTS.bqs)
    assert found.order[1] == 1


def test_the_order_of_the_benchmarks_may_turn() -> None:
    # The first is the better one as long as its inversions cost nothing.
    found = decay_curve(RATES, POINTS, decays=(0, 12))
    assert found.quality[0, 0] > found.quality[0, 1]
    assert found.quality[1, 0] < found.quality[1, 1]
    assert found.order.tolist() == [-1, 1]


def test_the_curve_of_epsilon_is_ds_for_each() -> None:
    standings = Standings(ACCURACIES, np.ones(2), np.zeros(2), RATES)
    found = epsilon_curve(standings, POINTS, epsilons=(0.0, 0.02, 0.35))
    for row, epsilon in enumerate(found.constants):
        for column, own in enumerate(ACCURACIES):
            ds = discriminability(own, epsilon=epsilon)
            assert found.metric[row, column] == pytest.approx(ds)
            parts = POINTS.cbrc[column], ds, POINTS.cad[column]
            assert found.quality[row, column] == pytest.approx(benchmark_quality(*parts))


def test_counts_are_compared_as_counts() -> None:
    counts = np.array([[20, 22, 50]])
    standings = Standings(counts, np.array([100.0]), np.zeros(1), RATES[:1])
    points = Statistics(np.ones(1), np.ones(1), np.ones(1), np.ones(1))
    found = epsilon_curve(standings, points, epsilons=(0.02,))
    assert found.metric[0, 0] == pytest.approx(discriminability(counts[0] / 100, items=100))
