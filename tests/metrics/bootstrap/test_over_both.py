"""The bootstrap over items and models gives what a plain loop gives on the same draws."""

from __future__ import annotations

import math
from itertools import combinations
from typing import Literal

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import kendalltau

from benchprism.metrics.alignment import families_of, item_inversions
from benchprism.metrics.bootstrap.model_draws import draw_models
from benchprism.metrics.bootstrap.over_both import bootstrap_both
from benchprism.metrics.bootstrap.over_items import ItemSample, item_columns
from benchprism.metrics.bootstrap.resampling import bootstrap_weights, stream
from benchprism.metrics.consistency import peer_matrix
from benchprism.metrics.counting import pair_columns as pair_columns_module
from benchprism.metrics.counting.pair_columns import pair_columns

SIZES = [70, 40]
MODELS = 7
FAMILIES = families_of(["a", "a", "a", "b", "b", "b", None], [1, 2, 3, 1, 2, 2, 5])
PEERS = peer_matrix(["d", "d"])

Kind = Literal["complete", "missing", "graded", "grouped"]


def scores(kind: Kind) -> list[NDArray[np.float64]]:
    rng = np.random.default_rng(1)
    made = []
    for size in SIZES:
        own = rng.random((size, MODELS))
        if kind != "graded":
            own = (own < np.linspace(0.3, 0.8, MODELS)).astype(np.float64)
        if kind == "missing":
            own[rng.random(own.shape) < 0.1] = np.nan
        made.append(own)
    return made


def groups(size: int) -> NDArray[np.intp]:
    return np.sort(np.arange(size) % 25)


def sample(benchmarks: list[NDArray[np.float64]], kind: Kind) -> ItemSample:
    columns = [
        item_columns(
            f"b{number}", own, np.arange(MODELS), item_inversions(own, FAMILIES),
            groups(len(own)) if kind == "grouped" else None,
        )
        for number, own in enumerate(benchmarks)
    ]  # fmt: skip
    return ItemSample(tuple(columns), MODELS)


def item_draws(number: int, size: int, kind: Kind) -> NDArray[np.int64]:
    rng = stream(3, f"b{number}\0both", 0)
    if kind != "grouped":
        return bootstrap_weights(rng, size, 10).astype(np.int64)
    return bootstrap_weights(rng, 25, 10).astype(np.int64)[:, groups(size)]


def plain(own: NDArray[np.float64], drawn: NDArray[np.intp], gap: float) -> tuple[float, float]:
    """DS and CAD on drawn items of drawn models, no model compared with itself."""
    accuracies = np.nanmean(own, axis=0)
    different = [(a, b) for a, b in combinations(drawn, 2) if a != b]
    far = [abs(accuracies[a] - accuracies[b]) > gap for a, b in different]
    chosen = accuracies[drawn]
    ds = chosen.std() / chosen.mean() * math.sqrt(np.mean(far))
    tier = {m: (f.name, t) for f in FAMILIES for t, ms in enumerate(f.tiers) for m in ms}
    inverted = compared = 0
    for a in drawn:
        for b in drawn:
            if a in tier and b in tier and tier[a][0] == tier[b][0] and tier[a][1] < tier[b][1]:
                inverted += int(np.sum(own[:, b] < own[:, a]))
                compared += int(np.sum(~np.isnan(own[:, a] + own[:, b])))
    return ds, math.exp(-12 * inverted / compared) if compared else math.nan


@pytest.mark.parametrize("kept", [True, False])
@pytest.mark.parametrize("kind", ["complete", "missing", "graded", "grouped"])
def test_each_replicate_is_that_of_a_plain_loop(
    kind: Kind, kept: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not kept:
        monkeypatch.setattr(pair_columns_module, "_KEPT", 0)
    benchmarks = scores(kind)
    pairs = [pair_columns(own, FAMILIES) for own in benchmarks]
    assert bool(pairs[0].kept) == kept
    found = bootstrap_both(sample(benchmarks, kind), pairs, PEERS, replicates=10, seed=3)
    models = draw_models(stream(3, "\0both", 0), np.ones((2, MODELS), dtype=bool), 10)
    for k in range(10):
        drawn = np.repeat(np.arange(MODELS), models[k].astype(int))
        items = [
            own[np.repeat(np.arange(len(own)), item_draws(b, len(own), kind)[k])]
            for b, own in enumerate(benchmarks)
        ]
        ranked = [np.nanmean(own, axis=0).round(12)[drawn] for own in items]
        tau = kendalltau(*ranked).statistic
        assert found.cbrc[k] == pytest.approx([tau, tau], abs=1e-9)
        for b, own in enumerate(items):
            gap = 0.02 + 1e-9
            if kind == "complete":
                gap = math.floor(0.02 * len(own) + 1e-9) / len(own) + 1e-9
            ds, cad = plain(own, drawn, gap)
            assert found.ds[k, b] == pytest.approx(ds, abs=1e-9)
            assert found.cad[k, b] == pytest.approx(cad, abs=1e-9, nan_ok=True)


def test_the_numbers_do_not_depend_on_threads() -> None:
    benchmarks = scores("complete")
    pairs = [pair_columns(own, FAMILIES) for own in benchmarks]
    items = sample(benchmarks, "complete")
    one = bootstrap_both(items, pairs, PEERS, replicates=200, seed=0)
    two = bootstrap_both(items, pairs, PEERS, replicates=200, seed=0, threads=2)
    assert np.array_equal(one.bqs, two.bqs, equal_nan=True)


@pytest.mark.parametrize("ties", ["listing", "noise"])
def test_a_model_drawn_twice_is_tied_with_itself(ties: Literal["listing", "noise"]) -> None:
    """Equal benchmarks agree wholly, whichever models are drawn, however ties are broken."""
    own = scores("complete")[0]
    columns = sample([own, own], "complete").benchmarks
    same = tuple(
        type(one)(key="same", places=one.places, tiles=one.tiles, complete=True, graded=False)
        for one in columns
    )
    noise = np.full((2, MODELS, MODELS), 0.05)
    items = ItemSample(same, MODELS, noise=noise if ties == "noise" else None)
    pairs = [pair_columns(own, FAMILIES)] * 2
    found = bootstrap_both(items, pairs, PEERS, replicates=60, seed=1, ties=ties)
    known = found.cbrc[~np.isnan(found.cbrc)]
    assert len(known) > 100
    assert known == pytest.approx(1)
