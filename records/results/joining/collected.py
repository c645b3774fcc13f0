"""Results as they are kept until all logs are read: a few numbers a row, texts once each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ..logs import LogBatch, LogRun
from .matching import LoggedItem
from .naming import LEFT_OUT, ModelNames

TABLES = frozenset({"tidy", "wide"})
"""Formats that are tables of a user's making: their ids are the user's."""
HELD = 50
"""How many of a run's items that were not found are described."""


class Status(IntEnum):
    """What a row says of an answer."""

    SCORED = 0
    UNSCORED = 1
    ERRORED = 2
    OFF_SCALE = 3
    """A number on a scale that is not known."""


class Pair(NamedTuple):
    """A metric and the filter that it was computed after; an empty metric scores nothing."""

    metric: str
    filter: str


class Task(NamedTuple):
    """A task as a harness names it."""

    format: str
    name: str

    def __str__(self) -> str:
        return f"{self.name} ({self.format})"


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Columns of the rows of a run, and what they refer to."""

    doc: NDArray[np.int32]
    """Position of the row's item among the run's items."""
    model: NDArray[np.int32]
    """Position among all models."""
    pair: NDArray[np.int16]
    """Position among the run's pairs."""
    trial: NDArray[np.int32]
    score: NDArray[np.float64]
    status: NDArray[np.int8]

    def take(self, rows: NDArray[Any]) -> Rows:
        """Some of the rows."""
        return Rows(*(getattr(self, name)[rows] for name in self.__slots__))


@dataclass(frozen=True, slots=True, eq=False)
class Docs:
    """The items of a run, as its log names them."""

    answer: NDArray[np.int32]
    """Code of the candidates, as ``Matcher`` gives it."""
    subset: NDArray[np.int32]
    """Position among ``subsets``."""
    number: NDArray[np.int32]
    """The log's id where it is a number, else -1."""
    subsets: tuple[str, ...]
    names: tuple[str, ...] = ()
    """The ids, of a table; logs do not keep them."""


@dataclass(frozen=True, slots=True, eq=False)
class CollectedRun:
    """One task of one run, read."""

    run: LogRun
    rows: Rows
    docs: Docs
    pairs: tuple[Pair, ...]
    unknown: Mapping[int, str] = field(default_factory=dict)
    """Descriptions of items that the project does not have, of the first of them."""

    @property
    def task(self) -> Task:
        """The task that it is of."""
        return Task(self.run.source_format, self.run.benchmark)

    @property
    def is_table(self) -> bool:
        """Whether a user made it, and names items as the user does."""
        return self.run.source_format in TABLES


def wanted_rows(rows: Rows) -> Rows:
    """The rows without those of models that are not wanted."""
    kept = rows.model != LEFT_OUT
    return rows if kept.all() else rows.take(np.flatnonzero(kept))


Find = Callable[[LoggedItem, LogRun], int]


class RunCollector:
    """Gathers the batches of one run."""

    def __init__(self, run: LogRun, find: Find, models: ModelNames) -> None:
        self._run, self._find, self._models = run, find, models
        self._docs: dict[tuple[str, str], int] = {}
        self._answers: list[int] = []
        self._subsets: dict[str, int] = {}
        self._pairs: dict[Pair, int] = {}
        self._parts: list[Rows] = []
        self._unknown: dict[int, str] = {}

    def add(self, batch: LogBatch) -> int:
        """Take a batch; tell how many rows it had."""
        table, self._run = batch.table, batch.run
        named = zip(*(table[name].to_pylist() for name in ("metric", "filter")), strict=True)
        pairs = (Pair(metric or "", kept or "") for metric, kept in named)
        models, file = table["model"].to_pylist(), self._run.source_file
        rows = Rows(
            doc=_integers(self._doc_codes(table), np.int32),
            model=_integers((self._models.code(name, file) for name in models), np.int32),
            pair=_integers((_code(self._pairs, pair) for pair in pairs), np.int16),
            trial=table["trial"].to_numpy(),
            score=table["score"].to_numpy(),
            status=_statuses(table),
        )
        self._parts.append(wanted_rows(rows))
        return len(rows.doc)

    def _doc_codes(self, table: pa.Table) -> Iterator[int]:
        keys = zip(table["subset"].to_pylist(), table["doc_id"].to_pylist(), strict=True)
        for row, key in enumerate(keys):
            if key not in self._docs:
                self._docs[key] = len(self._docs)
                self._add_doc(_logged_item(table.slice(row, 1).to_pylist()[0]))
            yield self._docs[key]

    def _add_doc(self, item: LoggedItem) -> None:
        answer = self._find(item, self._run)
        self._answers.append(answer)
        if not answer and len(self._unknown) < HELD:
            self._unknown[len(self._answers) - 1] = described(item)

    def finished(self) -> CollectedRun:
        """The run, after its last batch."""
        columns = {
            name: np.concatenate([getattr(part, name) for part in self._parts])
            for name in Rows.__slots__
        }
        subsets = _integers((_code(self._subsets, subset) for subset, _ in self._docs), np.int32)
        ids = [doc_id for _, doc_id in self._docs]
        docs = Docs(
            answer=_integers(self._answers, np.int32),
            subset=subsets,
            number=_integers(map(doc_number, ids), np.int32),
            subsets=tuple(self._subsets),
            names=tuple(ids) if self._run.source_format in TABLES else (),
        )
        return CollectedRun(self._run, Rows(**columns), docs, tuple(self._pairs), self._unknown)


def _logged_item(row: Mapping[str, Any]) -> LoggedItem:
    return LoggedItem(
        row["doc_id"],
        row["source_id"],
        tuple(row["item_hashes"] or ()),
        row["question"],
        row["context"] or "",
        tuple(row["choices"] or ()),
    )


def _statuses(table: pa.Table) -> NDArray[np.int8]:
    """Statuses as numbers; a number without a score is off any known scale."""
    words = pa.array([status.name.lower() for status in Status])
    codes = pc.index_in(table["status"], words)
    found: NDArray[np.int8] = codes.to_numpy().astype(np.int8)
    off_scale = pc.and_(pc.is_valid(table["raw_score"]), pc.is_null(table["score"]))
    found[off_scale.to_numpy()] = Status.OFF_SCALE
    return found


def described(item: LoggedItem) -> str:
    """Name an item for a reader: its id and the beginning of its question."""
    if item.question is None:
        return repr(item.doc_id)
    text = " ".join(item.question.split())
    return f"{item.doc_id!r} ({text[:60]}{'...' if len(text) > 60 else ''})"


def doc_number(doc_id: str) -> int:
    """An id as a number, or -1."""
    return int(doc_id) if doc_id.isdecimal() and len(doc_id) < 10 else -1


def _code(codes: dict[Any, int], key: Any) -> int:
    return codes.setdefault(key, len(codes))


def _integers(values: Iterable[int], kind: Any) -> NDArray[Any]:
    return np.fromiter(values, dtype=kind)
