from __future__ import annotations

import json
from typing import Any

import pytest
from openai.types.decision import Decision

from benchprism.annotate.ledger.outcome import Usage, Verdict
from benchprism.annotate.reading.completion import read_completion
from benchprism.annotate.reading.decisions import read_decisions
from benchprism.prompts.library import load_catalogue

CORE = load_catalogue("core")


def score(*chances: float, name: str = "clarity") -> dict[str, Any]:
    parts = [{"label": str(n), "value": n, "probability": p} for n, p in enumerate(chances)]
    mean = sum(n * p for n, p in enumerate(chances))
    return {"type": "score", "name": name, "score": mean, "confidence": 0.5,
            "probabilities": parts}  # fmt: skip


def choice(name: str, **chances: float) -> dict[str, Any]:
    parts = [{"value": value, "probability": p} for value, p in chances.items()]
    best = max(chances, key=lambda value: chances[value])
    return {"type": "choice", "name": name, "choice": best, "confidence": 0.5,
            "probabilities": parts}  # fmt: skip


def predicate(name: str, chance: Any) -> dict[str, Any]:
    return {"type": "predicate", "name": name, "probability": chance}


def refusal(name: str) -> dict[str, Any]:
    return {"type": "refusal", "name": name}


LIKELY = score(0.1, 0.15, 0.2, 0.55)
SHIFTED = [{**part, "value": part["value"] + 1} for part in LIKELY["probabilities"]]
WRONG_KEY = choice(
    "answerability",
    **dict.fromkeys(map(str, CORE["answerability"].values), 0.02) | {"wrong_key": 0.9},
)
TWICE = {
    **WRONG_KEY,
    "probabilities": [*WRONG_KEY["probabilities"], {"value": "ok", "probability": 0.02}],
}


def verdict(attribute: str, *answers: dict[str, Any]) -> Verdict:
    (found,) = read_decisions(answers, [CORE[attribute]])
    return found


def test_a_level_is_the_likeliest_and_its_confidence_that_probability() -> None:
    assert verdict("clarity", score(0.1, 0.15, 0.2, 0.55)) == Verdict("clarity", 3, "ok", "", 0.55)


def test_a_level_is_no_mean_of_levels() -> None:
    assert verdict("clarity", score(0.4, 0.15, 0.15, 0.3)).value == 0


def test_the_same_answer_twice_is_one_answer() -> None:
    assert verdict("clarity", LIKELY, dict(LIKELY)).value == 3


def test_a_label_is_the_likeliest() -> None:
    labels = [str(label) for label in CORE["answerability"].values]
    chances = dict.fromkeys(labels, 0.02) | {"wrong_key": 0.9}
    found = verdict("answerability", choice("answerability", **chances))
    assert (found.value, found.confidence) == ("wrong_key", 0.9)


@pytest.mark.parametrize(
    ("chance", "value", "confidence"), [(0.97, True, 0.97), (0.03, False, 0.97), (1, True, 1.0)]
)
def test_a_truth_value_is_the_likelier_side(chance: float, value: bool, confidence: float) -> None:
    assert verdict("uses_negation", predicate("uses_negation", chance)) == Verdict(
        "uses_negation", value, "ok", "", confidence
    )


def test_several_labels_are_as_sure_as_the_least_sure_of_them() -> None:
    labels = [str(label) for label in CORE["sensitive_topics"].values if label != "none"]
    chances = dict.fromkeys(labels, 0.01) | {labels[2]: 0.8, labels[0]: 0.7}
    answers = [
        predicate(f"sensitive_topics-{place}", chances[label]) for place, label in enumerate(labels)
    ]
    assert verdict("sensitive_topics", *answers) == Verdict(
        "sensitive_topics", [labels[0], labels[2]], "ok", "", 0.7
    )
    none = [predicate(f"sensitive_topics-{place}", 0.25) for place in range(len(labels))]
    assert verdict("sensitive_topics", *none) == Verdict(
        "sensitive_topics", ["none"], "ok", "", 0.75
    )


@pytest.mark.parametrize(
    ("attribute", "answers", "status", "reason"),
    [
        ("clarity", [], "invalid", "no answer to 'clarity'"),
        ("clarity", [refusal("clarity")], "refused", "the model declines 'clarity'"),
        ("clarity", [predicate("clarity", 0.9)], "invalid", "'predicate' is no answer to a score"),
        ("clarity", [score(0.1, 0.9)], "invalid", "probabilities of other values"),
        ("clarity", [score(0.1, 0.4, 0.4, 0.1)], "invalid", "1 and 2 are equally likely"),
        ("clarity", [score(0.1, 1.4, 0.4, 0.1)], "invalid", "1.4 is no probability"),
        ("clarity", [score(0.1, float("nan"), 0.4, 0.1)], "invalid", "nan is no probability"),
        ("clarity", [{**score(), "probabilities": None}], "invalid", "of other values"),
        ("clarity", [score(0.1, 0.2, 0.1, 0.1)], "invalid", "that add up to 0.5"),
        ("clarity", [{**LIKELY, "score": 9.7}], "invalid", "9.7 is on no scale of 0 to 3"),
        ("clarity", [{**LIKELY, "score": "2"}], "invalid", "'2' is on no scale"),
        ("clarity", [{**LIKELY, "probabilities": SHIFTED}], "invalid", "level 0 has the value 1"),
        ("clarity", [LIKELY, score(0.7, 0.1, 0.1, 0.1)], "invalid", "2 different answers to"),
        ("answerability", [{**WRONG_KEY, "choice": "ok"}], "invalid", "'ok', and wrong_key is"),
        ("answerability", [{**WRONG_KEY, "choice": "omega"}], "invalid", "the choice is 'omega'"),
        ("answerability", [TWICE], "invalid", "a value has two probabilities"),
        ("uses_negation", [predicate("uses_negation", 0.5)], "invalid", "equally likely"),
        ("uses_negation", [predicate("uses_negation", True)], "invalid", "True is no probability"),
        ("uses_negation", [predicate("uses_negation", "0.9")], "invalid", "is no probability"),
        ("sensitive_topics", [predicate("sensitive_topics-0", 0.1)], "invalid", "no answer to"),
    ],
)
def test_without_a_likeliest_value_there_is_none(
    attribute: str, answers: list[dict[str, Any]], status: str, reason: str
) -> None:
    found = verdict(attribute, *answers)
    assert (found.value, found.status, found.confidence) == (None, status, None)
    assert reason in found.reason


def body(*answers: dict[str, Any]) -> str:
    usage = {
        "input_tokens": 700,
        "input_tokens_details": {"cached_tokens": 600, "cache_write_tokens": 0},
        "output_tokens": 0,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": 700,
    }
    made = {"model": "gpt-6-luna", "answers": list(answers), "usage": usage}
    Decision.model_validate(made)
    return json.dumps(made)


ASKED = [CORE["clarity"], CORE["uses_negation"]]


def test_a_whole_body_as_the_openai_library_types_it() -> None:
    text = body(score(0, 0, 0.2, 0.8), predicate("uses_negation", 0.1))
    reading = read_completion(text, ASKED, "decisions")
    assert (reading.status, reading.usage) == ("ok", Usage(700, 600, 0))
    assert [v.value for v in reading.verdicts] == [3, False]


def test_one_declined_question_does_not_spoil_the_others() -> None:
    text = body(score(0, 0, 0.2, 0.8), refusal("uses_negation"))
    reading = read_completion(text, ASKED, "decisions")
    assert reading.status == "refused"
    assert [(v.value, v.status) for v in reading.verdicts] == [(3, "ok"), (None, "refused")]
    assert not reading.breaks_the_schema


@pytest.mark.parametrize("text", ["[]", '{"answers": 7}', '{"choices": [{"message": {}}]}'])
def test_a_body_of_another_form_is_no_decision(text: str) -> None:
    reading = read_completion(text, ASKED, "decisions")
    assert reading.status in {"error", "invalid"}
    assert all(v.value is None for v in reading.verdicts)
