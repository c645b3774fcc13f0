"""Text search over the fields of records: the database narrows, Python decides.

No full-text index is kept, so nothing has to be kept in step, and both databases agree.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from argilla_server.models import Record
from argilla_server.search_engine.base import TextQuery
from sqlalchemy import String, and_, cast, false, or_, true

from .json_values import Sql
from .text_query import Joined, Query, Words, folded, matches, parse_query

_LONGEST = 100
"""Signs of a word that narrow the search; databases limit the length of a pattern."""


class TextSearch:
    """A text query that may be confined to one field."""

    def __init__(self, wanted: Any) -> None:
        query = wanted if isinstance(wanted, TextQuery) else TextQuery(q=wanted)
        self._field = query.field
        self._query = parse_query(query.q)
        self._blank = not query.q.strip()

    @property
    def condition(self) -> Sql:
        """What every record that answers the query fulfils, and as few others as may be."""
        if self._query is None:
            return true() if self._blank else false()
        stored = cast(Record.fields, String)
        # Signs beyond ASCII are stored as \uXXXX, and may fold into ASCII.
        return or_(
            _necessary(self._query, stored.icontains), stored.contains("\\u", autoescape=True)
        )

    def matches(self, fields: dict[str, Any]) -> bool:
        """Tell whether a record with these fields answers the query."""
        if self._query is None:
            return self._blank
        chosen = [value for name, value in fields.items() if self._field in (None, name)]
        return matches(self._query, [folded(text) for value in chosen for text in _texts(value)])


def _necessary(query: Query, contains: Callable[[str], Sql]) -> Sql:
    match query:
        case Words(words):
            return and_(true(), *(contains(w[:_LONGEST]) for w in words if w.isascii()))
        case Joined("all", parts):
            return and_(*(_necessary(part, contains) for part in parts))
        case Joined(_, parts):
            return or_(*(_necessary(part, contains) for part in parts))
    return true()


def _texts(value: Any) -> Iterator[str]:
    """All texts of a field: plain, of a chat without its roles, or of a custom one."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for name, part in value.items():
            if name != "role":
                yield from _texts(part)
    elif isinstance(value, list):
        for part in value:
            yield from _texts(part)
