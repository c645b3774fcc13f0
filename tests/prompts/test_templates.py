from __future__ import annotations

from pathlib import Path

import pytest

from benchprism.prompts.library import load_catalogue
from benchprism.prompts.messages import make_prompt
from benchprism.prompts.templates import Wording, load_wording, shipped
from benchprism.records.errors import InputError

CORE = load_catalogue("core")


def written(folder: Path, **texts: str) -> Path:
    for name, text in texts.items():
        (folder / f"{name}.jinja").write_text(text, encoding="utf-8")
    return folder


def test_without_a_folder_the_shipped_words_stand() -> None:
    assert load_wording(None) == Wording()
    plain = make_prompt(CORE, "generative")
    assert make_prompt(CORE, "generative", wording=Wording()) == plain


def test_a_user_s_words_replace_the_shipped_ones(tmp_path: Path) -> None:
    wording = load_wording(written(tmp_path, system="Judge.\n{{ rubric }}"))
    prompt, plain = (make_prompt(CORE, "generative", wording=w) for w in (wording, None))
    assert prompt.system.startswith("Judge.\nRubric: benchprism-core")
    assert prompt.hash != plain.hash
    assert (prompt.schema, prompt.attributes) == (plain.schema, plain.attributes)


def test_labels_in_another_order_are_another_prompt(tmp_path: Path) -> None:
    backwards = shipped("rubric.jinja").replace(
        "attribute.values.items()", "attribute.values.items() | reverse"
    )
    wording = load_wording(written(tmp_path, rubric=backwards))
    system = make_prompt(CORE, "generative", wording=wording).system
    assert system.index("create: produce") < system.index("remember: retrieve")
    plain = make_prompt(CORE, "generative").system
    assert plain.index("remember: retrieve") < plain.index("create: produce")


def test_who_may_abstain_is_told_and_may_give_null() -> None:
    plain = make_prompt(CORE, "generative")
    prompt = make_prompt(CORE, "generative", wording=load_wording(None, may_abstain=True))
    assert "You may abstain" in prompt.system
    assert "abstain" not in plain.system
    values = prompt.schema["properties"]["values"]["properties"]
    assert values["uses_negation"] == {"anyOf": [{"type": "boolean"}, {"type": "null"}]}
    assert (prompt.may_abstain, plain.may_abstain) == (True, False)
    assert prompt.hash != plain.hash


@pytest.mark.parametrize(
    ("texts", "sentence"),
    [
        ({}, "no templates in .*; wanted system.jinja or rubric.jinja"),
        ({"item": "{{ question }}"}, "item.jinja replaces no template"),
        ({"system": "{{ rubric }}\n{% if %}"}, "system.jinja, line 2: Expected an expression"),
        ({"rubric": "{{ rubrik }}"}, "rubric.jinja cannot be rendered .*'rubrik' is undefined"),
        ({"rubric": "{{ ''.__class__.mro() }}"}, "cannot be rendered .*unsafe"),
        ({"system": "Say what you think."}, "says nothing of reasoning_depth, cognitive_process"),
    ],
)
def test_what_is_wrong_with_them_is_one_sentence(
    tmp_path: Path, texts: dict[str, str], sentence: str
) -> None:
    with pytest.raises(InputError, match=sentence) as error:
        make_prompt(CORE, "generative", wording=load_wording(written(tmp_path, **texts)))
    assert "\n" not in str(error.value)
