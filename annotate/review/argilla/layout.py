"""The settings of an Argilla dataset, made from a form, and what Argilla takes of them."""

from __future__ import annotations

import html
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ..fields import FIELDS, SAID
from ..form import DECISION, NOTE, Mode, Question, ReviewForm

LONGEST_NAME = 200
LONGEST_DATASET_NAME = LONGEST_NAME - 5
"""It leaves room for the version."""
LONGEST_TITLE = 500
LONGEST_DESCRIPTION = 1000
LONGEST_GUIDELINES = 10_000
FEWEST_OPTIONS = 2
MOST_LABELS = 500
MOST_RATINGS = 11
LONGEST_LABEL = 200
VECTOR = "minilm"

_TYPES = {"rating": "rating", "label": "label_selection", "labels": "multi_label_selection"}
_DECISION = {
    "name": DECISION,
    "title": "Decision",
    "description": "Argilla wants one answer in any case; only the answers above count.",
    "required": True,
    "settings": {
        "type": "label_selection",
        "options": [
            {"value": "done", "text": "done", "description": None},
            {"value": "undecidable", "text": "cannot be decided", "description": None},
        ],
    },
}
_NOTE = {"name": NOTE, "title": "Note", "required": False, "settings": {"type": "text"}}
_CUT = "\n... (whole in the guidelines)"


@dataclass(frozen=True, slots=True)
class MetadataProperty:
    """One thing that records can be filtered by."""

    name: str
    type: str
    """``terms`` or ``float``."""
    shown: bool
    """Whether reviewers see it."""


@dataclass(frozen=True, slots=True)
class Layout:
    """What a dataset is made of, as Argilla's API takes it."""

    name: str
    guidelines: str
    questions: tuple[dict[str, Any], ...]
    fields: tuple[dict[str, Any], ...]
    metadata: tuple[MetadataProperty, ...]
    dimensions: int | None
    """Of the vectors by which similar records are found; none without vectors."""


def layout_of(name: str, form: ReviewForm, mode: Mode, *, dimensions: int | None = None) -> Layout:
    """Make the settings of a dataset.

    Titles, descriptions and guidelines that are too long for Argilla are shortened: a description
    is whole in the guidelines, and guidelines leave out definitions that stand beside a question.
    """
    decides = mode == "adjudication"
    return Layout(
        name=name,
        guidelines=guidelines(form),
        questions=(*map(_question, form), *[_DECISION] * decides, _NOTE),
        fields=tuple(
            {
                "name": field.name,
                "title": field.title,
                "required": field.name == "question",
                "settings": {"type": "text", "use_markdown": False},
            }
            for field in (*FIELDS, *[SAID] * decides)
        ),
        metadata=_metadata(mode),
        dimensions=dimensions,
    )


def faults(layout: Layout) -> Iterator[str]:
    """Tell everything about the settings that Argilla would not take."""
    if not 1 <= len(layout.name) <= LONGEST_DATASET_NAME:
        told = f"{len(layout.name)} characters, of 1 to {LONGEST_DATASET_NAME}"
        yield f"the dataset's name {layout.name[:40]!r} has {told}"
    if len(layout.guidelines) > LONGEST_GUIDELINES:
        told = f"{len(layout.guidelines)} characters, of {LONGEST_GUIDELINES}"
        yield (
            f"{layout.name}: guidelines of {told} "
            "(--by-dimension makes a dataset with its own guidelines of each dimension)"
        )
    asked = [question for question in layout.questions if question not in (_NOTE, _DECISION)]
    for name in (NOTE, DECISION):
        if any(question["name"] == name for question in asked):
            yield f"an attribute is called {name!r}, as a question of the review's own is"
    if not any(question["required"] for question in layout.questions):
        yield f"{layout.name}: no question has to be answered, and Argilla wants one that has"
    for question in layout.questions:
        yield from _question_faults(question)


def guidelines(form: ReviewForm) -> str:
    """The rubric, as Argilla shows it: Markdown in which no text is taken for HTML."""
    whole = html.escape(form.guidelines, quote=False)
    return whole if len(whole) <= LONGEST_GUIDELINES else _short_guidelines(form)


def _short_guidelines(form: ReviewForm) -> str:
    """The rubric without definitions that are whole beside their question."""
    parts = [f"# {form.catalogue.catalogue}, version {form.catalogue.version}"]
    parts += [form.catalogue.scale] if form.catalogue.scale else []
    for dimension in form.catalogue.dimensions:
        asked = [question for question in form if question.dimension == dimension.id]
        parts += [f"## {dimension.title}"] if asked else []
        parts += [_shortest(question) for question in asked]
    return html.escape("\n\n".join(parts), quote=False)


def _shortest(question: Question) -> str:
    if _escaped(question.description).endswith(_CUT):
        return f"### {question.title}\n{question.description}"
    return f"**{question.title}**: {question.attribute.question}"


def _question(question: Question) -> dict[str, Any]:
    return {
        "name": question.name,
        "title": _cut(question.title, LONGEST_TITLE, "..."),
        "description": _escaped(question.description) or None,
        "required": question.required,
        "settings": {"type": _TYPES[question.kind], "options": _options(question)},
    }


def _options(question: Question) -> list[dict[str, Any]]:
    if question.kind == "rating":
        return [{"value": option.value} for option in question.options]
    return [
        {
            "value": option.name,
            "text": option.text,
            "description": _cut(option.definition, LONGEST_DESCRIPTION, "...") or None,
        }
        for option in question.options
    ]


def _escaped(text: str) -> str:
    """A description, which Argilla takes for HTML, unlike titles and labels."""
    escaped, kept = html.escape(text, quote=False), LONGEST_DESCRIPTION
    while len(escaped) > LONGEST_DESCRIPTION:
        escaped = html.escape(_cut(text, kept, _CUT), quote=False)
        kept -= 10
    return escaped


def _cut(text: str, longest: int, mark: str) -> str:
    return text if len(text) <= longest else text[: longest - len(mark)].rstrip() + mark


def _metadata(mode: Mode) -> tuple[MetadataProperty, ...]:
    tells_nothing = mode != "blind"
    return (
        MetadataProperty("benchmark", "terms", shown=True),
        MetadataProperty("subset", "terms", shown=True),
        MetadataProperty("reviewer", "terms", shown=True),
        MetadataProperty("reason", "terms", shown=tells_nothing),
        MetadataProperty("confidence", "float", shown=tells_nothing),
        MetadataProperty("disagreement", "float", shown=tells_nothing),
        MetadataProperty("content_hash", "terms", shown=False),
        MetadataProperty("catalogue", "terms", shown=False),
        MetadataProperty("meaning", "terms", shown=False),
        MetadataProperty("mode", "terms", shown=False),
        MetadataProperty("state", "terms", shown=False),
    )


def _question_faults(question: dict[str, Any]) -> Iterator[str]:
    name, settings = question["name"], question["settings"]
    if len(name) > LONGEST_NAME:
        yield f"the attribute {name[:40]!r} has an id of {len(name)} characters, of {LONGEST_NAME}"
    options = settings.get("options")
    if options is None:
        return
    most = MOST_RATINGS if settings["type"] == "rating" else MOST_LABELS
    noun = "levels" if settings["type"] == "rating" else "labels"
    if not FEWEST_OPTIONS <= len(options) <= most:
        yield f"{name} has {len(options)} {noun}, of {FEWEST_OPTIONS} to {most}"
    for option in options if noun == "labels" else ():
        label = option["value"]
        if not 1 <= len(label) <= LONGEST_LABEL:
            length = f"{len(label)} characters, of 1 to {LONGEST_LABEL}"
            yield f"{name} has the label {label[:40]!r} of {length}"
