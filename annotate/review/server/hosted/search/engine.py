"""A search engine for Argilla that keeps no index: it asks the server's own database.

Records, suggestions, responses and vectors already lie there, so what a search finds is never out
of date, nothing has to be indexed again, and no Elasticsearch is needed. It registers through
Argilla's public hook under the name ``database``.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from argilla_server.enums import SimilarityOrder
from argilla_server.models import Record, Vector
from argilla_server.search_engine import SearchEngine
from argilla_server.search_engine.base import SearchResponseItem, SearchResponses
from sqlalchemy import func, literal, select

from .filters import condition
from .json_values import Sql
from .metrics import metadata_metrics, record_counts, response_counts
from .ordering import ordering
from .pool import database, sessions
from .similarity import nearest, target_vector
from .text_search import TextSearch

NAME = "database"
_ROWS_AT_ONCE = 500


@SearchEngine.register(engine_name=NAME)
class DatabaseSearchEngine(SearchEngine):
    """Answers every search with one query over the server's tables."""

    @classmethod
    async def new_instance(cls) -> DatabaseSearchEngine:
        """An engine; all share one pool of connections."""
        return cls()

    async def close(self) -> None:
        """Nothing to close: the pool outlives the request."""

    async def ping(self) -> bool:
        """Tell whether the database answers."""
        async with sessions() as session:
            return bool(await session.scalar(select(literal(1))) == 1)

    async def info(self) -> dict[str, Any]:
        """What ``/api/v1/status`` shows."""
        return {"name": NAME, "version": {"distribution": database.dialect.name}}

    async def _nothing(self, *_: Any, **__: Any) -> None:
        """There is no index that could change."""

    create_index = delete_index = _nothing
    configure_metadata_property = configure_index_vectors = _nothing
    index_records = partial_record_update = delete_records = _nothing
    update_record_response = delete_record_response = _nothing
    update_record_suggestion = delete_record_suggestion = _nothing

    async def get_dataset_progress(self, dataset: Any) -> dict[str, int]:
        """Records by status."""
        return {} if dataset.is_draft else await record_counts(dataset)

    async def get_dataset_user_progress(self, dataset: Any, user: Any) -> dict[str, int]:
        """One user's responses by status."""
        return {} if dataset.is_draft else await response_counts(dataset, user)

    async def compute_metrics_for(self, metadata_property: Any) -> Any:
        """Terms with their counts, or the least and the greatest number."""
        return await metadata_metrics(metadata_property)

    async def search(
        self,
        dataset: Any,
        query: Any = None,
        filter: Any = None,  # noqa: A002  Argilla calls by this name
        sort: list[Any] | None = None,
        offset: int = 0,
        limit: int = 100,
        user_id: Any = None,
    ) -> SearchResponses:
        """One page of the records that fit, in order, and how many fit in all."""
        order = ordering(sort, user_id)
        if query:
            wanted = TextSearch(query)
            fitting = select(Record.id, Record.fields).where(*_conditions(dataset, filter, wanted))
            ids = [row[0] async for row in _rows(fitting.order_by(*order), wanted)]
            return _page(ids[offset : offset + limit], total=len(ids))
        fitting = select(Record.id).where(*_conditions(dataset, filter))
        page = fitting.order_by(*order).offset(offset).limit(limit)
        async with sessions() as session:
            total = await session.scalar(select(func.count()).select_from(fitting.subquery()))
            ids = (await session.scalars(page)).all() if offset < total else []
        return _page(ids, total=total)

    async def similarity_search(
        self,
        dataset: Any,
        vector_settings: Any,
        value: list[float] | None = None,
        record: Any = None,
        query: Any = None,
        filter: Any = None,  # noqa: A002  Argilla calls by this name
        max_results: int = 100,
        order: Any = SimilarityOrder.most_similar,
        threshold: float | None = None,
    ) -> SearchResponses:
        """The records that fit whose vectors are the most, or the least, similar."""
        target = target_vector(vector_settings, value, record)
        wanted = TextSearch(query) if query else None
        columns = [Record.id, Record.fields] if wanted else [Record.id]
        fitting = (
            select(*columns, Vector.value)
            .join(Vector, Vector.record_id == Record.id)
            .where(Vector.vector_settings_id == vector_settings.id)
            .where(*_conditions(dataset, filter, wanted))
            .order_by(Record.inserted_at, Record.id)
        )
        if record is not None:
            fitting = fitting.where(Record.id != record.id)
        found = [(row[0], row[-1]) async for row in _rows(fitting, wanted)]
        return nearest(found, target, order=order, most=max_results, threshold=threshold)


def _conditions(dataset: Any, wanted: Any, text: TextSearch | None = None) -> list[Sql]:
    conditions: list[Sql] = [Record.dataset_id == dataset.id]
    if wanted:
        conditions.append(condition(wanted))
    if text:
        conditions.append(text.condition)
    return conditions


async def _rows(query: Sql, text: TextSearch | None) -> AsyncIterator[Any]:
    """Rows of the query that the text search lets through; the fields stand second."""
    async with sessions() as session:
        stream = await session.stream(query.execution_options(yield_per=_ROWS_AT_ONCE))
        async for row in stream:
            if text is None or text.matches(row[1]):
                yield row


def _page(ids: Any, *, total: int) -> SearchResponses:
    items = [SearchResponseItem(record_id=record_id, score=1.0) for record_id in ids]
    return SearchResponses(items=items, total=total)
