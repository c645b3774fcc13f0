from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray

from benchprism.metrics.shrinkage import ShrunkenConsistency, shrunken_consistency


def simulated(
    rng: np.random.Generator, benchmarks: int, domains: int, of_benchmark: float = 0.12
) -> tuple[NDArray[np.float64], list[str | None], NDArray[np.float64]]:
    """Taus of benchmarks of several domains, and what each is expected to have with a new peer."""
    domain = np.arange(benchmarks) % domains
    shared = 0.55 + rng.normal(0, 0.08, domains)[domain]
    own = rng.normal(0, of_benchmark, benchmarks)
    noise = rng.normal(0, 0.06, (benchmarks, benchmarks))
    tau = np.triu(shared[:, None] + own[:, None] + own + noise, 1)
    return np.clip(tau + tau.T, -1, 1), [f"d{d}" for d in domain], shared + own


def raw(tau: NDArray[np.float64], domains: list[str | None]) -> list[float]:
    return [
        float(np.mean([tau[i, j] for j in range(len(tau)) if i != j and domains[j] == domains[i]]))
        for i in range(len(tau))
    ]


def test_it_covers_what_it_estimates_and_is_nearer_than_the_mean_of_few() -> None:
    rng = np.random.default_rng(0)
    covered, total = 0, 0
    own_error, raw_error = 0.0, 0.0
    for _ in range(12):
        tau, domains, truth = simulated(rng, 9, 3)
        found = shrunken_consistency(tau, domains)
        means = np.array([one.mean for one in found])
        covered += sum(one.low <= t <= one.high for one, t in zip(found, truth, strict=True))
        total += len(truth)
        own_error += float(((means - truth) ** 2).sum())
        raw_error += float(((np.array(raw(tau, domains)) - truth) ** 2).sum())
    assert covered >= 0.9 * total
    assert own_error < raw_error


def widths(found: list[ShrunkenConsistency]) -> float:
    return float(np.mean([one.high - one.low for one in found]))


def test_more_peers_say_more() -> None:
    few = shrunken_consistency(*simulated(np.random.default_rng(1), 3, 1)[:2])
    many = shrunken_consistency(*simulated(np.random.default_rng(1), 20, 1)[:2])
    assert [one.peers for one in few] == [2, 2, 2]
    assert [one.peers for one in many] == [19] * 20
    assert widths(many) < 0.5 * widths(few)


def test_with_many_peers_it_is_about_the_mean_itself() -> None:
    tau, domains, _ = simulated(np.random.default_rng(2), 30, 1, of_benchmark=0.2)
    found = [one.mean for one in shrunken_consistency(tau, domains)]
    assert np.corrcoef(found, raw(tau, domains))[0, 1] > 0.99


def test_an_outlier_stands_out_and_equals_are_equal() -> None:
    tau = np.full((6, 6), 0.7)
    tau[0] = tau[:, 0] = 0.1
    found = shrunken_consistency(tau, ["a"] * 6)
    assert found[0].high < found[1].low
    assert {round(one.mean, 9) for one in found[1:]} == {round(found[1].mean, 9)}


def test_it_stays_within_bounds_and_says_when_it_is_undefined() -> None:
    found = shrunken_consistency(np.ones((4, 4)), ["a", "a", "b", None])
    for one in found[:3]:
        assert -1 <= one.low <= one.mean <= one.high <= 1
    assert math.isnan(found[3].mean)
    assert found[2].peers == 0  # what the other domain says, and widely
    assert found[2].high - found[2].low > found[0].high - found[0].low
    nothing = shrunken_consistency(np.full((2, 2), np.nan), ["a", "a"])
    assert math.isnan(nothing[0].mean)
    assert shrunken_consistency(np.ones((0, 0)), []) == []


def test_the_order_of_the_benchmarks_does_not_matter() -> None:
    tau, domains, _ = simulated(np.random.default_rng(3), 6, 2)
    order = [3, 0, 5, 1, 4, 2]
    found = [one.mean for one in shrunken_consistency(tau, domains)]
    other = shrunken_consistency(tau[np.ix_(order, order)], [domains[i] for i in order])
    assert [one.mean for one in other] == pytest.approx([found[i] for i in order], abs=1e-9)


def test_a_benchmark_without_a_ranking_has_none() -> None:
    tau = np.full((4, 4), 0.6)
    tau[3] = tau[:, 3] = np.nan
    found = shrunken_consistency(tau, ["a"] * 4)
    assert [one.peers for one in found] == [2, 2, 2, 0]
    assert math.isnan(found[3].mean)
    assert math.isnan(found[3].low)
    without = shrunken_consistency(tau[:3, :3], ["a"] * 3)
    assert [one.mean for one in found[:3]] == pytest.approx([one.mean for one in without])
