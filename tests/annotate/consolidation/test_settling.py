from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from benchprism.annotate.consolidation.policy import (
    ChoicePolicy,
    LabelsPolicy,
    LevelPolicy,
    Policy,
    Ties,
)
from benchprism.annotate.consolidation.rating_matrix import RatingMatrix, coded, possible_values
from benchprism.annotate.consolidation.settling import NO_MAJORITY, TOO_FEW, Settled, settle
from benchprism.prompts.catalogue import Attribute, Value
from benchprism.prompts.library import load_catalogue

CORE = load_catalogue("core")
DEFAULTS: dict[str, Policy] = {
    "level": LevelPolicy(),
    "label": ChoicePolicy(),
    "labels": LabelsPolicy(),
    "boolean": ChoicePolicy(),
}


def matrix(
    attribute: str,
    *items: Sequence[Any],
    annotators: Sequence[str] = (),
    confidences: Any = None,
    doubts: Any = None,
) -> RatingMatrix:
    """Ratings; None where there is none."""
    given = [value for item in items for value in item if value is not None]
    values = possible_values(CORE[attribute], given)
    codes = [[-1 if v is None else int(coded([v], values)[0]) for v in item] for item in items]
    shape = (len(items), len(items[0]))
    unknown = np.full(shape, np.nan)
    return RatingMatrix(
        CORE[attribute],
        tuple(annotators) or tuple(f"llm:{n}" for n in range(shape[1])),
        values,
        np.array(codes),
        unknown if confidences is None else np.array(confidences, float),
        unknown if doubts is None else np.array(doubts, float),
    )


def values(made: Settled) -> list[Value | None]:
    return [None if code < 0 else made.values[code] for code in made.codes]


DECIDED: list[list[Any]] = [
    [3, 0, 2],
    [True, True, False],
    ["wrong_key", "ok", "wrong_key"],
    [["crime"], ["crime"]],
    [["crime", "religion"], ["politics", "crime"], ["none"]],
]
"""Where more stand for the value than for any other, or the level in the middle is one."""


@pytest.mark.parametrize(
    ("attribute", "given", "value", "confidence"),
    [
        ("clarity", [2], 2, None),
        ("clarity", [1, 3], 1, 1 / 2),
        ("clarity", [3, 0, 2], 2, 1 / 3),
        ("clarity", [3, 3, 0, 1], 1, 1 / 4),
        ("uses_negation", [True, False], False, 1 / 2),
        ("uses_negation", [True, True, False], True, 2 / 3),
        ("answerability", ["wrong_key", "ok"], "ok", 1 / 2),
        ("answerability", ["wrong_key", "ok", "wrong_key"], "wrong_key", 2 / 3),
        ("sensitive_topics", [["crime"], ["crime"]], ["crime"], 1.0),
        # crime has both voices, violence one of two
        ("sensitive_topics", [["crime"], ["violence", "crime"]], ["crime"], 1 / 2),
        # no label has more than half: the most frequent ones stand, each with one voice of two
        ("sensitive_topics", [["crime"], ["violence"]], ["violence", "crime"], 1 / 2),
        ("sensitive_topics", [["none"], ["crime"]], ["none"], 1 / 2),
        # crime has two of three; religion, politics and none are left out by two of three each
        (
            "sensitive_topics",
            [["crime", "religion"], ["politics", "crime"], ["none"]],
            ["crime"],
            2 / 3,
        ),
    ],
)
def test_by_default_a_claim_needs_more_than_half(
    attribute: str, given: list[Any], value: Any, confidence: float | None
) -> None:
    made = settle(matrix(attribute, given), DEFAULTS[CORE[attribute].type])
    assert values(made) == [value]
    assert made.annotators.tolist() == [len(given)]
    if confidence is None:
        assert math.isnan(made.confidences[0])
        assert made.sources.tolist() == ["none"]
    else:
        assert made.confidences[0] == pytest.approx(confidence)
        assert made.sources.tolist() == ["agreement" if given in DECIDED else "tie"]


@pytest.mark.parametrize(
    ("attribute", "given", "lowest", "highest", "missing"),
    [
        ("clarity", [1, 3], 1, 3, None),
        ("clarity", [1, 1], 1, 1, 1),
        ("clarity", [0, 1, 1, 3], 1, 1, 1),
        ("uses_negation", [True, False], False, True, None),
        ("answerability", ["wrong_key", "ok"], "ok", "wrong_key", None),
        ("sensitive_topics", [["crime"], ["crime", "violence"]],
         ["crime"], ["violence", "crime"], None),
        ("sensitive_topics", [["none"], ["crime"]], ["none"], ["crime"], None),
        # nothing has a majority, and nothing is tied
        ("sensitive_topics", [["none"], ["crime"], ["health"]],
         ["none"], ["crime", "health"], None),
    ],
)  # fmt: skip
def test_ties_are_broken_as_the_policy_says(
    attribute: str, given: list[Any], lowest: Any, highest: Any, missing: Any
) -> None:
    policy = DEFAULTS[CORE[attribute].type]
    outcomes: dict[Ties, Any] = {"lowest": lowest, "highest": highest, "missing": missing}
    for ties, wanted in outcomes.items():
        made = settle(matrix(attribute, given), policy.model_copy(update={"ties": ties}))
        assert values(made) == [wanted]
        without = wanted is None
        assert (made.reasons[0] in {"tie", NO_MAJORITY}) is without
        assert math.isnan(made.confidences[0]) is without


def test_an_item_that_nobody_rated_has_no_value() -> None:
    made = settle(matrix("clarity", [1, None], [None, None]), LevelPolicy())
    assert values(made) == [1, None]
    assert made.reasons.tolist() == ["", "unrated"]
    assert made.annotators.tolist() == [1, 0]


def test_levels_may_go_by_majority() -> None:
    given = matrix("clarity", [0, 1, 3, 3], [0, 0, 3, 3])
    assert values(settle(given, LevelPolicy())) == [1, 0]
    assert values(settle(given, LevelPolicy(method="majority"))) == [3, 0]
    assert values(settle(given, LevelPolicy(method="majority", ties="missing"))) == [3, None]


def test_too_few_models_give_no_value() -> None:
    given = matrix("clarity", [1, 1, None], [1, 1, 1], [None, None, 2], [None, None, None])
    made = settle(given, LevelPolicy(min_annotators=2))
    assert values(made) == [1, 1, None, None]
    assert made.reasons.tolist() == ["", "", TOO_FEW, "unrated"]
    assert made.sources.tolist() == ["agreement", "agreement", "none", "none"]


def test_one_annotator_s_own_word_is_its_confidence() -> None:
    given = matrix(
        "clarity",
        *([1, None], [1, None], [1, None], [None, 2], [1, 1]),
        confidences=[[0.8, np.nan]] + [[np.nan, np.nan]] * 3 + [[0.8, 0.9]],
        doubts=[[1, np.nan], [1, np.nan], [0, np.nan], [np.nan, np.nan], [1, np.nan]],
    )
    made = settle(given, LevelPolicy())
    assert made.sources.tolist() == ["probability", "stated", "stated", "none", "agreement"]
    assert made.confidences[:3].tolist() == [0.8, 0.5, 1.0]
    assert math.isnan(made.confidences[3])
    assert made.confidences[4] == 1.0


def reliable_and_not() -> RatingMatrix:
    """Two who agree and one who says no half of the time; then the first against the third."""
    said = [[True, True, True], [True, True, False], [False, False, False]] * 10
    return matrix("uses_negation", *said, [True, None, False])


def test_dawid_skene_believes_those_whom_others_bear_out() -> None:
    given = reliable_and_not()
    assert values(settle(given, ChoicePolicy()))[-1] is False
    made = settle(given, ChoicePolicy(method="dawid_skene"))
    assert values(made)[-1] is True
    assert made.sources.tolist() == ["posterior"] * 31
    assert made.confidences[-1] > 0.9
    assert made.note == ""


def test_dawid_skene_with_two_raters_says_why_there_is_nothing() -> None:
    given = matrix("clarity", [1, 1, 2], [3, None, None], annotators=["llm:a", "llm:a#2", "llm:b"])
    policy = LevelPolicy(method="dawid_skene")
    made = settle(given, policy)
    assert values(made) == [None, None]
    assert made.reasons.tolist() == ["fewer than three raters"] * 2
    assert made.note == "fewer than three raters: no value"
    instead = settle(given, LevelPolicy(method="dawid_skene", fallback="median"))
    assert values(instead) == [1, 3]
    assert instead.sources.tolist() == ["agreement", "none"]
    assert instead.note == "fewer than three raters: median instead"


def test_an_empty_set_stands_where_no_label_says_that_none_applies() -> None:
    kinds = Attribute(id="topics", type="labels", question="?", labels=["crime", "health"])
    sets: tuple[Value, ...] = ([], ["crime"])
    given = RatingMatrix(
        kinds, ("a", "b", "c"), sets, np.array([[0, 0, 1], [0, 1, 1]]),
        np.full((2, 3), np.nan), np.full((2, 3), np.nan),
    )  # fmt: skip
    made = settle(given, LabelsPolicy())
    assert values(made) == [[], ["crime"]]
    assert made.confidences == pytest.approx([2 / 3, 2 / 3])
