"""The bootstrap over models gives what a plain loop gives on the same draws."""

from __future__ import annotations

import math
from itertools import combinations
from typing import Literal

import numpy as np
import pytest

from benchprism.metrics.alignment import families_of, pair_inversions
from benchprism.metrics.bootstrap import over_models as model_bootstrap
from benchprism.metrics.bootstrap.over_models import bootstrap_models
from benchprism.metrics.bootstrap.resampling import bootstrap_weights, stream
from benchprism.metrics.consistency import peer_matrix
from benchprism.metrics.standings import Standings

MODELS = 8
FAMILIES = families_of(["a", "a", "a", "b", "b", None, "c", "c"], [1, 2, 3, 1, 2, 1, 4, 4])


def standings(items: list[int]) -> tuple[Standings, list[np.ndarray]]:
    rng = np.random.default_rng(0)
    scores = [
        (rng.random((n, MODELS)) < np.linspace(0.2, 0.8, MODELS)).astype(float) for n in items
    ]
    values = np.array([own.sum(axis=0) for own in scores])
    gaps = np.floor(0.02 * np.array(items))
    return Standings(values, np.array(items, float), gaps, np.full(len(items), np.nan)), scores


def test_each_replicate_is_that_of_a_plain_loop_over_pairs_of_different_models() -> None:
    items = [100, 60]
    given, scores = standings(items)
    pairs = [pair_inversions(own, FAMILIES) for own in scores]
    found = bootstrap_models(given, pairs, peer_matrix(["d", "d"]), replicates=15, seed=3)
    weights = bootstrap_weights(stream(3, "\0models", 0), MODELS, 15).astype(int)
    for k in range(15):
        drawn = np.repeat(np.arange(MODELS), weights[k])
        different = [(a, b) for a, b in combinations(drawn, 2) if a != b]
        signs = np.array([np.sign(given.values[:, a] - given.values[:, b]) for a, b in different])
        tau = (signs[:, 0] @ signs[:, 1]) / math.sqrt(
            (signs[:, 0] ** 2).sum() * (signs[:, 1] ** 2).sum()
        )
        assert found.cbrc[k] == pytest.approx([tau, tau], abs=1e-9)
        for b in range(2):
            accuracies = given.accuracies[b, drawn]
            far = [
                abs(given.values[b, i] - given.values[b, j]) > given.gaps[b] for i, j in different
            ]
            ds = accuracies.std() / accuracies.mean() * math.sqrt(np.mean(far))
            assert found.accuracy[k, b] == pytest.approx(accuracies.mean(), abs=1e-9)
            assert found.ds[k, b] == pytest.approx(ds, abs=1e-9)
            assert found.cad[k, b] == pytest.approx(
                plain_cad(scores[b], drawn), abs=1e-9, nan_ok=True
            )


def plain_cad(scores: np.ndarray, drawn: np.ndarray) -> float:
    tier = {m: (f.name, t) for f in FAMILIES for t, ms in enumerate(f.tiers) for m in ms}
    inverted = compared = 0
    for a in drawn:
        for b in drawn:
            if a in tier and b in tier and tier[a][0] == tier[b][0] and tier[a][1] < tier[b][1]:
                inverted += int((scores[:, b] < scores[:, a]).sum())
                compared += len(scores)
    return math.exp(-12 * inverted / compared) if compared else math.nan


def test_every_benchmark_keeps_its_number_of_models() -> None:
    """Three models that only one benchmark has are drawn among themselves."""
    given, _ = standings([100, 60])
    values = given.values.copy()
    values[0, 5:] = np.nan
    values[1, :5] = np.nan
    apart = Standings(values, given.units, given.gaps, given.inversion_rates)
    found = bootstrap_models(apart, [None, None], peer_matrix(["d", "d"]), replicates=200, seed=0)
    assert np.isnan(found.cbrc).all()
    assert not np.isnan(found.accuracy).any()
    # Among three models all are the same one in 3 of 27 draws.
    assert np.isnan(found.ds[:, 1]).mean() == pytest.approx(3 / 27, abs=0.06)


def test_alignment_is_undefined_where_the_inversions_of_pairs_are_not_known() -> None:
    given, _ = standings([100])
    found = bootstrap_models(given, [None], peer_matrix(["d"]), replicates=5, seed=0)
    assert np.isnan(found.cad).all()


def test_listing_leaves_no_ties() -> None:
    values = np.array([[3.0, 3.0, 1.0], [2.0, 2.0, 2.0]])
    given = Standings(values, np.ones(2), np.zeros(2), np.full(2, np.nan))
    peers = peer_matrix(["d", "d"])
    found = bootstrap_models(given, [None, None], peers, replicates=50, seed=0, ties="listing")
    known = found.cbrc[~np.isnan(found.cbrc)]
    assert len(known)
    assert np.allclose(known, 1)


@pytest.mark.parametrize("ties", ["tau-b", "listing", "noise"])
def test_drawing_models_gives_what_quadratic_forms_give(
    ties: Literal["tau-b", "listing", "noise"], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With many models they are drawn one by one; every number is the same."""
    given, scores = standings([100, 60])
    values = given.values.copy()
    values[1, 6:] = np.nan
    values[0, 2] = values[0, 1]  # a tie
    noise = np.full((2, MODELS, MODELS), 4.0) if ties == "noise" else None
    given = Standings(values, given.units, given.gaps, given.inversion_rates, noise)
    pairs = [pair_inversions(own, FAMILIES) for own in scores]
    peers = peer_matrix(["d", "d"])
    forms = bootstrap_models(given, pairs, peers, replicates=60, seed=3, ties=ties)
    monkeypatch.setattr(model_bootstrap, "CROWD", 1)
    drawn = bootstrap_models(given, pairs, peers, replicates=60, seed=3, ties=ties)
    for name in ("accuracy", "cbrc", "ds", "cad"):
        wanted, found = getattr(forms, name), getattr(drawn, name)
        assert found == pytest.approx(wanted, abs=1e-9, nan_ok=True)
