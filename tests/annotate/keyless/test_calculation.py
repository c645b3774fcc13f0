from __future__ import annotations

import pytest

from benchprism.annotate.keyless.calculation import requires_calculation
from benchprism.annotate.keyless.wording import Wording


@pytest.mark.parametrize(
    ("question", "choices"),
    [
        ("Tom has 3 boxes of 12 pens. How many pens does he have?", ()),
        ("What is the speed of a car that drives 100 km in 2 hours?", ("50 km/h", "200 km/h")),
        ("If 2x + 3 = 9, find x.", ("2", "3", "4")),
        ("A pen costs twice as much as a ruler of $2. What's the total?", ()),
    ],
)
def test_two_numbers_and_a_quantity_asked(question: str, choices: tuple[str, ...]) -> None:
    assert requires_calculation(Wording(question, "", choices)) is True


@pytest.mark.parametrize(
    ("question", "choices"),
    [
        ("Which organ pumps blood?", ("heart", "liver")),
        ("Which treaty was signed in 1648?", ("Westphalia", "Utrecht")),
    ],
)
def test_nothing_numeric_but_years(question: str, choices: tuple[str, ...]) -> None:
    assert requires_calculation(Wording(question, "", choices)) is False


@pytest.mark.parametrize(
    ("question", "choices"),
    [
        ("In how many ways can the letters of the word BOB be put in order?", ()),
        ("Which of 3 theories explains 2 findings?", ("the first", "the second")),
        ("How many moons has Mars?", ("1", "2")),
        ("Is $f$ even?", ("yes", "no")),
        ("What is 1 + 1? Options: (A) 2 (B) 3", ()),
        ("```\nx = 1 + 2\n```\nWhat is x?", ()),
    ],
)
def test_other_numbers_are_left_open(question: str, choices: tuple[str, ...]) -> None:
    assert requires_calculation(Wording(question, "", choices)) is None
