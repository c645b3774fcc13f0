from __future__ import annotations

import json
import random
from dataclasses import replace
from typing import Any

import jsonschema
import pytest

from benchprism.annotate.asking.capabilities import RUNGS, Capability, Rung
from benchprism.annotate.asking.inquiry import Inquiry
from benchprism.annotate.asking.request_form import FUNCTION, LONGEST_NOTE, bounded, request_form
from benchprism.annotate.traffic.endpoint import EndpointSettings
from benchprism.annotate.traffic.pace import Pace
from benchprism.annotate.traffic.patience import Patience
from benchprism.prompts.library import load_catalogue
from benchprism.prompts.messages import make_prompt

PROMPT = make_prompt(load_catalogue("core"), "generative")
MESSAGE = 'An item: "quoted", {{ braces }}, \n\u2028 and \x00\U0001f600.'


def body(rung: Rung, **known: Any) -> dict[str, Any]:
    form = request_form(
        PROMPT,
        "m",
        replace(Capability(rung), **known),
        limit=300,
        parameters={"temperature": 0.5},
    )
    made: dict[str, Any] = json.loads(form.body(MESSAGE))
    return made


@pytest.mark.parametrize("rung", RUNGS)
def test_the_item_comes_last_and_whole(rung: Rung) -> None:
    made = body(rung)
    messages = made["input"] if rung == "decisions" else made["messages"]
    assert [message["role"] for message in messages] == ["system", "user"]
    assert messages[1]["content"] == MESSAGE
    assert made["model"] == "m"


def test_decisions_ask_the_typed_questions() -> None:
    form = request_form(PROMPT, "m", Capability("decisions"), limit=9, parameters={"seed": 1})
    assert (form.path, form.optional) == ("/decisions", ())
    made = body("decisions")
    assert made.keys() == {"model", "input", "questions"}
    assert made["questions"] == list(PROMPT.questions)
    assert made["input"][0]["content"] == PROMPT.framing


def test_each_rung_constrains_in_its_own_way() -> None:
    schema = body("json_schema")["response_format"]
    assert schema["json_schema"]["schema"] == bounded(PROMPT.schema)
    assert schema["json_schema"]["strict"] is True
    assert body("json_object")["response_format"] == {
        "type": "json_object", "schema": bounded(PROMPT.schema)
    }  # fmt: skip
    tool = body("tool")
    assert tool["tools"][0]["function"]["parameters"] == bounded(PROMPT.schema)
    assert tool["tool_choice"] == {"type": "function", "function": {"name": FUNCTION}}
    assert not body("text").keys() & {"response_format", "tools", "tool_choice"}


@pytest.mark.parametrize(
    ("rung", "told"),
    [("json_schema", False), ("json_object", True), ("tool", False), ("text", True)],
)
def test_the_schema_stands_in_the_prompt_where_the_endpoint_may_not_get_it(
    rung: Rung, told: bool
) -> None:
    system = body(rung)["messages"][0]["content"]
    assert system.startswith(PROMPT.system)
    assert (json.dumps(PROMPT.schema) in system) is told


def test_what_a_model_may_write_freely_is_bounded() -> None:
    made = body("json_schema")["response_format"]["json_schema"]["schema"]["properties"]
    asked = [attribute.id for attribute in PROMPT.attributes]
    labels = next(attribute for attribute in PROMPT.attributes if attribute.type == "labels")
    assert made["note"] == {"type": "string", "maxLength": LONGEST_NOTE}
    assert made["doubt"]["maxItems"] == len(asked)
    assert made["values"]["properties"][labels.id]["maxItems"] == len(labels.values)
    several = make_prompt(load_catalogue("core"), "generative", several=True).of(2)
    note = bounded(several.schema)["$defs"]["item"]["properties"]["note"]
    assert note == {"type": "string", "maxLength": LONGEST_NOTE}


def test_an_endpoint_that_knows_no_bounds_gets_none() -> None:
    text = json.dumps(body("json_schema", left_out=("maxLength",)))
    assert ("maxLength" in text, "maxItems" in text) == (False, True)
    plain = body("json_schema", left_out=("maxLength", "maxItems"))
    assert plain["response_format"]["json_schema"]["schema"] == PROMPT.schema
    hosted = Inquiry(
        EndpointSettings("m"), Pace(1, Patience(), random.Random(0)), random.Random(0),
        ladder=["json_schema"], known=None, keep=lambda _: None,
    )  # fmt: skip
    assert hosted.known.left_out == ("maxLength",)


def test_parameters_are_sent_unless_they_are_rejected() -> None:
    assert body("text")["max_tokens"] == 300
    assert body("text")["temperature"] == 0.5
    known = {"limit": "max_completion_tokens", "left_out": ("temperature", "max_tokens", "schema")}
    learned = body("json_object", **known)
    assert learned["max_completion_tokens"] == 300
    assert learned["response_format"] == {"type": "json_object"}
    assert not learned.keys() & {"temperature", "max_tokens"}
    assert not body("text", limit="").keys() & {"max_completion_tokens", "max_tokens"}


def test_what_may_be_left_out_is_named() -> None:
    form = request_form(PROMPT, "m", Capability("json_object"), limit=9, parameters={"seed": 1})
    assert form.optional == ("maxLength", "maxItems", "max_tokens", "seed", "schema")


def test_the_schema_that_is_sent_is_a_schema() -> None:
    sent = body("json_schema")["response_format"]["json_schema"]["schema"]
    jsonschema.Draft202012Validator.check_schema(sent)
