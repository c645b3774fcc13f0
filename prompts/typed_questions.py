"""The questions of a decisions endpoint, built from the catalogue.

Such an endpoint answers typed questions with probabilities in place of writing text: a ``score``
over ordered levels, a ``choice`` among values, a ``predicate`` that is true or not.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .catalogue import NONE_LABEL, Attribute

Question = dict[str, Any]

MOST_QUESTIONS = 400
MOST_CHOICES = 255


def typed_questions(attributes: Sequence[Attribute]) -> tuple[Question, ...]:
    """Build the questions about one item of which these attributes are asked.

    A level is a score, a label a choice, a truth value a predicate; several labels are a predicate
    each, named ``attribute-0``, ``attribute-1``, ... in the catalogue's order, without the label
    that says that no other applies.

    Returns:
        The questions; none when they are more, or have more values, than an endpoint takes.

    >>> from .library import load_catalogue
    >>> core = load_catalogue("core")
    >>> [question["type"] for question in typed_questions([core["clarity"], core["task_kind"]])]
    ['score', 'choice']
    """
    questions = [question for attribute in attributes for question in _questions(attribute)]
    several = [question.get("choices") or question.get("levels") for question in questions]
    fits = all(2 <= len(values) <= MOST_CHOICES for values in several if values)
    return tuple(questions) if fits and len(questions) <= MOST_QUESTIONS else ()


def predicate_labels(attribute: Attribute) -> dict[str, str]:
    """The labels of an attribute with several that are asked one by one, by their question."""
    labels = [str(label) for label in attribute.values if label != NONE_LABEL]
    return {f"{attribute.id}-{place}": label for place, label in enumerate(labels)}


def _questions(attribute: Attribute) -> list[Question]:
    asked = " ".join(part for part in (attribute.question, attribute.not_) if part)
    named = {"name": attribute.id, "instructions": asked}
    match attribute.type:
        case "boolean":
            return [{"type": "predicate", **named}]
        case "level":
            levels = [_described("label", level, attribute) for level in attribute.levels]
            return [{"type": "score", **named, "levels": levels}]
        case "label":
            choices = [_described("value", label, attribute) for label in attribute.values]
            return [{"type": "choice", **named, "choices": choices}]
        case "labels":
            return [
                {"type": "predicate", "name": name, "instructions": _applies(asked, label, meaning)}
                for name, label in predicate_labels(attribute).items()
                for meaning in [attribute.values[label]]
            ]


def _described(key: str, value: object, attribute: Attribute) -> dict[str, str]:
    text = attribute.values[value]  # type: ignore[index]
    return {key: str(value)} | ({"description": text} if text else {})


def _applies(asked: str, label: str, meaning: str) -> str:
    """Ask whether one label is among those that apply."""
    return f"{asked} This one applies: {label}{f' ({meaning})' if meaning else ''}."
