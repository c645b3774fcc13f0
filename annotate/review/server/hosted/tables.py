"""The server's database: made or brought up to date, and mended after a crash."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import Any

from argilla_server.cli.database.migrate import migrate_db
from argilla_server.database import AsyncSessionLocal
from argilla_server.enums import RecordStatus, ResponseStatus
from argilla_server.models import Dataset, Record, Response
from argilla_server.settings import settings
from sqlalchemy import func, make_url, select, update


def prepare_tables() -> None:
    """Bring the tables to this version's state; let SQLite read while it writes."""
    migrate_db(revision="head")
    if settings.database_is_sqlite:
        with closing(sqlite3.connect(make_url(settings.database_url).database)) as database:
            database.execute("PRAGMA journal_mode = WAL")  # kept in the file


async def settle_record_statuses() -> None:
    """Complete the records that have the responses they need, and no others.

    Argilla stores a response and then, in a step of its own, what it means for the record. A crash
    between the two, or one with jobs in the queue, leaves a status that is no longer true.
    """
    async with AsyncSessionLocal() as session:
        for dataset in (await session.scalars(select(Dataset))).all():
            enough = _submitted() >= dataset.distribution["min_submitted"]
            true_status = {RecordStatus.completed: enough, RecordStatus.pending: ~enough}
            for status, holds in true_status.items():
                await session.execute(
                    update(Record)
                    .where(Record.dataset_id == dataset.id, Record.status != status, holds)
                    .values(status=status)
                    .execution_options(synchronize_session=False)
                )
        await session.commit()


def _submitted() -> Any:
    return (
        select(func.count())
        .where(Response.record_id == Record.id, Response.status == ResponseStatus.submitted)
        .correlate(Record)
        .scalar_subquery()
    )
