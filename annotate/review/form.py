"""What a reviewer is asked: one question an attribute, and how its answer is written and read.

An answer travels as a wire value: a level as a number, a label or a truth value as text, labels as
a list of texts. Reading one is strict: nothing is clamped and nothing is guessed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from ...prompts.catalogue import NONE_LABEL, Attribute, AttributeType, Catalogue, Value
from ...records.errors import InputError, suggestion

Mode = Literal["seen", "blind", "adjudication"]
"""How the reviewer is asked: with suggestions, without, or to decide between annotators."""
QuestionKind = Literal["rating", "label", "labels"]
NOTE = "note"
"""The name of the free-text question, which may be left open."""
DECISION = "decision"
"""The name of the question by which an adjudication is ended; its answer is no value."""

_KINDS: dict[AttributeType, QuestionKind] = {
    "level": "rating",
    "label": "label",
    "labels": "labels",
    "boolean": "label",
}


@dataclass(frozen=True, slots=True)
class Option:
    """One answer that may be chosen."""

    value: int | str | bool
    """As the catalogue has it."""
    name: str
    """As it is written: ``0``, ``true``, the label."""
    text: str
    """For people."""
    definition: str = ""
    """What it means; may be empty."""


@dataclass(frozen=True)
class Question:
    """One attribute as a question to a person."""

    attribute: Attribute
    dimension: str
    """The dimension's id."""
    kind: QuestionKind
    options: tuple[Option, ...]
    required: bool
    """Whether a response without it cannot be submitted."""

    @property
    def name(self) -> str:
        """The attribute's id."""
        return self.attribute.id

    @property
    def title(self) -> str:
        """For people."""
        return self.attribute.name

    @property
    def description(self) -> str:
        """The rubric as plain text: what is asked, what is not meant, and every value."""
        about = [self.attribute.question, self.attribute.not_, self.applies_to]
        defined = [f"{o.text}: {o.definition}" for o in self.options if o.definition]
        return "\n".join(line for line in (*about, *defined) if line)

    @property
    def applies_to(self) -> str:
        """Of which items alone it is asked, in words; empty when of all."""
        kind = self.attribute.applies_to
        return f"Only for {kind.replace('_', '-')} items; leave it open for others." if kind else ""

    def read(self, raw: object) -> Value:
        """Read a wire value.

        Raises:
            ValueError: it is no value of the attribute; the message says why.
        """
        if self.kind == "labels":
            return self._read_labels(raw)
        if self.kind == "rating" and type(raw) is not int:
            raise ValueError(f"{_short(raw)} is no level from 0 to {len(self.options) - 1}")
        return self._option(str(raw) if self.kind == "rating" else raw).value

    def wire(self, value: Value) -> int | str | list[str]:
        """Write a value as it travels."""
        if isinstance(value, list):
            return list(value)
        if isinstance(value, bool):
            return "true" if value else "false"
        return value

    def _read_labels(self, raw: object) -> list[str]:
        if not isinstance(raw, list):
            raise ValueError(f"{_short(raw)} is no list of labels")
        given = [self._option(label).name for label in raw]
        if not given and NONE_LABEL in self._by_name:
            raise ValueError(f"no label, where {NONE_LABEL!r} says that none applies")
        if len(set(given)) < len(given):
            raise ValueError(f"{_short(raw)} has a label twice")
        if NONE_LABEL in given and len(given) > 1:
            raise ValueError(f"{NONE_LABEL!r} together with other labels")
        return [option.name for option in self.options if option.name in given]

    def _option(self, name: object) -> Option:
        found = self._by_name.get(name) if isinstance(name, str) else None
        if found is None:
            raise ValueError(f"{_short(name)} is none of {', '.join(self._by_name)}")
        return found

    @cached_property
    def _by_name(self) -> dict[str, Option]:
        return {option.name: option for option in self.options}


@dataclass(frozen=True)
class ReviewForm:
    """All that is asked about an item."""

    catalogue: Catalogue
    questions: tuple[Question, ...]
    dimension: str = ""
    """The only dimension that is asked; empty when all are."""

    def __iter__(self) -> Iterator[Question]:
        return iter(self.questions)

    def __getitem__(self, attribute: str) -> Question:
        return next(question for question in self.questions if question.name == attribute)

    @property
    def guidelines(self) -> str:
        """The rubric of everything that is asked, as plain text with Markdown headings."""
        about = self.catalogue
        parts = [f"# {about.catalogue}, version {about.version}"]
        parts += [about.scale] if about.scale else []
        for dimension in about.dimensions:
            asked = [q for q in self.questions if q.dimension == dimension.id]
            parts += [f"## {dimension.title}"] if asked else []
            parts += [f"### {question.title}\n{question.description}" for question in asked]
        return "\n\n".join(parts)

    @cached_property
    def catalogue_hash(self) -> str:
        """Identifies the catalogue by its content."""
        return self.catalogue.hash

    def asked_of(self, kind: str) -> list[Question]:
        """The questions that an item of this kind is asked."""
        return [question for question in self.questions if question.attribute.asks(kind)]


def form_of(
    catalogue: Catalogue, attributes: Collection[str] | None = None, dimension: str | None = None
) -> ReviewForm:
    """Make the form of a catalogue.

    Args:
        catalogue: The criteria.
        attributes: The only attributes that are asked; all when none.
        dimension: The only dimension that is asked; all when none or empty.

    Raises:
        InputError: the catalogue has no such attribute or dimension, or nothing is left to ask.
    """
    _check_known(attributes or (), {a.id for a in catalogue}, "attribute", catalogue)
    _check_known([dimension] * bool(dimension), {d.id for d in catalogue.dimensions},
                 "dimension", catalogue)  # fmt: skip
    questions = tuple(
        _question(attribute, part.id)
        for part in catalogue.dimensions
        if not dimension or part.id == dimension
        for attribute in part.attributes
        if attributes is None or attribute.id in attributes
    )
    if not questions:
        raise InputError(
            "no attribute is asked",
            wanted="at least one",
            mend="name attributes of the dimension, or none for all",
        )
    return ReviewForm(catalogue, questions, dimension or "")


def forms_by_dimension(
    catalogue: Catalogue, attributes: Collection[str] | None = None
) -> list[ReviewForm]:
    """Make one form a dimension, for those that have something to ask."""
    whole = form_of(catalogue, attributes)
    asked = [d.id for d in catalogue.dimensions if any(q.dimension == d.id for q in whole)]
    return [form_of(catalogue, attributes, dimension) for dimension in asked]


def _check_known(
    names: Collection[str | None], known: Collection[str], noun: str, catalogue: Catalogue
) -> None:
    for name in names:
        if name is not None and name not in known:
            raise InputError(
                f"no {noun} {name!r} in the catalogue {catalogue.catalogue!r}",
                wanted=f"one of its {noun}s",
                mend=suggestion(name, known),
            )


def _question(attribute: Attribute, dimension: str) -> Question:
    options = [_option(attribute, value, text) for value, text in attribute.values.items()]
    may_be_empty = attribute.type == "labels" and NONE_LABEL not in attribute.values
    return Question(
        attribute=attribute,
        dimension=dimension,
        kind=_KINDS[attribute.type],
        options=tuple(options),
        required=attribute.applies_to is None and not may_be_empty,
    )


def _option(attribute: Attribute, value: int | str | bool, definition: str) -> Option:
    if attribute.type == "boolean":
        return Option(value, "true" if value else "false", definition)
    name = str(value)
    return Option(value, name, name.replace("_", " "), definition)


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
