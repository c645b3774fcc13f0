"""The project's items, found by what a log holds of an item: an id, its content, a form of it."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ...items.record import ITEM_SCHEMA, content_hash, fold
from ...items.store import Provenance, items_files, read_items, read_provenance
from .forms import Form, processed_forms

Found = tuple[int, ...]
"""Positions of items that cannot be told apart by what was looked up."""
_NAME_SIGNS = str.maketrans("", "", " _-./")


@dataclass(frozen=True, slots=True)
class IdColumn:
    """What the items of a benchmark are named by."""

    column: str | None
    """The source's column of ids; none when items are named by their row."""
    preset: str | None = None
    """The benchmark's preset, if it has one."""


def plain_name(name: str) -> str:
    """A name without what spellings differ in.

    >>> plain_name("High school-Biology") == plain_name("high_school_biology")
    True
    """
    return name.lower().translate(_NAME_SIGNS)


class ProjectItems:
    """The items of a project, by position."""

    def __init__(self, items: pa.Table, id_columns: Mapping[str, IdColumn]) -> None:
        """Take a table with ``ITEM_SCHEMA``, and how each of its benchmarks names its items."""
        self._table = items
        self._id_columns = id_columns
        self._by_row: dict[str, dict[str, Found]] = {}
        self.ids: list[str] = items["item_id"].to_pylist()
        self.benchmarks: list[str] = items["benchmark"].to_pylist()
        self.subsets = [plain_name(name) for name in items["subset"].to_pylist()]

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The project's benchmarks, in order."""
        return tuple(dict.fromkeys(self._table["benchmark"].to_pylist()))

    def add(self, benchmark: str, ids: Sequence[str]) -> int:
        """Take up items that the project does not have; the first one's position."""
        start = len(self.ids)
        self.ids += ids
        self.benchmarks += [benchmark] * len(ids)
        return start

    def added(self) -> dict[str, list[str]]:
        """The ids that were taken up, by benchmark."""
        found: dict[str, list[str]] = defaultdict(list)
        for at in range(len(self._table), len(self.ids)):
            found[self.benchmarks[at]].append(self.ids[at])
        return found

    def owners(self) -> tuple[list[str], NDArray[np.int32]]:
        """The benchmarks, those that were taken up among them, and each item's among these."""
        names = list(dict.fromkeys(self.benchmarks))
        codes = {name: code for code, name in enumerate(names)}
        owner = np.fromiter((codes[name] for name in self.benchmarks), dtype=np.int32)
        return names, owner

    def benchmark_called(self, name: str) -> str | None:
        """The benchmark of this name, spelling aside, or of the preset of this name."""
        wanted = plain_name(name)
        presets = [own for own, by in self._id_columns.items() if by.preset == name]
        return next((own for own in self.names if plain_name(own) == wanted), None) or next(
            iter(presets), None
        )

    @cached_property
    def rows(self) -> list[str]:
        """The last part of each item's id: the source's id, or its row within its subset."""
        return [item_id.rpartition("/")[2] for item_id in self._table["item_id"].to_pylist()]

    @cached_property
    def by_id(self) -> dict[str, int]:
        """Items by their id in the project."""
        ids = self._table["item_id"].to_pylist()
        return dict(zip(ids, self._positions, strict=True))

    @cached_property
    def by_hash(self) -> dict[str, Found]:
        """Items by the hash of their content."""
        return _grouped(zip(self._table["content_hash"].to_pylist(), self._positions, strict=True))

    @cached_property
    def by_choice_set(self) -> dict[str, Found]:
        """Items by the hash of their content whatever the order of the choices."""
        hashes = self._table["choice_set_hash"].to_pylist()
        return _grouped(zip(hashes, self._positions, strict=True))

    @cached_property
    def by_form(self) -> dict[str, Found]:
        """Items by the hash of each processed form."""
        return _grouped(
            (content_hash(*form), at)
            for at, item, source in self._contents()
            for form in processed_forms(item, source)
        )

    @cached_property
    def by_question(self) -> dict[str, Found]:
        """Items by their question alone, white space folded."""
        questions = map(fold, self._table["question"].to_pylist())
        return _grouped(zip(questions, self._positions, strict=True))

    @cached_property
    def by_source_id(self) -> dict[str, Found]:
        """Items by the source's own id, as the source and as the project spell it."""
        columns = {name: by.column for name, by in self._id_columns.items() if by.column}
        return _grouped(
            (text, at)
            for at, _, source in self._contents(columns)
            for text in {self.rows[at], str(source.get(columns[self.benchmarks[at]], ""))} - {""}
        )

    def by_row(self, benchmark: str) -> dict[str, Found]:
        """Items of one benchmark by the last part of their id."""
        if benchmark not in self._by_row:
            self._by_row[benchmark] = self._grouped_by_row(benchmark)
        return self._by_row[benchmark]

    def _grouped_by_row(self, benchmark: str) -> dict[str, Found]:
        return _grouped(
            (row, at)
            for at, row in zip(self._positions, self.rows, strict=True)
            if self.benchmarks[at] == benchmark
        )

    def question(self, at: int) -> str:
        """The question of an item."""
        text: str = self._table["question"][at].as_py()
        return text

    @property
    def _positions(self) -> range:
        return range(len(self._table))

    def _contents(
        self, benchmarks: Mapping[str, Any] | None = None
    ) -> Iterator[tuple[int, Form, Mapping[str, Any]]]:
        columns = ("question", "context", "choices", "source")
        at = 0
        for batch in self._table.select(columns).to_batches(max_chunksize=4096):
            for row in batch.to_pylist():
                if benchmarks is None or self.benchmarks[at] in benchmarks:
                    form = Form(row["question"], row["context"], row["choices"])
                    yield at, form, _columns(row["source"])
                at += 1


def _columns(source: str) -> Mapping[str, Any]:
    columns = json.loads(source) if source else {}
    return columns if isinstance(columns, dict) else {}


def _grouped(pairs: Iterable[tuple[str, int]]) -> dict[str, Found]:
    groups: dict[str, list[int]] = defaultdict(list)
    for key, at in pairs:
        if at not in groups[key][-1:]:
            groups[key].append(at)
    return {key: tuple(found) for key, found in groups.items()}


def first_found(keys: Sequence[str], lookup: Mapping[str, Found]) -> Found:
    """The items of the first key that has any."""
    return next((lookup[key] for key in keys if key in lookup), ())


def read_project_items(folder: Path) -> ProjectItems:
    """Read the items of a project's folder of items; there may be none.

    Raises:
        InputError: a file cannot be read.
    """
    files = items_files(folder)
    tables = [read_items(path) for path in files.values()]
    columns = {name: _id_column(read_provenance(path)) for name, path in files.items()}
    return ProjectItems(pa.concat_tables([ITEM_SCHEMA.empty_table(), *tables]), columns)


def _id_column(provenance: Provenance) -> IdColumn:
    column = provenance.get("columns", {}).get("id")
    return IdColumn(column if isinstance(column, str) else None, provenance.get("preset"))
