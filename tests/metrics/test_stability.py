from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
from scipy.stats import kendalltau

from benchprism.metrics.stability import ranking_consistency, stability


def test_it_is_the_mean_of_scipys_taus_over_the_same_draws() -> None:
    scores = (np.random.default_rng(0).random((60, 8)) < np.linspace(0.2, 0.8, 8)).astype(float)
    rng = np.random.default_rng(7)
    draws = [scores[rng.choice(60, 30)].mean(axis=0) for _ in range(12)]
    wanted = np.mean([kendalltau(a, b).statistic for a, b in combinations(draws, 2)])
    found = stability(scores, np.random.default_rng(7), share=0.5, draws=12)
    assert found == pytest.approx(wanted, abs=1e-12)


def test_all_items_without_replacement_always_rank_alike() -> None:
    scores = (np.random.default_rng(0).random((50, 6)) < 0.5).astype(float)
    assert stability(scores, np.random.default_rng(0), replace=False) == pytest.approx(1)


def test_more_items_are_more_stable() -> None:
    rng = np.random.default_rng(0)
    scores = (rng.random((2000, 12)) < np.linspace(0.45, 0.55, 12)).astype(float)
    few, many = (stability(scores, np.random.default_rng(1), share=r) for r in (0.05, 1.0))
    assert few < 0.5 < many


@pytest.mark.parametrize("scores", [np.ones((20, 4)), np.zeros((20, 1)), np.zeros((0, 3))])
def test_it_is_undefined_without_a_ranking(scores: np.ndarray) -> None:
    assert math.isnan(stability(scores, np.random.default_rng(0)))


def test_ranking_consistency_by_hand() -> None:
    full, reduced = np.array([0.9, 0.7, 0.5, 0.3]), np.array([0.8, 0.9, 0.2, 0.1])
    assert ranking_consistency(full, reduced) == pytest.approx((5 - 1) / 6)
