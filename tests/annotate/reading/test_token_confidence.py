from __future__ import annotations

import json
import math
from typing import Any

import pytest

from benchprism.annotate.reading.completion import read_answer, read_completion
from benchprism.annotate.reading.token_confidence import token_confidences
from benchprism.prompts.library import load_catalogue
from benchprism.prompts.messages import make_prompt

CORE = load_catalogue("core")


def logprobs(*tokens: tuple[str, float]) -> dict[str, Any]:
    return {"content": [{"token": word, "logprob": math.log(p)} for word, p in tokens]}


def test_a_value_is_as_likely_as_the_tokens_that_it_is_written_in() -> None:
    tokens = [
        ('{"a', 0.9), ('": ', 0.9), ("3", 0.8), (', "b": ["', 0.7), ("fo", 0.5), ('o"]', 0.4),
        ("}", 0.9),
    ]  # fmt: skip
    text = "".join(word for word, _ in tokens)
    found = token_confidences(text, logprobs(*tokens))
    assert found == {("a",): pytest.approx(0.8), ("b",): pytest.approx(0.7 * 0.5 * 0.4)}


def test_values_are_known_by_the_keys_that_lead_to_them() -> None:
    text = 'So: {"values": {"a": true , "b" :2}, "note": "a: {1}"} .'
    found = token_confidences(text, logprobs(*((letter, 1.0) for letter in text)))
    assert found == {("values", "a"): 1.0, ("values", "b"): 1.0, ("note",): 1.0}


@pytest.mark.parametrize(
    ("text", "given"),
    [
        ('{"a": 1}', None),
        ('{"a": 1}', {"content": None}),
        ('{"a": 1}', logprobs(('{"a": 2}', 0.5))),
        ('{"a": 1}', {"content": [{"token": '{"a": 1}', "logprob": None}]}),
        ('{"a": 1}', {"content": [7]}),
        ('{"a": 1', logprobs(('{"a": 1', 0.5))),
        ("no object", logprobs(("no object", 0.5))),
        ('{"a" 1}', logprobs(('{"a" 1}', 0.5))),
    ],
)
def test_without_the_tokens_of_the_text_there_is_no_confidence(text: str, given: Any) -> None:
    assert token_confidences(text, given) == {}


def body(text: str, chance: float) -> dict[str, Any]:
    choice = {
        "finish_reason": "stop",
        "message": {"content": text},
        "logprobs": logprobs(*((letter, chance) for letter in text)),
    }
    return {"choices": [choice]}


def test_a_value_of_a_reply_gets_its_confidence_and_a_failure_none() -> None:
    asked = [CORE["clarity"], CORE["uses_negation"], CORE["task_kind"]]
    text = json.dumps({"values": {"clarity": 3, "uses_negation": "maybe"}})
    verdicts = read_completion(json.dumps(body(text, 0.9)), asked).verdicts
    assert [v.confidence for v in verdicts] == [pytest.approx(0.9), None, None]
    flat = read_completion(json.dumps(body('{"clarity": 3}', 0.9)), asked[:1]).verdicts
    assert flat[0].confidence == pytest.approx(0.9)


def test_each_of_several_items_gets_its_own() -> None:
    prompt = make_prompt(CORE, "generative", several=True).of(2)
    text = '{"1": {"values": {"clarity": 3}}, "2": {"values": {"clarity": 10}}}'
    first, second = read_answer(body(text, 0.9), prompt, "json_schema")
    place = [a.id for a in prompt.attributes].index("clarity")
    assert first.verdicts[place].confidence == pytest.approx(0.9)
    assert (second.verdicts[place].status, second.verdicts[place].confidence) == ("invalid", None)
