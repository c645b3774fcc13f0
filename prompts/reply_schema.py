"""The JSON Schema of a reply, built from the catalogue."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .catalogue import Attribute

Schema = dict[str, Any]


def reply_schema(attributes: Sequence[Attribute], *, may_abstain: bool = False) -> Schema:
    """Build the schema of a reply about one item of which these attributes are asked.

    It keeps to what strict structured output allows: every object closed, every property required.
    The note comes first, so that a model that writes from left to right says why before it judges.
    An annotator that may abstain may give ``null`` for a value.

    >>> from .library import load_catalogue
    >>> core = load_catalogue("core")
    >>> reply_schema([core["clarity"]])["properties"]["values"]["properties"]
    {'clarity': {'type': 'integer', 'enum': [0, 1, 2, 3]}}
    """
    values = {attribute.id: _value(attribute) for attribute in attributes}
    if may_abstain:
        values = {name: {"anyOf": [value, {"type": "null"}]} for name, value in values.items()}
    return _closed(
        {
            "note": {"type": "string"},
            "values": _closed(values),
            "doubt": _several([attribute.id for attribute in attributes]),
        }
    )


def schema_of_several(one: Schema, items: int) -> Schema:
    """Build the schema of a reply about several items: an object with one reply a number.

    Each number is a required key, so that a model held to the schema leaves no item out.

    >>> list(schema_of_several({}, 3)["properties"])
    ['1', '2', '3']
    """
    numbered = _closed({str(number): {"$ref": "#/$defs/item"} for number in range(1, items + 1)})
    return {**numbered, "$defs": {"item": one}}


def _closed(properties: dict[str, Schema]) -> Schema:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _several(words: Sequence[int | str | bool]) -> Schema:
    return {"type": "array", "items": {"type": "string", "enum": list(words)}}


def _value(attribute: Attribute) -> Schema:
    words = list(attribute.values)
    match attribute.type:
        case "level":
            return {"type": "integer", "enum": words}
        case "label":
            return {"type": "string", "enum": words}
        case "labels":
            return _several(words)
        case "boolean":
            return {"type": "boolean"}
