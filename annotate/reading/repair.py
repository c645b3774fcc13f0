"""Broken JSON, repaired: only for models that cannot be held to any form."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from .parsing import Unreadable, without_thought

REPAIRED = "from repaired JSON"


def repaired_object(text: str) -> dict[str, Any]:
    """Read the one object of a text whose JSON is broken: quotes, commas or brackets.

    Values are then judged like any others. A reply that was cut off is not for this function: what
    would have come cannot be repaired.

    Raises:
        Unreadable: no object can be made of it, or it could be made in several ways.
    """
    from json_repair import repair_json

    answer = without_thought(text)
    try:
        found = repair_json(answer, return_objects=True, skip_json_loads=True)
    except (ValueError, RecursionError) as error:
        raise Unreadable("JSON that cannot be repaired") from error
    objects = [one for one in (found if isinstance(found, list) else [found]) if one]
    if len(objects) != 1 or not isinstance(objects[0], dict):
        raise Unreadable("JSON that cannot be repaired")
    for key, count in Counter(_keys(objects[0])).items():
        if len(re.findall(rf"(?<!\w){re.escape(key)}(?!\w)[\"']?\s*:", answer)) > count:
            raise Unreadable(f"broken JSON with the key {key!r} more than once")
    return objects[0]


def _keys(value: Any) -> Iterator[str]:
    """Every key of an object and of those inside it, as it stands in JSON."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield json.dumps(key, ensure_ascii=False)[1:-1]
            yield from _keys(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _keys(inner)
