"""The body of a request: what an endpoint is sent, rung by rung, with a place for the item."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..prompts.messages import Prompt
from .capabilities import Capability, Rung

FUNCTION = "annotate"
"""The function that a model on the rung ``tool`` has to call."""

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
    if known.rung == "json_object" and "schema" not in known.left_out:
        optional["schema"] = prompt.schema
    body = {"model": model, "messages": _messages(prompt, known.rung)}
    return _form("/chat/completions", body | _constraint(prompt, known.rung), optional, known)


def _form(
    path: str, body: dict[str, Any], optional: Mapping[str, Any], known: Capability
) -> RequestForm:
    sent = {name: value for name, value in optional.items() if name not in known.left_out}
    given = {name: value for name, value in sent.items() if name != "schema"}
    if "schema" in sent:
        body["response_format"] = {**body["response_format"], "schema": sent["schema"]}
    before, after = json.dumps(body | given).split(json.dumps(_PLACE))
    return RequestForm(path, before.encode(), after.encode(), tuple(sent))


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


def _constraint(prompt: Prompt, rung: Rung) -> dict[str, Any]:
    match rung:
        case "json_schema":
            named = {"name": "annotation", "strict": True, "schema": prompt.schema}
            return {"response_format": {"type": "json_schema", "json_schema": named}}
        case "json_object":
            return {"response_format": {"type": "json_object"}}
        case "tool":
            function = {
                "name": FUNCTION,
                "description": "Give the annotation of the item.",
                "parameters": prompt.schema,
            }
            return {
                "tools": [{"type": "function", "function": function}],
                "tool_choice": {"type": "function", "function": {"name": FUNCTION}},
            }
        case _:
            return {}
