from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import binomtest

from benchprism.metrics.comparison import compare_models, exact_mcnemar

NAN = np.nan


def rng() -> np.random.Generator:
    return np.random.default_rng(0)


@pytest.mark.parametrize(("first", "second"), [(1, 6), (0, 5), (12, 12), (40, 61), (300, 250)])
def test_mcnemar_is_the_binomial_test(first: int, second: int) -> None:
    wanted = binomtest(first, first + second, 0.5).pvalue
    assert exact_mcnemar(first, second) == pytest.approx(wanted, rel=1e-9)
    assert exact_mcnemar(second, first) == pytest.approx(wanted, rel=1e-9)


def test_models_that_agree_do_not_differ() -> None:
    assert exact_mcnemar(0, 0) == 1


def test_right_and_wrong_by_hand() -> None:
    # Six items: one missing for the first; of five, 3 against 1, two alone for the first.
    first = np.array([1, 1, 1, 0, 0, NAN])
    second = np.array([1, 0, 0, 0, 0, 1.0])
    found = compare_models(first, second, rng())
    assert (found.items, found.first_only, found.second_only) == (5, 2, 0)
    assert found.difference == pytest.approx(2 / 5)
    assert (found.test, found.p_value) == ("exact McNemar", 0.5)


def test_the_interval_is_about_the_normal_one() -> None:
    scores = np.random.default_rng(1).random((2000, 2)) < [0.6, 0.5]
    first, second = scores.T.astype(float)
    found = compare_models(first, second, rng())
    reach = 1.96 * (first - second).std() / math.sqrt(2000)
    assert found.interval.low == pytest.approx(found.difference - reach, abs=0.003)
    assert found.interval.high == pytest.approx(found.difference + reach, abs=0.003)


def test_graded_scores_have_their_signs_flipped() -> None:
    # Three differences above 0 of equal size: all signs the same in 2 of 8 flips.
    first, second = np.array([0.9, 0.8, 0.7, 0.2]), np.array([0.7, 0.6, 0.5, 0.2])
    found = compare_models(first, second, rng())
    assert found.test == "sign flips"
    assert found.p_value == pytest.approx(2 / 8, abs=0.02)


def test_copies_in_a_group_count_once() -> None:
    scores = (np.random.default_rng(3).random((60, 2)) < [0.7, 0.5]).astype(float)
    groups = np.repeat(np.arange(60), 5)
    alone = compare_models(scores[:, 0], scores[:, 1], rng())
    fivefold = np.repeat(scores, 5, axis=0)
    copied = compare_models(fivefold[:, 0], fivefold[:, 1], rng(), groups=groups)
    assert copied.test == "sign flips"
    assert copied.difference == pytest.approx(alone.difference)
    assert copied.p_value == pytest.approx(alone.p_value, abs=0.03)
    assert copied.interval.high - copied.interval.low == pytest.approx(
        alone.interval.high - alone.interval.low, rel=0.15
    )
    assert copied.detectable == pytest.approx(alone.detectable)


@pytest.mark.parametrize("second", [[1.0, 0, 1, 1], [0.0, -1, 0, 0]])
def test_models_that_differ_nowhere_say_nothing_of_chance(second: list[float]) -> None:
    found = compare_models(np.array([1.0, 0, 1, 1]), np.array(second), rng())
    assert found.difference == 1 - second[0]
    assert not found.differing
    assert math.isnan(found.detectable)
    assert not found.interval.defined
    other = compare_models(np.array([1.0, 0, 1, 1]), np.array([1.0, 0, 0, 1]), rng())
    assert other.differing
    # Differences 0, 0, 1, 0: variance 1/4.
    assert other.detectable == pytest.approx((1.95996 + 0.84162) * math.sqrt(1 / 4 / 4), abs=1e-5)


def test_p_is_uniform_between_equal_models() -> None:
    chance = np.random.default_rng(4)
    found = []
    for _ in range(200):
        first, second = chance.random((2, 30)).round(2)
        found.append(compare_models(first, second, chance, replicates=0).p_value)
    assert np.mean(np.array(found) < 0.25) == pytest.approx(0.25, abs=0.09)


def test_nothing_in_common() -> None:
    found = compare_models(np.array([1.0, NAN]), np.array([NAN, 1.0]), rng())
    assert (found.items, found.test) == (0, "none")
    assert math.isnan(found.p_value)
    assert not found.interval.defined
    single = compare_models(np.array([1.0]), np.array([0.0]), rng())
    assert single.difference == 1
    assert not single.interval.defined
