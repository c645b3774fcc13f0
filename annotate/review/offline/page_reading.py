"""Answers that a page saved: JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Literal

from pydantic import ValidationError

from ....records.documents import StrictModel
from ....records.errors import InputError
from ..form import form_of
from ..responses import ResponseStatus
from .handout import FORMAT, VERSION
from .returned import Given, Known, Returned, check_name

_WANTED = {
    "string_type": "text",
    "int_type": "a whole number",
    "list_type": "a list",
    "dict_type": "a mapping of names to values",
}


class _Answers(StrictModel):
    """The file."""

    format: Literal["benchprism-review"]
    version: int
    page: str
    project: str
    catalogue: str
    """Its hash."""
    dimension: str
    questions: list[str]
    """The attributes that were asked."""
    reviewer: str
    responses: list[Any]


class _Answer(StrictModel):
    """One response."""

    item_id: str
    content_hash: str
    mode: Literal["seen", "blind"]
    status: ResponseStatus
    values: dict[str, Any]
    note: str
    time: str
    suggested: dict[str, Any]


def read_page(path: Path, text: str, known: Known, reviewer: str | None) -> Returned:
    """Read the answers that a page saved.

    Args:
        path: The file, for what is told.
        text: Its content.
        known: What the answers have to fit.
        reviewer: Who gave them, in place of the file's own name.

    Raises:
        InputError: the file is cut off, no file of answers, or another project's.
    """
    answers = _answers(path, text)
    catalogue = known.catalogue(path, answers.project, answers.catalogue)
    form = form_of(catalogue, answers.questions, answers.dimension)
    user = _user(path, reviewer or answers.reviewer)
    returned = Returned(path, "page", answers.page, form, known)
    for number, raw in enumerate(answers.responses, 1):
        try:
            answer = _Answer.model_validate(raw)
        except ValidationError as error:
            returned.fault(f"response {number}", _first(error))
            continue
        given = Given(
            place=f"response {number}",
            user=user,
            answers=answer.values,
            raw=json.dumps(raw, ensure_ascii=False),
            **answer.model_dump(exclude={"values"}),
        )
        returned.take(given)
    return returned


def _user(path: Path, name: str) -> str:
    try:
        check_name(name)
    except ValueError as error:
        raise InputError(
            f"{path}: {error}", wanted="the name of a person", mend="give it with --reviewer"
        ) from error
    return name


def _answers(path: Path, text: str) -> _Answers:
    again = "save the answers from the page again"
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(
            f"{path} is damaged or cut off ({error})", wanted="whole JSON", mend=again
        ) from error
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise InputError(
            f"{path} holds no answers", wanted="a file that a review page saved", mend=again
        )
    if content.get("version") != VERSION:
        raise InputError(
            f"{path} has version {content.get('version')!r} of the answers",
            wanted=f"version {VERSION}",
            mend="use the benchprism that made the page",
        )
    try:
        return _Answers.model_validate(content)
    except ValidationError as error:
        raise InputError(f"{path}: {_first(error)}", wanted="it as saved", mend=again) from error


def _first(error: ValidationError) -> str:
    first = error.errors(include_url=False)[0]
    place, given = ".".join(map(str, first["loc"])), f"{first['input']!r:.60}"
    match first["type"]:
        case _ if not place:
            return f"{given} is no response"
        case "missing":
            return f"{place!r} is missing"
        case "extra_forbidden":
            return f"the unknown key {place!r}"
        case "literal_error":
            return f"{place}: {given}, wanted {first['ctx']['expected']}"
        case kind:
            return f"{place}: {given}, wanted {_WANTED.get(kind, 'it as saved')}"
