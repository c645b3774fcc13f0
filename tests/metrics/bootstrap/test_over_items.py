"""The bootstrap over items gives what a plain loop gives on the same draws."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import kendalltau

from benchprism.metrics import standings
from benchprism.metrics.alignment import Family, families_of, item_inversions
from benchprism.metrics.bootstrap.draws import draw_bootstrap, every_item
from benchprism.metrics.bootstrap.over_items import (
    ItemColumns,
    ItemSample,
    bootstrap_items,
    item_columns,
)
from benchprism.metrics.bootstrap.resampling import bootstrap_weights, stream
from benchprism.metrics.consistency import peer_matrix
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


def test_grouped_items_are_drawn_together() -> None:
    own = scores("complete")[0]
    groups = np.arange(150) // 6
    inversions = item_inversions(own, FAMILIES)
    columns = item_columns("b0", own, np.arange(MODELS), inversions, groups)
    found = bootstrap_items(
        ItemSample((columns,), MODELS), peer_matrix([None]), replicates=20, seed=7
    )
    weights = bootstrap_weights(stream(7, "b0", 0), 25, 20).astype(int)[:, groups]
    for k in range(20):
        drawn = own[np.repeat(np.arange(150), weights[k])]
        ds, cad = plain(drawn, FAMILIES)
        assert found.accuracy[k, 0] == pytest.approx(drawn.mean(), abs=1e-9)
        assert found.ds[k, 0] == pytest.approx(ds, abs=1e-9)
        assert found.cad[k, 0] == pytest.approx(cad, abs=1e-9)


@pytest.mark.parametrize("missing", [False, True])
def test_bytes_give_what_numbers_give(missing: bool) -> None:
    """Right and wrong of many models are kept as bytes, and weighed to the same sums."""
    rng = np.random.default_rng(0)
    own = rng.integers(0, 2, (8400, 500)).astype(np.int8)
    given = own.astype(np.float32)
    if missing:
        given[rng.random(given.shape) < 0.1] = np.nan
    inversions = item_inversions(given, FAMILIES)
    columns = item_columns("b", given, np.arange(500), inversions)
    assert {tile.dtype for tile in columns.tiles[:-1]} == {np.dtype(np.int8)}
    draw = draw_bootstrap(columns, rng, 5)
    values, rates = columns.sums(draw)
    seen = ~np.isnan(given)
    wanted = (draw.weights @ np.nan_to_num(given)).astype(np.float64)
    if missing:
        wanted = wanted / (draw.weights @ seen.astype(np.float32))
    else:
        whole = item_columns("b", own, np.arange(500), inversions)
        assert np.array_equal(whole.sums(draw)[0], values)
    assert np.array_equal(values, wanted)
    inverted = draw.weights @ inversions.inverted
    assert rates == pytest.approx(inverted / (draw.weights @ inversions.compared))


def test_measuring_in_pieces_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    items, peers = sample(scores("missing")), peer_matrix(["d"] * 3)
    whole = bootstrap_items(items, peers, replicates=50, seed=1)
    monkeypatch.setattr(standings, "_ELEMENTS", 100)
    assert equal(whole, bootstrap_items(items, peers, replicates=50, seed=1))


def test_ties_by_noise() -> None:
    """Models that differ by no more than the noise are tied, in each replicate."""
    benchmarks = scores("complete")
    noise = np.full((3, MODELS, MODELS), 0.1)
    items = sample(benchmarks)
    tied = ItemSample(items.benchmarks, MODELS, noise=noise)
    peers = peer_matrix(["d"] * 3)
    found = bootstrap_items(tied, peers, replicates=10, seed=7, ties="noise")
    weights = [draws(benchmark, 10) for benchmark in items.benchmarks]
    for k in range(10):
        accuracies = [
            rows[k] @ own / len(own) for own, rows in zip(benchmarks, weights, strict=True)
        ]
        signs = [
            np.array([np.sign(a - b) if abs(a - b) > 0.1 + 1e-12 else 0
                      for a, b in combinations(row, 2)])
            for row in accuracies
        ]  # fmt: skip
        for b in range(3):
            taus = [
                signs[b] @ signs[j] / math.sqrt((signs[b] @ signs[b]) * (signs[j] @ signs[j]))
                for j in range(3)
                if j != b
            ]
            assert found.cbrc[k, b] == pytest.approx(np.mean(taus), abs=1e-9)
    plain_tau = bootstrap_items(items, peers, replicates=10, seed=7)
    assert not np.allclose(found.cbrc, plain_tau.cbrc)
    assert np.array_equal(found.ds, plain_tau.ds)
