"""What a log holds of an item has to meet the hash that the item itself has."""

from __future__ import annotations

from typing import Any

import pytest

from benchprism.records.items.record import content_hash
from benchprism.records.results.logs.content import content_of, stated_content
from benchprism.records.results.logs.prompts import content_of_prompt, last_message

HELLASWAG = {
    "ind": 24,
    "activity_label": "Roof shingle removal",
    "ctx_a": "A man is sitting on a roof.",
    "ctx_b": "he",
    "ctx": "A man is sitting on a roof. he",
    "endings": ["is using wrap.", "is ripping tiles off."],
    "query": "Roof shingle removal: A man is sitting on a roof. He",
    "choices": ["is using wrap.", "is ripping tiles off."],
    "gold": 1,
}
SIQA = {
    "context": "Sam took the dog out.",
    "question": "What does Sam need?",
    "answerA": "a leash",
    "answerB": "a cat",
    "answerC": "a car",
    "label": "1",
}
ARC = {
    "id": "Mercury_417466",
    "question": "Which is a planet?",
    "choices": {"text": ["Mars", "Moon"], "label": ["A", "B"]},
    "answerKey": "A",
}
TRUTHFULQA = {
    "question": "What happens?",
    "mc1_targets": {"choices": ["Nothing", "Harm"], "labels": [1, 0]},
    "mc2_targets": {"choices": ["Nothing", "Little", "Harm"], "labels": [1, 1, 0]},
}

# a document as lm-eval logs it, and the item as it is in the project: question, context, choices
DOCUMENTS = [
    (HELLASWAG, "Roof shingle removal: A man is sitting on a roof. he", "", HELLASWAG["endings"]),
    (HELLASWAG, HELLASWAG["ctx"], "", HELLASWAG["endings"]),
    (HELLASWAG, HELLASWAG["query"], "", HELLASWAG["choices"]),
    (SIQA, "What does Sam need?", "Sam took the dog out.", ["a leash", "a cat", "a car"]),
    (ARC, "Which is a planet?", "", ["Mars", "Moon"]),
    (TRUTHFULQA, "What happens?", "", ["Nothing", "Harm"]),
    (TRUTHFULQA, "What happens?", "", ["Nothing", "Little", "Harm"]),
    ({"goal": "boil", "sol1": "heat", "sol2": "cool", "label": 0}, "boil", "", ["heat", "cool"]),
    ({"question": "2+2?", "answer": "#### 4"}, "2+2?", "", []),
    ({"passage": "p", "question": "q", "answers": [["x"], ["y"]]}, "q", "p", []),
    ({"input": "True or False is", "target": "True"}, "True or False is", "", []),
    ({"question": "q", "options": ["a", "b", "c"], "answer_index": 2}, "q", "", ["a", "b", "c"]),
]


@pytest.mark.parametrize(("doc", "question", "context", "choices"), DOCUMENTS)
def test_documents(doc: dict[str, Any], question: str, context: str, choices: list[str]) -> None:
    hashes = content_of(doc).hashes
    assert hashes is not None
    assert content_hash(question, context, choices) in hashes
    assert len(hashes) <= 12


def test_a_document_without_a_question() -> None:
    assert content_of({"id": 7, "image": "..."}).source_id == "7"
    assert content_of({"id": 7}).hashes is None
    assert content_of("text").hashes is None


PROMPTS = [
    ("Question: 2+2?\nAnswer:", "2+2?", []),
    ("Q: 1+1?\nA: 2\n\nQ: 2+2?\nA:", "2+2?", []),
    ("Which?\nA. one\nB. two\nAnswer:", "Which?", ["one", "two"]),
    ("Choose.\n\nWhich?\n\nA) one\nB) two\nC) three", "Which?", ["one", "two", "three"]),
    ("Solve it.\n\nA text.\n\nIn two parts.", "A text.\n\nIn two parts.", []),
    ("2+2?\nPlease reason step by step.", "2+2?", []),
    ("B. is no first choice", "B. is no first choice", []),
]


@pytest.mark.parametrize(("prompt", "question", "choices"), PROMPTS)
def test_prompts(prompt: str, question: str, choices: list[str]) -> None:
    content = content_of_prompt(prompt)
    assert content.choices == tuple(choices)
    assert content.hashes is not None
    assert content_hash(question, "", choices) in content.hashes


def test_a_context_whose_continuation_was_given_a_capital() -> None:
    endings = ["eats it.", "sings."]
    content = stated_content("Having an ice cream: A child smiles. She", endings)
    assert content.hashes is not None
    wanted = content_hash("Having an ice cream: A child smiles. she", "", endings)
    assert wanted in content.hashes


def test_an_empty_prompt() -> None:
    assert content_of_prompt(" \n").hashes is None


def test_the_last_message_that_was_asked() -> None:
    messages = [
        {"role": "system", "content": "s"},
        {"role": "user", "content": "first"},
        {"role": "assistant", "content": "reply"},
        {"role": "user", "content": "second"},
    ]
    assert last_message(messages) == "second"
    assert last_message("plain") == "plain"
    assert last_message([{"role": "assistant", "content": "reply"}]) is None
    assert last_message(None) is None
