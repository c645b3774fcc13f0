from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from benchprism.compose.composer import compose
from benchprism.compose.explaining.difference import Difference, MovedItem, difference
from benchprism.compose.explaining.tracing import left_out_by
from benchprism.compose.language.criteria import Criteria
from benchprism.compose.locking.lock import lock
from benchprism.compose.store import Subset, read_subset, write_subset
from benchprism.records.errors import InputError


def subset(table: pa.Table, folder: Path, **parts: Any) -> Subset:
    composition = compose(Criteria.model_validate({"name": folder.name, **parts}), table)
    write_subset(folder, composition, lock(composition))
    return read_subset(folder)


@pytest.fixture
def found(table: pa.Table, tmp_path: Path) -> Difference:
    # a: arc/2 gsm/0 gsm/1 gsm/2; b: gsm/1 gsm/2 law/1
    a = subset(table, tmp_path / "a", **{"from": ["arc", "gsm"], "where": {"depth": {"min": 2}}})
    b = subset(table, tmp_path / "b", where={"depth": {"min": 3}})
    return difference(a, b)


def test_items_come_and_go_for_a_reason(found: Difference) -> None:
    assert found.both == 2
    assert found.came == (MovedItem("law/1", "law", "no candidate", "its source is not named"),)
    reason = ("depth >= 3", "depth is 2, wanted at least 3")
    assert found.went == (MovedItem("arc/2", "arc", *reason), MovedItem("gsm/0", "gsm", *reason))
    assert found.edited == ()


def test_causes_come_before_items(found: Difference) -> None:
    assert found.causes == (
        "the criteria's from, name, where changed",
        "law is a new source",
        "values of depth, faults changed",
    )


def test_every_attribute_is_compared(found: Difference) -> None:
    shifts: dict[tuple[str, str], Any] = {
        (s.attribute, s.measure): (s.before, s.after) for s in found.shifts
    }
    assert shifts["depth", "mean"] == (10 / 4, 3)
    assert shifts["word_count", "mean"] == ((14 + 40 + 55 + 60) / 4, (55 + 60 + 26) / 3)
    assert shifts["negation", "true"] == (2 / 4, 1 / 3)
    # of those with a domain: science, maths, maths in a; maths, law in b
    assert shifts["domain", "maths"] == (2 / 3, 1 / 2)
    assert shifts["domain", "law"] == (0, 1 / 2)
    # all four items of a are deductive, and one of them is causal as well
    assert shifts["kinds", "deductive"] == (4 / 4, 2 / 2)
    assert shifts["kinds", "causal"] == (1 / 4, 0)
    assert {s.attribute for s in found.shifts} >= {"depth", "domain", "kinds", "negation"}


def test_content_that_was_edited_is_named(table: pa.Table, tmp_path: Path) -> None:
    then = subset(table, tmp_path / "x")
    hashes = ["other", *table["content_hash"].to_pylist()[1:]]
    position = table.schema.get_field_index("content_hash")
    now = subset(table.set_column(position, "content_hash", pa.array(hashes)), tmp_path / "x")
    assert difference(then, now).edited == ("arc/0",)
    assert difference(then, then).causes == ()


def test_a_number_of_the_waterfall_leads_to_its_items(table: pa.Table, tmp_path: Path) -> None:
    stored = subset(
        table, tmp_path / "x", where={"depth": {"min": 2}}, sample={"size": 3, "seed": 0}
    )
    for number, step in enumerate(stored.lock["steps"], 1):
        left_out = left_out_by(stored, str(number))
        assert left_out.rule == step["rule"]
        assert left_out.items.num_rows == step["left_out"]
        assert left_out_by(stored, step["rule"]).items == left_out.items
    assert sum(step["left_out"] for step in stored.lock["steps"]) == stored.excluded.num_rows
    with pytest.raises(InputError, match=r"wanted a number from 1 to 4, or .* mean 'depth >= 2'"):
        left_out_by(stored, "depth >= 3")


def test_the_lock_traces_the_draw(table: pa.Table, tmp_path: Path) -> None:
    sample = {"size": 4, "seed": 0, "balance": "benchmark"}
    stored = subset(table, tmp_path / "x", sample=sample)
    for entry in stored.lock["draw"]:
        inside = stored.items["benchmark"].to_pylist().count(entry["group"])
        turns = [r["turn"] for r in stored.excluded.to_pylist() if r["group"] == entry["group"]]
        assert inside == entry["drawn"]
        assert sorted(turns) == [*range(entry["drawn"] + 1, entry["available"] + 1)]
