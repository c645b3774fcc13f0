from __future__ import annotations

import math

import numpy as np
import pytest

from benchprism.metrics.alignment import families_of
from benchprism.metrics.inversion_test import order_test

RNG = np.random.default_rng(0)


def test_three_sizes_by_hand() -> None:
    # Each of four items is solved from some size on: the declared order has no inversion, and no
    # other of the six does as well. Wins of a larger over a smaller model: 1-2: 1, 1-3: 2, 2-3: 1,
    # so that the six orders have 0, 1, 1, 3, 3 and 4 inversions.
    scores = np.array([[0, 0, 1], [0, 1, 1], [1, 1, 1], [0, 0, 0]], dtype=float)
    found = order_test(scores, families_of(["f"] * 3, [1, 2, 3]), RNG)
    assert found.p_value == pytest.approx(1 / 6)
    assert found.smallest == pytest.approx(1 / 6)
    assert found.chance_rate == pytest.approx(np.mean([0, 1, 1, 3, 3, 4]) / 12)
    reverse = order_test(scores, families_of(["f"] * 3, [3, 2, 1]), RNG)
    assert reverse.p_value == 1


def test_models_of_one_size_are_dealt_out_once() -> None:
    # Two of size 1, one of size 2: three ways. Only the declared one has no inversion.
    scores = np.array([[0, 0, 1], [0, 0, 1], [1, 1, 1]], dtype=float)
    found = order_test(scores, families_of(["f"] * 3, [1, 1, 2]), RNG)
    assert found.p_value == pytest.approx(1 / 3)


def test_families_are_permuted_apart() -> None:
    scores = np.array([[0, 1, 0, 1]], dtype=float)
    found = order_test(scores, families_of(["f", "f", "g", "g"], [1, 2, 1, 2]), RNG)
    assert found.p_value == pytest.approx(1 / 4)


def test_many_ways_are_drawn() -> None:
    rng = np.random.default_rng(1)
    ordered = (rng.random((300, 16)) < np.tile(np.linspace(0.3, 0.8, 8), 2)).astype(float)
    families = families_of(["f"] * 8 + ["g"] * 8, [*range(8), *range(8)])
    assert order_test(ordered, families, RNG, replicates=499).p_value == pytest.approx(1 / 500)
    chance = (rng.random((300, 16)) < 0.5).astype(float)
    assert order_test(chance, families, RNG, replicates=499).p_value > 0.01


def test_p_is_uniform_when_sizes_say_nothing() -> None:
    rng = np.random.default_rng(2)
    families = families_of(["f"] * 4, [1, 2, 3, 4])
    found = [
        order_test((rng.random((40, 4)) < 0.5).astype(float), families, rng).p_value
        for _ in range(200)
    ]
    assert np.mean(np.array(found) <= 0.25) == pytest.approx(0.25, abs=0.09)


def test_graded_scores() -> None:
    scores = np.array([[0.1, 0.2], [0.5, 0.5], [0.3, np.nan]])
    found = order_test(scores, families_of(["f", "f"], [1, 2]), RNG)
    assert found.p_value == pytest.approx(1 / 2)


def test_nothing_to_test() -> None:
    assert math.isnan(order_test(np.ones((3, 2)), families_of(["f", "g"], [1, 2]), RNG).p_value)
