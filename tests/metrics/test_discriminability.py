from __future__ import annotations

import math

import numpy as np
import pytest

from benchprism.metrics.discriminability import (
    discriminability,
    distance_gap,
    family_discriminability,
)


def test_by_hand() -> None:
    # Mean 0.4, population variance (0.04 + 0 + 0.04) / 3; all three pairs differ by more than 0.02.
    found = discriminability(np.array([0.2, 0.4, 0.6]))
    assert found == pytest.approx(math.sqrt(0.08 / 3) / 0.4)


def test_a_difference_of_exactly_epsilon_does_not_count() -> None:
    # 82.1 and 80.1 per cent: 0.821 - 0.801 is 0.01999... or 0.02000... as floats have it.
    assert discriminability(np.array([0.821, 0.801])) == 0
    assert discriminability(np.array([0.801, 0.781])) == 0
    assert discriminability(np.array([0.8211, 0.801])) > 0


def test_counts_are_compared_as_integers() -> None:
    # With 150 items epsilon is 3 items: 60 against 63 does not count, 60 against 64 does.
    assert discriminability(np.array([60, 63]) / 150, items=150) == 0
    assert discriminability(np.array([60, 64]) / 150, items=150) > 0
    counts = np.arange(2001)
    for first in counts[:1900:37]:
        two = np.array([first, first + 40]) / 2000
        assert discriminability(two, items=2000) == 0


def test_the_gap_in_items() -> None:
    assert [distance_gap(0.02, n) for n in (49, 50, 99, 100, 1319)] == [0, 1, 1, 2, 26]


@pytest.mark.parametrize("accuracies", [[], [0.5], [0.0, 0.0], [0.5, np.nan]])
def test_it_is_undefined_for_too_few_models_or_none_above_zero(accuracies: list[float]) -> None:
    assert math.isnan(discriminability(np.array(accuracies)))


def test_equal_models_are_told_apart_by_nothing() -> None:
    assert discriminability(np.array([0.5, 0.5, 0.5])) == 0


def test_it_is_the_plain_loop_on_random_accuracies() -> None:
    accuracies = np.random.default_rng(0).random(30)
    pairs = [abs(a - b) > 0.02 for i, a in enumerate(accuracies) for b in accuracies[:i]]
    wanted = accuracies.std() / accuracies.mean() * math.sqrt(np.mean(pairs))
    assert discriminability(accuracies) == pytest.approx(wanted, abs=1e-12)


def test_within_families() -> None:
    accuracies = np.array([0.2, 0.4, 0.7, 0.9])
    found = family_discriminability(accuracies, [[0, 1], [2], [2, 3]])
    assert found[0] == pytest.approx(0.1 / 0.3)
    assert math.isnan(found[1])
    assert found[2] == pytest.approx(0.1 / 0.8)
