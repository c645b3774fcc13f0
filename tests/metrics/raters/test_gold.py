from __future__ import annotations

import math

import numpy as np
import pytest

from benchprism.metrics.raters.gold import GoldScores, gold_scores, level_errors
from benchprism.metrics.raters.kappa import cohen_kappa
from benchprism.metrics.raters.patterns import Ratings


def scores(given: Ratings, gold: Ratings, values: int = 3) -> GoldScores:
    return gold_scores(given, gold, values=values, rng=np.random.default_rng(0))


def test_fault_tags_against_experts_worked_by_hand() -> None:
    # 60 items, 20 faulty; 8 alarms, of which 6 are right.
    gold = np.repeat([1, 0], [20, 40])
    given = np.concatenate([np.repeat([1, 0], [6, 14]), np.repeat([1, 0], [2, 38])])
    found = scores(given, gold, values=2)
    assert found.confusion.tolist() == [[38, 2], [14, 6]]
    fault = found.by_value[1]
    assert fault.precision.share == 6 / 8
    assert fault.recall.share == 6 / 20
    assert fault.f1.share == pytest.approx(12 / 28)
    assert (fault.given, fault.gold, fault.reason) == (8, 20, None)
    assert found.accuracy.share == pytest.approx(44 / 60)
    # Chance: (52 * 40 + 8 * 20) / 3600 = .6222.
    assert found.kappa.estimate == pytest.approx((44 / 60 - 0.62222) / 0.37778, abs=1e-4)
    # Wilson's interval of 6 of 8 and 6 of 20, by its formula.
    assert (fault.precision.low, fault.precision.high) == pytest.approx((0.409, 0.929), abs=1e-3)
    assert (fault.recall.low, fault.recall.high) == pytest.approx((0.145, 0.519), abs=1e-3)


def test_the_interval_of_f1_is_that_of_the_overlap_carried_over() -> None:
    # 6 right of 8 + 20 - 6 = 22: Wilson .1315 to .4821, and 2 J / (1 + J).
    gold = np.repeat([1, 0], [20, 40])
    given = np.concatenate([np.repeat([1, 0], [6, 14]), np.repeat([1, 0], [2, 38])])
    f1 = scores(given, gold, values=2).by_value[1].f1
    assert f1.low == pytest.approx(2 * 0.1315 / 1.1315, abs=1e-3)
    assert f1.high == pytest.approx(2 * 0.4821 / 1.4821, abs=1e-3)


def test_missing_is_counted_and_not_wrong() -> None:
    found = scores(np.array([0, -1, 1, -1, 2]), np.array([0, 1, 1, -1, -1]))
    assert found.accuracy.share == 1
    assert (found.items, found.missing) == (2, 1)
    assert found.confusion.sum() == 2
    assert (found.kappa.items, found.kappa.pairable) == (5, 2)


def test_what_has_nothing_to_divide_by_says_so() -> None:
    found = scores(np.array([0, 0, 1, 1]), np.array([0, 0, 0, 2]), values=4)
    zero, one, two, three = found.by_value
    assert zero.reason is None
    assert one.reason == "never gold: no recall"
    assert math.isnan(one.recall.share)
    assert one.precision.share == 0
    assert two.reason == "never given: no precision"
    assert math.isnan(two.precision.share)
    assert two.recall.share == 0
    assert two.f1.share == 0
    assert three.reason == "neither given nor gold: no precision, no recall"
    assert math.isnan(three.f1.share)


def test_without_a_common_item_everything_is_undefined() -> None:
    found = scores(np.array([-1, 0]), np.array([0, -1]))
    assert found.reason == "no item has both a gold value and an annotation"
    assert math.isnan(found.accuracy.share)
    assert math.isnan(found.kappa.estimate)
    assert found.missing == 1


def test_kappa_may_be_weighted() -> None:
    rng = np.random.default_rng(0)
    gold = rng.integers(0, 4, 50)
    given = np.clip(gold + rng.integers(-1, 2, 50), 0, 3)
    found = gold_scores(
        given, gold, values=4, weights="quadratic", rng=np.random.default_rng(0)
    ).kappa
    pairs = np.stack([gold, given], axis=1)
    assert found == cohen_kappa(pairs, values=4, weights="quadratic", rng=np.random.default_rng(0))


def test_level_errors_worked_by_hand() -> None:
    # Differences 0, 2, -1, 0, 1: mean distance 4/5, bias 2/5.
    given, gold = np.array([1, 3, 0, 2, 3, -1]), np.array([1, 1, 1, 2, 2, 0])
    found = level_errors(given, gold, values=4, rng=np.random.default_rng(0))
    assert found.mean_absolute.value == pytest.approx(0.8)
    assert found.bias.value == pytest.approx(0.4)
    assert found.items == 5
    assert found.bias.interval.low < 0.4 < found.bias.interval.high


def test_intervals_of_level_errors_are_those_of_a_mean() -> None:
    rng = np.random.default_rng(0)
    gold = rng.integers(0, 4, 400)
    given = np.clip(gold + rng.integers(-1, 2, 400), 0, 3)
    found = level_errors(given, gold, values=4, rng=rng, replicates=4000)
    for estimate, errors in (
        (found.mean_absolute, np.abs(given - gold)),
        (found.bias, given - gold),
    ):
        reach = 1.966 * errors.std(ddof=1) / 20
        assert estimate.interval == pytest.approx(
            (errors.mean() - reach, errors.mean() + reach), abs=0.012
        )


def test_levels_that_are_all_right_have_no_interval() -> None:
    levels = np.array([0, 1, 2, 3])
    found = level_errors(levels, levels, values=4, rng=np.random.default_rng(0))
    assert found.mean_absolute.value == found.bias.value == 0
    assert math.isnan(found.bias.interval.low)
    assert found.bias.reason == "no interval: all resamples are alike"


def test_levels_without_gold_are_undefined() -> None:
    found = level_errors(np.array([1]), np.array([-1]), values=4, rng=np.random.default_rng(0))
    assert math.isnan(found.mean_absolute.value)
    assert found.bias.reason == "no item has both a gold value and an annotation"


def test_a_gold_value_out_of_range_is_refused() -> None:
    with pytest.raises(ValueError, match="rating 3 of item 1"):
        scores(np.array([0, 1]), np.array([0, 3]))
