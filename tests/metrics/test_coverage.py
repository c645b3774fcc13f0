"""Intervals of CBRC over items, against the truth of simulated benchmarks."""

from __future__ import annotations

import numpy as np

from benchprism.metrics.alignment import ItemInversions
from benchprism.metrics.consistency import mean_over_peers, peer_matrix, tau_matrix
from benchprism.metrics.draws import every_item
from benchprism.metrics.item_bootstrap import ItemSample, bootstrap_items, item_columns
from benchprism.metrics.resampling import basic_interval

MODELS, BENCHMARKS, DATA_SETS = 40, 8, 12


def test_basic_intervals_cover_what_percentile_intervals_miss() -> None:
    rng = np.random.default_rng(0)
    peers = peer_matrix(["d"] * BENCHMARKS)
    ability = np.linspace(-1, 1, MODELS) + rng.normal(0, 0.3, (BENCHMARKS, MODELS))
    chance = 1 / (1 + np.exp(-ability))
    truth = mean_over_peers(tau_matrix(chance), peers)
    items = [150, 200, 250, 300, 350, 400, 500, 600]
    covered = {"basic": 0, "percentile": 0}
    for data_set in range(DATA_SETS):
        columns = []
        for b, (size, own) in enumerate(zip(items, chance, strict=True)):
            scores = (rng.random((size, MODELS)) < own).astype(np.float64)
            none = ItemInversions(np.zeros(size, np.int64), np.zeros(size, np.int64))
            columns.append(item_columns(f"b{b}", scores, np.arange(MODELS), none))
        sample = ItemSample(tuple(columns), MODELS)
        whole = sample.weighted(every_item(own) for own in sample.benchmarks)
        point = mean_over_peers(tau_matrix(whole.values[0]), peers)
        draws = bootstrap_items(sample, peers, replicates=400, seed=data_set).cbrc
        for b in range(BENCHMARKS):
            interval = basic_interval(point[b], draws[:, b])
            low, high = np.quantile(draws[:, b], [0.025, 0.975])
            covered["basic"] += interval.low <= truth[b] <= interval.high
            covered["percentile"] += low <= truth[b] <= high
    assert covered["basic"] >= 0.8 * DATA_SETS * BENCHMARKS
    assert covered["percentile"] < 0.2 * DATA_SETS * BENCHMARKS
