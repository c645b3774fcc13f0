"""Rendering: the catalogue and one item become the messages that an annotator is sent.

The rubric comes first and is the same for every item of a kind, so that an endpoint can keep its
prefix; the item, or several items, come last. An item's text is data: it enters templates as a
value, and stands between two marks that carry a code made from that very text, so that no text can
close them.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count, product
from string import ascii_uppercase
from typing import Any

from ..records.errors import InputError
from ..records.items.record import Item, ItemKind
from .catalogue import NONE_LABEL, Attribute, Catalogue
from .reply_schema import reply_schema, schema_of_several
from .templates import Wording, shipped, template
from .typed_questions import Question, typed_questions

Message = dict[str, str]

_CONTROLS = {code: 0x2400 + code for code in range(32) if chr(code) not in "\t\n\r"}
_FENCED = re.compile(r"<item ([0-9a-f]{32}) ([0-9a-f]{16})>\n(.*?)\n</item \1 \2>", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Prompt:
    """What is asked about items of one kind under one catalogue."""

    kind: ItemKind
    attributes: tuple[Attribute, ...]
    """The attributes that are asked."""
    system: str
    """The first message: the task and the rubric."""
    schema: dict[str, Any]
    """JSON Schema of the reply."""
    catalogue_hash: str
    hash: str
    """Identifies catalogue, templates and schema: 16 hexadecimal digits."""
    part: str = ""
    """The dimension that is asked; empty when all are."""
    several: bool = False
    """Whether a request carries several items, by number."""
    may_abstain: bool = False
    """Whether ``null`` may stand for a value."""
    items: int = 1
    """How many items the schema is for."""
    framing: str = ""
    """The first message to an endpoint that is asked typed questions."""
    questions: tuple[Question, ...] = ()
    """The typed questions about an item; none where they are not possible."""

    @property
    def system_with_schema(self) -> str:
        """The first message to an endpoint that is not told the schema in another way."""
        return template("schema.jinja").render(system=self.system, schema=json.dumps(self.schema))

    def messages(self, *items: Item) -> list[Message]:
        """Render the messages for one item, or for several where the prompt is for several."""
        return [
            {"role": "system", "content": self.system},
            {"role": "user", "content": self.message(items)},
        ]

    def message(self, items: Sequence[Item]) -> str:
        """Render the last message."""
        if not self.several:
            (item,) = items
            return item_message(item)
        return "\n\n".join(
            f"Item {number}\n{item_message(item)}" for number, item in enumerate(items, 1)
        )

    def of(self, items: int) -> Prompt:
        """The prompt with the schema for so many items; its hash stays."""
        if not self.several:
            return self
        return replace(self, schema=schema_of_several(self.schema, items), items=items)


@dataclass(frozen=True, slots=True)
class FencedItem:
    """What the message about an item holds between its marks."""

    content_hash: str
    body: str


def make_prompt(
    catalogue: Catalogue,
    kind: ItemKind,
    *,
    part: str = "",
    several: bool = False,
    wording: Wording | None = None,
) -> Prompt:
    """Render everything that does not depend on the item.

    Args:
        catalogue: What is asked.
        kind: Of which kind of items.
        part: The id of the only dimension that is asked; all when empty.
        several: Whether a request carries several items; the prompt's schema is then that of one of
            them, and ``of`` makes that of all.
        wording: In which words; the shipped ones when not given.

    Raises:
        InputError: a user's templates cannot be rendered, or leave out an attribute.
    """
    wording = wording or Wording()
    dimensions = [
        (dimension, [a for a in dimension.attributes if a.asks(kind)])
        for dimension in catalogue.dimensions
        if part in {"", dimension.id}
    ]
    attributes = tuple(attribute for _, asked in dimensions for attribute in asked)
    rubric = wording.render(
        "rubric.jinja",
        catalogue=catalogue,
        dimensions=[d for d in dimensions if d[1]],
        none_label=NONE_LABEL,
    )
    system = wording.render(
        "system.jinja", rubric=rubric, several=several, may_abstain=wording.may_abstain
    )
    _check_names(system, attributes, wording)
    schema = reply_schema(attributes, may_abstain=wording.may_abstain)
    framing = template("framing.jinja").render(scale=catalogue.scale)
    questions = () if several else typed_questions(attributes)
    sources = [shipped(name) for name in ("item.jinja", "message.jinja", "schema.jinja")]
    parts = [catalogue.hash, system, *sources, schema, framing, questions]
    return Prompt(
        kind=kind,
        attributes=attributes,
        system=system,
        schema=schema,
        catalogue_hash=catalogue.hash,
        hash=_digest(json.dumps(parts)),
        part=part,
        several=several,
        may_abstain=wording.may_abstain,
        framing=framing,
        questions=questions,
    )


def _check_names(system: str, attributes: Sequence[Attribute], wording: Wording) -> None:
    missing = [attribute.id for attribute in attributes if attribute.id not in system]
    if missing:
        raise InputError(
            f"the prompt of {wording.folder} says nothing of {', '.join(missing)}",
            wanted="the name of each attribute that is asked",
            mend="put {{ rubric }} into system.jinja, and each attribute's id into rubric.jinja",
        )


def item_message(item: Item) -> str:
    """Render the last message: the item between its marks, and which option is the key."""
    options = list(zip(letters(), map(visible, item.choices), strict=False))
    references = _reference_answers(item) if not item.choices else []
    body = template("item.jinja").render(
        context=visible(item.context),
        question=visible(item.question),
        options=options,
        reference_answers=references,
    )
    key = options[item.answer_index][0] if options and item.answer_index is not None else None
    return template("message.jinja").render(
        fence=f"{item.content_hash} {_digest(body)}",
        body=body,
        options=options,
        key=key,
        reference_answers=references,
    )


def read_item_message(message: str) -> FencedItem | None:
    """Read a message about one item; none when it is not whole."""
    found = read_item_messages(message)
    return found[0] if message.startswith("<item ") and len(found) == 1 else None


def read_item_messages(message: str) -> list[FencedItem]:
    """Read the items of a message that ``Prompt.message`` rendered, those that are whole."""
    return [
        FencedItem(found[1], found[3])
        for found in _FENCED.finditer(message)
        if _digest(found[3]) == found[2]
    ]


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
    return [visible(text) for text in (*given, *item.accepted_answers)]


def visible(text: str) -> str:
    """Show NUL and other control characters by their signs, lone surrogates as U+FFFD."""
    if text.isascii() and text.isprintable():
        return text
    return text.translate(_CONTROLS).encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()
