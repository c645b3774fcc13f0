"""Rendering: the catalogue and one item become the messages that an annotator is sent.

The rubric comes first and is the same for every item of a kind, so that an endpoint can keep its
prefix; the item comes last. The item's text is data: it enters templates as a value, and stands
between two marks that carry a code made from that very text, so that no text can close them.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import count, product
from string import ascii_uppercase
from typing import Any

from jinja2 import BaseLoader, Environment, StrictUndefined, Template
from jinja2.sandbox import SandboxedEnvironment

from ..records.items.record import Item, ItemKind
from .catalogue import NONE_LABEL, Attribute, Catalogue
from .reply_schema import reply_schema

Message = dict[str, str]

_CONTROLS = {code: 0x2400 + code for code in range(32) if chr(code) not in "\t\n\r"}
_FENCED = re.compile(r"\A<item ([0-9a-f]{32}) ([0-9a-f]{16})>\n(.*)\n</item \1 \2>", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Prompt:
    """What is asked about items of one kind under one catalogue."""

    attributes: tuple[Attribute, ...]
    """The attributes that are asked."""
    system: str
    """The first message: the task and the rubric."""
    schema: dict[str, Any]
    """JSON Schema of the reply."""
    catalogue_hash: str
    hash: str
    """Identifies catalogue, templates and schema: 16 hexadecimal digits."""

    def messages(self, item: Item) -> list[Message]:
        """Render the messages for one item."""
        return [
            {"role": "system", "content": self.system},
            {"role": "user", "content": item_message(item)},
        ]


@dataclass(frozen=True, slots=True)
class FencedItem:
    """What the message about an item holds between its marks."""

    content_hash: str
    body: str


def make_prompt(catalogue: Catalogue, kind: ItemKind) -> Prompt:
    """Render everything that does not depend on the item."""
    dimensions = [
        (dimension, [a for a in dimension.attributes if a.asks(kind)])
        for dimension in catalogue.dimensions
    ]
    rubric = _template("rubric.jinja").render(
        catalogue=catalogue, dimensions=[d for d in dimensions if d[1]], none_label=NONE_LABEL
    )
    system = _template("system.jinja").render(rubric=rubric)
    schema = reply_schema(catalogue, kind)
    parts = [catalogue.hash, system, _source("item.jinja"), _source("message.jinja"), schema]
    return Prompt(
        attributes=tuple(attribute for attribute in catalogue if attribute.asks(kind)),
        system=system,
        schema=schema,
        catalogue_hash=catalogue.hash,
        hash=_digest(json.dumps(parts)),
    )


def item_message(item: Item) -> str:
    """Render the last message: the item between its marks, and which option is the key."""
    options = list(zip(letters(), map(_visible, item.choices), strict=False))
    references = _reference_answers(item) if not item.choices else []
    body = _template("item.jinja").render(
        context=_visible(item.context),
        question=_visible(item.question),
        options=options,
        reference_answers=references,
    )
    key = options[item.answer_index][0] if options and item.answer_index is not None else None
    return _template("message.jinja").render(
        fence=f"{item.content_hash} {_digest(body)}",
        body=body,
        options=options,
        key=key,
        reference_answers=references,
    )


def read_item_message(message: str) -> FencedItem | None:
    """Read a message that ``item_message`` rendered; none when it is not whole."""
    found = _FENCED.match(message)
    if found is None or _digest(found[3]) != found[2]:
        return None
    return FencedItem(found[1], found[3])


def letters() -> Iterator[str]:
    """Letter options without end: A to Z, then AA, AB, ...

    >>> from itertools import islice
    >>> list(islice(letters(), 24, 28))
    ['Y', 'Z', 'AA', 'AB']
    """
    return (
        "".join(word) for length in count(1) for word in product(ascii_uppercase, repeat=length)
    )


def _reference_answers(item: Item) -> list[str]:
    given = [] if item.answer_text is None else [item.answer_text]
    return [_visible(text) for text in (*given, *item.accepted_answers)]


def _visible(text: str) -> str:
    """Show NUL and other control characters by their signs, lone surrogates as U+FFFD."""
    return text.translate(_CONTROLS).encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


def _source(name: str) -> str:
    return files(__name__.rpartition(".")[0]).joinpath(name).read_text(encoding="utf-8")


@cache
def _template(name: str) -> Template:
    return _environment().from_string(_source(name))


@cache
def _environment() -> Environment:
    return SandboxedEnvironment(undefined=StrictUndefined, autoescape=False, loader=BaseLoader())
