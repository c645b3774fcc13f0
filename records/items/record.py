"""The item: one question of a benchmark, as every room of benchprism sees it."""

from __future__ import annotations

import hashlib
import json
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import pyarrow as pa

ItemKind = Literal["multiple_choice", "generative"]


@dataclass(frozen=True, slots=True)
class Item:
    """One item. Texts are as the source gives them, byte for byte; nothing is normalised."""

    item_id: str
    """``benchmark/subset/split/row-or-source-id``, without empty parts; unique in a project."""
    benchmark: str
    subset: str
    """A part of the benchmark (an MMLU subject, a BBH task); may be empty."""
    split: str
    row: int
    """0-based row in the source, counted before anything is dropped."""
    revision: str
    """Commit of the Hub repository, or ``sha256:...`` of a local file."""
    question: str
    context: str
    """A passage or situation given with the question; may be empty."""
    choices: tuple[str, ...]
    """Option texts in the source's order; empty for an open question."""
    answer_index: int | None
    """0-based position of the key among the choices; none when there is no key."""
    answer_text: str | None
    """The key's text, or the reference answer of an open question; none when there is none."""
    accepted_answers: tuple[str, ...]
    """Further answers that the source accepts as right; usually empty."""
    kind: ItemKind
    faults: tuple[str, ...]
    """What is wrong with the item itself: ``bad_key``, ``no_gold``, ``missing_choices``, ..."""
    source: str
    """The original columns as JSON."""
    content_hash: str
    choice_set_hash: str
    """As ``content_hash``, with the choices sorted: equal for copies with shuffled choices."""


ITEM_SCHEMA = pa.schema(
    [
        ("item_id", pa.string()),
        ("benchmark", pa.string()),
        ("subset", pa.string()),
        ("split", pa.string()),
        ("row", pa.int64()),
        ("revision", pa.string()),
        ("question", pa.string()),
        ("context", pa.string()),
        ("choices", pa.list_(pa.string())),
        ("answer_index", pa.int32()),
        ("answer_text", pa.string()),
        ("accepted_answers", pa.list_(pa.string())),
        ("kind", pa.string()),
        ("faults", pa.list_(pa.string())),
        ("source", pa.string()),
        ("content_hash", pa.string()),
        ("choice_set_hash", pa.string()),
    ]
)


def fold(text: str) -> str:
    """Fold Unicode variants (NFKC) and white space, as the content hash does.

    >>> fold("a\\u00a0 b\\n")
    'a b'
    """
    plain = text if text.isascii() else unicodedata.normalize("NFKC", text)
    return " ".join(plain.split())


def content_hash(question: str, context: str, choices: Iterable[str]) -> str:
    """Identify an item by what it asks: 32 hexadecimal digits (BLAKE2b-128).

    Taken over question, context and choices after folding, so it changes neither with labels or
    ids nor with white space. The key is not part of it: copies with conflicting keys are equal.
    """
    return content_hashes(question, context, choices)[0]


def choice_set_hash(question: str, context: str, choices: Iterable[str]) -> str:
    """Identify an item whatever the order of its choices."""
    return content_hashes(question, context, choices)[1]


def content_hashes(question: str, context: str, choices: Iterable[str]) -> tuple[str, str]:
    """Compute ``content_hash`` and ``choice_set_hash``, folding the texts once."""
    folded = [fold(choice) for choice in choices]
    first = [fold(question), fold(context)]
    return _digest([*first, folded]), _digest([*first, sorted(folded)])


def _digest(parts: list[str | list[str]]) -> str:
    text = json.dumps(parts, ensure_ascii=False)
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def items_table(items: Iterable[Item]) -> pa.Table:
    """Items as a table with ``ITEM_SCHEMA``."""
    rows = list(items)
    columns = {name: [getattr(item, name) for item in rows] for name in ITEM_SCHEMA.names}
    return pa.Table.from_pydict(columns, schema=ITEM_SCHEMA)


def item_from_row(row: Mapping[str, Any]) -> Item:
    """Read one row of an items table, as ``Table.to_pylist`` gives it."""
    lists = ("choices", "accepted_answers", "faults")
    fields = {name: row[name] for name in ITEM_SCHEMA.names}
    return Item(**{**fields, **{name: tuple(fields[name]) for name in lists}})
