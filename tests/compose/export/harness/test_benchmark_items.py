"""What the exported task files ask and how they judge; worked out by hand."""

from __future__ import annotations

from typing import Any

import pytest

from benchprism.compose.export.harness import benchmark_items as shipped

ROW = {
    "item_id": "b/test/0", "benchmark": "b", "subset": "some_part", "kind": "multiple_choice",
    "question": " {{x}} {options}? ", "context": "", "choices": ["1", "{trimmed}"],
    "answer_index": 1, "answer_text": "{trimmed}", "accepted_answers": [], "source_record": None,
}  # fmt: skip


def part(scoring: str, prompt: str = "{question}", **more: Any) -> dict[str, Any]:
    kind = "multiple_choice" if scoring in {"letters", "options", "blank"} else "generative"
    return {"scoring": scoring, "prompt": prompt, "kind": kind, "cleaned": False, **more}


def test_fields_are_filled_once_and_item_text_is_no_template() -> None:
    asked = shipped.query(ROW, part("letters", "{subset}|{passage}{trimmed}|{options}|{question}"))
    assert asked == "some part|{{x}} {options}?|A. 1\nB. {trimmed}| {{x}} {options}? "
    asked = shipped.query({**ROW, "context": "C {question}"}, part("exact", "{passage}{trimmed}"))
    assert asked == "C {question}\n\n{{x}} {options}?"


def test_options_are_letters_texts_or_beginnings() -> None:
    assert shipped.options(ROW, part("letters")) == ["A", "B"]
    assert shipped.options(ROW, part("options")) == ["1", "{trimmed}"]
    gap = {**ROW, "question": "The _ is _ big.", "choices": ["cat", "12"]}
    assert shipped.options(gap, part("blank")) == ["The cat", "The 12"]
    assert shipped.ending(gap) == "is _ big."
    marked = {**ROW, "choices": ["[a] b  c", "[only]"]}
    assert shipped.options(marked, part("options", cleaned=True)) == [" b c", "[only]"]


def test_labels_go_on_after_z() -> None:
    row = {**ROW, "choices": [str(n) for n in range(28)]}
    assert shipped.options(row, part("letters"))[-3:] == ["Z", "1", "2"]
    assert shipped.query(row, part("letters", "{options}")).splitlines()[-1] == "2. 27"


@pytest.mark.parametrize(
    ("changes", "scoring", "why"),
    [
        ({"answer_index": None}, "letters", "no key"),
        ({"answer_text": None, "choices": []}, "exact", "no key"),
        ({"choices": ["", "b"]}, "options", "an empty choice has no likelihood"),
        ({"choices": ["", "b"]}, "letters", None),
        ({}, "blank", "no gap in the sentence"),
        ({"answer_text": None}, "instructions", "no record of the source"),
        ({"answer_text": None, "source_record": "{}"}, "instructions", None),
    ],
)
def test_what_a_rule_cannot_judge_is_left_out(
    changes: dict[str, Any], scoring: str, why: str | None
) -> None:
    assert shipped.left_out({**ROW, **changes}, part(scoring)) == why


@pytest.mark.parametrize(
    ("scoring", "reply", "answers", "score"),
    [
        ("number", "First 3, then 4,5.", ["45"], 1.0),
        ("number", "It costs $1,000.", ["1000"], 1.0),
        ("number", "7", ["007"], 1.0),
        ("number", "70", ["7"], 0.0),
        ("number", "no idea", ["7"], 0.0),
        ("number", "nan", ["nan"], 0.0),
        ("letter_in_text", "The answer is (J).", ["J"], 1.0),
        ("letter_in_text", "the answer is A. No: the answer is B", ["B"], 1.0),
        ("letter_in_text", "So C", ["C"], 1.0),
        ("letter_in_text", "The answer is (1).", ["1"], 1.0),
        ("letter_in_text", "none", ["N"], 0.0),
        ("mathematics", r"so \boxed{\frac{1}{\sqrt{2}}}.", [r"\dfrac1{\sqrt2}"], 0.0),
        ("mathematics", r"so \boxed{\dfrac{1}{\sqrt{2}}}.", [r"\frac{1}{\sqrt2}"], 1.0),
        ("mathematics", "it is $x = 1/2$", ["0.5"], 1.0),
        ("mathematics", r"\boxed{3} and \boxed{90^\circ}", ["90"], 1.0),
        ("mathematics", r"\boxed{never closed", ["1"], 0.0),
        ("exact", "None", ["None"], 1.0),
        ("exact", " (A)\n", ["(A)"], 1.0),
        ("exact", "2024-1-1", ["2024-01-01"], 0.0),
        ("exact", "twelve", ["12", "Twelve."], 1.0),
        ("literal", "[1,2]", ["[1, 2]"], 1.0),
        ("literal", "assert f(1) == 'a' [/ANSWER] more", ["'a'"], 1.0),
        ("literal", "a", ["'a'"], 0.0),
        ("literal", "1", ["'1'"], 0.0),
        ("literal", "{", ["{"], 1.0),
        ("f1", "the Red car", ["a red bus"], 0.5),
        ("f1", "3 yards", ["4 yards", "3 yards"], 1.0),
    ],
)
def test_scores(scoring: str, reply: str, answers: list[str], score: float) -> None:
    assert shipped.score(scoring, reply, answers) == score


def test_lm_eval_gets_every_metric_of_a_rule() -> None:
    assert shipped.judge_exact({"answers": ["12"]}, ["12."]) == {"exact_match": 1.0}
    assert shipped.judge_f1({"answers": ["red bus"]}, ["red car"]) == {"em": 0.0, "f1": 0.5}


def test_the_capital_of_an_unfinished_sentence_is_the_harnesss() -> None:
    record = '{"activity_label": "A", "ctx_a": "He cuts.", "ctx_b": "then He"}'
    asked = part("options", "{cleaned}", cleaned=True)
    row = {**ROW, "question": "A: He cuts. then He"}
    assert shipped.query({**row, "source_record": record}, asked) == "A: He cuts. Then he"
    assert shipped.query(row, asked) == "A: He cuts. then He"
