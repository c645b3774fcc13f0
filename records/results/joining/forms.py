"""Forms that an item takes in logs after a harness has processed it.

A log of lm-evaluation-harness or lighteval may hold only what was asked: HellaSwag without its
brackets and with a capital, WinoGrande cut at its gap, letters in place of choices. Such a form is
made of the item's original columns here, and hashed as the log's is. White space and Unicode
variants are folded by the hash and need no form of their own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_BRACKETS = re.compile(r"\[.*?\]")


class Form(NamedTuple):
    """Question, context and choices, as ``content_hash`` takes them."""

    question: str
    context: str
    choices: Sequence[str]


def processed_forms(item: Form, source: Mapping[str, Any]) -> Iterator[Form]:
    """Make the forms of one item, without its original one.

    Args:
        item: its question, context and choices.
        source: its original columns.
    """
    if item.context:
        yield Form(item.question, "", item.choices)
        yield Form(f"{item.context} {item.question}", "", item.choices)
    if _has_texts(source, "ctx_a", "ctx_b", "activity_label"):
        yield from _hellaswag(item, source)
    if _has_texts(source, "sentence", "option1", "option2"):
        yield from _winogrande(str(source["sentence"]), item)
    if item.choices and len(item.choices) <= len(_LETTERS):
        yield Form(item.question, item.context, tuple(_LETTERS[: len(item.choices)]))


def _has_texts(source: Mapping[str, Any], *names: str) -> bool:
    return all(isinstance(source.get(name), str) for name in names)


def _hellaswag(item: Form, source: Mapping[str, Any]) -> Iterator[Form]:
    """With and without the activity, the capital of the last part, and WikiHow's brackets."""
    label, begun, rest = (str(source[name]) for name in ("activity_label", "ctx_a", "ctx_b"))
    texts = [f"{begun} {end}" for end in (rest, rest.capitalize())]
    questions = [form for text in texts for form in (text, f"{label}: {text}")]
    plain = tuple(without_brackets(choice) for choice in item.choices)
    for question, choices in product(
        dict.fromkeys((*questions, *map(without_brackets, questions))),
        dict.fromkeys((tuple(item.choices), plain)),
    ):
        yield Form(question, "", choices)


def without_brackets(text: str) -> str:
    """Remove the marks that HellaSwag's WikiHow texts carry, as harnesses do.

    >>> without_brackets("Shelving: [header] How to [title] Measure. [step] Cut.")
    'Shelving:  How to.  Measure.  Cut.'
    """
    return _BRACKETS.sub("", text.strip().replace(" [title]", ". "))


def _winogrande(sentence: str, item: Form) -> Iterator[Form]:
    """The sentence cut at its gap: choices that end it, or two beginnings with one end."""
    yield Form(f"Sentence: {sentence.replace('_', '[BLANK]')}", "", item.choices)
    begun, gap, rest = sentence.partition("_")
    if not gap:
        return
    yield Form(begun, "", [f"{choice} {rest.strip()}" for choice in item.choices])
    yield Form(rest, "", [f"{begun}{choice}" for choice in item.choices])
