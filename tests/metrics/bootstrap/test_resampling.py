from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import binom, bootstrap

from benchprism.metrics.bootstrap.resampling import (
    basic_interval,
    blocks,
    bootstrap_weights,
    stream,
)


@pytest.mark.parametrize("units", [1, 2, 3, 6, 7, 20, 500])
def test_each_replicate_draws_as_many_as_there_are(units: int) -> None:
    weights = bootstrap_weights(np.random.default_rng(0), units, 400)
    assert weights.shape == (400, units)
    assert (weights >= 0).all()
    assert (weights == np.floor(weights)).all()
    assert (weights.sum(axis=1) == units).all()


@pytest.mark.parametrize("units", [2, 5, 30, 400])
def test_the_weights_follow_the_multinomial_law(units: int) -> None:
    replicates = 2_000_000 // units
    weights = bootstrap_weights(np.random.default_rng(1), units, replicates)
    seen = np.bincount(weights.ravel().astype(int), minlength=8)[:8] / weights.size
    law = binom.pmf(np.arange(8), units, 1 / units)
    assert np.abs(seen - law).max() < 5 / math.sqrt(weights.size)
    first, second = weights[:, 0], weights[:, 1]
    covariance = np.mean((first - 1) * (second - 1))
    assert covariance == pytest.approx(-1 / units, abs=6 / math.sqrt(replicates))


def test_two_rows_in_a_tiny_sample_are_as_likely_as_they_should_be() -> None:
    # Three draws of three units: 27 ways; each unit once in 6 of them, one unit thrice in 3.
    weights = bootstrap_weights(np.random.default_rng(2), 3, 100_000)
    assert np.mean(weights.max(axis=1) == 1) == pytest.approx(6 / 27, abs=0.006)
    assert np.mean(weights.max(axis=1) == 3) == pytest.approx(3 / 27, abs=0.006)


def test_streams_depend_on_seed_key_and_block_alone() -> None:
    def draw(seed: int, key: str, block: int) -> float:
        return float(stream(seed, key, block).random())

    assert draw(0, "arc", 1) == draw(0, "arc", 1)
    others = {draw(1, "arc", 1), draw(0, "arc", 0), draw(0, "bbh", 1), draw(0, "arc", 1)}
    assert len(others) == 4


def test_blocks_cover_the_replicates() -> None:
    assert sum(size for _, size in blocks(1000)) == 1000
    assert [number for number, _ in blocks(257)] == [0, 1, 2]
    assert list(blocks(0)) == []


def test_the_interval_is_the_replicates_turned_about_the_estimate() -> None:
    replicates = np.arange(0, 101) / 100  # quantiles .025 and .975 are .025 and .975
    found = basic_interval(0.4, replicates)
    assert (found.low, found.high) == pytest.approx((0.8 - 0.975, 0.8 - 0.025))


def test_it_is_scipys_basic_interval() -> None:
    data = np.random.default_rng(0).random(200)
    wanted = bootstrap((data,), np.mean, method="basic", rng=np.random.default_rng(1))
    found = basic_interval(float(data.mean()), wanted.bootstrap_distribution)
    assert found.low == pytest.approx(wanted.confidence_interval.low)
    assert found.high == pytest.approx(wanted.confidence_interval.high)


def test_too_many_undefined_replicates_leave_no_interval() -> None:
    replicates = np.full(100, 0.5)
    replicates[:5] = np.nan
    assert basic_interval(0.5, replicates).defined
    replicates[:6] = np.nan
    assert not basic_interval(0.5, replicates).defined
    assert not basic_interval(math.nan, np.full(10, 0.5)).defined
    assert not basic_interval(0.5, np.array([])).defined
