"""Connections of the search engine's own.

A request holds one of the server's connections while it searches. Were the search to take a second
one from the same pool, enough requests at once would wait for each other for ever.
"""

from __future__ import annotations

import hashlib
from typing import Any

from argilla_server.settings import settings
from sqlalchemy import event
from sqlalchemy.ext.asyncio import async_sessionmaker, create_async_engine

database = create_async_engine(settings.database_url, **settings.database_engine_args)
sessions = async_sessionmaker(bind=database, expire_on_commit=False)
POSTGRESQL = database.dialect.name == "postgresql"


def _md5(text: str) -> str:
    return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()


@event.listens_for(database.sync_engine, "connect")
def _prepare(connection: Any, _record: object) -> None:
    """Give SQLite the function that PostgreSQL has, and let the search change nothing."""
    if not POSTGRESQL:
        connection.create_function("md5", 1, _md5, deterministic=True)
        cursor = connection.cursor()
        cursor.execute("PRAGMA query_only = ON")
        cursor.close()
