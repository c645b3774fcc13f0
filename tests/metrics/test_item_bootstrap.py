"""The bootstrap over items gives what a plain loop gives on the same draws."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import kendalltau

from benchprism.metrics.alignment import Family, families_of, item_inversions
from benchprism.metrics.consistency import peer_matrix
from benchprism.metrics.draws import every_item
from benchprism.metrics.item_bootstrap import (
    ItemColumns,
    ItemSample,
    bootstrap_items,
    item_columns,
)
from benchprism.metrics.resampling import bootstrap_weights, stream
from benchprism.metrics.standings import Statistics

SIZES = [150, 40, 64]
MODELS = 9
FAMILIES = families_of(["a", "a", "a", "b", "b", "c", "c", "c", None], [1, 2, 3, 1, 2, 1, 1, 2, 5])


def scores(kind: str) -> list[NDArray[np.float64]]:
    rng = np.random.default_rng(4)
    made = []
    for size in SIZES:
        chance = np.linspace(0.3, 0.8, MODELS)
        own = (
            rng.random((size, MODELS)) if kind == "graded" else rng.random((size, MODELS)) < chance
        )
        own = own.astype(np.float64)
        if kind != "complete":
            own[rng.random(own.shape) < 0.1] = np.nan
        made.append(own)
    return made


def sample(benchmarks: list[NDArray[np.float64]]) -> ItemSample:
    columns = []
    for number, own in enumerate(benchmarks):
        inversions = item_inversions(own, FAMILIES)
        columns.append(item_columns(f"b{number}", own, np.arange(MODELS), inversions))
    return ItemSample(tuple(columns), MODELS)


def draws(benchmark: ItemColumns, replicates: int) -> NDArray[np.int64]:
    weights = bootstrap_weights(stream(7, benchmark.key, 0), benchmark.items, replicates)
    return weights.astype(np.int64)


def plain(own: NDArray[np.float64], families: tuple[Family, ...]) -> tuple[float, float]:
    """DS and CAD by loops over pairs of models."""
    accuracies = np.nanmean(own, axis=0)
    if np.isin(own, [0, 1]).all():
        counts = own.sum(axis=0)
        gap = math.floor(0.02 * len(own) + 1e-9)
        far = [abs(a - b) > gap for a, b in combinations(counts, 2)]
    else:
        far = [abs(a - b) > 0.02 + 1e-9 for a, b in combinations(accuracies, 2)]
    ds = accuracies.std() / accuracies.mean() * math.sqrt(np.mean(far))
    inverted = compared = 0
    for family in families:
        for place, tier in enumerate(family.tiers):
            for weaker in tier:
                for stronger in (m for later in family.tiers[place + 1 :] for m in later):
                    inverted += int(np.sum(own[:, stronger] < own[:, weaker]))
                    compared += int(np.sum(~np.isnan(own[:, stronger] + own[:, weaker])))
    return ds, math.exp(-12 * inverted / compared)


@pytest.mark.parametrize("kind", ["complete", "missing", "graded"])
def test_each_replicate_is_that_of_a_plain_loop(kind: str) -> None:
    benchmarks = scores(kind)
    items = sample(benchmarks)
    found = bootstrap_items(items, peer_matrix(["d"] * 3), replicates=20, seed=7)
    weights = [draws(benchmark, 20) for benchmark in items.benchmarks]
    for k in range(20):
        drawn = [
            own[np.repeat(np.arange(len(own)), rows[k])]
            for own, rows in zip(benchmarks, weights, strict=True)
        ]
        accuracies = [np.nanmean(own, axis=0) for own in drawn]
        for b, own in enumerate(drawn):
            ds, cad = plain(own, FAMILIES)
            taus = [kendalltau(accuracies[b], accuracies[j]).statistic for j in range(3) if j != b]
            assert found.accuracy[k, b] == pytest.approx(accuracies[b].mean(), abs=1e-9)
            assert found.ds[k, b] == pytest.approx(ds, abs=1e-9)
            assert found.cad[k, b] == pytest.approx(cad, abs=1e-9)
            assert found.cbrc[k, b] == pytest.approx(np.mean(taus), abs=1e-9)


def equal(one: Statistics, other: Statistics) -> bool:
    return all(
        np.array_equal(getattr(one, name), getattr(other, name), equal_nan=True)
        for name in ("accuracy", "cbrc", "ds", "cad")
    )


def test_the_numbers_depend_neither_on_threads_nor_on_how_many_are_asked_for() -> None:
    items, peers = sample(scores("complete")), peer_matrix(["d"] * 3)
    one = bootstrap_items(items, peers, replicates=200, seed=1)
    two = bootstrap_items(items, peers, replicates=200, seed=1, threads=2)
    assert equal(one, two)
    fewer = bootstrap_items(items, peers, replicates=128, seed=1)
    assert np.array_equal(one.ds[:128], fewer.ds)
    assert not np.array_equal(one.ds, bootstrap_items(items, peers, replicates=200, seed=2).ds)


def test_a_benchmarks_own_numbers_do_not_depend_on_the_others() -> None:
    items = sample(scores("complete"))
    alone = ItemSample(items.benchmarks[1:2], MODELS)
    together = bootstrap_items(items, peer_matrix(["d"] * 3), replicates=64, seed=0)
    single = bootstrap_items(alone, peer_matrix(["d"]), replicates=64, seed=0)
    assert np.array_equal(together.ds[:, 1], single.ds[:, 0])
    assert np.array_equal(together.cad[:, 1], single.cad[:, 0])
    assert np.isnan(single.cbrc).all()


def test_integers_and_floats_give_the_same_numbers() -> None:
    """A model that one benchmark lacks turns counts into floats; the others' numbers stay."""
    benchmarks = scores("complete")
    whole = sample(benchmarks)
    places = np.arange(MODELS - 1)
    less = benchmarks[2][:, :-1]
    lacking = item_columns("b2", less, places, item_inversions(less, FAMILIES))
    mixed = ItemSample((*whole.benchmarks[:2], lacking), MODELS)
    peers = peer_matrix(["d", "d", "e"])
    one = bootstrap_items(whole, peers, replicates=64, seed=0)
    other = bootstrap_items(mixed, peers, replicates=64, seed=0)
    for name in ("accuracy", "cbrc", "ds", "cad"):
        assert getattr(one, name)[:, :2] == pytest.approx(getattr(other, name)[:, :2], abs=1e-12)


def test_counts_too_large_for_single_precision_stay_exact() -> None:
    own = np.ones((3, 2))
    own[:, 1] = 0
    inversions = item_inversions(own, families_of(["a", "a"], [1, 2]))
    inversions.inverted[:] = 2**23 + 1
    inversions.compared[:] = 2**24 + 2
    columns = item_columns("b", own, np.arange(2), inversions)
    _, rates = columns.sums(every_item(columns))
    assert rates.tolist() == [0.5]
