"""The item inside a log: its question, context and choices, and hashes to find it again.

Harnesses keep the columns of the source, add prepared ones, or keep only the prompt. A log cannot
say which of its texts is the item's question, so every likely form is hashed; the hashes of forms
that are wrong meet no item. The key is never read: what a harness calls a target may be anything
(for WinoGrande in lm-eval, the end of the sentence).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from ...items.cells import is_list, text_of
from ...items.record import content_hash

_QUESTIONS = (
    "question",
    "question_stem",
    "sentence",
    "ctx",
    "problem",
    "Problem",
    "goal",
    "input",
    "prompt",
    "query",
    "Question",
    "text",
)
_CONTEXTS = ("passage", "context", "activity_label", "support", "article", "story")
_SEVERAL = ("choices", "options", "endings", "mc1_targets", "mc2_targets")
_COLUMNS = (
    ("option1", "option2"),
    ("sol1", "sol2"),
    ("answerA", "answerB", "answerC"),
    ("A", "B", "C", "D"),
)
_IDS = ("item_id", "id", "question_id", "query_id", "unique_id", "uuid", "key")
_FORMS = 12
_UNFINISHED = re.compile(r"([.!?]\s+)([A-Z])([^.!?]*[^.!?\s])$")


@dataclass(frozen=True, slots=True)
class Content:
    """What a log holds of an item."""

    question: str | None = None
    context: str | None = None
    choices: tuple[str, ...] | None = None
    hashes: tuple[str, ...] | None = None
    """``content_hash`` of each likely form, the likeliest first."""
    source_id: str | None = None


NO_CONTENT = Content()


def content_of(doc: Any) -> Content:
    """Find the item in a record that keeps the columns of its source."""
    if not isinstance(doc, Mapping):
        return NO_CONTENT
    source_id = source_id_of(doc)
    questions = [doc[name] for name in _QUESTIONS if _is_text(doc.get(name))]
    if not questions:
        return Content(source_id=source_id)
    contexts = [doc[name] for name in _CONTEXTS if _is_text(doc.get(name))]
    choice_lists = list(_choice_lists(doc)) or [()]
    forms = _forms(questions, contexts, choice_lists)
    return Content(
        questions[0],
        contexts[0] if contexts else "",
        choice_lists[0],
        _hashes(forms),
        source_id,
    )


def stated_content(
    question: str,
    choices: Sequence[str],
    *,
    forms: Sequence[str] = (),
    source_id: str | None = None,
) -> Content:
    """Make content of parts that the log names; ``forms`` are other forms of the question."""
    texts = tuple(choices)
    asked = list(dict.fromkeys((*forms, question)))
    continued = [_as_continued(form) for form in asked[:1] if texts]
    hashes = _hashes((form, "", texts) for form in (*asked[: _FORMS - 1], *continued))
    return Content(question, "", texts, hashes, source_id)


def _as_continued(text: str) -> str:
    """Undo the capital of an unfinished last sentence, which harnesses give HellaSwag's contexts.

    >>> _as_continued("Cooking: A man cuts. Then he"), _as_continued("It is done.")
    ('Cooking: A man cuts. then he', 'It is done.')
    """
    return _UNFINISHED.sub(lambda end: end[1] + end[2].lower() + end[3], text)


def source_id_of(doc: Any) -> str | None:
    """Read the id that an item carries inside it, if it carries one."""
    if not isinstance(doc, Mapping):
        return None
    named = (doc[name] for name in _IDS if isinstance(doc.get(name), str | int))
    return next((text_of(value) for value in named if text_of(value).strip()), None)


_Form = tuple[str, str, Sequence[str]]


def _forms(
    questions: Sequence[str], contexts: Sequence[str], choice_lists: Sequence[Sequence[str]]
) -> Iterator[_Form]:
    for choices in choice_lists:
        for question in questions:
            for context in contexts:
                yield question, context, choices
            yield question, "", choices
            for context in contexts:
                yield f"{context}: {question}", "", choices


def _hashes(forms: Iterator[_Form]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(content_hash(*form) for form in islice(forms, _FORMS)))


def _choice_lists(doc: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    for name in _SEVERAL:
        value: Any = doc.get(name)
        if isinstance(value, Mapping):
            value = value.get("text", value.get("choices"))
        if is_list(value) and len(value) > 1 and all(isinstance(part, str) for part in value):
            yield tuple(value)
    for names in _COLUMNS:
        if all(_is_text(doc.get(name)) for name in names):
            yield tuple(doc[name] for name in names)


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())
