"""Pair counts of many models are those of the way that visits every pair."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from benchprism.metrics.counting import pairs
from benchprism.metrics.counting.crowds import CROWD, count_in_crowd
from benchprism.metrics.counting.pair_counts import PairCounts

GAPS = np.array([2.0, 0.0, 5.0])
NAN = np.nan


def values(kind: str) -> NDArray[np.float64]:
    rng = np.random.default_rng(0)
    chance = np.linspace(0.2, 0.8, 90)
    found = rng.binomial([[300], [60], [2000]], chance, (4, 3, 90)).astype(np.float64)
    if kind == "accuracies":
        found /= np.array([[300], [60], [2000]])
    if kind == "missing":
        found[:, 0, :20] = NAN
        found[:, 2, 10:50] = NAN
    return found


def by_sign(found: NDArray[np.float64], gaps: NDArray[np.float64]) -> PairCounts:
    return pairs._count_by_sign(found, gaps, None)


@pytest.mark.parametrize("kind", ["counts", "accuracies", "missing"])
def test_the_same_as_pair_by_pair(kind: str) -> None:
    given = values(kind)
    gaps = GAPS / 300 + 1e-9 if kind == "accuracies" else GAPS
    found, wanted = count_in_crowd(given, gaps), by_sign(given, gaps)
    assert found is not None
    assert np.array_equal(found.balance, wanted.balance)
    assert np.array_equal(found.untied, wanted.untied)
    assert np.array_equal(found.distant, wanted.distant)


def test_whole_numbers_without_replicates() -> None:
    given = values("counts")[0].astype(np.int16)
    found, wanted = count_in_crowd(given, GAPS), by_sign(given, GAPS)
    assert found is not None
    assert found.balance.shape == (3, 3)
    assert np.array_equal(found.balance, wanted.balance)


def test_only_what_is_wanted_is_counted() -> None:
    wanted = np.array([[False, True, False], [True, False, False], [False] * 3])
    found = count_in_crowd(values("counts"), GAPS, wanted)
    assert found is not None
    assert not np.isnan(found.untied[:, 0, 1]).any()
    assert np.isnan(found.untied[:, 0, 2]).all()


def test_models_that_come_and_go_are_left_to_the_other_way() -> None:
    given = values("counts")
    given[1, 0, 0] = NAN
    assert count_in_crowd(given, GAPS) is None


def test_a_crowd_is_counted_this_way() -> None:
    rng = np.random.default_rng(0)
    given = rng.integers(0, 50, (2, 2, CROWD)).astype(np.int16)
    gaps = np.zeros(2)
    found, wanted = pairs.count_pairs(given, gaps), pairs._count_by_sign(given, gaps, None)
    assert np.array_equal(found.balance, wanted.balance)
    assert np.array_equal(found.distant, wanted.distant)
