from __future__ import annotations

import math

import numpy as np
import pytest

from benchprism.metrics.items.explained import explained_variance, one_column_a_value

NAN = np.nan


def rng() -> np.random.Generator:
    return np.random.default_rng(0)


def test_by_hand() -> None:
    # Two values of three items each, means 1 and 3: SSE = 4, SST = 10.
    outcome = np.array([0.0, 1, 2, 2, 3, 4])
    found = explained_variance(outcome, one_column_a_value([0, 0, 0, 1, 1, 1], 2), rng())
    assert found.items == 6
    assert found.share == pytest.approx(1 - (4 / 4) / (10 / 5))
    # 20 ways to choose three; the sums of the lower are 3 at least, reached by itself and its
    # mirror, and by those that swap the two 2s.
    assert found.p_value == pytest.approx(4 / 20, abs=0.04)


def test_what_explains_nothing_explains_nothing_on_average() -> None:
    chance = np.random.default_rng(1)
    found = [
        explained_variance(
            chance.normal(size=40), one_column_a_value(chance.integers(0, 4, 40), 4), chance,
            replicates=0,
        ).share
        for _ in range(300)
    ]  # fmt: skip
    assert np.mean(found) == pytest.approx(0, abs=0.015)


def test_intervals_and_p_values_hold() -> None:
    """An attribute that explains half of the variance, and one that explains none."""
    chance = np.random.default_rng(2)
    covered, found = 0, []
    for _ in range(60):
        level = chance.integers(0, 4, 150)
        half = level / np.sqrt(1.25) + chance.normal(size=150)
        own = explained_variance(half, level[:, None].astype(float), chance, replicates=300)
        covered += own.interval.low <= 0.5 <= own.interval.high
        none = explained_variance(
            chance.normal(size=150), level[:, None].astype(float), chance, replicates=200
        )
        found.append(none.p_value)
    assert covered >= 0.86 * 60
    assert np.mean(np.array(found) < 0.25) == pytest.approx(0.25, abs=0.16)


def test_noise_in_the_outcome_is_set_aside() -> None:
    chance = np.random.default_rng(3)
    level = chance.integers(0, 2, 4000)
    truth = level + chance.normal(0, 0.5, 4000)  # explains half
    seen = truth + chance.normal(0, 1, 4000)
    columns = level[:, None].astype(float)
    plain = explained_variance(seen, columns, chance, replicates=0)
    aside = explained_variance(seen, columns, chance, errors=np.ones(4000), replicates=0)
    assert plain.share == pytest.approx(0.25 / 1.5, abs=0.04)
    assert aside.share == pytest.approx(0.5, abs=0.07)


def test_missing_values_are_left_out() -> None:
    outcome = np.array([0.0, 1, 2, 2, 3, 4, NAN, 9])
    codes = one_column_a_value([0, 0, 0, 1, 1, 1, 0, -1], 2)
    found = explained_variance(outcome, codes, rng())
    assert found.items == 6
    assert found.share == pytest.approx(0.5)


def test_groups_widen_the_interval() -> None:
    chance = np.random.default_rng(4)
    level = np.repeat(chance.integers(0, 2, 40), 10)
    outcome = level + np.repeat(chance.normal(size=40), 10) + chance.normal(0, 0.1, 400)
    groups = np.repeat(np.arange(40), 10)
    columns = level[:, None].astype(float)
    alone = explained_variance(outcome, columns, rng())
    together = explained_variance(outcome, columns, rng(), groups=groups)
    width = together.interval.high - together.interval.low
    assert width > 2 * (alone.interval.high - alone.interval.low)


def test_undefined() -> None:
    outcome = np.arange(6.0)
    level = np.arange(6.0)[:, None]
    for given, columns, reason in (
        (outcome, np.ones((6, 1)), "all items have the same value"),
        (np.ones(6), level, "the outcomes do not differ beyond their errors"),
        (outcome[:4], level[:4], "there are too few items for so many values"),
        (np.full(6, NAN), level, "no item has both a value and an outcome"),
    ):
        found = explained_variance(given, columns, rng())
        assert math.isnan(found.share)
        assert found.reason == reason
