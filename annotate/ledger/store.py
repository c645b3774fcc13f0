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
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from itertools import chain
from pathlib import Path
from types import TracebackType
from typing import NamedTuple

from ...prompts.catalogue import Catalogue
from ...records.errors import InputError
from ...records.files import reason, remedy
from .outcome import Annotation, Reply, Status, Verdict
from .schema import APPLICATION, SCHEMA, TABLES, VERSION

_BUSY_SECONDS = 30.0
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_ROOM = "make room on the disk, then run again: what came is saved"
_PERMISSIONS = "mend the permissions of the file and its folder, then run again"
_MENDS = {
    sqlite3.SQLITE_FULL: _ROOM,
    sqlite3.SQLITE_READONLY: _PERMISSIONS,
    sqlite3.SQLITE_CANTOPEN: _PERMISSIONS,
    sqlite3.SQLITE_PERM: _PERMISSIONS,
    sqlite3.SQLITE_IOERR: "check the disk and the room on it, then run again",
    sqlite3.SQLITE_BUSY: "wait for the command that writes to it, then run again",
}
"""What mends a failure that says nothing against the ledger itself."""
_ROWS_AT_ONCE = 24
"""Rows that one statement adds: a statement costs as much as several rows."""


Entry = tuple[Reply, Sequence[Verdict]]
"""A reply with what it says."""


class End(NamedTuple):
    """How a request ended last."""

    status: Status
    time: str
    final: bool
    """Whether it was not to be made again at once."""


class Ledger:
    """An open ledger; a context manager.

    Opened for reading, a ledger that is not there yet, or has no bytes, is an empty one, and one
    that cannot be written can be read.
    """

    def __init__(self, path: Path, *, write: bool = False) -> None:
        """Open a ledger.

        Args:
            path: The file.
            write: Make the file when it is missing.

        Raises:
            InputError: the file is damaged, cannot be opened, is no ledger, or is of another
                version.
        """
        self.path = path
        with self._readable():
            missing = not write and _empty(path)
            if write:
                path.parent.mkdir(parents=True, exist_ok=True)
            self._database = _connected(":memory:" if missing else path)
            try:
                self._prepare(make=write or missing)
            except sqlite3.OperationalError as error:
                if write or _code(error) not in _MENDS or not _empty(_log(path)):
                    raise
                # a folder that cannot be written has no place for the files of a shared log
                self._database.close()
                self._database = _connected(f"{path.absolute().as_uri()}?immutable=1")
                self._prepare(make=False)

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
        end = self.end_of(request_key)
        return end.status if end else None

    def end_of(self, request_key: str) -> End | None:
        """Tell how and when a request ended last; none when it has not been made."""
        query = (
            "SELECT status, time, final FROM reply WHERE request_key = ? ORDER BY time DESC LIMIT 1"
        )
        found = self._database.execute(query, (request_key,)).fetchone()
        return End(found[0], found[1], bool(found[2])) if found else None

    def waiting(self) -> set[str]:
        """The keys of the requests that wait in a batch."""
        rows = self._database.execute(
            "SELECT request_key FROM batch_request JOIN open_batch USING (batch_key)"
        )
        return {key for (key,) in rows}

    def remember(self, catalogue: Catalogue) -> None:
        """Keep a catalogue, so that the ledger itself says what its values mean."""
        self.insert(catalogue=[(catalogue.hash, catalogue.model_dump_json(by_alias=True))])

    def catalogues(self) -> dict[str, Catalogue]:
        """Every catalogue that annotations were made under, by hash."""
        rows = self._database.execute("SELECT hash, content FROM catalogue")
        return {name: Catalogue.model_validate_json(content) for name, content in rows}

    def add(self, entries: Iterable[Entry]) -> None:
        """Add replies, each with what it says; all of them or none.

        Raises:
            InputError: the file cannot be written; what was added before is kept.
        """
        bodies: dict[str, str] = {}
        replies, annotations = [], []
        for reply, verdicts in entries:
            name, body = reply_id(reply), _dated(reply.time, digest(reply.body))
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
                whole = len(added) // _ROWS_AT_ONCE * _ROWS_AT_ONCE
                _insert(database, table, added[:whole], _ROWS_AT_ONCE)
                _insert(database, table, added[whole:], 1)

    def merge(self, other: Path) -> int:
        """Add everything that another ledger has.

        Returns:
            How many replies were new.

        Raises:
            InputError: the other file is no ledger.
        """
        if not other.exists():
            raise InputError(
                f"no ledger {str(other)!r}",
                wanted="a file that benchprism annotate wrote",
                mend="check the path",
            )
        if other.samefile(self.path):
            return 0
        Ledger(other).close()
        if _empty(other):
            return 0
        before = self._database.execute("SELECT count(*) FROM reply").fetchone()[0]
        with self._readable():
            self._database.execute("ATTACH ? AS other", (str(other),))
        try:
            with self._transaction() as database:
                for table in TABLES:
                    database.execute(f"INSERT OR IGNORE INTO {table} SELECT * FROM other.{table}")  # noqa: S608
        finally:
            self._database.execute("DETACH other")
        return int(self._database.execute("SELECT count(*) FROM reply").fetchone()[0] - before)

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
        if (application, version) == (APPLICATION, VERSION):
            pass
        elif application == APPLICATION:
            age = "a newer" if version > VERSION else "an older"
            raise InputError(
                f"{self.path} was written by {age} benchprism",
                wanted=f"a ledger of version {VERSION}",
                mend=f"use {age} benchprism, or move the file away",
            )
        elif tables or application or not make:
            raise self._no_ledger("another program's file")
        if make:
            self._database.execute("PRAGMA journal_mode = WAL")
            self._database.execute("PRAGMA synchronous = NORMAL")
        if not tables:
            with self._transaction() as database:
                for statement in SCHEMA.split(";"):
                    database.execute(statement)
                database.execute(f"PRAGMA application_id = {APPLICATION}")
                database.execute(f"PRAGMA user_version = {VERSION}")

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
                mend=_MENDS.get(_code(error), _ROOM),
            ) from error

    @contextmanager
    def _readable(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise self._closed(reason(error), remedy(error)) from error
        except sqlite3.Error as error:
            if _code(error) in _MENDS and not self.path.is_dir():
                raise self._closed(str(error), _MENDS[_code(error)]) from error
            raise self._no_ledger(str(error)) from error

    def _closed(self, found: str, mend: str) -> InputError:
        return InputError(
            f"{self.path} cannot be opened ({found})", wanted="a ledger that can be used", mend=mend
        )

    def _no_ledger(self, found: str) -> InputError:
        return InputError(
            f"{self.path} cannot be read as a ledger ({found})",
            wanted="a file that benchprism annotate wrote",
            mend="move it away, or restore it from a copy",
        )


def _connected(place: Path | str) -> sqlite3.Connection:
    uri = str(place).startswith("file:")
    return sqlite3.connect(place, timeout=_BUSY_SECONDS, isolation_level=None, uri=uri)


def _log(path: Path) -> Path:
    """The write-ahead log beside a ledger: what it holds is not in the ledger's file yet."""
    return path.with_name(f"{path.name}-wal")


def _empty(path: Path) -> bool:
    """Tell whether a file is not there or has no bytes."""
    try:
        return path.stat().st_size == 0
    except FileNotFoundError:
        return True


def _code(error: sqlite3.Error) -> int:
    return getattr(error, "sqlite_errorcode", 0) & 0xFF  # without what extends it


def _insert(
    database: sqlite3.Connection, table: str, rows: Sequence[Sequence[object]], at_once: int
) -> None:
    if rows:
        places = f"({', '.join('?' * len(rows[0]))})"
        values = ", ".join([places] * at_once)
        groups = (rows[start : start + at_once] for start in range(0, len(rows), at_once))
        database.executemany(
            f"INSERT OR IGNORE INTO {table} VALUES {values}",  # noqa: S608
            ([*chain.from_iterable(group)] for group in groups),
        )


def reply_id(reply: Reply) -> str:
    """Identify a reply by its time and its content: 32 hexadecimal digits, later ones higher."""
    return _dated(reply.time, digest(reply.request_key, reply.time, reply.body))


def _dated(time: str, name: str) -> str:
    """Put the time before a digest: rows that are added together then lie together in the file."""
    moment = (datetime.fromisoformat(time) - _EPOCH) // timedelta(microseconds=1)
    return f"{moment:013x}{name[:19]}"


def digest(*parts: object) -> str:
    """Identify something by its parts: 32 hexadecimal digits (BLAKE2b-128)."""
    text = "".join(f"s{len(p)}:{p}" if isinstance(p, str) else f"j{json.dumps(p)}" for p in parts)
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


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
        reply.final,
        reply.rung,
    )


def _annotation_row(name: str, verdict: Verdict) -> tuple[object, ...]:
    value = verdict.value
    return (
        name,
        verdict.attribute,
        _written(tuple(value) if isinstance(value, list) else value),
        verdict.status,
        verdict.reason,
        verdict.confidence,
    )


@lru_cache(maxsize=1024, typed=True)
def _written(value: int | str | bool | tuple[str, ...] | None) -> str | None:
    return None if value is None else json.dumps(value)
