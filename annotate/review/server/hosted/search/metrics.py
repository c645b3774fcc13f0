"""Counts that the web UI and the SDK show: progress, and what the metadata holds."""

from __future__ import annotations

from typing import Any

from argilla_server.enums import MetadataPropertyType
from argilla_server.models import Record, Response
from argilla_server.search_engine.base import (
    FloatMetadataMetrics,
    IntegerMetadataMetrics,
    TermsMetrics,
)
from sqlalchemy import func, select, true

from .json_values import Sql, elements
from .pool import sessions


async def record_counts(dataset: Any) -> dict[str, int]:
    """Records by status, and in all."""
    query = select(Record.status, func.count()).where(Record.dataset_id == dataset.id)
    return await _counts(query.group_by(Record.status))


async def response_counts(dataset: Any, user: Any) -> dict[str, int]:
    """One user's responses by status, and in all."""
    query = (
        select(Response.status, func.count())
        .join(Record, Record.id == Response.record_id)
        .where(Record.dataset_id == dataset.id, Response.user_id == user.id)
    )
    return await _counts(query.group_by(Response.status))


async def _counts(query: Sql) -> dict[str, int]:
    async with sessions() as session:
        rows = (await session.execute(query)).all()
    counts = {status.value: count for status, count in rows}
    return {"total": sum(counts.values()), **counts}


async def metadata_metrics(prop: Any) -> Any:
    """The terms of a metadata property with their counts, or its least and greatest number."""
    values = elements(Record.metadata_, prop.name)
    is_terms = prop.type == MetadataPropertyType.terms
    columns = (values.text, func.count()) if is_terms else _bounds(values.number)
    query = (
        select(*columns)
        .select_from(Record)
        .join(values.table, true())
        .where(Record.dataset_id == prop.dataset_id, values.present)
    )
    if is_terms:
        query = query.group_by(values.text).order_by(func.count().desc(), values.text)
    async with sessions() as session:
        rows = (await session.execute(query)).all()
    if is_terms:
        counts = [TermsMetrics.TermCount(term=term, count=count) for term, count in rows]
        return TermsMetrics(total=sum(count for _, count in rows), values=counts)
    low, high = rows[0]
    is_integer = prop.type == MetadataPropertyType.integer
    return (IntegerMetadataMetrics if is_integer else FloatMetadataMetrics)(min=low, max=high)


def _bounds(number: Sql) -> tuple[Sql, Sql]:
    return func.min(number), func.max(number)
