from __future__ import annotations

from typing import Any

import jsonschema
import pytest

from benchprism.prompts.library import load_catalogue
from benchprism.prompts.reply_schema import reply_schema, schema_of_several
from benchprism.records.items.record import ItemKind

CORE = load_catalogue("core")


def schema_for(kind: ItemKind) -> dict[str, Any]:
    return reply_schema([attribute for attribute in CORE if attribute.asks(kind)])


def first_values() -> dict[str, Any]:
    """The first value of each attribute."""
    first = {attribute.id: next(iter(attribute.values)) for attribute in CORE}
    return {k: [v] if CORE[k].type == "labels" else v for k, v in first.items()}


def reply(**changes: Any) -> dict[str, Any]:
    return {"note": "Plain.", "values": {**first_values(), **changes}, "doubt": ["clarity"]}


def objects(schema: Any) -> list[dict[str, Any]]:
    if isinstance(schema, list):
        return [found for part in schema for found in objects(part)]
    if not isinstance(schema, dict):
        return []
    own = [schema] if schema.get("type") == "object" else []
    return own + [found for part in schema.values() for found in objects(part)]


def test_a_whole_reply_fits() -> None:
    jsonschema.validate(reply(), schema_for("multiple_choice"))


@pytest.mark.parametrize(
    "changes",
    [
        {"clarity": 4}, {"clarity": "3"}, {"clarity": True}, {"clarity": None}, {"clarity": 2.5},
        {"answerability": "fine"}, {"sensitive_topics": "none"}, {"sensitive_topics": ["wine"]},
        {"uses_negation": 1}, {"unasked": 1},
    ],
)  # fmt: skip
def test_a_reply_with_a_bad_value_does_not_fit(changes: dict[str, Any]) -> None:
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(reply(**changes), schema_for("multiple_choice"))


@pytest.mark.parametrize("kind", ["multiple_choice", "generative"])
def test_it_keeps_to_what_strict_structured_output_allows(kind: ItemKind) -> None:
    schema = schema_for(kind)
    jsonschema.Draft202012Validator.check_schema(schema)
    assert len(objects(schema)) == 2
    for part in objects(schema):
        assert part["additionalProperties"] is False
        assert part["required"] == list(part["properties"])


def test_only_what_is_asked_stands_in_it() -> None:
    asked = schema_for("generative")["properties"]["values"]["properties"]
    assert set(first_values()) - set(asked) == {"distractor_quality"}


def test_a_reply_about_several_items_has_one_for_each_number() -> None:
    schema = schema_of_several(schema_for("multiple_choice"), 2)
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate({"1": reply(), "2": reply(clarity=0)}, schema)
    for bad in ({"1": reply()}, {"1": reply(), "2": reply(clarity=9)}, {"1": {}, "2": reply()},
                {"1": reply(), "2": reply(), "3": reply()}):  # fmt: skip
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(bad, schema)
    assert all(part["additionalProperties"] is False for part in objects(schema))
