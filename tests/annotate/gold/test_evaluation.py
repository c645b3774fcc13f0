from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from benchprism.annotate.consolidation.agreement import Resampling
from benchprism.annotate.consolidation.rating_matrix import RatingMatrix
from benchprism.annotate.gold.evaluation import Collapse, Evaluation, evaluate, given_values
from benchprism.prompts.library import load_catalogue
from benchprism.records.errors import InputError

CORE = load_catalogue("core")


def evaluated(attribute: str, given: list[Any], gold: list[Any], **options: Any) -> Evaluation:
    (found,) = evaluate(CORE[attribute], {"llm:a": given}, gold, Resampling(), **options)
    return found


# Of ten items four are sound and six are not: three have a wrong key, three are unclear.
GOLD = ["ok"] * 4 + ["wrong_key"] * 3 + ["unclear_question"] * 3
GIVEN = ["ok", "ok", "ok", "wrong_key", "wrong_key", "unclear_question", "ok", "ok", "ok", None]


def test_precision_recall_and_confusion_by_hand() -> None:
    found = evaluated("answerability", GIVEN, GOLD)
    assert (found.items, found.missing, found.reason) == (9, 1, None)
    assert found.accuracy.share == pytest.approx(4 / 9)
    scores = dict(zip(found.values, found.by_value, strict=True))
    ok, wrong, unclear = scores["ok"], scores["wrong_key"], scores["unclear_question"]
    assert (ok.precision.share, ok.recall.share) == (3 / 6, 3 / 4)
    assert [wrong.precision.share, wrong.recall.share] == pytest.approx([1 / 2, 1 / 3])
    assert (unclear.precision.share, unclear.recall.share) == (0.0, 0.0)
    assert wrong.f1.share == pytest.approx(2 * 1 / (2 + 3))
    assert scores["no_correct_option"].reason == "neither given nor gold: no precision, no recall"
    assert found.confusion is not None
    place = found.values.index
    assert found.confusion[place("ok"), place("wrong_key")] == 1
    assert found.confusion[place("wrong_key"), place("unclear_question")] == 1
    assert found.confusion.sum() == 9


def test_some_values_against_all_others() -> None:
    found = evaluated("answerability", GIVEN, GOLD, collapse=Collapse(frozenset({"ok"})))
    assert found.values == ("ok", "not ok")
    assert found.confusion is not None
    assert found.confusion.tolist() == [[3, 1], [3, 2]]
    faulty = found.by_value[1]
    assert [faulty.precision.share, faulty.recall.share] == pytest.approx([2 / 3, 2 / 5])
    # agreement 5/9; by chance (4 * 6 + 5 * 3) / 81
    assert found.kappa.estimate == pytest.approx((5 / 9 - 39 / 81) / (1 - 39 / 81))
    several = Collapse(frozenset({"wrong_key", "ok"}))
    assert several.names(CORE["answerability"]) == ("ok, wrong_key", "not ok, wrong_key")


def test_levels_tell_how_far_they_are_off() -> None:
    found = evaluated("clarity", [0, 3, 2, 1], [1, 3, 3, 3])
    assert found.errors is not None
    assert found.errors.mean_absolute.value == 1.0
    assert found.errors.bias.value == -1.0
    assert found.accuracy.share == 1 / 4
    collapsed = evaluated("clarity", [0, 3], [1, 3], collapse=Collapse(frozenset({"2", "3"})))
    assert (collapsed.values, collapsed.errors) == (("2, 3", "not 2, 3"), None)
    assert collapsed.accuracy.share == 1.0


def test_sets_are_right_as_a_whole_and_label_by_label() -> None:
    found = evaluated(
        "sensitive_topics",
        [["crime"], ["crime", "violence"], ["none"], None],
        [["crime"], ["violence"], ["crime"], ["none"]],
    )
    assert (found.items, found.missing) == (3, 1)
    assert found.accuracy.share == pytest.approx(1 / 3)
    assert found.confusion is None
    crime = dict(zip(found.values, found.by_value, strict=True))["crime"]
    assert (crime.given, crime.gold) == (2, 2)
    assert (crime.precision.share, crime.recall.share) == (1 / 2, 1 / 2)


def test_nothing_to_compare_is_undefined_with_its_reason() -> None:
    found = evaluated("uses_negation", [None, None], [True, False])
    assert found.reason == "no item has both a gold value and an annotation"
    assert math.isnan(found.accuracy.share)
    assert (found.items, found.missing) == (0, 2)


def test_given_values_are_those_of_the_items_asked_for() -> None:
    unknown = np.full((3, 2), np.nan)
    codes = np.array([[0, 1], [-1, 0], [1, -1]])
    said = RatingMatrix(CORE["uses_negation"], ("a", "b"), (False, True), codes, unknown, unknown)
    assert given_values(said, [2, 0]) == {"a": [True, False], "b": [None, True]}


@pytest.mark.parametrize(
    ("attribute", "values", "found"),
    [
        ("answerability", {"fine"}, "'answerability' cannot be collapsed to 'fine'"),
        ("uses_negation", {"true", "false"}, "to all of its values"),
        ("sensitive_topics", {"crime"}, "wanted an attribute with one value an item"),
    ],
)
def test_a_collapse_that_makes_no_two_sides_is_refused(
    attribute: str, values: set[str], found: str
) -> None:
    with pytest.raises(InputError, match=found):
        Collapse(frozenset(values)).names(CORE[attribute])
