"""The JSON Schema of a reply, built from the catalogue."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..records.items.record import ItemKind
from .catalogue import Attribute, Catalogue

Schema = dict[str, Any]


def reply_schema(catalogue: Catalogue, kind: ItemKind) -> Schema:
    """Build the schema of a reply about an item of this kind.

    It keeps to what strict structured output allows: every object closed, every property required.
    The note comes first, so that a model that writes from left to right says why before it judges.

    >>> from .library import load_catalogue
    >>> values = reply_schema(load_catalogue("core"), "generative")["properties"]["values"]
    >>> values["properties"]["clarity"]
    {'type': 'integer', 'enum': [0, 1, 2, 3]}
    >>> "distractor_quality" in values["properties"]
    False
    """
    asked = [attribute for attribute in catalogue if attribute.asks(kind)]
    return _closed(
        {
            "note": {"type": "string"},
            "values": _closed({attribute.id: _value(attribute) for attribute in asked}),
            "doubt": _several([attribute.id for attribute in asked]),
        }
    )


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
