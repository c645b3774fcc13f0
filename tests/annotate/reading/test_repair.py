from __future__ import annotations

import json

import pytest

from benchprism.annotate.asking.capabilities import RUNGS, Rung
from benchprism.annotate.reading.completion import read_completion
from benchprism.annotate.reading.parsing import Unreadable
from benchprism.annotate.reading.repair import REPAIRED, repaired_object
from benchprism.prompts.library import load_catalogue

ASKED = [load_catalogue("core")[name] for name in ("clarity", "uses_negation")]


@pytest.mark.parametrize(
    "text",
    [
        "{'a': 1, 'b': true}",
        "{a: 1, b: True}",
        '{"a": 1 "b": true}',
        '{"a": 1, "b": true,}',
        '{"a": 1, "b": true',
        '```json\n{"a": 1, "b": true\n```',
        'Here you are: {"a": 1, "b": true,} I hope that helps.',
        '<think>a is 2?</think>{"a": 1, "b": true,}',
        '{"a": 1, // one\n "b": true}',
    ],
)
def test_quotes_commas_and_brackets_are_repaired(text: str) -> None:
    assert repaired_object(text) == {"a": 1, "b": True}


@pytest.mark.parametrize(
    "text",
    [
        "It is clear.",
        "",
        "The set {1, 2}",
        "[1, 2",
        '{"a": 1,} and {"a": 2,}',
        '{"a": 1, "a": 2',
        '{"values": {"a": 1, "b": 1, "a": 2,',
        "{" * 5000,
    ],
)
def test_nothing_is_made_of_what_says_nothing_or_two_things(text: str) -> None:
    with pytest.raises(Unreadable):
        repaired_object(text)


def test_items_of_one_reply_may_share_their_keys() -> None:
    text = '{"1": {"a": 1}, "2": {"a": 2}'
    assert repaired_object(text) == {"1": {"a": 1}, "2": {"a": 2}}


def body(content: str, finish: str | None = "stop") -> str:
    choice = {"finish_reason": finish, "message": {"content": content}}
    return json.dumps({"choices": [choice]})


BROKEN = "{'values': {'clarity': 3, 'uses_negation': 'yes'}}"


@pytest.mark.parametrize("rung", RUNGS[1:])
def test_only_the_last_rung_repairs(rung: Rung) -> None:
    verdicts = read_completion(body(BROKEN), ASKED, rung).verdicts
    if rung != "text":
        assert [v.status for v in verdicts] == ["invalid", "invalid"]
        return
    assert [(v.value, v.status) for v in verdicts] == [(3, "ok"), (None, "invalid")]
    assert verdicts[0].reason == REPAIRED
    assert verdicts[1].reason == "'yes' is neither true nor false"


def test_what_is_sound_is_not_repaired() -> None:
    sound = '{"values": {"clarity": 3, "uses_negation": true}}'
    assert {v.reason for v in read_completion(body(sound), ASKED, "text").verdicts} == {""}


@pytest.mark.parametrize(("finish", "status"), [("length", "truncated"), (None, "invalid")])
def test_what_was_cut_off_or_may_have_been_is_not_repaired(finish: str | None, status: str) -> None:
    cut = '{"values": {"clarity": 3, "uses_negation": tr'
    reading = read_completion(body(cut, finish), ASKED, "text")
    assert reading.status == status
    assert [v.value for v in reading.verdicts] == [None, None]


def test_two_different_objects_stay_two() -> None:
    text = '{"clarity": 3, "uses_negation": true}\n{"clarity": 2, "uses_negation": true}'
    reading = read_completion(body(text), ASKED, "text")
    assert reading.status == "invalid"
    assert "2 JSON objects that differ" in reading.reason
