"""A response: what one person said about one item, wherever it was said."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import Literal

from ...prompts.catalogue import Value
from .form import Mode, Question

ResponseStatus = Literal["submitted", "draft", "discarded"]
Via = Literal["argilla", "page", "sheet"]


@dataclass(frozen=True, slots=True)
class Response:
    """What one person said about one item."""

    item_id: str
    content_hash: str
    """Of the text that the person saw."""
    user: str
    status: ResponseStatus
    values: Mapping[str, Value]
    """By attribute, as ``Question.read`` gives them; may be empty, also when discarded."""
    note: str
    time: str
    """Of the last change: ISO 8601, UTC, with microseconds (see ``in_utc``)."""
    via: Via
    mode: Mode
    dataset: str
    """The dataset's name, or that of the page or the sheet."""
    suggested: Mapping[str, Value]
    """What the person saw filled in; an attribute of which that is not known is absent."""
    raw: str
    """The JSON of the response as it came."""
    dimension: str = ""
    """The only dimension that was asked; empty when all were."""
    invalid: Mapping[str, str] = field(default_factory=dict)
    """Why an answer is no value, by attribute."""
    kind: str = ""
    """The item's kind, which decides what was asked; empty when it is not known."""
    record: str = ""
    """What it is an answer to, where the item is there more than once; the item when empty."""

    @property
    def annotator(self) -> str:
        """Who says so, as the ledger has it: ``human:<user>`` or ``adjudicator:<user>``."""
        kind = "adjudicator" if self.mode == "adjudication" else "human"
        return f"{kind}:{self.user}"

    @property
    def body(self) -> str:
        """All of it as JSON."""
        return json.dumps(asdict(self))

    @classmethod
    def from_body(cls, body: str) -> Response:
        """Read what ``body`` wrote."""
        return cls(**json.loads(body))


def read_answers(
    questions: Iterable[Question], answers: Mapping[str, object]
) -> tuple[dict[str, Value], dict[str, str]]:
    """Read the wire values of a response.

    Args:
        questions: What was asked.
        answers: Wire values by the question's name; what is no question is passed over.

    Returns:
        The values by attribute; and for each answer that is none, why.
    """
    values: dict[str, Value] = {}
    invalid: dict[str, str] = {}
    for question in questions:
        if question.name in answers:
            try:
                values[question.name] = question.read(answers[question.name])
            except ValueError as error:
                invalid[question.name] = str(error)
    return values, invalid


def in_utc(time: str) -> str:
    """Write a time as the ledger has it; one without a zone is in UTC.

    Raises:
        ValueError: it is no ISO 8601 time.

    >>> in_utc("2026-11-29T10:00:00"), in_utc("2026-11-29T11:00:00.5+01:00")
    ('2026-11-29T10:00:00.000000+00:00', '2026-11-29T10:00:00.500000+00:00')
    """
    moment = datetime.fromisoformat(time)
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return aware.astimezone(UTC).isoformat(timespec="microseconds")
