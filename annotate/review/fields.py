"""An item as a person reads it: named pieces of plain text."""

from __future__ import annotations

import html
from dataclasses import dataclass

from ...prompts.messages import letters, visible
from .case import Case

KEY = "✔"
"""Stands before the option that is the key."""
_NO_KEY = "\u2003"
"""As wide as the sign."""


@dataclass(frozen=True, slots=True)
class Field:
    """One piece of an item."""

    name: str
    title: str


FIELDS = (
    Field("benchmark", "Benchmark"),
    Field("context", "Context"),
    Field("question", "Question"),
    Field("choices", f"Choices ({KEY} is the key)"),
    Field("answer", "Reference answer"),
)
"""In the order in which they are shown; ``question`` is always there."""
SAID = Field("said", "What annotators said")
"""Shown after them where somebody decides between annotators."""


def readable_fields(case: Case) -> dict[str, str]:
    """Write an item as plain text, field by field; a field that would be empty is left out."""
    texts = {
        "benchmark": " / ".join(part for part in (case.benchmark, case.subset) if part),
        "context": case.context,
        "question": case.question,
        "choices": _choices(case),
        "answer": _answer(case),
        SAID.name: case.said,
    }
    shown = {name: visible(text) for name, text in texts.items()}
    return {name: text for name, text in shown.items() if text.strip() or name == "question"}


def escaped_fields(case: Case) -> dict[str, str]:
    """The same for a reader that takes text for HTML, as Argilla's does."""
    fields = readable_fields(case)
    return {name: html.escape(text, quote=False) for name, text in fields.items()}


def _choices(case: Case) -> str:
    lines = zip(letters(), case.choices, strict=False)
    return "\n".join(
        f"{KEY if place == case.answer_index else _NO_KEY} {letter}. {choice}"
        for place, (letter, choice) in enumerate(lines)
    )


def _answer(case: Case) -> str:
    """What the choices do not show."""
    return "" if case.choices and case.answer_index is not None else case.answer_text or ""
