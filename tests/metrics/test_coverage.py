"""Intervals hold the truth of simulated benchmarks as often as they say, or say why not."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from benchprism.metrics.alignment import ItemInversions, families_of, item_inversions
from benchprism.metrics.bootstrap.draws import every_item
from benchprism.metrics.bootstrap.over_both import bootstrap_both
from benchprism.metrics.bootstrap.over_items import ItemSample, bootstrap_items, item_columns
from benchprism.metrics.bootstrap.resampling import basic_interval
from benchprism.metrics.consistency import mean_over_peers, peer_matrix, tau_matrix
from benchprism.metrics.counting.pair_columns import pair_columns

MODELS, BENCHMARKS, DATA_SETS = 40, 8, 12


def sample(
    benchmarks: list[NDArray[np.float64]], groups: NDArray[np.intp] | None = None
) -> ItemSample:
    columns = []
    for b, scores in enumerate(benchmarks):
        items, models = scores.shape
        none = ItemInversions(np.zeros(items, np.int64), np.zeros(items, np.int64))
        columns.append(item_columns(f"b{b}", scores, np.arange(models), none, groups))
    return ItemSample(tuple(columns), benchmarks[0].shape[1])


def test_basic_intervals_of_cbrc_cover_what_percentile_intervals_miss() -> None:
    rng = np.random.default_rng(0)
    peers = peer_matrix(["d"] * BENCHMARKS)
    ability = np.linspace(-1, 1, MODELS) + rng.normal(0, 0.3, (BENCHMARKS, MODELS))
    chance = 1 / (1 + np.exp(-ability))
    truth = mean_over_peers(tau_matrix(chance), peers)
    items = [150, 200, 250, 300, 350, 400, 500, 600]
    covered = {"basic": 0, "percentile": 0, "corrected": 0}
    outside = 0
    for data_set in range(DATA_SETS):
        drawn = [
            (rng.random((size, MODELS)) < own).astype(np.float64)
            for size, own in zip(items, chance, strict=True)
        ]
        given = sample(drawn)
        whole = given.weighted(every_item(own) for own in given.benchmarks)
        point = mean_over_peers(tau_matrix(whole.values[0]), peers)
        replicates = bootstrap_items(given, peers, replicates=400, seed=data_set).cbrc
        for b in range(BENCHMARKS):
            own = replicates[:, b]
            interval = basic_interval(point[b], own)
            low, high = np.quantile(own, [0.025, 0.975])
            corrected = 2 * point[b] - own.mean()
            covered["basic"] += interval.low <= truth[b] <= interval.high
            covered["percentile"] += low <= truth[b] <= high
            covered["corrected"] += abs(truth[b] - corrected) <= 1.96 * own.std()
            outside += not interval.low <= corrected <= interval.high
    total = DATA_SETS * BENCHMARKS
    assert covered["basic"] >= 0.8 * total
    assert covered["corrected"] >= 0.8 * total
    assert covered["percentile"] < 0.2 * total
    assert outside == 0


def test_drawn_by_groups_intervals_cover_what_drawn_by_items_they_miss() -> None:
    """Five items about one passage are right or wrong together."""
    rng = np.random.default_rng(1)
    groups = np.repeat(np.arange(40), 5)
    covered = {"groups": 0, "items": 0}
    for data_set in range(60):
        passage = np.repeat(rng.normal(0, 1.5, (40, 1)), 5, axis=0)
        chance = 1 / (1 + np.exp(-passage - rng.normal(0, 0.3, (200, 6))))
        scores = (rng.random((200, 6)) < chance).astype(np.float64)
        for name, drawn in (("groups", groups), ("items", None)):
            replicates = bootstrap_items(
                sample([scores], drawn), peer_matrix([None]), replicates=200, seed=data_set
            )
            interval = basic_interval(float(scores.mean()), replicates.accuracy[:, 0])
            covered[name] += interval.low <= 0.5 <= interval.high
    assert covered["groups"] >= 0.85 * 60
    assert covered["items"] < 0.75 * 60


def test_over_both_intervals_cover_what_over_items_they_miss() -> None:
    """The mean accuracy of other models on other items."""
    rng = np.random.default_rng(2)
    families = families_of([None] * 12, [None] * 12)
    covered = {"both": 0, "items": 0}
    for data_set in range(60):
        ability = rng.normal(0, 1, 12)
        chance = 1 / (1 + np.exp(-ability - rng.normal(0, 1, (120, 1))))
        scores = (rng.random((120, 12)) < chance).astype(np.float64)
        given = ItemSample(
            (item_columns("b", scores, np.arange(12), item_inversions(scores, families)),), 12
        )
        peers = peer_matrix([None])
        pairs = [pair_columns(scores, families)]
        both = bootstrap_both(given, pairs, peers, replicates=200, seed=data_set)
        over_items = bootstrap_items(given, peers, replicates=200, seed=data_set)
        for name, found in (("both", both), ("items", over_items)):
            interval = basic_interval(float(scores.mean()), found.accuracy[:, 0])
            covered[name] += interval.low <= 0.5 <= interval.high
    assert covered["both"] >= 0.85 * 60
    assert covered["items"] < 0.7 * 60
