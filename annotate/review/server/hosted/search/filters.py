"""Filters of a search, as SQL conditions over the server's own tables."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from typing import Any

from argilla_server.enums import ResponseStatus
from argilla_server.models import Question, Record, Response, Suggestion
from argilla_server.search_engine.base import (
    AndFilter,
    MetadataFilterScope,
    RecordFilterScope,
    ResponseFilterScope,
    SuggestionFilterScope,
    TermsFilter,
)
from sqlalchemy import String, and_, cast, exists, func, not_, or_, select, true
from sqlalchemy.orm import aliased

from .json_values import Elements, Sql, elements, within

DATES = {"inserted_at", "updated_at"}
JSON_PROPERTIES = {"value", "score"}
"""Properties of a suggestion that are JSON: single values or lists."""


def condition(wanted: Any) -> Sql:
    """The condition of one filter, or of several that all must hold.

    Raises:
        ValueError: a scope that Argilla 2.8 does not have.
    """
    if isinstance(wanted, AndFilter):
        return and_(true(), *(condition(part) for part in wanted.filters))
    match wanted.scope:
        case RecordFilterScope():
            return _of_record(wanted)
        case MetadataFilterScope():
            return _in_json(elements(Record.metadata_, wanted.scope.metadata_property), wanted)
        case SuggestionFilterScope():
            return _of_suggestion(wanted)
        case ResponseFilterScope():
            return _of_response(wanted)
    raise ValueError(f"the filter {wanted!r} has a scope that is not known")


def plain(column: Sql) -> Sql:
    """An id or a status as text that is the same in each database."""
    return func.replace(cast(column, String), "-", "")


def suggestion_property(scope: Any) -> str:
    """The property of a suggestion that a scope means; its value when none is named."""
    return "value" if scope.property in {None, "None"} else str(scope.property)


def _of_record(wanted: Any) -> Sql:
    name = str(wanted.scope.property)
    column = getattr(Record, name)
    if name in DATES:
        return _in_column(column, wanted, _date)
    if name == "external_id":
        return _in_column(column, wanted, str)
    return _in_column(plain(column), wanted, _plain_text)


def _of_suggestion(wanted: Any) -> Sql:
    suggestion, question = aliased(Suggestion), aliased(Question)
    name = suggestion_property(wanted.scope)
    column = getattr(suggestion, name)
    if name in JSON_PROPERTIES:
        test = _in_json(elements(column), wanted)
    else:
        test = _in_column(cast(column, String), wanted, str)
    return exists(
        select(1)
        .where(
            suggestion.record_id == Record.id,
            question.id == suggestion.question_id,
            question.name == wanted.scope.question,
            test,
        )
        .correlate(Record)
    )


def _of_response(wanted: Any) -> Sql:
    response = aliased(Response)
    given = select(1).where(response.record_id == Record.id)
    if wanted.scope.user:
        given = given.where(response.user_id == wanted.scope.user.id)
    if wanted.scope.question:
        values = elements(response.values, wanted.scope.question, "value")
        return exists(given.where(_in_json(values, wanted)).correlate(Record))
    if wanted.scope.property != "status" or not isinstance(wanted, TermsFilter):
        raise ValueError(f"the filter {wanted!r} has a scope that is not known")
    tests = [not_(exists(given.correlate(Record)))] if "pending" in wanted.values else []
    statuses = [ResponseStatus(v) for v in wanted.values if v in ResponseStatus.__members__]
    if statuses:
        tests.append(exists(given.where(response.status.in_(statuses)).correlate(Record)))
    return or_(*tests)


def _in_json(values: Elements, wanted: Any) -> Sql:
    if isinstance(wanted, TermsFilter):
        return values.any_of([str(value) for value in wanted.values])
    return values.between(wanted.ge, wanted.le)


def _in_column(column: Sql, wanted: Any, read: Callable[[object], object]) -> Sql:
    if isinstance(wanted, TermsFilter):
        values = [value for value in map(read, wanted.values) if value is not None]
        return column.in_(values)
    return within(column, wanted.ge, wanted.le, read)


def _plain_text(value: object) -> str:
    return str(value).replace("-", "").lower()


def _date(value: object) -> datetime.datetime | None:
    """Read a date as the database holds it: in UTC, without saying so."""
    try:
        if isinstance(value, float):
            moment = datetime.datetime.fromtimestamp(value / 1000, datetime.UTC)
        else:
            moment = datetime.datetime.fromisoformat(str(value))
    except (ValueError, OverflowError, OSError):
        return None
    return moment.astimezone(datetime.UTC).replace(tzinfo=None) if moment.tzinfo else moment
