from __future__ import annotations

import json

import pytest

from benchprism.annotate.reading.completion import read_completion
from benchprism.annotate.reading.refusals import sounds_like_a_refusal
from benchprism.prompts.library import load_catalogue

ASKED = [load_catalogue("core")["clarity"]]


@pytest.mark.parametrize(
    "text",
    [
        "I'm sorry, but I can't assist with that.",
        "I’m sorry, I can’t help with that request.",
        "Sorry, I am unable to help with this.",
        "I cannot rate this item.",
        "I can't comply.",
        "Unfortunately, I cannot provide this.",
        "As an AI, I am not able to judge content of this kind.",
        "I must decline to annotate this.",
        "I apologize, but I won't be able to continue.",
        "This request violates our content policy.",
        "That is against my guidelines.",
    ],
)
def test_a_refusal_is_heard(text: str) -> None:
    assert sounds_like_a_refusal(text)


@pytest.mark.parametrize(
    "text",
    [
        "The item asks what a cat cannot do.",
        "I can't find any errors; clarity 3.",
        "I cannot tell which option is right, so clarity is 1.",
        "The question is about a man who says: I cannot help you.",
        "Clarity is 2. I'm sorry that I cannot help you further.",
        'I cannot annotate this {"clarity": 1}',
        "I cannot rate this item." + " Really." * 200,
        "",
    ],
)
def test_other_texts_are_not_taken_for_one(text: str) -> None:
    assert not sounds_like_a_refusal(text)


@pytest.mark.parametrize(
    ("values", "status"), [({}, "refused"), ({"clarity": None}, "refused"), ({"clarity": 3}, "ok")]
)
def test_a_refusal_in_the_note_counts_when_there_is_no_value(
    values: dict[str, object], status: str
) -> None:
    content = json.dumps({"note": "I cannot judge this content.", "values": values})
    body = json.dumps({"choices": [{"message": {"content": content}}]})
    assert read_completion(body, ASKED).status == status
