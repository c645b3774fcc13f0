"""Item response models recover what data were simulated from."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit

from benchprism.metrics.items.item_response import fit_item_response
from benchprism.metrics.items.response import curve, log_likelihood, slopes

Floats = NDArray[np.float64]


def simulated(
    items: int, models: int, *, floor: float = 0.0, missing: float = 0.0, slopes: bool = True
) -> tuple[Floats, Floats, Floats, Floats]:
    rng = np.random.default_rng(0)
    ability = rng.normal(size=models)
    ability = (ability - ability.mean()) / ability.std()
    slope = rng.lognormal(0, 0.35, items) if slopes else np.full(items, 1.3)
    difficulty = rng.normal(0, 1.1, items)
    chance = floor + (1 - floor) * expit(slope[:, None] * (ability - difficulty[:, None]))
    scores = (rng.random(chance.shape) < chance).astype(float)
    scores[rng.random(chance.shape) < missing] = np.nan
    return scores, ability, slope, difficulty


def covered(estimate: Floats, error: Floats, truth: Floats) -> float:
    return float((np.abs(estimate - truth) < 1.96 * error).mean())


@pytest.mark.parametrize(("floor", "missing"), [(0.0, 0.0), (0.0, 0.3), (0.25, 0.0)])
def test_two_parameters_are_recovered(floor: float, missing: float) -> None:
    scores, ability, slope, difficulty = simulated(250, 400, floor=floor, missing=missing)
    found = fit_item_response(scores, floor=np.full(250, floor))
    assert found.converged
    assert np.corrcoef(found.ability, ability)[0, 1] > 0.97
    assert np.corrcoef(np.clip(found.difficulty, -4, 4), difficulty)[0, 1] > 0.95
    assert np.corrcoef(found.slope, slope)[0, 1] > 0.75
    assert covered(found.slope, found.slope_error, slope) > 0.88
    assert covered(found.difficulty, found.difficulty_error, difficulty) > 0.88
    assert covered(found.ability, found.ability_error, ability) > 0.85
    assert np.median(found.slope / slope) == pytest.approx(1, abs=0.1)


def test_one_slope_is_recovered() -> None:
    scores, ability, _, difficulty = simulated(100, 60, slopes=False)
    found = fit_item_response(scores, model="1PL")
    assert np.ptp(found.slope) == 0
    assert found.slope[0] == pytest.approx(1.3, abs=0.15)
    assert np.isnan(found.slope_error).all()
    assert np.corrcoef(found.difficulty, difficulty)[0, 1] > 0.93
    assert np.corrcoef(found.ability, ability)[0, 1] > 0.95


def test_more_slopes_fit_better_where_there_are_more() -> None:
    scores, *_ = simulated(150, 300)
    two, one = fit_item_response(scores), fit_item_response(scores, model="1PL")
    assert two.log_likelihood - one.log_likelihood > 149  # by AIC


def marginal(parameters: Floats, scores: Floats) -> float:
    """Minus the marginal log-likelihood, by numeric integration."""
    items = len(scores)
    slope, intercept = np.exp(parameters[:items]), parameters[items:]
    grid = np.linspace(-6, 6, 121)
    chance = expit(np.multiply.outer(slope, grid) + intercept[:, None])
    right = np.einsum("im,ig->mg", scores, np.log(chance))
    likelihood = np.exp(right + np.einsum("im,ig->mg", 1 - scores, np.log1p(-chance)))
    density = np.exp(-(grid**2) / 2) / np.sqrt(2 * np.pi)
    return -float(np.log(np.trapezoid(likelihood * density, grid, axis=1)).sum())


def test_it_is_the_maximum_of_the_marginal_likelihood() -> None:
    """With so many models the priors hardly count."""
    scores = simulated(5, 1500)[0]
    found = fit_item_response(scores, tolerance=1e-10, iterations=500)
    start = np.zeros(10)
    best = minimize(marginal, start, args=(scores,), method="BFGS", options={"gtol": 1e-2})
    assert -best.fun == pytest.approx(found.log_likelihood, rel=1e-4)
    assert np.exp(best.x[:5]) == pytest.approx(found.slope, rel=0.15)
    assert -best.x[5:] / np.exp(best.x[:5]) == pytest.approx(found.difficulty, abs=0.1)


def test_the_order_of_items_and_models_does_not_matter() -> None:
    scores = simulated(30, 25, missing=0.1)[0]
    found = fit_item_response(scores)
    items, models = np.random.default_rng(1).permutation(30), np.arange(25)[::-1]
    other = fit_item_response(scores[np.ix_(items, models)])
    assert other.difficulty == pytest.approx(found.difficulty[items], abs=1e-6)
    assert other.ability == pytest.approx(found.ability[models], abs=1e-6)


def test_items_that_all_or_none_solve_stay_finite() -> None:
    scores = simulated(20, 30)[0]
    scores[0], scores[1] = 1, 0
    found = fit_item_response(scores)
    assert np.isfinite(found.difficulty).all()
    assert found.difficulty[0] < found.difficulty.min() + 1e-9
    assert found.difficulty[1] > found.difficulty.max() - 1e-9


def test_what_has_no_scores_is_undefined() -> None:
    scores = simulated(20, 30)[0]
    scores[3], scores[:, 4] = np.nan, np.nan
    found = fit_item_response(scores)
    assert np.flatnonzero(np.isnan(found.difficulty)).tolist() == [3]
    assert np.flatnonzero(np.isnan(found.ability)).tolist() == [4]


def test_averages_over_trials_count_as_shares() -> None:
    scores = simulated(60, 40)[0]
    halves = (scores + simulated(60, 40)[0][:, ::-1]) / 2
    found = fit_item_response(halves)
    assert np.isfinite(found.ability).all()


@pytest.mark.parametrize("floor", [0.0, 0.25])
def test_slopes_are_the_derivatives(floor: float) -> None:
    logits = np.linspace(-4, 4, 9)
    scores = np.tile([0.0, 1.0, 0.3], 3)
    at = np.full(9, floor)
    step = 1e-5
    up, down = (log_likelihood(logits + d, scores, at) for d in (step, -step))
    found = slopes(logits, scores, at)
    assert found.residual == pytest.approx((up - down) / (2 * step), abs=1e-6)
    expected = (1 - floor) ** 2 * (curve(logits) * (1 - curve(logits))) ** 2
    chance = floor + (1 - floor) * curve(logits)
    assert found.weight == pytest.approx(expected / (chance * (1 - chance)))
