from __future__ import annotations

from dataclasses import replace

import pytest

from benchprism.annotate.review.argilla.record import (
    agent_name,
    item_id_of,
    meaning_of,
    record_faults,
    record_of,
)
from benchprism.annotate.review.case import Case, Suggestion
from benchprism.annotate.review.fields import escaped_fields, readable_fields
from benchprism.annotate.review.form import ReviewForm, form_of
from benchprism.prompts.catalogue import Attribute, Catalogue, Dimension

CASE = Case(
    item_id="bench/sub/test/1",
    content_hash="c" * 32,
    kind="multiple_choice",
    benchmark="bench",
    subset="sub",
    question="What is <b>?",
    context="",
    choices=("one", "two & three"),
    answer_index=1,
    answer_text="two & three",
    suggestions={"clarity": Suggestion(2, 0.5, "llm:main#2")},
    confidence=0.5,
    disagreement=0.0,
    reasons=("low_confidence",),
    reviewers=("alice", "bob"),
)


@pytest.fixture
def form(core: Catalogue) -> ReviewForm:
    return form_of(core)


def test_the_key_is_marked_and_what_is_empty_left_out() -> None:
    assert readable_fields(CASE) == {
        "benchmark": "bench / sub",
        "question": "What is <b>?",
        "choices": "\u2003 A. one\n✔ B. two & three",
    }
    assert escaped_fields(CASE)["question"] == "What is &lt;b&gt;?"
    assert escaped_fields(CASE)["choices"].endswith("two &amp; three")


def test_an_open_question_shows_its_reference_answer() -> None:
    case = replace(CASE, choices=(), answer_index=None, answer_text="42", context="A story.")
    fields = readable_fields(case)
    assert list(fields) == ["benchmark", "context", "question", "answer"]
    assert fields["answer"] == "42"
    assert readable_fields(replace(case, question=" ", context="\n"))["question"] == " "


def test_metadata_say_all_that_pulling_needs(form: ReviewForm) -> None:
    record = record_of(CASE, form, "seen", "m")
    assert record.metadata == {
        "benchmark": "bench",
        "subset": "sub",
        "reason": ["low_confidence"],
        "reviewer": ["alice", "bob"],
        "confidence": 0.5,
        "disagreement": 0.0,
        "content_hash": "c" * 32,
        "catalogue": form.catalogue.hash,
        "meaning": "m",
        "mode": "seen",
    }
    assert record.suggestions == {
        "clarity": {"value": 2, "score": 0.5, "agent": "llm:main-2", "type": "model"}
    }
    assert record_of(CASE, form, "blind", "m").suggestions == {}


def test_a_suggestion_to_a_question_that_is_not_asked_is_not_sent(form: ReviewForm) -> None:
    known = {"distractor_quality": Suggestion(1, None, "human:ann")}
    case = replace(CASE, suggestions=known)
    assert record_of(case, form, "seen", "m").suggestions["distractor_quality"]["type"] == "human"
    open_one = replace(case, kind="generative")
    assert record_of(open_one, form, "seen", "m").suggestions == {}


def test_the_state_changes_with_whatever_is_sent(form: ReviewForm) -> None:
    record = record_of(CASE, form, "seen", "m")
    state = record.state(vector=False)
    same = replace(record, metadata={**record.metadata, "catalogue": "other"})
    assert same.state(vector=False) == state
    assert record.state(vector=True) == f"{state}v"
    others = [
        replace(CASE, question="Other?"),
        replace(CASE, answer_index=0),
        replace(CASE, confidence=0.4),
        replace(CASE, reviewers=("alice",)),
        replace(CASE, suggestions={"clarity": Suggestion(2, 0.6, "llm:main#2")}),
        replace(CASE, suggestions={}),
    ]
    states = {record_of(case, form, "seen", "m").state(vector=False) for case in others}
    assert len(states) == len(others)
    assert state not in states


def test_the_meaning_is_that_of_the_questions_without_their_titles() -> None:
    def meaning(question: str = "Is it?", title: str = "", aspect: str = "") -> str:
        attribute = Attribute(id="a", type="boolean", question=question, title=title, aspect=aspect)
        dimension = Dimension(id="d", title="D", attributes=[attribute])
        return meaning_of(form_of(Catalogue(catalogue="c", version=1, dimensions=[dimension])))

    assert meaning() == meaning(title="Title", aspect="Aspect")
    assert meaning() != meaning(question="Is it so?")


def test_a_later_record_is_about_the_same_item(form: ReviewForm) -> None:
    record = record_of(CASE, form, "seen", "m")
    other = record_of(CASE, form, "seen", "n")
    assert record.later_id != other.later_id
    assert item_id_of(record.later_id) == item_id_of(CASE.item_id) == CASE.item_id


def test_agents_have_the_signs_that_argilla_allows() -> None:
    assert agent_name("llm:org/Model-1.5_x") == "llm:org/Model-1.5_x"
    assert agent_name("llm:a@b (c), d") == "llm:a-b -c-- d"
    assert agent_name("模型") == "annotator --"
    assert len(agent_name("m" * 300)) == 200


def test_a_confidence_outside_its_range_is_a_fault(form: ReviewForm) -> None:
    case = replace(CASE, suggestions={"clarity": Suggestion(2, 1.5, "llm:main")})
    [fault] = record_faults(record_of(case, form, "seen", "m"))
    assert fault == "bench/sub/test/1: clarity has the confidence 1.5, of 0 to 1"
