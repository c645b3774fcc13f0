"""Scorecards whose numbers are undefined, or say little: that has to be said, and why."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from benchprism.metrics.evidence import ItemScores
from benchprism.metrics.score_benchmarks import score_items
from benchprism.metrics.scorecard import BenchmarkScore, Model, ScoreSettings

QUICK = ScoreSettings(replicates=200)
POINTS = ScoreSettings(replicates=0)
SIX = [Model(f"{family}{size}", family, size) for family in "ab" for size in (1, 2, 3)]
NAMES = tuple(model.name for model in SIX)


def simulated(name: str, items: int) -> ItemScores:
    chance = np.array([0.3, 0.5, 0.7, 0.4, 0.6, 0.8])
    scores = np.random.default_rng(items).random((items, 6)) < chance
    return ItemScores(name, "d", NAMES, scores.astype(np.float64))


def notes(score: BenchmarkScore) -> str:
    return "\n".join(score.notes)


def test_models_without_a_common_item_are_not_ranked() -> None:
    """Five models with ten items each; the sixth has two of the first, and they share these."""
    apart = np.full((50, 6), np.nan)
    rng = np.random.default_rng(0)
    for model in range(5):
        apart[10 * model : 10 * model + 10, model] = rng.random(10) < 0.3 + model / 10
    models = NAMES[:5]
    given = ItemScores("x", "d", models, apart[:, :5])
    asked = replace(QUICK, shrunken=True)
    found, peer, _ = score_items(
        [given, simulated("y", 80), simulated("z", 90)], SIX, settings=asked
    ).benchmarks
    assert found.apart == 1
    numbers = found.cbrc.value, found.reliability.tau, found.reliability.coefficient
    assert all(math.isnan(number) for number in (*numbers, found.stability, found.detectable))
    assert found.shrunken is not None
    assert math.isnan(found.shrunken.mean)
    assert not found.cbrc.over_models.defined
    alone = score_items([simulated("y", 80), simulated("z", 90)], SIX, settings=asked).benchmarks
    assert peer.cbrc.value == alone[0].cbrc.value
    why = "undefined because no two models have an item in common"
    for name in ("cbrc", "cbrc shrunken", "halves, stability, detectable difference"):
        assert f"{name}: {why}" in found.notes
    assert found.warnings[0].startswith("no two models have an item in common: they may differ by")
    assert "cbrc: x left out; a constant ranking, models without a common item" in notes(peer)

    apart[:2, 5] = [1, 0]
    apart[:2, 0] = [0, 1]
    (some,) = score_items(
        [replace(given, models=NAMES, scores=apart)], SIX, settings=POINTS
    ).benchmarks
    assert some.apart == pytest.approx(14 / 15)
    # Differences -1 and 1 on two items: variance 2, standard error 1.
    assert some.detectable == pytest.approx(1.95996 + 0.84162, abs=1e-5)
    assert any(one.startswith("93% of the pairs of models have no item") for one in some.warnings)


def test_models_that_score_alike_show_no_noise() -> None:
    alike = np.tile(np.array([[1.0], [0.0], [1.0], [1.0]]), 6)
    settings = replace(QUICK, epsilon="noise")
    (found,) = score_items([ItemScores("x", "d", NAMES, alike)], SIX, settings=settings).benchmarks
    assert math.isnan(found.detectable)
    assert math.isnan(found.epsilon)
    assert math.isnan(found.ds.value)
    assert "detectable difference: undefined because no two models differ on some" in notes(found)
    assert "ds: undefined because an epsilon from the standard error needs" in notes(found)
    alike[0, 0] = 0
    (found,) = score_items([ItemScores("x", "d", NAMES, alike)], SIX, settings=POINTS).benchmarks
    # Five of the fifteen pairs differ, each on one of four items: variance 1/4.
    assert found.detectable == pytest.approx((1.95996 + 0.84162) / 4, abs=1e-5)


def test_few_items_are_warned_of_first() -> None:
    few = [simulated("x", 9), simulated("y", 10), simulated("z", 1)]
    found = score_items(few, SIX, settings=POINTS).benchmarks
    said = [[one for one in score.warnings if one.startswith("only ")] for score in found]
    text = "numbers from so few say little"
    assert said == [[f"only 9 items: {text}"], [], [f"only 1 item: {text}"]]
    for score in found:
        assert score.notes[: len(score.warnings)] == score.warnings


def test_an_interval_without_width_is_none() -> None:
    ordered = (np.arange(6) >= np.arange(40)[:, None] % 7).astype(np.float64)
    models = [Model(name, "f", place) for place, name in enumerate(NAMES)]
    (found,) = score_items(
        [ItemScores("x", "d", NAMES, ordered)], models, settings=QUICK
    ).benchmarks
    assert found.cad.value == 1
    assert not found.cad.over_items.defined
    assert "cad: no interval over items: it is the same in every replicate" in notes(found)


def test_an_interval_that_misses_its_estimate_is_explained() -> None:
    rng = np.random.default_rng(3)
    scores = np.stack([rng.permutation(np.repeat([0.0, 1.0], 10)) for _ in range(6)], axis=1)
    (found,) = score_items([ItemScores("x", "d", NAMES, scores)], SIX, settings=QUICK).benchmarks
    assert found.ds.value == 0
    assert found.ds.over_items.high < 0
    assert "ds: the interval over items lies below the estimate: resampling moves it up" in notes(
        found
    )


def test_scores_below_zero() -> None:
    scores = np.random.default_rng(0).random((50, 6)) - 2
    (found,) = score_items([ItemScores("x", "d", NAMES, scores)], SIX, settings=POINTS).benchmarks
    assert "ds: undefined because the models score 0 or less on average" in found.notes


def test_constant_scores_are_undefined_not_zero() -> None:
    zero = ItemScores("x", "d", NAMES, np.zeros((20, 6)))
    one = ItemScores("y", "d", NAMES, np.ones((20, 6)))
    found = score_items([zero, one], SIX, settings=QUICK).benchmarks
    assert math.isnan(found[0].ds.value)
    assert "ds: undefined because every model scores 0" in found[0].notes
    assert "cbrc: undefined because all models have the same accuracy" in found[0].notes
    assert "bqs: undefined because cbrc and ds are" in found[0].notes
    assert found[1].ds.value == 0
    assert found[1].cad.value == 1
