from __future__ import annotations

import json
from typing import Any

import pytest

from benchprism.annotate.ledger.outcome import Usage
from benchprism.annotate.reading.completion import read_completion, read_usage
from benchprism.prompts.library import load_catalogue

ASKED = [load_catalogue("core")[name] for name in ("clarity", "uses_negation")]
GOOD = json.dumps({"values": {"clarity": 3, "uses_negation": False}})


def body(content: Any = GOOD, finish: str = "stop", **message: Any) -> str:
    usage = {"prompt_tokens": 9, "completion_tokens": 4, "prompt_tokens_details": None}
    choice = {"finish_reason": finish, "message": {"content": content, **message}}
    return json.dumps({"choices": [choice], "usage": usage})


def test_a_good_body() -> None:
    reading = read_completion(body(), ASKED)
    assert (reading.status, reading.reason) == ("ok", "")
    assert [verdict.value for verdict in reading.verdicts] == [3, False]
    assert reading.usage == Usage(9, None, 4)


@pytest.mark.parametrize(
    ("text", "status"),
    [
        (body(None, refusal="I can't help with that."), "refused"),
        (body("I'm sorry, I can't help with that."), "refused"),
        (body("", "content_filter"), "filtered"),
        (body(GOOD, "length"), "truncated"),
        (body(GOOD[:20], "length"), "truncated"),
        (body(None), "empty"),
        (body("  \n"), "empty"),
        (body(7), "empty"),
        (body("It is clear."), "invalid"),
        (body(GOOD[:-3]), "invalid"),
        (json.dumps({"choices": []}), "empty"),
        (json.dumps({"choices": None}), "empty"),
        (json.dumps({"choices": [{"message": None}]}), "empty"),
        ("[]", "error"),
        ("<html>", "error"),
    ],
)
def test_a_failure_has_a_type_and_a_reason_and_no_value(text: str, status: str) -> None:
    reading = read_completion(text, ASKED)
    assert reading.status == status
    assert reading.reason
    assert [(v.value, v.status) for v in reading.verdicts] == [(None, status)] * 2
    reading.reason.encode("utf-8")


@pytest.mark.parametrize("arguments", [GOOD, json.loads(GOOD)])
def test_the_arguments_of_the_function_that_is_called_are_the_reply(arguments: Any) -> None:
    call = {"function": {"name": "annotate", "arguments": arguments}}
    assert (
        read_completion(body(None, "tool_calls", tool_calls=[call]), ASKED, "tool").status == "ok"
    )
    junk = [7, {"function": None}, {"function": {"arguments": None}}]
    assert read_completion(body(GOOD, tool_calls=junk), ASKED, "tool").status == "ok"


def test_two_calls_that_differ_are_no_reply() -> None:
    other = GOOD.replace("3", "2")
    calls = [{"function": {"arguments": text}} for text in (GOOD, other)]
    reading = read_completion(body(None, "tool_calls", tool_calls=calls), ASKED, "tool")
    assert reading.status == "invalid"
    assert "2 JSON objects that differ" in reading.reason


def test_a_text_in_parts_is_one_text() -> None:
    parts = [{"type": "thinking", "text": "{}"}, {"type": "text", "text": GOOD[:9]}, 7,
             {"type": "text", "text": GOOD[9:]}, {"type": "text", "text": None}]  # fmt: skip
    assert read_completion(body(parts), ASKED).status == "ok"


def test_tokens_are_kept_when_parsing_fails() -> None:
    assert read_completion(body("no"), ASKED).usage == Usage(9, None, 4)


def test_a_reply_with_one_bad_value_is_invalid_and_keeps_the_other() -> None:
    reading = read_completion(body(json.dumps({"values": {"clarity": 3}})), ASKED)
    assert reading.status == "invalid"
    assert reading.reason == "uses_negation: no value given"
    assert [verdict.status for verdict in reading.verdicts] == ["ok", "invalid"]


def test_a_refusal_with_a_lone_surrogate_can_be_stored() -> None:
    reading = read_completion(body(None, refusal="no \ud800"), ASKED)
    reading.reason.encode("utf-8")


def test_counts_that_are_no_counts_are_unknown() -> None:
    text = json.dumps({"choices": [], "usage": {"prompt_tokens": "9", "completion_tokens": True}})
    assert read_completion(text, ASKED).usage == Usage()


def test_a_key_that_stands_twice_is_not_repaired_to_one_of_its_values() -> None:
    text = '{"note": "", "values": {"clarity": 1, "clarity": 3}, "doubt": []}'
    choice = {"message": {"content": text}, "finish_reason": "stop"}
    reading = read_completion(json.dumps({"choices": [choice]}), ASKED[:1], "text")
    assert (reading.status, reading.verdicts[0].value) == ("invalid", None)
    assert "a JSON object that has a key twice" in reading.reason


@pytest.mark.parametrize("given", [-1, 10**30, 1.5, True, "7", None])
def test_a_number_that_is_no_count_of_tokens_is_unknown(given: object) -> None:
    usage = read_usage({"prompt_tokens": given, "completion_tokens": 3})
    assert (usage.prompt_tokens, usage.completion_tokens) == (None, 3)
