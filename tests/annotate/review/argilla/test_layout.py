from __future__ import annotations

from typing import Any

import pytest

from benchprism.annotate.review.argilla.layout import faults, layout_of
from benchprism.annotate.review.form import ReviewForm, form_of, forms_by_dimension
from benchprism.prompts.catalogue import Attribute, Catalogue, Dimension


def form(*attributes: Attribute) -> ReviewForm:
    dimension = Dimension(id="d", title="D", attributes=list(attributes))
    return form_of(Catalogue(catalogue="c", version=1, dimensions=[dimension]))


def level(name: str = "easy", levels: int = 4, **other: Any) -> Attribute:
    numbered = {number: f"level {number}" for number in range(levels)}
    return Attribute(id=name, type="level", levels=numbered, **{"question": "How?", **other})


def test_the_core_catalogue_fits(core: Catalogue) -> None:
    layout = layout_of("core", form_of(core), "seen")
    assert list(faults(layout)) == []
    assert form_of(core)["clarity"].description in layout.guidelines
    clarity = next(q for q in layout.questions if q["name"] == "clarity")
    assert clarity["settings"] == {
        "type": "rating", "options": [{"value": 0}, {"value": 1}, {"value": 2}, {"value": 3}]
    }  # fmt: skip
    negation = next(q for q in layout.questions if q["name"] == "uses_negation")
    assert [(o["value"], o["text"]) for o in negation["settings"]["options"]] == [
        ("true", "yes"), ("false", "no")
    ]  # fmt: skip
    assert [q["name"] for q in layout.questions if not q["required"]] == [
        "distractor_quality", "note"
    ]  # fmt: skip


def test_a_description_that_is_too_long_is_whole_in_the_guidelines() -> None:
    text = "Is a < b? " * 150
    layout = layout_of("long", form(level(question=text), level("other")), "seen")
    description = layout.questions[0]["description"]
    assert len(description) <= 1000
    assert description.startswith("Is a &lt; b?")
    assert description.endswith("... (whole in the guidelines)")
    assert "Is a &lt; b? " * 149 in layout.guidelines
    assert list(faults(layout)) == []


def test_guidelines_that_are_too_long_leave_out_what_stands_beside_the_questions() -> None:
    lengthy: dict[str, Any] = {"not": "x" * 700}
    many = [level(f"a{n}", **lengthy) for n in range(20)]
    layout = layout_of("many", form(*many, level("long", question="y" * 1200)), "seen")
    assert len(layout.guidelines) <= 10_000
    assert "**A7**: How?" in layout.guidelines
    assert "y" * 1200 in layout.guidelines
    assert list(faults(layout)) == []


def test_guidelines_that_cannot_be_shortened_are_a_fault_that_dimensions_mend() -> None:
    halves = [
        Dimension(
            id=name, title=name,
            attributes=[level(f"{name}{n}", question="q" * 700) for n in range(10)],
        )
        for name in ("first", "second")
    ]  # fmt: skip
    catalogue = Catalogue(catalogue="c", version=1, dimensions=halves)
    [fault] = faults(layout_of("whole", form_of(catalogue), "seen"))
    assert "--by-dimension" in fault
    for part in forms_by_dimension(catalogue):
        assert list(faults(layout_of("part", part, "seen"))) == []


@pytest.mark.parametrize(
    ("attribute", "told"),
    [
        (level(levels=12), "easy has 12 levels, of 2 to 11"),
        (level(levels=1), "easy has 1 levels, of 2 to 11"),
        (level("note"), "an attribute is called 'note'"),
        (level("decision"), "an attribute is called 'decision'"),
        (level("n" * 201), "has an id of 201 characters, of 200"),
        (
            Attribute(id="l", type="label", question="?", labels=[f"l{n}" for n in range(501)]),
            "l has 501 labels, of 2 to 500",
        ),
        (
            Attribute(id="l", type="label", question="?", labels=["", "b"]),
            "l has the label '' of 0 characters",
        ),
        (level(applies_to="generative"), "no question has to be answered"),
    ],
)
def test_what_argilla_would_not_take_is_told(attribute: Attribute, told: str) -> None:
    found = list(faults(layout_of("limits", form(attribute), "seen")))
    assert len(found) == 1
    assert told in found[0]
