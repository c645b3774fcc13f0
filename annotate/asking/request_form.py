"""The body of a request: what an endpoint is sent, rung by rung, with a place for the item."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...prompts.messages import Prompt
from .capabilities import Capability, Rung

FUNCTION = "annotate"
"""The function that a model on the rung ``tool`` has to call."""

LONGEST_NOTE = 600
"""Characters: what a model may write freely is bounded, since small ones fall into loops."""
_BOUNDS = ("maxLength", "maxItems")

_PLACE = "\x00the item's message\x00"


@dataclass(frozen=True, slots=True)
class RequestForm:
    """A request, with a place for the item's message."""

    path: str
    """Where it is posted, seen from the endpoint's address."""
    before: bytes
    after: bytes
    optional: tuple[str, ...]
    """Parameters that may be left out when the endpoint rejects them."""

    def body(self, message: str) -> bytes:
        """Fill the message in."""
        return b"".join((self.before, json.dumps(message).encode(), self.after))


def request_form(
    prompt: Prompt,
    model: str,
    known: Capability,
    *,
    limit: int,
    parameters: Mapping[str, Any],
) -> RequestForm:
    """Prepare the requests of one prompt; only the item's message differs between them.

    Args:
        prompt: What is asked.
        model: Who is asked.
        known: How the model can be asked.
        limit: Tokens that a reply may have.
        parameters: What else is sent, unless the endpoint rejects it.
    """
    if known.rung == "decisions":
        return _form("/decisions", _decisions(prompt, model), {}, known)
    optional = {known.limit: limit, **parameters} if known.limit else dict(parameters)
    schema = bounded(prompt.schema, [name for name in _BOUNDS if name not in known.left_out])
    if known.rung == "json_object":
        optional["schema"] = schema
    body = {"model": model, "messages": _messages(prompt, known.rung)}
    return _form("/chat/completions", body | _constraint(schema, known.rung), optional, known)


def bounded(schema: Mapping[str, Any], bounds: Sequence[str] = _BOUNDS) -> dict[str, Any]:
    """Bound what a schema leaves open: texts, and lists of words that may each stand once.

    A bound changes no value, so that it is no part of what identifies a prompt: an endpoint that
    does not know it is asked without.

    >>> bounded({"type": "array", "items": {"type": "string", "enum": ["a", "b"]}})["maxItems"]
    2
    """
    made = {name: _bounded(part, bounds) for name, part in schema.items()}
    words = schema["items"].get("enum") if isinstance(schema.get("items"), Mapping) else None
    if "maxItems" in bounds and isinstance(words, list):
        made["maxItems"] = len(words)
    if "maxLength" in bounds and schema.get("type") == "string" and "enum" not in schema:
        made["maxLength"] = LONGEST_NOTE
    return made


def _bounded(part: Any, bounds: Sequence[str]) -> Any:
    if isinstance(part, Mapping):
        return bounded(part, bounds)
    if isinstance(part, list):
        return [_bounded(one, bounds) for one in part]
    return part


def _form(
    path: str, body: dict[str, Any], optional: Mapping[str, Any], known: Capability
) -> RequestForm:
    sent = {name: value for name, value in optional.items() if name not in known.left_out}
    given = {name: value for name, value in sent.items() if name != "schema"}
    if "schema" in sent:
        body["response_format"] = {**body["response_format"], "schema": sent["schema"]}
    whole = json.dumps(body | given)
    before, after = whole.split(json.dumps(_PLACE))
    bounds = [name for name in _BOUNDS if f'"{name}": ' in whole]
    return RequestForm(path, before.encode(), after.encode(), (*bounds, *sent))


def _decisions(prompt: Prompt, model: str) -> dict[str, Any]:
    framed = [
        {"role": "system", "content": prompt.framing},
        {"role": "user", "content": _PLACE},
    ]
    return {"model": model, "input": framed, "questions": prompt.questions}


def _messages(prompt: Prompt, rung: Rung) -> list[dict[str, str]]:
    untold = rung in {"json_object", "text"}
    return [
        {"role": "system", "content": prompt.system_with_schema if untold else prompt.system},
        {"role": "user", "content": _PLACE},
    ]


def _constraint(schema: Mapping[str, Any], rung: Rung) -> dict[str, Any]:
    match rung:
        case "json_schema":
            named = {"name": "annotation", "strict": True, "schema": schema}
            return {"response_format": {"type": "json_schema", "json_schema": named}}
        case "json_object":
            return {"response_format": {"type": "json_object"}}
        case "tool":
            function = {
                "name": FUNCTION,
                "description": "Give the annotation of the item.",
                "parameters": schema,
            }
            return {
                "tools": [{"type": "function", "function": function}],
                "tool_choice": {"type": "function", "function": {"name": FUNCTION}},
            }
        case _:
            return {}
