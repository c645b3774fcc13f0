from __future__ import annotations

import numpy as np
import pytest

from benchprism.metrics.items.item_statistics import (
    difficulty,
    discrimination,
    item_statistics,
    variance,
)

NAN = np.nan


def test_by_hand() -> None:
    # The rest of item 0 is 1, 1/2, 0 for the three models, and its scores are 1, 1, 0:
    # r = (1/3 * 1/2 + 1/3 * 0 + 2/3 * 1/2) / sqrt(2/3 * 1/2) = 0.5 / 0.5774
    scores = np.array([[1, 1, 0], [1, 0, 0], [1, 1, 0]], dtype=np.float64)
    found = item_statistics(scores)
    assert found.difficulty == pytest.approx([1 / 3, 2 / 3, 1 / 3])
    assert found.variance == pytest.approx([2 / 9] * 3)
    assert found.discrimination[0] == pytest.approx(0.5 / np.sqrt(1 / 3))
    assert found.models.tolist() == [3, 3, 3]


def test_discrimination_is_numpys_correlation_with_the_rest() -> None:
    rng = np.random.default_rng(0)
    scores = rng.random((30, 12))
    scores[rng.random(scores.shape) < 0.15] = NAN
    found = discrimination(scores)
    for item in range(30):
        rest = np.nanmean(np.delete(scores, item, axis=0), axis=0)
        known = ~np.isnan(scores[item])
        wanted = np.corrcoef(scores[item, known], rest[known])[0, 1]
        assert found[item] == pytest.approx(wanted, abs=1e-12)


def test_an_item_that_better_models_fail_has_negative_discrimination() -> None:
    ability = np.linspace(0.1, 0.9, 9)
    scores = (np.random.default_rng(0).random((50, 9)) < ability).astype(float)
    scores[0] = ability < 0.5
    assert discrimination(scores)[0] < -0.5


def test_missing_is_not_wrong() -> None:
    assert difficulty(np.array([[1.0, NAN, NAN]])).tolist() == [0]


def test_undefined() -> None:
    scores = np.array([[1.0, 1.0], [NAN, NAN], [1.0, 0.0], [1.0, NAN]])
    assert np.isnan(discrimination(scores)).tolist() == [True, True, True, True]
    assert np.isnan(difficulty(scores)).tolist() == [False, True, False, False]
    assert np.isnan(variance(scores)).tolist() == [False, True, False, False]
