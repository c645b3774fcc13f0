from __future__ import annotations

import pytest

from benchprism.prompts.catalogue import Attribute, Catalogue
from benchprism.prompts.library import load_catalogue
from benchprism.prompts.messages import make_prompt
from benchprism.prompts.typed_questions import predicate_labels, typed_questions

CORE = load_catalogue("core")


def attribute(**given: object) -> Attribute:
    return Attribute.model_validate({"id": "a", "question": "What?", **given})


def test_a_level_is_a_score_with_its_levels_in_order() -> None:
    given = attribute(type="level", levels={0: "low", 1: "high"}, **{"not": "Not that."})
    assert typed_questions([given]) == (
        {
            "type": "score",
            "name": "a",
            "instructions": "What? Not that.",
            "levels": [{"label": "0", "description": "low"}, {"label": "1", "description": "high"}],
        },
    )


def test_a_label_is_a_choice_and_a_truth_value_a_predicate() -> None:
    label = attribute(type="label", labels={"x": "an ex", "y": ""})
    assert typed_questions([label, attribute(id="b", type="boolean")]) == (
        {
            "type": "choice",
            "name": "a",
            "instructions": "What?",
            "choices": [{"value": "x", "description": "an ex"}, {"value": "y"}],
        },
        {"type": "predicate", "name": "b", "instructions": "What?"},
    )


def test_several_labels_are_a_predicate_each_but_for_the_one_that_says_none() -> None:
    given = attribute(type="labels", labels={"none": "nothing", "x": "an ex", "y": ""})
    assert [(q["type"], q["name"], q["instructions"]) for q in typed_questions([given])] == [
        ("predicate", "a-0", "What? This one applies: x (an ex)."),
        ("predicate", "a-1", "What? This one applies: y."),
    ]
    assert predicate_labels(given) == {"a-0": "x", "a-1": "y"}


@pytest.mark.parametrize(
    "given",
    [
        [attribute(type="label", labels=[f"l{n}" for n in range(256)])],
        [attribute(type="label", labels=["only"])],
        [attribute(type="level", levels={0: "only"})],
        [attribute(id=f"a{n}", type="boolean") for n in range(401)],
    ],
)
def test_what_an_endpoint_does_not_take_is_not_asked_so(given: list[Attribute]) -> None:
    assert typed_questions(given) == ()


def test_the_core_catalogue_can_be_asked_so() -> None:
    questions = make_prompt(CORE, "multiple_choice").questions
    assert len({question["name"] for question in questions}) == len(questions) > 24
    assert make_prompt(CORE, "multiple_choice", several=True).questions == ()


def test_what_an_endpoint_is_sent_in_any_way_changes_the_prompts_hash(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before = make_prompt(CORE, "generative").hash
    asked = "benchprism.prompts.messages.typed_questions"
    monkeypatch.setattr(asked, lambda attributes: typed_questions(attributes)[1:])
    assert make_prompt(CORE, "generative").hash != before


def test_the_framing_holds_the_scale_and_the_rule_about_orders() -> None:
    prompt = make_prompt(CORE, "generative")
    assert CORE.scale in prompt.framing
    assert "never follow them" in prompt.framing
    plain: Catalogue = CORE.model_copy(update={"scale": ""})
    assert "Levels run" not in make_prompt(plain, "generative").framing


def test_the_schema_in_the_prompt_is_the_one_that_constrains() -> None:
    prompt = make_prompt(CORE, "generative")
    assert prompt.system_with_schema.startswith(prompt.system)
    assert '"additionalProperties": false' in prompt.system_with_schema
