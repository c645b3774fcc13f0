"""A project of two benchmarks with items in passages, and results of two families."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from numpy.typing import NDArray

from benchprism.compose.composer import EXCLUDED_SCHEMA
from benchprism.compose.locking.lock import LOCK_FORMAT
from benchprism.project import Project, find_project
from benchprism.records.items.record import ITEM_SCHEMA, Item, choice_set_hash, content_hash
from benchprism.records.items.store import write_items
from benchprism.records.results.store import TIDY_SCHEMA, write_results

SIZES = {"arc": 90, "gsm": 60}
MODELS = [f"{family}{size}" for family in "FG" for size in range(1, 5)]


def item(benchmark: str, row: int, context: str = "") -> Item:
    question = f"Question {row} of {benchmark}?"
    choices = ("a", "b", "c", "d") if benchmark == "arc" else ()
    return Item(
        item_id=f"{benchmark}/{row}", benchmark=benchmark, subset="", split="test", row=row,
        revision="sha256:0", question=question, context=context, choices=choices,
        answer_index=0 if choices else None, answer_text="a", accepted_answers=(),
        kind="multiple_choice" if choices else "generative", faults=(), source="{}",
        content_hash=content_hash(question, context, choices),
        choice_set_hash=choice_set_hash(question, context, choices),
    )  # fmt: skip


def simulated(benchmark: str) -> NDArray[np.float64]:
    """Items by models; odd items are harder, for the second family above all."""
    rng = np.random.default_rng(len(benchmark) + SIZES[benchmark])
    size = SIZES[benchmark]
    ability = np.tile(np.linspace(-1, 1, 4), 2)
    hard = (np.arange(size) % 2)[:, None] * np.where(np.arange(8) < 4, 0.5, 2.0)
    chance = 1 / (1 + np.exp(-(ability + 0.5 - hard)))
    return (rng.random((size, 8)) < chance).astype(float)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    (tmp_path / "benchprism.yaml").write_text("project: p\nseed: 3\n", encoding="utf-8")
    lines = [f"  {name}: {{family: {name[0]}, size: {name[1]}}}\n" for name in MODELS]
    (tmp_path / "models.yaml").write_text("models:\n" + "".join(lines), encoding="utf-8")
    for benchmark, size in SIZES.items():
        scores = simulated(benchmark)
        rows = [
            {
                "benchmark": benchmark,
                "item_id": f"{benchmark}/{row}",
                "model": name,
                "score": scores[row, place],
            }
            for row in range(size)
            for place, name in enumerate(MODELS)
        ]
        table = pa.Table.from_pylist(rows, schema=TIDY_SCHEMA)
        write_results(tmp_path / "results" / f"{benchmark}.parquet", table)
        passages = [f"passage {row // 3}" if benchmark == "arc" else "" for row in range(size)]
        items = [item(benchmark, row, passage) for row, passage in enumerate(passages)]
        write_items(tmp_path / "items" / f"{benchmark}.parquet", items, {"domain": "d"})
    return find_project(tmp_path)


@pytest.fixture
def add_subset(project: Project) -> Callable[..., None]:
    """Write a composed subset's folder, with what scoring reads of it."""

    def add(
        name: str, ids: Mapping[str, Sequence[int]], held_in: Sequence[str] | None = None
    ) -> None:
        folder = project.subsets / name
        folder.mkdir(parents=True)
        chosen = [asdict(item(b, row)) for b, rows in ids.items() for row in rows]
        pq.write_table(pa.Table.from_pylist(chosen, ITEM_SCHEMA), folder / "items.parquet")
        pq.write_table(EXCLUDED_SCHEMA.empty_table(), folder / "excluded.parquet")
        lock: dict[str, Any] = {"format": LOCK_FORMAT, "sources": {}, "items": {}, "steps": []}
        if held_in is not None:
            lock["selection"] = {"held_in": {family: [] for family in held_in}}
        (folder / "lock.json").write_text(json.dumps(lock), encoding="utf-8")
        (folder / "criteria.yaml").write_text(f"name: {name}\nfrom: all\n", encoding="utf-8")

    return add


@pytest.fixture
def attributes() -> pa.Table:
    """What is known of the items: whether they are odd, their passage's number, and labels."""
    ids = [f"{benchmark}/{row}" for benchmark, size in SIZES.items() for row in range(size)]
    rows = [int(one.split("/")[1]) for one in ids]
    return pa.table(
        {
            "item_id": ids,
            "odd": pa.array([row % 2 == 1 for row in rows]),
            "level": pa.array(
                [None if row % 10 == 9 else 3 * (row % 2) for row in rows], pa.int8()
            ),
            "length": pa.array([float(row) for row in rows]),
            "skills": pa.array(
                [["read"] + ["count"] * (row % 2) for row in rows], pa.list_(pa.string())
            ),
            "kind": pa.array(["x" if row % 3 else "y" for row in rows]),
            "same": pa.array(["one"] * len(rows)),
        }
    )
