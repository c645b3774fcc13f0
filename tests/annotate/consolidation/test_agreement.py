from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from benchprism.annotate.consolidation.agreement import (
    Resampling,
    attribute_agreement,
    comparisons,
)
from benchprism.annotate.consolidation.rating_matrix import RatingMatrix, rating_matrix
from benchprism.annotate.ledger.current import Current
from benchprism.annotate.ledger.panel import passes, rater_of
from benchprism.prompts.catalogue import Value
from benchprism.prompts.library import load_catalogue

CORE = load_catalogue("core")


def matrix(attribute: str, *items: Sequence[Any]) -> RatingMatrix:
    """Ratings as they are read: None where there is none."""
    said = [(row, who, value) for row, item in enumerate(items)
            for who, value in enumerate(item) if value is not None]  # fmt: skip
    values: list[Value] = []
    for *_, value in said:
        if value not in values:
            values.append(value)
    rows, annotators, given = zip(*said, strict=True)
    current = Current(
        attribute=CORE[attribute],
        rows=np.array(rows),
        annotators=np.array(annotators),
        names=tuple(f"llm:{who}" for who in range(len(items[0]))),
        codes=np.array([values.index(value) for value in given]),
        values=tuple(values),
        confidences=np.full(len(said), np.nan),
        doubts=np.full(len(said), np.nan),
    )
    return rating_matrix(current, len(items))


def test_values_are_coded_in_the_catalogue_s_order() -> None:
    levels = matrix("clarity", [3, None], [0, 2])
    assert levels.values == (0, 1, 2, 3)
    assert levels.codes.tolist() == [[3, -1], [0, 2]]
    truths = matrix("uses_negation", [True, False])
    assert (truths.values, truths.codes.tolist()) == ((False, True), [[1, 0]])
    sets = matrix("sensitive_topics", [["crime"], None], [["violence", "crime"], ["none"]])
    labels = list(CORE["sensitive_topics"].values)
    present = [
        [[labels[n] for n in np.flatnonzero(s == 1)] if s[0] >= 0 else None for s in item]
        for item in sets.label_sets()
    ]
    assert present == [[["crime"], None], [["violence", "crime"], ["none"]]]


def test_columns_are_chosen_by_name() -> None:
    chosen = matrix("clarity", [0, 1, 2]).of(["llm:2", "llm:nobody", "llm:0"])
    assert chosen.annotators == ("llm:2", "llm:0")
    assert chosen.codes.tolist() == [[2, 0]]


# Two annotators of ten items: both say yes of four, both no of four, once each the other way.
# Raw agreement 8/10. Each says yes of half: by chance they agree on 1/2, and kappa is
# (.8 - .5) / (1 - .5) = .6. Alpha: 20 ratings, 10 of each; disagreement expected between two of
# them is 2 * 10 * 10 / (20 * 19) = 10/19, observed 2/10, and 1 - .2 / (10/19) = .62.
TEN = [[True, True]] * 4 + [[False, False]] * 4 + [[True, False], [False, True]]


def test_two_annotators_by_hand() -> None:
    found = attribute_agreement(matrix("uses_negation", *TEN, [True, None]), Resampling())
    assert found.coefficients.keys() == {"alpha", "cohen_kappa", "fleiss_kappa"}
    assert found.alpha.estimate == pytest.approx(0.62)
    assert found.coefficients["cohen_kappa"].estimate == pytest.approx(0.6)
    assert found.coefficients["fleiss_kappa"].estimate == pytest.approx(0.6)
    assert (found.alpha.raw, found.alpha.prevalence) == (0.8, (0.5, 0.5))
    assert (found.alpha.items, found.alpha.pairable) == (11, 10)
    low, high = found.alpha.interval
    assert low < 0.62 < high


def test_levels_that_are_near_count_as_near() -> None:
    # The first says 0, 2, 0, 1 and the second 0, 2, 1, 2: squared differences 0, 0, 1, 1, in the
    # mean 1/2. By chance any of the first's meets any of the second's: for 0, 0, 1 and 2 against
    # 0, 1, 2, 2 that is 9 + 9 + 3 + 5 = 26 over 16 pairs, and kappa 1 - (1/2) / (26/16) = 9/13.
    found = attribute_agreement(matrix("clarity", [0, 0], [2, 2], [0, 1], [1, 2]), Resampling())
    assert found.coefficients["weighted_kappa"].estimate == pytest.approx(9 / 13)
    # unweighted: 2 of 4 agree, by chance (2 * 1 + 1 * 1 + 1 * 2) / 16 = 5/16
    unweighted = found.coefficients["cohen_kappa"].estimate
    assert unweighted == pytest.approx((1 / 2 - 5 / 16) / (1 - 5 / 16))


def test_three_annotators_have_no_cohen_and_say_so() -> None:
    found = attribute_agreement(
        matrix("clarity", [1, 1, 1], [2, 2, 3], [0, 0, 0]), Resampling(replicates=50)
    )
    for name in ("cohen_kappa", "weighted_kappa"):
        undefined = found.coefficients[name]
        assert math.isnan(undefined.estimate)
        assert undefined.reason == "Cohen's kappa is of two annotators, and there are 3"
    # pairs that agree: 3/3, 1/3, 3/3; ratings: three 0, three 1, two 2, one 3
    chance = (9 + 9 + 4 + 1) / 81
    fleiss = found.coefficients["fleiss_kappa"].estimate
    assert fleiss == pytest.approx((7 / 9 - chance) / (1 - chance))


def test_sets_of_labels_may_agree_in_part() -> None:
    same, part = [["crime"], ["crime"]], [["crime"], ["violence", "crime"]]
    found = attribute_agreement(
        matrix("sensitive_topics", *[same] * 6, *[part] * 2, [["none"], ["none"]]), Resampling()
    )
    assert found.coefficients.keys() == {"alpha"}
    assert found.alpha.raw == pytest.approx(7 / 9)
    # 18 ratings: 14 {crime}, 2 {violence, crime}, 2 {none}. MASI distance of {crime} and
    # {violence, crime} is 1 - 1/2 * 2/3 = 2/3, of either and {none} 1.
    expected = 2 * (14 * 2 * 2 / 3 + 14 * 2 + 2 * 2) / (18 * 17)
    assert found.alpha.estimate == pytest.approx(1 - (2 * 2 / 3 / 9) / expected)
    assert found.by_label is not None
    shares = dict(zip(found.values, found.alpha.prevalence, strict=True))
    assert shares["crime"] == pytest.approx(16 / 18)


def test_one_single_value_leaves_alpha_undefined_beside_full_agreement() -> None:
    found = attribute_agreement(matrix("uses_negation", *[[False, False]] * 5), Resampling())
    assert math.isnan(found.alpha.estimate)
    assert found.alpha.reason == "every rating has the same value"
    assert (found.alpha.raw, found.alpha.prevalence) == (1.0, (1.0, 0.0))


def test_one_annotator_leaves_everything_undefined() -> None:
    found = attribute_agreement(matrix("clarity", [1], [2]), Resampling())
    assert found.alpha.reason == "fewer than two raters"
    assert all(math.isnan(one.estimate) for one in found.coefficients.values())


def test_an_interval_depends_on_its_attribute_and_the_seed_alone() -> None:
    given = matrix("uses_negation", *TEN)
    once, again, other = (attribute_agreement(given, Resampling(seed)) for seed in (3, 3, 4))
    assert once.alpha.interval == again.alpha.interval != other.alpha.interval


def test_passes_are_numbered_after_the_first() -> None:
    names = passes("llm:main", 12)
    assert names[:3] == ["llm:main", "llm:main#2", "llm:main#3"]
    assert {rater_of(name) for name in names} == {"llm:main"}
    (found,) = comparisons(names[::-1])
    assert (found.between, found.annotators) == ("passes", tuple(names))


def test_models_people_and_passes_are_compared_among_themselves() -> None:
    found = comparisons(
        ["human:ann", "human:bob", "heuristic", "embed:minilm", "llm:a", "llm:b", "llm:b#2"]
    )
    assert [(one.between, one.annotators) for one in found] == [
        ("models", ("llm:a", "llm:b")),
        ("people", ("human:ann", "human:bob")),
        ("passes", ("llm:b", "llm:b#2")),
    ]
    assert comparisons(["llm:a", "human:ann", "heuristic"]) == []
