from __future__ import annotations

import math

import numpy as np
import pytest

from benchprism.metrics.standard_errors import (
    detectable_difference,
    difference_errors,
    noise_epsilon,
    typical_error,
)

NAN = np.nan


def test_two_models_by_hand() -> None:
    # Differences 1, 0, 0, -1, 1 of five items: mean 1/5, variance (3 - 1/5) / 4 = 0.7.
    first, second = [1, 1, 0, 0, 1], [0, 1, 0, 1, 0]
    errors = difference_errors(np.array([first, second], dtype=float).T)
    assert errors[0, 1] == pytest.approx(math.sqrt(0.7 / 5))
    assert errors[1, 0] == errors[0, 1]
    assert errors[0, 0] == 0


def test_graded_and_whole_scores_are_the_error_of_a_mean() -> None:
    rng = np.random.default_rng(0)
    scores = rng.random((200, 4))
    errors = difference_errors(scores)
    for i in range(4):
        for j in range(4):
            differences = scores[:, i] - scores[:, j]
            wanted = differences.std(ddof=1) / math.sqrt(200)
            assert errors[i, j] == pytest.approx(wanted, abs=1e-12)
    whole = rng.integers(0, 2, (50, 3)).astype(np.int8)
    assert difference_errors(whole) == pytest.approx(difference_errors(whole.astype(float)))


def test_copies_of_items_say_nothing_new() -> None:
    scores = np.random.default_rng(0).integers(0, 2, (40, 3)).astype(float)
    copied = np.repeat(scores, 3, axis=0)
    grouped = difference_errors(copied, np.repeat(np.arange(40), 3))
    assert grouped == pytest.approx(difference_errors(scores))
    assert (difference_errors(copied)[0, 1:] < 0.6 * grouped[0, 1:]).all()


def test_undefined() -> None:
    assert np.isnan(difference_errors(np.array([[1.0, 0.0]]))).all()
    scores = np.array([[1.0, NAN], [0.0, NAN], [1.0, NAN]])
    errors = difference_errors(scores)
    assert np.isnan(errors[0, 1])
    assert math.isnan(typical_error(errors))
    assert math.isnan(detectable_difference(NAN))


def test_a_difference_of_this_size_is_found_as_often_as_promised() -> None:
    rng = np.random.default_rng(0)
    chance = rng.random(400)
    better = chance + 0.07
    found = 0
    for _ in range(300):
        scores = rng.random((400, 2)) < np.stack([chance, np.minimum(better, 1)], axis=1)
        errors = difference_errors(scores.astype(float))[0, 1]
        size = abs(scores[:, 0].mean() - scores[:, 1].mean())
        found += size > noise_epsilon(errors)
    errors = difference_errors((rng.random((400, 2)) < chance[:, None]).astype(float))[0, 1]
    power = found / 300
    promised = detectable_difference(errors, power=power)
    assert promised == pytest.approx(0.07, abs=0.012)


def test_constants() -> None:
    assert noise_epsilon(0.01) == pytest.approx(0.0196, abs=1e-4)
    assert detectable_difference(0.01) == pytest.approx(0.01 * (1.95996 + 0.84162), abs=1e-6)
