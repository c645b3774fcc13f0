from __future__ import annotations

import math

import numpy as np
import pytest

from benchprism.metrics.standard_errors import (
    detectable_difference,
    difference_errors,
    noise_epsilon,
    paired_errors,
    share_apart,
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


def test_a_paired_test_looks_at_common_items_alone() -> None:
    # The third model shares the first two of five items with the others, the fourth none.
    scores = np.array([
        [1, 0, 1, NAN], [1, 1, 0, NAN], [0, 0, NAN, NAN], [0, 1, NAN, NAN], [NAN, NAN, NAN, 1.0],
    ])  # fmt: skip
    errors = paired_errors(scores)
    # Differences 1, 0, 0, -1: mean 0, variance 2/3. With the third 0, 1 and -1, 1.
    assert errors[0, 1] == pytest.approx(math.sqrt(2 / 3 / 4))
    assert errors[0, 2] == errors[2, 0] == pytest.approx(math.sqrt(0.5 / 2))
    assert errors[1, 2] == pytest.approx(math.sqrt(2 / 2))
    assert np.isnan(errors[3]).all()
    assert share_apart(scores) == pytest.approx(3 / 6)


def test_paired_errors_are_those_of_a_plain_loop() -> None:
    rng = np.random.default_rng(1)
    scores = rng.random((60, 5))
    assert paired_errors(scores) == pytest.approx(difference_errors(scores))
    scores[rng.random(scores.shape) < 0.3] = NAN
    groups = np.repeat(np.arange(20), 3)
    alone, grouped = paired_errors(scores), paired_errors(scores, groups)
    for i in range(5):
        for j in range(i):
            both = ~np.isnan(scores[:, i] + scores[:, j])
            differences = scores[both, i] - scores[both, j]
            assert alone[i, j] == pytest.approx(differences.std(ddof=1) / math.sqrt(both.sum()))
            own = np.unique(groups[both], return_inverse=True)[1]
            pair = difference_errors(scores[both][:, [i, j]], own)
            assert grouped[i, j] == pytest.approx(pair[0, 1])


def test_no_noise_seen_is_not_none() -> None:
    """Three models that score alike, a fourth that is right throughout, a fifth unlike them."""
    rng = np.random.default_rng(2)
    one, other = rng.integers(0, 2, (2, 40)).astype(float)
    scores = np.stack([one, one, one, np.ones(40), other], axis=1)
    errors = difference_errors(scores)
    assert (errors[:3, :3] == 0).all()
    wanted = [errors[0, 3], errors[0, 4], errors[3, 4]]
    assert typical_error(errors) == pytest.approx(np.median(np.repeat(wanted, [3, 3, 1])))
    assert math.isnan(typical_error(errors[:3, :3]))
    assert math.isnan(typical_error(difference_errors(np.tile([1.0, 0.0], (9, 1)))))
    assert math.isnan(detectable_difference(0.0))
    assert math.isnan(noise_epsilon(0.0))
    third = np.full((7, 2), 1 / 3)
    assert math.isnan(typical_error(difference_errors(third)))
