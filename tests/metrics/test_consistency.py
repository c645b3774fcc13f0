from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import kendalltau

from benchprism.metrics.consistency import (
    cross_benchmark_consistency,
    kendall_tau,
    peer_matrix,
    ranking_keys,
    tau_matrix,
)


def test_tau_by_hand() -> None:
    # Pairs: (1,2) - +, (1,3) + +, (1,4) + +, (2,3) + +, (2,4) + +, (3,4) + -: 4 alike, 2 unlike.
    first = np.array([1.0, 2.0, 3.0, 4.0])
    second = np.array([2.0, 1.0, 4.0, 3.0])
    assert kendall_tau(first, second) == pytest.approx((4 - 2) / 6)


def test_tau_b_by_hand() -> None:
    # Six pairs, two tied in the first vector; of the rest 3 alike, 1 unlike.
    first = np.array([1.0, 1.0, 2.0, 2.0])
    second = np.array([1.0, 3.0, 2.0, 4.0])
    assert kendall_tau(first, second) == pytest.approx((3 - 1) / math.sqrt((6 - 2) * 6))


def test_listing_breaks_ties_by_the_order_of_the_models() -> None:
    # Of the two models at 0.1 the one listed first stands higher. Against the second vector one
    # pair is unlike; with the models listed the other way round, so is the pair at 0.1.
    first = np.array([0.5, 0.7, 0.1, 0.1])
    assert ranking_keys(first, ties="listing").tolist() == [2, 3, 1, 0]
    second = np.array([0.4, 0.3, 0.2, 0.1])
    assert kendall_tau(first, second, ties="listing") == pytest.approx((5 - 1) / 6)
    assert kendall_tau(first[::-1], second[::-1], ties="listing") == pytest.approx((4 - 2) / 6)


def test_tau_is_scipys_on_random_scores_with_ties() -> None:
    rng = np.random.default_rng(0)
    scores = rng.integers(0, 12, (6, 25)) / 10
    found = tau_matrix(scores)
    wanted = [[kendalltau(a, b).statistic for b in scores] for a in scores]
    assert np.allclose(found, wanted, atol=1e-12)


def test_models_that_one_benchmark_lacks_are_left_out_of_that_tau_alone() -> None:
    rng = np.random.default_rng(3)
    scores = rng.integers(0, 8, (4, 20)).astype(np.float64)
    scores[1, :5] = np.nan
    scores[2, 3:9] = np.nan
    found = tau_matrix(scores)
    for i in range(4):
        for j in range(4):
            both = ~np.isnan(scores[i] + scores[j])
            wanted = kendalltau(scores[i, both], scores[j, both]).statistic
            assert found[i, j] == pytest.approx(wanted, abs=1e-12)


@pytest.mark.parametrize(
    ("first", "second"),
    [([1.0], [2.0]), ([1.0, 1.0], [1.0, 2.0]), ([np.nan, 1.0], [1.0, np.nan]), ([], [])],
)
def test_tau_is_undefined_for_constant_or_too_few_scores(
    first: list[float], second: list[float]
) -> None:
    assert math.isnan(kendall_tau(np.array(first), np.array(second)))


def test_consistency_by_hand() -> None:
    # tau(0,1) = 1, tau(0,2) = 1/3, tau(1,2) = 1/3; benchmark 3 has another domain.
    scores = np.array([[3, 2, 1], [30, 20, 10], [3, 1, 2], [1, 2, 3]], dtype=np.float64)
    found = cross_benchmark_consistency(scores, ["a", "a", "a", "b"])
    assert [c.value for c in found[:3]] == pytest.approx([2 / 3, 2 / 3, 1 / 3])
    assert found[0].deviation == pytest.approx(1 / 3)  # of 1 and 1/3, over the population
    assert [peer.position for peer in found[0].peers] == [1, 2]
    assert math.isnan(found[3].value)
    assert math.isnan(found[3].deviation)
    assert found[3].peers == ()


def test_an_undefined_tau_is_left_out_of_the_mean() -> None:
    scores = np.array([[3.0, 2.0, 1.0], [3.0, 1.0, 2.0], [5.0, 5.0, 5.0]])
    first, _, constant = cross_benchmark_consistency(scores, ["a"] * 3)
    assert first.value == pytest.approx(1 / 3)
    assert math.isnan(first.peers[1].tau)
    assert math.isnan(constant.value)


def test_the_models_in_common_are_counted() -> None:
    scores = np.array([[3.0, 2.0, 1.0, np.nan], [3.0, np.nan, 2.0, 1.0]])
    first, _ = cross_benchmark_consistency(scores, ["a", "a"])
    assert first.peers[0].models == 2


def test_benchmarks_without_a_domain_are_nobodys_peers() -> None:
    assert not peer_matrix([None, None, "a"]).any()


def test_differences_within_noise_are_ties() -> None:
    # In the first the two best are tied; of the other two pairs the second orders one alike.
    first, second = np.array([0.9, 0.88, 0.1]), np.array([0.5, 0.8, 0.6])
    noise = np.full((2, 3, 3), 0.05)
    tau = kendall_tau(first, second, ties="noise", noise=noise)
    assert tau == pytest.approx((1 - 1) / math.sqrt(2 * 3))
    wide = np.full((2, 3, 3), 1.0)
    assert math.isnan(kendall_tau(first, second, ties="noise", noise=wide))
    assert kendall_tau(first, second, ties="noise", noise=noise * 0) == kendall_tau(first, second)


def test_ties_by_noise_need_the_noise() -> None:
    with pytest.raises(ValueError, match="without the noise"):
        kendall_tau(np.array([1.0, 2.0]), np.array([1.0, 2.0]), ties="noise")


def test_noise_that_swallows_sampling_error_raises_agreement() -> None:
    """Pairs that chance turns round are left out of the agreement."""
    rng = np.random.default_rng(0)
    ability = np.repeat([0.3, 0.5, 0.7], 10)
    accuracies = rng.binomial(400, ability, (2, 30)) / 400
    noise = np.full((2, 30, 30), 1.96 * math.sqrt(2 * 0.25 / 400))
    assert kendall_tau(*accuracies) < 0.9
    assert kendall_tau(*accuracies, ties="noise", noise=noise) > 0.9
