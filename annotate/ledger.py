"""The ledger: every reply as it came and what it says, append-only, in one SQLite file.

Nothing is ever changed or removed. Ids are made from content, so that adding a reply twice, or
merging ledgers in any order, any number of times, gives the same ledger. SQLite's write-ahead log
makes a commit survive the death of the process; others read while an annotation runs.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType

from ..prompts.catalogue import Catalogue
from ..records.errors import InputError
from .outcome import Annotation, Reply, Status, Verdict

_APPLICATION = 0x62707269  # "bpri"
_VERSION = 2
_SCHEMA = """
CREATE TABLE catalogue (
    hash TEXT PRIMARY KEY,
    content TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE reply (
    reply_id TEXT PRIMARY KEY,
    request_key TEXT NOT NULL,
    item_id TEXT NOT NULL,
    content_hash TEXT NOT NULL,
    annotator TEXT NOT NULL,
    model TEXT NOT NULL,
    prompt_hash TEXT NOT NULL,
    catalogue_hash TEXT NOT NULL,
    status TEXT NOT NULL,
    reason TEXT NOT NULL,
    body_hash TEXT NOT NULL REFERENCES body,
    prompt_tokens INTEGER,
    cached_tokens INTEGER,
    completion_tokens INTEGER,
    price REAL,
    time TEXT NOT NULL,
    seconds REAL NOT NULL,
    attempts INTEGER NOT NULL,
    part TEXT NOT NULL,
    items INTEGER NOT NULL
);
CREATE INDEX reply_by_request ON reply (request_key, time);
CREATE INDEX reply_by_item ON reply (annotator, item_id, part, time);
CREATE TABLE body (
    body_hash TEXT PRIMARY KEY,
    body TEXT NOT NULL
);
CREATE TABLE annotation (
    reply_id TEXT NOT NULL REFERENCES reply,
    attribute TEXT NOT NULL,
    value TEXT,
    status TEXT NOT NULL,
    reason TEXT NOT NULL,
    confidence REAL,
    PRIMARY KEY (reply_id, attribute)
) WITHOUT ROWID;
CREATE TABLE batch (
    batch_key TEXT PRIMARY KEY,
    annotator TEXT NOT NULL,
    model TEXT NOT NULL,
    base_url TEXT NOT NULL,
    requests INTEGER NOT NULL,
    worst_price REAL,
    time TEXT NOT NULL
);
CREATE TABLE batch_request (
    batch_key TEXT NOT NULL REFERENCES batch,
    custom_id TEXT NOT NULL,
    place INTEGER NOT NULL,
    request_key TEXT NOT NULL,
    item_id TEXT NOT NULL,
    content_hash TEXT NOT NULL,
    kind TEXT NOT NULL,
    part TEXT NOT NULL,
    prompt_hash TEXT NOT NULL,
    catalogue_hash TEXT NOT NULL,
    PRIMARY KEY (batch_key, custom_id, place)
) WITHOUT ROWID;
CREATE TABLE batch_event (
    batch_key TEXT NOT NULL REFERENCES batch,
    event TEXT NOT NULL,
    detail TEXT NOT NULL,
    time TEXT NOT NULL,
    PRIMARY KEY (batch_key, event)
) WITHOUT ROWID;
CREATE VIEW latest_reply AS
    SELECT *, substr(item_id, 1, instr(item_id || '/', '/') - 1) AS benchmark, max(time)
    FROM reply AS r
    WHERE NOT EXISTS (
        SELECT 1 FROM reply AS other
        WHERE other.annotator = r.annotator AND other.item_id = r.item_id
            AND (other.part = '') <> (r.part = '') AND other.time > r.time
    )
    GROUP BY annotator, item_id, part;
CREATE VIEW item_state AS
    SELECT annotator, benchmark, item_id, status, max((status <> 'ok') || time)
    FROM latest_reply GROUP BY annotator, item_id
"""
_TABLES = ("catalogue", "body", "reply", "annotation", "batch", "batch_request", "batch_event")
_BUSY_SECONDS = 30.0


class Ledger:
    """An open ledger; a context manager.

    Opened for reading, a ledger that is not there yet is an empty one.
    """

    def __init__(self, path: Path, *, write: bool = False) -> None:
        """Open a ledger.

        Args:
            path: The file.
            write: Make the file when it is missing.

        Raises:
            InputError: the file is damaged, is no ledger, or is a newer version's.
        """
        self.path = path
        missing = not write and not path.exists()
        with self._readable():
            if write:
                path.parent.mkdir(parents=True, exist_ok=True)
            self._database = sqlite3.connect(
                ":memory:" if missing else path, timeout=_BUSY_SECONDS, isolation_level=None
            )
            self._prepare(make=write or missing)

    def __enter__(self) -> Ledger:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._database.close()

    def status_of(self, request_key: str) -> Status | None:
        """Tell how a request ended last; none when it has not been made."""
        query = "SELECT status FROM reply WHERE request_key = ? ORDER BY time DESC LIMIT 1"
        found = self._database.execute(query, (request_key,)).fetchone()
        return found[0] if found else None

    def remember(self, catalogue: Catalogue) -> None:
        """Keep a catalogue, so that the ledger itself says what its values mean."""
        self.insert(catalogue=[(catalogue.hash, catalogue.model_dump_json(by_alias=True))])

    def catalogues(self) -> dict[str, Catalogue]:
        """Every catalogue that annotations were made under, by hash."""
        rows = self._database.execute("SELECT hash, content FROM catalogue")
        return {name: Catalogue.model_validate_json(content) for name, content in rows}

    def add(self, entries: Iterable[tuple[Reply, Sequence[Verdict]]]) -> None:
        """Add replies, each with what it says; all of them or none.

        Raises:
            InputError: the file cannot be written; what was added before is kept.
        """
        bodies: dict[str, str] = {}
        replies, annotations = [], []
        for reply, verdicts in entries:
            name, body = reply_id(reply), digest(reply.body)
            bodies[body] = reply.body
            replies.append(_reply_row(name, body, reply))
            annotations += [_annotation_row(name, verdict) for verdict in verdicts]
        self.insert(body=[*bodies.items()], reply=replies, annotation=annotations)

    def insert(self, **rows: Sequence[Sequence[object]]) -> None:
        """Add whole rows to tables, those of one call together; a row that is there stays.

        Raises:
            InputError: the file cannot be written; what was added before is kept.
        """
        with self._transaction() as database:
            for table, added in rows.items():
                if added:
                    places = ", ".join("?" * len(added[0]))
                    statement = f"INSERT OR IGNORE INTO {table} VALUES ({places})"  # noqa: S608
                    database.executemany(statement, added)

    def merge(self, other: Path) -> None:
        """Add everything that another ledger has.

        Raises:
            InputError: the other file is no ledger.
        """
        Ledger(other).close()
        with self._readable():
            self._database.execute("ATTACH ? AS other", (str(other),))
        try:
            with self._transaction() as database:
                for table in _TABLES:
                    database.execute(f"INSERT OR IGNORE INTO {table} SELECT * FROM other.{table}")  # noqa: S608
        finally:
            self._database.execute("DETACH other")

    def annotations(self) -> Iterator[Annotation]:
        """Every annotation, the latest last."""
        rows = self._database.execute(
            "SELECT item_id, content_hash, attribute, value, annotator, annotation.status,"
            " annotation.reason, confidence, prompt_hash, catalogue_hash, reply_id, time"
            " FROM annotation JOIN reply USING (reply_id) ORDER BY time, reply_id, attribute"
        )
        for row in rows:
            item_id, content_hash, attribute, value, *provenance = row
            given = None if value is None else json.loads(value)
            yield Annotation(item_id, content_hash, attribute, given, *provenance)

    def query(self, sql: str, *parameters: object) -> Iterator[tuple[object, ...]]:
        """Read rows by SQL over the tables, ``latest_reply`` and ``item_state``.

        ``latest_reply`` has one row for each annotator, item and part, by the way in which the item
        was asked last: all at once, or part by part. ``item_state`` has one row for each annotator
        and item: ``ok`` when all parts are, else how the part ended that failed last.
        """
        with self._readable():
            yield from self._database.execute(sql, parameters)

    def _prepare(self, *, make: bool) -> None:
        application, version = (
            self._database.execute(f"PRAGMA {name}").fetchone()[0]
            for name in ("application_id", "user_version")
        )
        tables = self._database.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]
        if (application, version) == (_APPLICATION, _VERSION):
            pass
        elif application == _APPLICATION:
            age = "a newer" if version > _VERSION else "an older"
            raise InputError(
                f"{self.path} was written by {age} benchprism",
                wanted=f"a ledger of version {_VERSION}",
                mend=f"use {age} benchprism, or move the file away",
            )
        elif tables or application or not make:
            raise self._no_ledger("another program's file")
        self._database.execute("PRAGMA journal_mode = WAL")
        self._database.execute("PRAGMA synchronous = NORMAL")
        if not tables:
            with self._transaction() as database:
                for statement in _SCHEMA.split(";"):
                    database.execute(statement)
                database.execute(f"PRAGMA application_id = {_APPLICATION}")
                database.execute(f"PRAGMA user_version = {_VERSION}")

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        try:
            self._database.execute("BEGIN IMMEDIATE")
            try:
                yield self._database
            except BaseException:
                if self._database.in_transaction:
                    self._database.execute("ROLLBACK")
                raise
            self._database.execute("COMMIT")
        except sqlite3.Error as error:
            raise InputError(
                f"{self.path} cannot be written ({error})",
                wanted="a ledger that can be written",
                mend="make room or mend the permissions, then run again: what came is saved",
            ) from error

    @contextmanager
    def _readable(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            raise self._no_ledger(str(error)) from error

    def _no_ledger(self, found: str) -> InputError:
        return InputError(
            f"{self.path} cannot be read as a ledger ({found})",
            wanted="a file that benchprism annotate wrote",
            mend="move it away, or restore it from a copy",
        )


def reply_id(reply: Reply) -> str:
    """Identify a reply by its content: 32 hexadecimal digits."""
    return digest(reply.request_key, reply.time, reply.body)


def digest(*parts: object) -> str:
    """Identify something by its parts: 32 hexadecimal digits (BLAKE2b-128)."""
    return hashlib.blake2b(json.dumps(parts).encode(), digest_size=16).hexdigest()


def _reply_row(name: str, body_hash: str, reply: Reply) -> tuple[object, ...]:
    return (
        name,
        reply.request_key,
        reply.item_id,
        reply.content_hash,
        reply.annotator,
        reply.model,
        reply.prompt_hash,
        reply.catalogue_hash,
        reply.status,
        reply.reason,
        body_hash,
        reply.usage.prompt_tokens,
        reply.usage.cached_tokens,
        reply.usage.completion_tokens,
        reply.price,
        reply.time,
        reply.seconds,
        reply.attempts,
        reply.part,
        reply.items,
    )


def _annotation_row(name: str, verdict: Verdict) -> tuple[object, ...]:
    value = None if verdict.value is None else json.dumps(verdict.value)
    return (
        name,
        verdict.attribute,
        value,
        verdict.status,
        verdict.reason,
        verdict.confidence,
    )
