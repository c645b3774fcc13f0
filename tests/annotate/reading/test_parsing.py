from __future__ import annotations

from typing import Any

import pytest

from benchprism.annotate.ledger.outcome import Verdict
from benchprism.annotate.reading.parsing import (
    HESITATED,
    Unreadable,
    read_object,
    read_values,
)
from benchprism.prompts.library import load_catalogue

CORE = load_catalogue("core")


@pytest.mark.parametrize(
    "text",
    [
        '{"a": 1}',
        ' \n{"a": 1}\n',
        '```json\n{"a": 1}\n```',
        '```\n{"a": 1}\n```',
        'Here it is: {"a": 1} as asked.',
        'For the set {1, 2} I say {"a": 1}.',
        '{"a": 1}\n{"a": 1}',
        '<think>Perhaps {"a": 2}?</think>{"a": 1}',
        'A 5" pipe: {"a": 1}',
    ],
)
def test_one_object_is_found(text: str) -> None:
    assert read_object(text) == {"a": 1}


def test_fences_and_braces_inside_a_value_are_text() -> None:
    text = '{"note": "```json {\\"a\\": 2} ``` }", "a": 1}'
    assert read_object(f"```json\n{text}\n```")["note"] == '```json {"a": 2} ``` }'
    assert read_object(f"Well: {text}")["a"] == 1


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "no JSON object"),
        ("nothing", "no JSON object"),
        ("[1, 2]", "no JSON object"),
        ('{"a": 1} or {"a": 2}', "2 JSON objects that differ"),
        ('{"values": {"a": 1}, "note": "cut', "never closed"),
        ('{"values": {"a": 1}', "never closed"),
        ('{"a": 1, "a": 2}', "a key twice"),
        ('```json\n{"a": 1, "a": 2}\n```', "a key twice"),
        ("{'a': 1}", "no JSON object"),
        ('{"a": ' + "[" * 100_000 + "]" * 100_000 + "}", "no JSON object"),
        ('{"a": ' + "9" * 5000 + "}", "no JSON object"),
    ],
)
def test_anything_else_is_unreadable(text: str, reason: str) -> None:
    with pytest.raises(Unreadable, match=reason):
        read_object(text)


def verdict(attribute: str, value: Any) -> Verdict:
    (found,) = read_values({"values": {attribute: value}}, [CORE[attribute]])
    return found


@pytest.mark.parametrize(
    ("attribute", "given", "value", "reason"),
    [
        ("clarity", 3, 3, ""),
        ("clarity", "3", 3, "read from '3'"),
        ("clarity", " 3.0 ", 3, "read from ' 3.0 '"),
        ("clarity", 2.0, 2, "read from 2.0"),
        ("answerability", "wrong_key", "wrong_key", ""),
        ("answerability", " OK ", "ok", "read from ' OK '"),
        ("sensitive_topics", ["none"], ["none"], ""),
        ("sensitive_topics", ["crime", "violence"], ["violence", "crime"], ""),
        ("sensitive_topics", ["crime", "crime"], ["crime"], "a label was given twice"),
        ("uses_negation", False, False, ""),
        ("uses_negation", "True", True, "read from 'True'"),
    ],
)
def test_a_value_is_read(attribute: str, given: Any, value: Any, reason: str) -> None:
    assert verdict(attribute, given) == Verdict(attribute, value, "ok", reason)


@pytest.mark.parametrize(
    ("attribute", "given", "reason"),
    [
        ("clarity", 7, "7 is no level from 0 to 3"),
        ("clarity", -1, "-1 is no level"),
        ("clarity", 4.0, "is no level"),
        ("clarity", 2.5, "2.5 is no level"),
        ("clarity", float("nan"), "nan is no level"),
        ("clarity", True, "True is no level"),
        ("clarity", None, "None is no level"),
        ("clarity", "²", "'²' is no level"),
        ("clarity", "three", "'three' is no level"),
        ("clarity", [3], "is no level"),
        ("answerability", "fine", "'fine' is no label"),
        ("answerability", 0, "0 is no label"),
        ("sensitive_topics", "crime", "is no list of labels"),
        ("sensitive_topics", ["crime", "wine"], "'wine' is no label"),
        ("sensitive_topics", ["none", "crime"], "'none' together with other labels"),
        ("sensitive_topics", [], "an empty list"),
        ("uses_negation", 1, "1 is neither true nor false"),
        ("uses_negation", "yes", "is neither true nor false"),
    ],
)
def test_nothing_is_clamped_or_guessed(attribute: str, given: Any, reason: str) -> None:
    found = verdict(attribute, given)
    assert (found.value, found.status) == (None, "invalid")
    assert reason in found.reason


def test_one_bad_value_does_not_spoil_the_others() -> None:
    reply = {"values": {"clarity": 9, "answerability": "ok"}}
    verdicts = read_values(reply, [CORE["clarity"], CORE["answerability"], CORE["task_kind"]])
    assert [(v.value, v.status) for v in verdicts] == [
        (None, "invalid"), ("ok", "ok"), (None, "invalid"),
    ]  # fmt: skip
    assert verdicts[2].reason == "no value given"


def test_a_flat_reply_and_a_doubt_are_read() -> None:
    (found,) = read_values({"clarity": 2, "doubt": ["clarity"]}, [CORE["clarity"]])
    assert (found.value, found.status, found.reason) == (2, "ok", HESITATED)
    (found,) = read_values({"clarity": 2, "doubt": "clarity"}, [CORE["clarity"]])
    assert found.reason == ""
