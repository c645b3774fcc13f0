"""Results that a file of the project has are not added again, and counted."""

from __future__ import annotations

import math
from pathlib import Path

import pyarrow as pa
import pytest

from benchprism.records.items.record import ITEM_SCHEMA
from benchprism.records.results.joining.items import ProjectItems
from benchprism.records.results.joining.merging import Merged, merge
from benchprism.records.results.joining.present import Repeated, leave_repeated
from benchprism.records.results.store import ResultsFile, write_results

from .test_merging import Row, kept, segment

MODELS = ["m", "n"]
NAN = math.nan


@pytest.fixture
def items() -> ProjectItems:
    """The items x, y and z of the benchmark b, and x of c."""
    found = ProjectItems(ITEM_SCHEMA.empty_table(), {})
    found.add("b", ["x", "y", "z"])
    found.add("c", ["x"])
    return found


def file(tmp_path: Path, *rows: tuple[str, str, str, float | None, int]) -> dict[str, ResultsFile]:
    names = ("benchmark", "item_id", "model", "score", "trial")
    table = pa.Table.from_pylist([dict(zip(names, row, strict=True)) for row in rows])
    write_results(tmp_path / "there.parquet", table)
    return {"there.parquet": ResultsFile(tmp_path / "there.parquet")}


def left(parts: list[Merged]) -> list[list[Row]]:
    return [kept(part) for part in parts]


def test_what_is_there_is_left_out_and_counted(tmp_path: Path, items: ProjectItems) -> None:
    there = file(
        tmp_path,
        ("b", "x", "m", 1.0, 0),
        ("b", "y", "m", 0.5, 0),
        ("c", "x", "m", None, 0),
        ("b", "x", "other", 1.0, 0),
    )
    parts = [
        merge(segment((0, 0, 1.0), (1, 0, 0.5), (2, 0, 0.0))),
        merge(segment((0, 0, 1.0), model=1)),
        merge(segment((3, 0, NAN))),
    ]
    assert leave_repeated(parts, there, items, MODELS) == [Repeated("there.parquet", 3, 1)]
    assert left(parts[:2]) == [[(2, 0, 0.0)], [(0, 0, 1.0)]]
    assert not len(parts[2].kept)
    assert [part.duplicated for part in parts] == [2, 0, 1]


def test_scores_that_differ_are_left_for_the_caller(tmp_path: Path, items: ProjectItems) -> None:
    there = file(tmp_path, ("b", "x", "m", 0.0, 0), ("b", "y", "m", None, 0))
    parts = [merge(segment((0, 0, 1.0), (1, 0, 1.0)))]
    assert leave_repeated(parts, there, items, MODELS) == []
    assert left(parts) == [[(0, 0, 1.0), (1, 0, 1.0)]]


def test_trials_are_compared_by_their_mean(tmp_path: Path, items: ProjectItems) -> None:
    there = file(tmp_path, ("b", "x", "m", 1.0, 0), ("b", "x", "m", 0.0, 1))
    parts = [merge(segment((0, 0, 0.0), (0, 1, 1.0), (1, 0, 1.0)))]
    assert leave_repeated(parts, there, items, MODELS) == [Repeated("there.parquet", 2, 1)]
    assert left(parts) == [[(1, 0, 1.0)]]
    missing = [merge(segment((0, 0, NAN)))]
    leave_repeated(missing, there, items, MODELS)
    assert missing[0].duplicated == 1
