from __future__ import annotations

import math

import numpy as np
import pytest

from benchprism.metrics.alignment import (
    Family,
    capability_alignment,
    families_of,
    inversion_rate,
    item_alignment,
    item_inversions,
    pair_inversions,
    pooled_inversion_rate,
)

NAN = np.nan


def test_inversions_by_hand() -> None:
    # One family of sizes 1 < 2 < 3. Item 0: the two larger fail what the smallest solves, two
    # inversions. Item 1: 2 solves, 3 fails, one. Item 2: in order. Item 3: 2 has no score, so that
    # only 1 against 3 is compared, inverted.
    scores = np.array([[1, 0, 0], [0, 1, 0], [0, 1, 1], [1, NAN, 0]], dtype=np.float64)
    families = families_of(["f"] * 3, [1, 2, 3])
    found = item_inversions(scores, families)
    assert found.inverted.tolist() == [2, 1, 0, 1]
    assert found.compared.tolist() == [3, 3, 3, 1]
    pairs = pair_inversions(scores, families)
    assert pairs.of(families[0]) == (4, 10)
    assert inversion_rate(4, 10) == 0.4


def test_models_of_equal_size_form_no_pair() -> None:
    families = families_of(["f", "f", "f"], [7, 7, 70])
    assert families[0].pairs == 2
    found = item_inversions(np.array([[1.0, 0.0, 0.0]]), families)
    assert (found.inverted[0], found.compared[0]) == (1, 2)


def test_the_columns_are_ordered_by_size_not_by_position() -> None:
    families = families_of(["f", "f"], [70, 7])
    assert families[0].members == (1, 0)
    assert item_inversions(np.array([[0.0, 1.0]]), families).inverted.tolist() == [1]


def test_models_without_family_or_size_are_left_out() -> None:
    families = families_of(["f", None, "f", "g"], [1, 2, None, 3])
    assert families == (Family("f", ((0,),)), Family("g", ((3,),)))
    assert [family.pairs for family in families] == [0, 0]


def test_graded_scores_are_inverted_when_the_stronger_has_strictly_less() -> None:
    scores = np.array([[0.5, 0.4], [0.5, 0.5], [0.2, 0.9], [0.3, NAN]])
    found = item_inversions(scores, families_of(["f", "f"], [1, 2]))
    assert found.inverted.tolist() == [1, 0, 0, 0]
    assert found.compared.tolist() == [1, 1, 1, 0]


@pytest.mark.parametrize("graded", [False, True])
def test_items_and_pairs_are_those_of_a_plain_loop(graded: bool) -> None:
    rng = np.random.default_rng(5)
    scores = rng.random((40, 9)) if graded else rng.integers(0, 2, (40, 9)).astype(np.float64)
    scores[rng.random(scores.shape) < 0.1] = NAN
    names, sizes = ["a", "b", "a", "a", "b", "c", "b", "a", None], [1, 2, 3, 3, 1, 1, 9, 2, 4]
    inverted, compared = np.zeros(40, dtype=int), np.zeros(40, dtype=int)
    for i in range(9):
        for j in range(9):
            if names[i] and names[i] == names[j] and sizes[i] < sizes[j]:
                both = ~np.isnan(scores[:, i] + scores[:, j])
                inverted += both & (scores[:, j] < scores[:, i])
                compared += both
    families = families_of(names, sizes)
    found = item_inversions(scores, families)
    assert np.array_equal(found.inverted, inverted)
    assert np.array_equal(found.compared, compared)
    totals = [pair_inversions(scores, families).of(family) for family in families]
    assert tuple(np.sum(totals, axis=0)) == (inverted.sum(), compared.sum())


def test_rates_are_pooled_by_pairs() -> None:
    assert pooled_inversion_rate([0.1, 0.4, NAN], [3, 1, 3]) == pytest.approx((0.3 + 0.4) / 4)
    assert math.isnan(pooled_inversion_rate([NAN, 0.2], [3, 0]))


def test_alignment_of_items_with_ten_pairs() -> None:
    # As the reference prints it for k = 0 to 3 of ten pairs.
    assert [round(capability_alignment(k / 10), 3) for k in range(4)] == [1, 0.301, 0.091, 0.027]
    scores = np.array([[1, 1, 1, 1, 0], [0, 0, 0, 0, 1], [NAN] * 5])
    inversions = item_inversions(scores, families_of(["f"] * 5, [1, 2, 3, 4, 5]))
    found = item_alignment(inversions)
    assert found[0] == pytest.approx(math.exp(-12 * 4 / 10))
    assert found[1] == 1
    assert math.isnan(found[2])


def test_nothing_compared_is_undefined() -> None:
    assert math.isnan(capability_alignment(inversion_rate(0, 0)))


def test_renumbered_columns() -> None:
    places = np.array([5, 2])
    family = families_of(["f", "f"], [1, 2])[0].among(places)
    assert family.members == (5, 2)
    pairs = pair_inversions(np.array([[1.0, 0.0]]), families_of(["f", "f"], [1, 2])).among(places)
    assert pairs.of(family) == (1, 1)
