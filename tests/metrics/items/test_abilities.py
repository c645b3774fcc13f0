"""Abilities in given dimensions are recovered from simulated answers."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import expit

from benchprism.metrics.items.abilities import fit_abilities

Floats = NDArray[np.float64]
DEMANDS = np.array([-0.4, 1.0, 0.6])


def simulated(
    items: int, models: int, *, seed: int = 0, missing: float = 0.0, floor: float = 0.0
) -> tuple[Floats, Floats, Floats]:
    """Scores, loadings and abilities: a general dimension and two demands."""
    rng = np.random.default_rng(seed)
    levels = rng.integers(0, 4, (items, 2)) / 3
    loadings = np.column_stack([np.ones(items), levels])
    ability = rng.normal(size=(models, 3)) * [1.0, 0.7, 0.4]
    ability -= ability.mean(axis=0)
    logits = loadings @ ability.T - (loadings @ DEMANDS + rng.normal(0, 0.8, items))[:, None]
    chance = floor + (1 - floor) * expit(logits)
    scores = (rng.random(chance.shape) < chance).astype(float)
    scores[rng.random(chance.shape) < missing] = np.nan
    return scores, loadings, ability


@pytest.mark.parametrize(("missing", "floor"), [(0.0, 0.0), (0.3, 0.0), (0.0, 0.25)])
def test_recovery(missing: float, floor: float) -> None:
    scores, loadings, ability = simulated(1500, 30, missing=missing, floor=floor)
    found = fit_abilities(scores, loadings, floor=np.full(1500, floor))
    assert found.converged
    for dimension, least in enumerate((0.98, 0.9, 0.8)):
        r = np.corrcoef(found.ability[:, dimension], ability[:, dimension])[0, 1]
        assert r > least
    assert (np.abs(found.demand - DEMANDS) < 3 * found.demand_error).all()
    assert found.residual == pytest.approx(0.8, abs=0.08)
    variance = (loadings @ DEMANDS).var()
    assert found.explained == pytest.approx(variance / (variance + 0.64), abs=0.06)
    assert np.abs(found.ability.mean(axis=0)).max() < 1e-9


def test_intervals_hold_the_truth_as_often_as_they_say() -> None:
    inside = []
    for seed in range(6):
        scores, loadings, ability = simulated(600, 20, seed=seed)
        found = fit_abilities(scores, loadings)
        inside.append(np.abs(found.ability - ability) < 1.96 * found.error)
    assert 0.9 <= np.mean(inside) <= 0.99


def test_few_models() -> None:
    scores, loadings, ability = simulated(2000, 6)
    found = fit_abilities(scores, loadings)
    assert np.corrcoef(found.ability[:, 0], ability[:, 0])[0, 1] > 0.97
    assert (np.abs(found.ability - ability) < 1.96 * found.error).mean() > 0.8


def test_a_model_that_is_strong_where_something_is_demanded_stands_out() -> None:
    rng = np.random.default_rng(0)
    demanding = np.arange(800) % 2
    chance = np.full((800, 8), 0.6)
    chance[demanding == 1, 3] = 0.85
    scores = (rng.random(chance.shape) < chance).astype(float)
    found = fit_abilities(scores, np.column_stack([np.ones(800), demanding]))
    assert found.ability[:, 1].argmax() == 3
    assert found.ability[3, 1] - 1.96 * found.error[3, 1] > 0
    others = np.delete(np.abs(found.ability[:, 1]) / found.error[:, 1], 3)
    assert np.median(others) < 1.96


def test_dimensions_that_cannot_be_told_apart_are_refused() -> None:
    scores, loadings, _ = simulated(50, 6)
    doubled = np.column_stack([loadings, loadings[:, 1] * 2])
    with pytest.raises(ValueError, match="follow from those on the others"):
        fit_abilities(scores, doubled)


def test_a_model_without_scores_is_undefined() -> None:
    scores, loadings, _ = simulated(200, 8)
    scores[:, 2] = np.nan
    found = fit_abilities(scores, loadings)
    assert np.isnan(found.ability[2]).all()
    assert not np.isnan(np.delete(found.ability, 2, axis=0)).any()


def test_the_order_of_models_and_items_does_not_matter() -> None:
    scores, loadings, _ = simulated(120, 8, missing=0.1)
    found = fit_abilities(scores, loadings)
    items, models = np.random.default_rng(1).permutation(120), np.arange(8)[::-1]
    other = fit_abilities(scores[np.ix_(items, models)], loadings[items])
    assert other.ability == pytest.approx(found.ability[models], abs=1e-6)
    assert other.demand == pytest.approx(found.demand, abs=1e-6)
