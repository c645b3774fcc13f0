"""Cells of a sheet as spreadsheet programs and people write them."""

from __future__ import annotations

from typing import Any

import pytest

from benchprism.annotate.review.form import Question, form_of
from benchprism.annotate.review.offline.sheet import wire_answer
from benchprism.prompts.catalogue import Attribute, Catalogue, Dimension


@pytest.fixture(scope="module")
def asked() -> dict[str, Question]:
    def attribute(name: str, **about: Any) -> Attribute:
        return Attribute(id=name, question="?", **about)

    attributes = [
        attribute("level", type="level", levels={0: "none", 1: "some"}),
        attribute(
            "label", type="label", labels=["question_answering", "OK", "a b", "A_B", "C", "c"]
        ),
        attribute("labels", type="labels", labels=["none", "from_rules", "causal"]),
        attribute("truth", type="boolean"),
    ]
    dimension = Dimension(id="all", title="All", attributes=attributes)
    form = form_of(Catalogue(catalogue="small", version=1, dimensions=[dimension]))
    return {question.name: question for question in form}


@pytest.mark.parametrize(
    ("name", "cell", "wire"),
    [
        ("level", "1", 1),
        ("level", "1.0", 1),
        ("level", "1,00", 1),
        ("level", "1.5", "1.5"),
        ("level", "-1", "-1"),
        ("label", "question_answering", "question_answering"),
        ("label", "Question answering", "question_answering"),
        ("label", "ok", "OK"),
        ("label", "c", "c"),
        ("label", "C", "C"),
        ("label", "a b", "a b"),
        ("label", "A B", "A B"),  # it may be either: Question.read refuses it
        ("label", "answering", "answering"),
        ("labels", "From rules;CAUSAL", ["from_rules", "causal"]),
        ("truth", "Yes", "true"),
        ("truth", "FALSE", "false"),
    ],
)
def test_a_cell_is_read_in_words_too_where_it_can_mean_one_thing(
    asked: dict[str, Question], name: str, cell: str, wire: object
) -> None:
    assert wire_answer(asked[name], cell) == wire


def test_what_is_neither_yes_nor_no_is_told(asked: dict[str, Question]) -> None:
    with pytest.raises(ValueError, match="truth: 'WAHR' is neither yes nor no"):
        wire_answer(asked["truth"], "WAHR")
