from __future__ import annotations

import math
from itertools import combinations, product

import numpy as np
import pytest

from benchprism.metrics.alignment import capability_alignment, families_of, item_inversions
from benchprism.metrics.cross_family import (
    _law,
    _moments,
    cross_family_evidence,
    item_evidence_of_families,
)

NAN = np.nan
TWO = families_of(["a"] * 3 + ["b"] * 3, [1, 2, 3, 1, 2, 3])


@pytest.mark.parametrize("tiers", [(1, 1, 1), (2, 1), (1, 2, 2), (3,), (1, 1, 1, 1, 1)])
@pytest.mark.parametrize("right", [0, 1, 2, 3])
def test_the_law_of_inversions_is_that_of_all_choices(tiers: tuple[int, ...], right: int) -> None:
    sizes = [place for place, tier in enumerate(tiers) for _ in range(tier)]
    counts = []
    for chosen in combinations(range(len(sizes)), right):
        pairs = product(chosen, set(range(len(sizes))).difference(chosen))
        counts.append(sum(sizes[solver] < sizes[failer] for solver, failer in pairs))
    law = _law(tiers, right)
    wanted = np.bincount(counts, minlength=len(law)) / len(counts)
    assert law == pytest.approx(wanted)
    assert _moments(tiers, right) == pytest.approx((np.mean(counts), np.var(counts)))


def test_items_by_hand() -> None:
    # Item 0: both families turn it round; each has one way of three to do so with one right.
    # Item 1: family a alone. Item 2: in order. Item 3: all right. Item 4: b has no scores.
    scores = np.array(
        [
            [1, 0, 0, 1, 0, 0],
            [1, 0, 0, 0, 0, 1],
            [0, 0, 1, 0, 1, 1],
            [1, 1, 1, 1, 1, 1],
            [1, 0, 0, NAN, NAN, NAN],
        ]
    )
    found = item_evidence_of_families(scores, TWO)
    assert found.inverting.tolist() == [2, 1, 0, 0, 1]
    assert found.comparing.tolist() == [2, 2, 2, 2, 1]
    assert found.inverted.tolist() == [4, 0, 0, 0, 0]
    # Inversions of one right of three are 0, 1, 2 with 1/3 each; two families: 4 in 1 of 9,
    # at least 2 in 6 of 9.
    assert found.p_values == pytest.approx([1 / 9, 6 / 9, 1, 1, 1 / 3])


def test_planted_faults_are_found_among_many() -> None:
    rng = np.random.default_rng(0)
    families = families_of([f"f{i // 5}" for i in range(40)], [*range(5)] * 8)
    ability = np.tile(np.linspace(0.25, 0.85, 5), 8)
    scores = (rng.random((300, 40)) < ability).astype(float)
    scores[:10] = 1 - scores[:10]  # the key is wrong
    found = item_evidence_of_families(scores, families)
    assert np.median(found.p_values[:10]) < 0.01
    assert (found.p_values[10:] < 0.001).mean() < 0.01
    assert found.inverting[:10].mean() > found.inverting[10:].mean()


def test_many_families_take_the_normal_tail() -> None:
    rng = np.random.default_rng(1)
    families = families_of([f"f{i // 3}" for i in range(45)], [*range(3)] * 15)
    scores = (rng.random((400, 45)) < 0.5).astype(float)
    p_values = item_evidence_of_families(scores, families).p_values
    assert np.mean(p_values <= 0.2) == pytest.approx(0.2, abs=0.06)


def test_shared_and_single_inversions_are_told_apart() -> None:
    scores = np.array([[1, 0, 0, 1, 0, 0], [1, 0, 0, 0, 0, 1], [0, 0, 1, 0, 1, 1]], dtype=float)
    found = cross_family_evidence(scores, TWO)
    assert (found.items_inverted, found.items_shared) == (2, 1)
    # Family a inverts 2 of 3 items, b 1 of 3: both invert one in 2/9 of the cases, of 3 items.
    assert found.shared_by_chance == pytest.approx(3 * 2 / 9)
    assert found.shared_rate == pytest.approx(4 / 18)
    assert found.shared_cad == pytest.approx(capability_alignment(4 / 18))
    inversions = item_inversions(scores, TWO)
    assert found.supported_rate == pytest.approx(inversions.inverted.sum() / 18)


def test_a_pair_in_the_wrong_order_is_named_and_left_out() -> None:
    # In family a the largest model solves nothing that the others solve.
    scores = np.tile([[1.0, 1.0, 0.0, 0.0, 1.0, 1.0]], (20, 1))
    found = cross_family_evidence(scores, TWO)
    assert [(one.weaker, one.stronger) for one in found.contradictions] == [(0, 2), (1, 2)]
    assert [(one.inverted, one.ordered) for one in found.contradictions] == [(20, 0)] * 2
    assert found.contradictions[0].p_value < 0.001
    assert found.supported_rate == 0
    assert found.supported_cad == 1
    assert found.shared_rate == 0


def test_one_family_shares_nothing() -> None:
    scores = np.array([[1, 0], [0, 1]], dtype=float)
    found = cross_family_evidence(scores, families_of(["f", "f"], [1, 2]))
    assert math.isnan(found.shared_rate)
    assert found.supported_rate == 0.5


def test_graded_scores_are_counted_but_not_tested() -> None:
    found = item_evidence_of_families(np.array([[0.9, 0.2, 0.1, 0.5, 0.4, 0.6]]), TWO)
    assert found.inverting.tolist() == [2]
    assert np.isnan(found.p_values).all()
