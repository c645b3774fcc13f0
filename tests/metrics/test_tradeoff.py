from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray

from benchprism.metrics.discriminability import discriminability
from benchprism.metrics.stability import ranking_consistency
from benchprism.metrics.tradeoff import RankedItems, Weights, share_curve


def ranked(items: int, seed: int = 0) -> RankedItems:
    """The first third of the order separates models; the rest is chance."""
    rng = np.random.default_rng(seed)
    sharp = rng.random((items // 3, 12)) < np.linspace(0.05, 0.95, 12)
    blunt = rng.random((items - items // 3, 12)) < 0.5
    return RankedItems(np.concatenate([sharp, blunt]).astype(float), np.arange(items))


def test_numbers_of_a_share_are_those_of_its_items() -> None:
    given = ranked(90)
    (point,) = share_curve([given], shares=[0.2]).points
    kept = given.scores[:18]
    assert point.items == 18
    assert point.discriminability == pytest.approx(discriminability(kept.mean(axis=0), items=18))
    tau = ranking_consistency(given.scores.mean(axis=0).round(12), kept.mean(axis=0).round(12))
    assert point.consistency == pytest.approx(tau)
    parts = point.consistency, point.stability, point.discriminability
    assert point.objective == pytest.approx(np.mean(parts))


def test_the_best_share_leaves_the_blunt_items_out() -> None:
    found = share_curve([ranked(300), ranked(240, seed=1)])
    assert [point.share for point in found.points] == sorted(point.share for point in found.points)
    assert 0.1 <= found.best <= 0.4
    assert found.points[-1].consistency == pytest.approx(1)


def test_weights_decide() -> None:
    given = [ranked(150)]
    assert share_curve(given, weights=Weights(1, 0, 0)).best > 0.5
    assert share_curve(given, weights=Weights(0, 0, 1)).best < 0.4
    only = share_curve(given, weights=Weights(0, 0, 3))
    for point in only.points:
        assert point.objective == pytest.approx(point.discriminability)


def test_a_share_takes_no_item_that_may_not_be_chosen() -> None:
    given = ranked(60)
    few = RankedItems(given.scores, given.order[:10])
    (half,) = share_curve([few], shares=[0.5]).points
    assert half.items == 10
    nothing = RankedItems(given.scores, given.order[:0])
    curve = share_curve([nothing], shares=[0.5])
    assert curve.points[0].items == 0
    assert math.isnan(curve.best)


def test_missing_scores_and_the_seed() -> None:
    given = ranked(60)
    holes: NDArray[np.float64] = given.scores.copy()
    holes[::4, 0] = np.nan
    one = share_curve([RankedItems(holes, given.order)], seed=1)
    assert one == share_curve([RankedItems(holes, given.order)], seed=1)
    assert not math.isnan(one.best)
