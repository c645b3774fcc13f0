"""A case as an Argilla record."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ..case import Case, Suggestion
from ..fields import escaped_fields
from ..form import Mode, Question, ReviewForm

LONGEST_AGENT = 200
_AGENT = re.compile(r"[^a-zA-Z0-9_:./ -]")
_LATER = re.compile(r"@[0-9a-f]{12}\Z")
_PEOPLE = ("human", "adjudicator")


@dataclass(frozen=True, slots=True)
class Terms:
    """What a response to a record is an answer to, besides the item's id."""

    content_hash: str
    """The item's text."""
    meaning: str
    """What the questions mean; titles are no part of it."""


@dataclass(frozen=True, slots=True)
class Record:
    """What is sent of a case; question names stand for their ids."""

    item_id: str
    terms: Terms
    fields: Mapping[str, str]
    metadata: Mapping[str, Any]
    """Without ``state``."""
    suggestions: Mapping[str, Mapping[str, Any]]
    """By question."""

    @property
    def later_id(self) -> str:
        """The id beside an older record of the item, which people have answered."""
        return f"{self.item_id}@{_digest([self.terms.content_hash, self.terms.meaning])[:12]}"

    def state(self, *, vector: bool) -> str:
        """Identify everything that is sent; the catalogue counts by its meaning alone.

        With a vector, the state is that without one followed by ``v``.
        """
        metadata = {name: value for name, value in self.metadata.items() if name != "catalogue"}
        return _digest([self.fields, metadata, self.suggestions]) + "v" * vector


def item_id_of(external_id: str) -> str:
    """The item that a record is about.

    >>> item_id_of("mmlu/law/3"), item_id_of("mmlu/law/3@0123456789ab")
    ('mmlu/law/3', 'mmlu/law/3')
    """
    return _LATER.sub("", external_id)


def meaning_of(form: ReviewForm) -> str:
    """Identify what the questions of a form mean: 16 hexadecimal digits."""
    arrangement = {"title": "", "aspect": ""}
    plain = [question.attribute.model_copy(update=arrangement) for question in form]
    return _digest([attribute.model_dump(by_alias=True) for attribute in plain])


def record_of(case: Case, form: ReviewForm, mode: Mode, meaning: str) -> Record:
    """Make the record of a case.

    Args:
        case: The case.
        form: What is asked.
        mode: How.
        meaning: ``meaning_of(form)``.
    """
    asked = {question.name: question for question in form.asked_of(case.kind)}
    shown = {} if mode == "blind" else case.suggestions
    suggestions = {
        name: wire
        for name, question in asked.items()
        if name in shown and (wire := _suggestion(question, shown[name])) is not None
    }
    metadata: dict[str, Any] = {
        "benchmark": case.benchmark,
        "subset": case.subset,
        "reason": list(case.reasons),
        "reviewer": list(case.reviewers),
        "confidence": _number(case.confidence),
        "disagreement": _number(case.disagreement),
        "content_hash": case.content_hash,
        "catalogue": form.catalogue_hash,
        "meaning": meaning,
        "mode": mode,
    }
    return Record(
        item_id=case.item_id,
        terms=Terms(case.content_hash, meaning),
        fields=escaped_fields(case),
        metadata={name: value for name, value in metadata.items() if value not in (None, "", [])},
        suggestions=suggestions,
    )


def record_faults(record: Record) -> Iterator[str]:
    """Tell everything about a record that Argilla would not take, or that could not be read."""
    if _LATER.search(record.item_id):
        yield f"{record.item_id} ends like an id that push gives"
    for name, suggestion in record.suggestions.items():
        scores = suggestion.get("score")
        listed = scores if isinstance(scores, list) else [scores]
        if any(score is not None and not 0 <= score <= 1 for score in listed):
            yield f"{record.item_id}: {name} has the confidence {scores!r}, of 0 to 1"


def _suggestion(question: Question, suggestion: Suggestion) -> dict[str, Any] | None:
    """A suggestion on the wire; none for an empty list of labels, which Argilla cannot show."""
    value = question.wire(suggestion.value)
    if value == []:
        return None
    confidence = suggestion.confidence
    several = [confidence] * len(value) if isinstance(value, list) else confidence
    return {
        "value": value,
        "score": None if confidence is None else several,
        "agent": agent_name(suggestion.agent),
        "type": "human" if suggestion.agent.startswith(_PEOPLE) else "model",
    }


def agent_name(annotator: str) -> str:
    """An annotator's name with the signs that Argilla allows.

    >>> agent_name("llm:main#2")
    'llm:main-2'
    """
    name = _AGENT.sub("-", annotator)[:LONGEST_AGENT]
    return name if re.search("[a-zA-Z0-9]", name) else f"annotator {name}"[:LONGEST_AGENT]


def _number(value: float | None) -> float | None:
    return None if value is None else float(value)


def _digest(content: object) -> str:
    text = json.dumps(content, sort_keys=True)
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()
