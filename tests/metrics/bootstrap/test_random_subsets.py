from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import kendalltau

from benchprism.metrics.alignment import families_of, item_inversions
from benchprism.metrics.bootstrap.draws import chosen
from benchprism.metrics.bootstrap.over_items import ItemColumns, ItemSample, item_columns
from benchprism.metrics.bootstrap.random_subsets import (
    Choice,
    placing,
    random_subsets,
    subset_numbers,
)
from benchprism.metrics.bootstrap.resampling import stream
from benchprism.metrics.consistency import peer_matrix
from benchprism.metrics.stability import stability

MODELS = 8
FAMILIES = families_of(["f"] * 4 + ["g"] * 4, [1, 2, 3, 4] * 2)
SIZES = (90, 60)
PEERS = peer_matrix(["d", "d", None])


def scores() -> list[NDArray[np.float64]]:
    rng = np.random.default_rng(0)
    ability = np.tile(np.linspace(0.3, 0.8, 4), 2)
    return [(rng.random((size, MODELS)) < ability).astype(float) for size in SIZES]


def columns(key: str, own: NDArray[np.float64]) -> ItemColumns:
    return item_columns(key, own, np.arange(MODELS), item_inversions(own, FAMILIES))


def choice(sizes: tuple[int, int]) -> Choice:
    first, second = scores()
    both = np.concatenate([first, second])
    parts = columns("x", first), columns("y", second), columns("all", both)
    return Choice(ItemSample(parts, MODELS), sizes, pooled=True)


def test_random_subsets_are_those_of_a_plain_loop() -> None:
    found = random_subsets(choice((30, 20)), PEERS, subsets=6, seed=2)
    members = [
        chosen(stream(2, f"{key}\0subsets", 0), size, items, 6).astype(bool)
        for key, size, items in (("x", 90, 30), ("y", 60, 20))
    ]
    for k in range(6):
        parts = [own[rows[k]] for own, rows in zip(scores(), members, strict=True)]
        assert [len(part) for part in parts] == [30, 20]
        parts.append(np.concatenate(parts))
        full = [own.mean(axis=0) for own in (*scores(), np.concatenate(scores()))]
        own = [part.mean(axis=0) for part in parts]
        taus = [kendalltau(*pair).statistic for pair in zip(own, full, strict=True)]
        assert found.ranking_consistency[k] == pytest.approx(taus)
        assert found.statistics.accuracy[k] == pytest.approx([part.mean() for part in own])
        cbrc = kendalltau(own[0], own[1]).statistic
        assert found.statistics.cbrc[k, :2] == pytest.approx([cbrc, cbrc])
        assert math.isnan(found.statistics.cbrc[k, 2])
        for b, part in enumerate(parts):
            inversions = item_inversions(part, FAMILIES)
            rate = inversions.inverted.sum() / inversions.compared.sum()
            assert found.statistics.cad[k, b] == pytest.approx(math.exp(-12 * rate))
            spread = own[b].std() / own[b].mean()
            gap = math.floor(0.02 * len(part) + 1e-9)
            counts = part.sum(axis=0)
            far = np.abs(counts[:, None] - counts) > gap
            share = far.sum() / (MODELS * (MODELS - 1))
            assert found.statistics.ds[k, b] == pytest.approx(spread * math.sqrt(share))


def test_stability_is_that_of_the_plain_function() -> None:
    members = [np.zeros((1, size), dtype=np.float32) for size in SIZES]
    members[0][0, :40] = 1
    members[1][0, :30] = 1
    found = subset_numbers(choice((40, 30)), members, PEERS, seed=0, redraws=80)
    wanted = stability(scores()[0][:40], np.random.default_rng(0), draws=80)
    assert found.stability[0, 0] == pytest.approx(wanted, abs=0.05)


def test_the_whole_benchmark_agrees_with_itself() -> None:
    found = random_subsets(choice(SIZES), PEERS, subsets=3, seed=0)
    assert found.ranking_consistency == pytest.approx(1)


def test_the_numbers_do_not_depend_on_threads() -> None:
    one = random_subsets(choice((30, 20)), PEERS, subsets=150, seed=0, redraws=2)
    two = random_subsets(choice((30, 20)), PEERS, subsets=150, seed=0, redraws=2, threads=2)
    assert np.array_equal(one.stability, two.stability)
    assert np.array_equal(one.statistics.ds, two.statistics.ds)


def test_placing() -> None:
    random = np.arange(1, 100) / 100
    found = placing(0.95, random)
    assert found.chance == pytest.approx(0.5)
    assert found.p_value == pytest.approx(6 / 100)  # 0.95 to 0.99, and itself
    assert (found.low, found.high) == pytest.approx((0.0345, 0.9655))
    assert math.isnan(placing(math.nan, random).p_value)
    assert math.isnan(placing(0.5, np.array([math.nan])).p_value)
    assert placing(0.5, np.array([math.nan, 0.1])).p_value == 0.5
