"""The order of what a search finds, as SQL."""

from __future__ import annotations

from typing import Any

from argilla_server.enums import SortOrder
from argilla_server.models import Question, Record, Response, Suggestion
from argilla_server.search_engine.base import (
    MetadataFilterScope,
    RecordFilterScope,
    SuggestionFilterScope,
)
from sqlalchemy import String, cast, func, select
from sqlalchemy.orm import aliased

from .filters import JSON_PROPERTIES, plain, suggestion_property
from .json_values import Elements, Sql, elements
from .pool import POSTGRESQL


def ordering(sort: list[Any] | None, user_id: object) -> list[Sql]:
    """The clauses of an ORDER BY; what has no value stands last in either direction.

    Where no order is asked for, each user sees an own one that looks random and stays the same,
    so that reviewers who work at once do not all take the same records.
    """
    clauses = [clause for wanted in sort or [] for clause in _clauses(wanted)]
    if not clauses and user_id:
        clauses = [func.md5(plain(Record.id).concat(str(user_id)))]
    return [*clauses, Record.inserted_at, Record.id]


def _clauses(wanted: Any) -> list[Sql]:
    descending = wanted.order == SortOrder.desc
    clauses = []
    for expression in _expressions(wanted.scope, descending=descending):
        way = expression.desc() if descending else expression.asc()
        clauses += [expression.is_(None), way]
    return clauses


def _expressions(scope: Any, *, descending: bool) -> list[Sql]:
    match scope:
        case RecordFilterScope():
            return [_of_record(str(scope.property))]
        case MetadataFilterScope():
            values = elements(Record.metadata_, scope.metadata_property)
            return _both(values, descending=descending)
        case SuggestionFilterScope():
            return _of_suggestion(scope, descending=descending)
    return [_of_response(scope)]


def _of_record(name: str) -> Sql:
    column = getattr(Record, name)
    if name in {"id", "status"}:
        return plain(column)
    return _by_code_point(column) if name == "external_id" else column


def _of_suggestion(scope: Any, *, descending: bool) -> list[Sql]:
    suggestion, question = aliased(Suggestion), aliased(Question)
    name = suggestion_property(scope)
    column = getattr(suggestion, name)
    if name in JSON_PROPERTIES:
        wanted = _both(elements(column), descending=descending)
    else:
        wanted = [_by_code_point(cast(column, String))]
    return [
        select(expression)
        .where(
            suggestion.record_id == Record.id,
            question.id == suggestion.question_id,
            question.name == scope.question,
        )
        .correlate(Record)
        .limit(1)
        .scalar_subquery()
        for expression in wanted
    ]


def _of_response(scope: Any) -> Sql:
    """The average of a question's responses where they are numbers, else the first status."""
    response = aliased(Response)
    wanted: Sql = func.min(cast(response.status, String))
    query = select(wanted)
    if scope.question:
        values = elements(response.values, scope.question, "value")
        query = select(func.avg(values.first(values.number, descending=False)))
    query = query.where(response.record_id == Record.id)
    if scope.user:
        query = query.where(response.user_id == scope.user.id)
    return query.correlate(Record).scalar_subquery()


def _both(values: Elements, *, descending: bool) -> list[Sql]:
    """Numbers before texts; of a list, its least when ascending and its greatest otherwise."""
    ways = (values.number, values.text)
    return [values.first(way, descending=descending) for way in ways]


def _by_code_point(column: Sql) -> Sql:
    return column.collate("C") if POSTGRESQL else column
