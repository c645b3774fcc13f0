from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchprism.metrics.raters.krippendorff import krippendorff_alpha
from benchprism.metrics.raters.label_sets import SetDistance, label_set_alpha, per_label_alpha
from benchprism.metrics.raters.patterns import Ratings

LABELS = 3
Unit = list[frozenset[int] | None]


def coded(units: list[Unit]) -> Ratings:
    return np.array(
        [
            [
                [-1] * LABELS if labels is None else [int(n in labels) for n in range(LABELS)]
                for labels in unit
            ]
            for unit in units
        ],
        dtype=np.int8,
    )


def distance(a: frozenset[int], b: frozenset[int], kind: SetDistance) -> Fraction:
    if a == b:
        return Fraction(0)
    jaccard = Fraction(len(a & b), len(a | b))
    if kind == "jaccard":
        return 1 - jaccard
    monotone = Fraction(2, 3) if a <= b or b <= a else Fraction(1, 3) if a & b else Fraction(0)
    return 1 - jaccard * monotone


def slow_alpha(units: list[Unit], kind: SetDistance) -> float:
    rated = [[labels for labels in unit if labels is not None] for unit in units]
    rated = [unit for unit in rated if len(unit) > 1]
    pooled = [labels for unit in rated for labels in unit]
    observed = sum(
        distance(a, b, kind) / (len(unit) - 1)
        for unit in rated
        for a, b in itertools.permutations(unit, 2)
    )
    expected = sum(distance(a, b, kind) for a, b in itertools.permutations(pooled, 2))
    return float(1 - (len(pooled) - 1) * observed / expected) if expected else math.nan


def alpha(label_sets: Ratings, kind: SetDistance) -> float:
    rng = np.random.default_rng(0)
    return label_set_alpha(label_sets, distance=kind, rng=rng, replicates=2).estimate


def test_masi_and_jaccard_worked_by_hand() -> None:
    # Sets a = {0}, b = {0, 1}, c = {2}: items a b and c c, so n = 1, 1, 2.
    # Jaccard: d_ab = 1/2, d_ac = d_bc = 1. Observed 2 * 1/2 = 1; expected
    # 2 * (1/2 + 2 + 2) / 3 = 3; alpha = 2/3.
    # MASI: J = 1/2, a is inside b: d_ab = 1 - 1/2 * 2/3 = 2/3. Observed 4/3; expected
    # 2 * (2/3 + 4) / 3 = 28/9; alpha = 1 - 12/28 = 4/7.
    a, b, c = frozenset({0}), frozenset({0, 1}), frozenset({2})
    sets = coded([[a, b], [c, c]])
    assert alpha(sets, "jaccard") == pytest.approx(2 / 3)
    assert alpha(sets, "masi") == pytest.approx(4 / 7)


def test_two_empty_sets_agree() -> None:
    none, some = frozenset[int](), frozenset({0})
    assert alpha(coded([[none, none], [some, some]]), "masi") == 1
    assert alpha(coded([[none, some], [some, none]]), "jaccard") == pytest.approx(-0.5)


sets = st.one_of(st.none(), st.frozensets(st.integers(0, LABELS - 1)))


@given(units=st.lists(st.lists(sets, min_size=3, max_size=3), min_size=2, max_size=8))
@settings(deadline=None, max_examples=150)
@pytest.mark.parametrize("kind", ["masi", "jaccard"])
def test_any_sets_agree_with_the_definition(kind: SetDistance, units: list[Unit]) -> None:
    assert alpha(coded(units), kind) == pytest.approx(slow_alpha(units, kind), nan_ok=True)


def test_raw_agreement_is_of_whole_sets_and_prevalence_of_labels() -> None:
    a, b = frozenset({0}), frozenset({0, 1})
    found = label_set_alpha(
        coded([[a, a], [a, b], [b, b], [b, None]]), distance="masi", rng=np.random.default_rng(0)
    )
    assert found.raw == pytest.approx(2 / 3)
    assert found.prevalence == pytest.approx((1, 0.5, 0))
    assert (found.items, found.raters, found.pairable) == (4, 2, 3)


def test_one_single_set_is_undefined() -> None:
    found = label_set_alpha(
        coded([[frozenset({1})] * 2] * 5), distance="jaccard", rng=np.random.default_rng(0)
    )
    assert math.isnan(found.estimate)
    assert found.reason == "every rating has the same value"
    assert found.prevalence == (0, 1, 0)


def test_each_label_is_a_yes_or_no_and_the_mean_is_over_those_defined() -> None:
    rng = np.random.default_rng(4)
    truth = rng.random((80, 1, 2)) < 0.4
    given_ = truth ^ (rng.random((80, 3, 2)) < 0.1)
    label_sets = np.concatenate([given_, np.ones((80, 3, 1), bool)], axis=2).astype(np.int8)
    found = per_label_alpha(label_sets, rng=rng)
    alone = [
        krippendorff_alpha(label_sets[:, :, label], values=2, scale="nominal", rng=rng).estimate
        for label in (0, 1)
    ]
    assert [label.estimate for label in found.labels[:2]] == alone
    assert found.labels[2].reason == "every rating has the same value"
    assert found.defined == 2
    assert found.mean.value == pytest.approx(np.mean(alone))
    # Labels err independently: the mean of two is surer than either.
    width = found.mean.interval.high - found.mean.interval.low
    single = [label.interval.high - label.interval.low for label in found.labels[:2]]
    assert width == pytest.approx(math.hypot(*single) / 2, rel=0.2)
    assert found.mean.interval.low < found.mean.value < found.mean.interval.high


def test_without_a_defined_label_the_mean_says_why() -> None:
    found = per_label_alpha(coded([[frozenset({1})] * 2] * 5), rng=np.random.default_rng(0))
    assert math.isnan(found.mean.value)
    assert found.mean.reason == "every rating has the same value"
    assert found.defined == 0


@pytest.mark.parametrize(
    ("label_sets", "message"),
    [
        (np.array([[0, 1]]), r"shape \(1, 2\); wanted items by raters by labels"),
        (np.array([[[0, 2]]]), "each 1, 0, or -1"),
        (np.array([[[0, 1], [0, -1]]]), "item 0 by rater 1 has values for some labels only"),
    ],
)
def test_what_is_no_table_of_sets_is_refused(label_sets: Ratings, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        alpha(label_sets, "masi")
    with pytest.raises(ValueError, match=message):
        per_label_alpha(label_sets, rng=np.random.default_rng(0))


def test_an_unknown_distance_is_refused() -> None:
    with pytest.raises(KeyError, match="dice"):
        alpha(np.zeros((2, 2, 1), np.int8), "dice")  # type: ignore[arg-type]
