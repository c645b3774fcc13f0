from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from benchprism.metrics.raters.krippendorff import krippendorff_alpha
from benchprism.metrics.raters.label_sets import label_set_alpha, set_distances
from benchprism.metrics.raters.panel_alpha import panel_alpha
from benchprism.metrics.raters.patterns import Ratings


def options(**more: Any) -> dict[str, Any]:
    return {"rng": np.random.default_rng(0), "replicates": 200, **more}


def drawn(items: int = 60, values: int = 4) -> tuple[Ratings, Ratings]:
    rng = np.random.default_rng(1)
    panel = rng.integers(0, values, (items, 1))
    rater = np.where(rng.random(items) < 0.6, panel[:, 0], rng.integers(0, values, items))
    return panel, rater


@pytest.mark.parametrize("scale", ["nominal", "ordinal"])
def test_a_panel_of_one_is_a_second_rater(scale: Any) -> None:
    panel, rater = drawn()
    found = panel_alpha(panel, rater, **options(values=4, scale=scale))
    two = krippendorff_alpha(
        np.column_stack([panel, rater]), **options(values=4, scale=scale, replicates=2000)
    )
    assert found.estimate == pytest.approx(two.estimate, abs=1e-12)
    assert found.interval == pytest.approx(two.interval, abs=0.05)
    assert (found.raw, found.raters, found.pairable) == (two.raw, two.raters, two.pairable)
    assert found.prevalence == pytest.approx(two.prevalence)


def test_a_panel_of_one_on_sets_of_labels_is_a_second_rater() -> None:
    sets = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    panel, rater = drawn()
    distances = set_distances(sets.astype(np.float64), "masi")
    found = panel_alpha(panel, rater, **options(values=4, distances=distances))
    two = label_set_alpha(sets[np.column_stack([panel, rater])], **options(distance="masi"))
    assert found.estimate == pytest.approx(two.estimate, abs=1e-12)


def test_a_member_of_two_counts_half() -> None:
    # 2 items: members 0 and 1 against 0; member 1 against 1. Pairs 00 and 01 of 1/2, 11 of 1.
    # Given: 0 in 1/2 + 1 = 3/2, 1 in 1/2 + 2 = 5/2, 4 in all. Observed 2 * 1/2 = 1.
    # Expected 2 * 3/2 * 5/2 / 3 = 5/2, alpha 1 - 2/5.
    found = panel_alpha(
        np.array([[0, 1], [1, -1]]), np.array([0, 1]), **options(values=2, scale="nominal")
    )
    assert found.estimate == pytest.approx(0.6)
    assert found.raw == pytest.approx(0.75)
    assert found.prevalence == pytest.approx((3 / 8, 5 / 8))
    assert (found.raters, found.items, found.pairable) == (3, 2, 2)


def test_what_two_members_say_alike_is_as_if_one_said_it() -> None:
    panel, rater = drawn()
    once = panel_alpha(panel, rater, **options(values=4, scale="ordinal"))
    twice = panel_alpha(np.hstack([panel, panel]), rater, **options(values=4, scale="ordinal"))
    assert twice.estimate == pytest.approx(once.estimate, abs=1e-12)
    assert twice.interval == pytest.approx(once.interval, abs=1e-12)


@pytest.mark.parametrize(("ones", "low"), [(30, 0.881), (2, 0.078)])
def test_where_nothing_differs_the_interval_tells_how_much_that_is_worth(
    ones: int, low: float
) -> None:
    # None of 60 differs: at most 1 - 0.025^(1/60) = 0.0596 of all do. Chance leaves 1/2, or
    # 1 - (58² + 2²) / 60² = 0.0644, to differ on.
    values = np.repeat([1, 0], [ones, 60 - ones])
    found = panel_alpha(values[:, None], values, **options(values=2, scale="nominal"))
    assert found.estimate == 1
    assert found.interval == pytest.approx((low, 1), abs=5e-3)
    assert found.reason is None


def test_without_an_item_of_both_there_is_none() -> None:
    found = panel_alpha(
        np.array([[0, 1], [-1, -1]]), np.array([-1, 1]), **options(values=2, scale="nominal")
    )
    assert math.isnan(found.estimate)
    assert math.isnan(found.raw)
    assert found.reason == "no item has values of both"


def test_one_value_alone_tells_nothing() -> None:
    found = panel_alpha(
        np.zeros((5, 2), np.int64), np.zeros(5, np.int64), **options(values=2, scale="nominal")
    )
    assert math.isnan(found.estimate)
    assert found.reason == "every rating has the same value"
