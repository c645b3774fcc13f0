from __future__ import annotations

import re
from typing import Any

import pytest

from benchprism.records.errors import InputError
from benchprism.records.items.answers import Gold, accepted_texts, choice_gold, open_gold
from benchprism.records.items.coding import CodedAnswer, Coding, sole_coding

FOUR = ["w", "x", "y", "z"]


@pytest.mark.parametrize(
    ("coding", "value", "index"),
    [
        ("index0", 0, 0),
        ("index0", "2", 2),
        ("index0", 3.0, 3),
        ("index1", 1, 0),
        ("index1", " 4 ", 3),
        ("letter", "A", 0),
        ("letter", "d", 3),
        ("letter", "(C)", 2),
        ("letter", "B.", 1),
        ("label", "3", 2),
        ("label", 3, 2),
        ("text", "y", 2),
        ("text", "\u00a0y ", 2),
        ("one_hot", [0, 0, 1, 0], 2),
        ("one_hot", [False, True, False, False], 1),
        ("first", None, 0),
    ],
)
def test_a_key_is_found_by_its_coding(coding: Coding, value: Any, index: int) -> None:
    assert choice_gold(value, coding, FOUR, ["1", "2", "3", "4"]) == Gold(index, FOUR[index])


@pytest.mark.parametrize(
    ("coding", "value"),
    [
        ("index0", 4),
        ("index0", "-1"),
        ("index1", 0),
        ("index1", "5"),
        ("letter", "E"),
        ("label", "5"),
        ("text", "w, x"),
        ("one_hot", [0, 1]),
        ("one_hot", [1, 1, 0, 0]),
    ],
)
def test_a_key_outside_the_choices_is_a_fault(coding: Coding, value: Any) -> None:
    assert choice_gold(value, coding, FOUR, FOUR) == Gold(fault="bad_key")


@pytest.mark.parametrize(
    ("coding", "value"),
    [
        ("index0", True),
        ("index0", "A"),
        ("index0", "02"),
        ("index0", "²"),
        ("index0", 1.5),
        ("index1", False),
        ("letter", "AB"),
        ("letter", 1),
        ("one_hot", 2),
        ("one_hot", [0, 2]),
        ("text", ["w"]),
    ],
)
def test_a_value_of_another_form_is_a_fault_that_tells(coding: Coding, value: Any) -> None:
    assert choice_gold(value, coding, FOUR) == Gold(fault="bad_key", unreadable=True)


@pytest.mark.parametrize("value", [None, "", "  ", float("nan"), []])
@pytest.mark.parametrize("coding", ["index0", "letter", "text", "one_hot", "free", "list"])
def test_nothing_is_no_gold(coding: Coding, value: Any) -> None:
    gold = open_gold(value, coding) if coding in {"free", "list"} else None
    assert (gold or choice_gold(value, coding, FOUR)) == Gold(fault="no_gold")
    assert choice_gold([0, 0, 0, 0], "one_hot", FOUR) == Gold(fault="no_gold")


def test_a_label_given_to_two_choices_is_no_key() -> None:
    assert choice_gold("A", "label", ["x", "y"], ["A", "A"]).fault == "bad_key"


def test_benchmarks_without_a_key_have_no_fault() -> None:
    assert choice_gold(None, "none", FOUR) == open_gold(None, "none") == Gold()


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        ("2 + 2 = 4\n#### 4", "4"),
        ("#### 1,450,000", "1,450,000"),
        ("# 64", "64"),
        ("#### -3 ", "-3"),
    ],
)
def test_the_answer_stands_within_its_text(answer: str, text: str) -> None:
    pattern = re.compile(r"#\s*([^#\n]+?)\s*\Z")
    assert open_gold(answer, "free", pattern) == Gold(text=text)
    assert open_gold("no mark", "free", pattern).unreadable


def test_open_answers() -> None:
    assert open_gold(27.0, "free") == Gold(text="27")
    assert open_gold("007", "free") == Gold(text="007")
    assert open_gold(["1", "one", "1", None, "one"], "list") == Gold(text="1", accepted=("one",))
    assert open_gold("no record", "drop").unreadable
    assert open_gold({"number": "", "spans": [], "date": {}}, "drop") == Gold(fault="no_gold")


def test_a_drop_answer_is_a_number_spans_or_a_date() -> None:
    empty = {"day": "", "month": "", "year": ""}
    records: list[tuple[dict[str, Any], str]] = [
        ({"number": "4300000", "date": empty, "spans": []}, "4300000"),
        ({"number": "", "date": empty, "spans": ["Dave Vollrath", "him"]}, "Dave Vollrath, him"),
        ({"number": "", "date": {**empty, "day": "9", "month": "May"}, "spans": []}, "9 May"),
    ]
    for record, text in records:
        assert open_gold(record, "drop") == Gold(text=text)
    columns = {
        name: [record[name] for record, _ in records] for name in ("number", "date", "spans")
    }
    assert accepted_texts(columns) == [text for _, text in records]


def coded(*values: Any, choices: list[str] | None = None, labels: list[str] | None = None) -> Any:
    return [
        CodedAnswer(f"line {n}", value, choices or FOUR, labels or [])
        for n, value in enumerate(values, start=1)
    ]


def test_a_coding_is_found_where_there_is_one_reading() -> None:
    assert sole_coding(coded("A", "", "D"), source="f") == "letter"
    assert sole_coding(coded("yes", choices=["no", "yes"]), source="f") == "text"
    assert sole_coding(coded([0, 1, 0, 0]), source="f") == "one_hot"
    both = coded("A", "B", labels=["A", "B", "C", "D"])
    assert sole_coding(both, source="f") == "letter"  # as labels the answers are the same
    assert sole_coding(coded("E"), source="f") == "letter"


@pytest.mark.parametrize(
    ("answers", "sentence"),
    [
        (coded("1", choices=["no", "yes"]), "'1' can be read as index0 or index1; wanted the"),
        (coded(0, 2), "0 can be read as index0 or index1"),
        (coded("1", choices=["1", "2"]), "can be read as index0 or index1 or text"),
        (coded("I", choices=["I", "you"]), "'I' can be read as letter or text"),
        (coded("A", "B", True), "line 3: the answer True cannot be read as letter, though 2 of 3"),
    ],
)
def test_a_coding_is_never_guessed(answers: Any, sentence: str) -> None:
    with pytest.raises(InputError) as error:
        sole_coding(answers, source="f.csv")
    assert sentence in str(error.value)
    assert "add --answer" in str(error.value)
