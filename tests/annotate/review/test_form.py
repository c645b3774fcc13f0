from __future__ import annotations

import re
from typing import Any

import pytest

from benchprism.annotate.review.form import NOTE, form_of, forms_by_dimension
from benchprism.prompts.catalogue import Attribute, Catalogue, Dimension
from benchprism.records.errors import InputError


def test_every_attribute_is_one_question(core: Catalogue) -> None:
    form = form_of(core)
    assert [question.name for question in form] == [attribute.id for attribute in core]
    kinds = {question.name: question.kind for question in form}
    assert kinds["clarity"] == "rating"
    assert kinds["setting"] == "label"
    assert kinds["sensitive_topics"] == "labels"
    assert kinds["uses_negation"] == "label"
    open_ones = [question.name for question in form if not question.required]
    assert open_ones == ["distractor_quality"]
    assert NOTE not in kinds


def test_options_have_a_name_for_the_wire_and_a_text_for_people(core: Catalogue) -> None:
    form = form_of(core)
    level = form["clarity"].options[1]
    assert (level.value, level.name, level.text) == (1, "1", "1")
    assert level.definition == "Two or more readings lead to different answers"
    label = form["knowledge_domain"].options[1]
    assert (label.value, label.text) == ("physical_sciences", "physical sciences")
    yes, no = form["uses_negation"].options
    assert (yes.value, yes.name, yes.text) == (True, "true", "yes")
    assert (no.value, no.name, no.text) == (False, "false", "no")


@pytest.mark.parametrize(
    ("attribute", "value", "wire"),
    [
        ("clarity", 0, 0),
        ("setting", "news", "news"),
        ("uses_negation", True, "true"),
        ("uses_negation", False, "false"),
        ("sensitive_topics", ["violence", "crime"], ["violence", "crime"]),
    ],
)
def test_a_value_comes_back_from_the_wire(
    core: Catalogue, attribute: str, value: Any, wire: Any
) -> None:
    question = form_of(core)[attribute]
    assert question.wire(value) == wire
    assert question.read(wire) == value
    assert type(question.read(wire)) is type(value)


def test_labels_are_read_in_the_catalogues_order(core: Catalogue) -> None:
    assert form_of(core)["sensitive_topics"].read(["crime", "violence"]) == ["violence", "crime"]


@pytest.mark.parametrize(
    ("attribute", "raw", "told"),
    [
        ("clarity", True, "True is no level from 0 to 3"),
        ("clarity", 4, "'4' is none of 0, 1, 2, 3"),
        ("clarity", -1, "'-1' is none of"),
        ("clarity", 2.0, "2.0 is no level"),
        ("clarity", "2", "'2' is no level"),
        ("clarity", None, "None is no level"),
        ("uses_negation", True, "True is none of true, false"),
        ("setting", "News", "'News' is none of abstract"),
        ("setting", ["news"], "is none of abstract"),
        ("sensitive_topics", "crime", "'crime' is no list of labels"),
        ("sensitive_topics", [], "'none' says that none applies"),
        ("sensitive_topics", ["none", "crime"], "'none' together with other labels"),
        ("sensitive_topics", ["crime", "crime"], "has a label twice"),
        ("sensitive_topics", ["x" * 100], "..."),
    ],
)
def test_what_is_no_value_is_told(core: Catalogue, attribute: str, raw: Any, told: str) -> None:
    with pytest.raises(ValueError, match=re.escape(told)):
        form_of(core)[attribute].read(raw)


def test_labels_that_may_all_be_absent_need_no_answer() -> None:
    attribute = Attribute(id="tags", type="labels", question="Which?", labels=["a", "b"])
    dimension = Dimension(id="d", title="D", attributes=[attribute])
    [question] = form_of(Catalogue(catalogue="c", version=1, dimensions=[dimension]))
    assert not question.required
    assert question.read([]) == []


def test_the_description_is_the_rubric(core: Catalogue) -> None:
    assert form_of(core)["distractor_quality"].description.split("\n") == [
        "How tempting are the wrong options to someone who half knows?",
        "Options that reword one another count as one. A single wrong option is judged alone: 0 "
        "absurd, 1 worth a thought, 2 plausible, 3 a typical error.",
        "Only for multiple-choice items; leave it open for others.",
        "0: All absurd or off topic",
        "1: One is worth a thought",
        "2: Most are plausible",
        "3: All are plausible and at least one embodies a typical error",
    ]


def test_the_guidelines_hold_everything_that_is_asked(core: Catalogue) -> None:
    form = form_of(core)
    assert all(question.description in form.guidelines for question in form)
    one = form_of(core, dimension="context")
    assert "## Context" in one.guidelines
    assert "## Task properties" not in one.guidelines


def test_a_form_of_each_dimension_asks_everything_once(core: Catalogue) -> None:
    forms = forms_by_dimension(core, ["clarity", "setting", "cultural_specificity"])
    assert [(form.dimension, [question.name for question in form]) for form in forms] == [
        ("language_and_content_quality", ["clarity"]),
        ("context", ["setting", "cultural_specificity"]),
    ]


def test_an_unknown_attribute_or_dimension_is_told(core: Catalogue) -> None:
    with pytest.raises(InputError, match="did you mean 'clarity'"):
        form_of(core, ["clarty"])
    with pytest.raises(InputError, match="no dimension 'contxt'"):
        form_of(core, dimension="contxt")
    with pytest.raises(InputError, match="no attribute is asked"):
        form_of(core, ["clarity"], "context")
