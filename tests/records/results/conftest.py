from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from benchprism.records.items.loading import Request, load
from benchprism.records.items.record import items_table
from benchprism.records.items.store import write_items
from benchprism.records.results.join import Join, Joined, JoinOptions
from benchprism.records.results.joining.items import ProjectItems, read_project_items
from benchprism.records.results.logs import LogFinding, find_logs

DATA = Path(__file__).parents[2] / "data"
ITEMS = DATA / "results" / "items"
TOYS: dict[str, dict[str, Any]] = {
    "toy_mc": {"question": "question", "choices": "choices", "answer": "answer",
               "coding": "index0", "id": "id", "subset": "subject"},
    "toy_gen": {"question": "question", "answer": "answer", "coding": "free", "id": "id"},
}  # fmt: skip

AddItems = Callable[..., ProjectItems]


@pytest.fixture
def project_items(tmp_path: Path) -> AddItems:
    """Make a project's items of the benchmarks' small copies, or of the files that are given."""

    def make(*names: str, **files: Path) -> ProjectItems:
        folder = tmp_path / "items"
        for name in (*names, *files):
            file = files.get(name, ITEMS / f"{name}.jsonl")
            loaded = load(Request(name, file=file, columns=TOYS.get(name, {})))
            table = items_table(loaded.items)
            write_items(folder / f"{name}.parquet", table, loaded.provenance)
        return read_project_items(folder)

    return make


JoinLogs = Callable[..., Joined]


@pytest.fixture
def join_logs() -> JoinLogs:
    """Join the logs at some paths."""

    def joining(items: ProjectItems, *paths: Path, options: JoinOptions | None = None) -> Joined:
        join = Join(items, options)
        for path in paths:
            for log in find_logs(path):
                if isinstance(log, LogFinding):
                    join.findings.append(log)
                else:
                    list(join.add_log(log, "results"))
        return join.finish()

    return joining


def rows(joined: Joined) -> list[dict[str, Any]]:
    """The rows of a join's only table."""
    (table,) = joined.tables.values()
    found: list[dict[str, Any]] = pa.table(table).to_pylist()
    return found
