"""Shards divide the items alike everywhere, and their ledgers make one, in whatever order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from contextlib import AbstractContextManager
from itertools import permutations
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from benchprism.annotate.asking.annotator import Annotator, run_annotator
from benchprism.annotate.consolidation.consolidate import consolidated_values
from benchprism.annotate.ledger.shards import Shard, shard_of
from benchprism.annotate.ledger.store import Ledger
from benchprism.prompts.catalogue import Catalogue
from benchprism.records.errors import InputError

MakeItems = Callable[..., pa.Table]

TABLES = ("catalogue", "body", "reply", "annotation", "capability")


def test_every_item_is_in_one_shard(recorded_items: pa.Table) -> None:
    shards = [Shard(number, 8) for number in range(1, 9)]
    parts = [shard.items(recorded_items)["item_id"].to_pylist() for shard in shards]
    ids = recorded_items["item_id"].to_pylist()
    assert sorted(item_id for part in parts for item_id in part) == sorted(ids)
    assert all(25 <= len(part) <= 65 for part in parts)  # 45 on average
    assert [i for i in ids if i in set(parts[2])] == parts[2]


# The first eight bytes of BLAKE2b of the id, modulo the number of shards.
@pytest.mark.parametrize(
    ("item_id", "of", "number"),
    [("mmlu/anatomy/test/7", 3, 1), ("gsm8k/test/100", 8, 4), ("x", 1, 1)],
)
def test_a_shard_follows_from_the_id(item_id: str, of: int, number: int) -> None:
    assert [Shard(n, of).holds(item_id) for n in range(1, of + 1)] == [
        n == number for n in range(1, of + 1)
    ]


@pytest.mark.parametrize("text", ["0/8", "9/8", "2", "2/0", "-1/8", "2/8/3", "two/8", "2 / 8", ""])
def test_what_is_no_shard_is_one_sentence(text: str) -> None:
    with pytest.raises(InputError, match="wanted a number and how many there are"):
        shard_of(text)


def test_a_shard_is_read_and_named() -> None:
    assert shard_of("2/8") == Shard(2, 8)
    assert shard_of("2/8").name == "2-of-8"


def rows(path: Path) -> dict[str, list[tuple[object, ...]]]:
    with Ledger(path) as ledger:
        return {name: sorted(ledger.query(f"SELECT * FROM {name}")) for name in TABLES}


def test_ledgers_of_shards_merge_to_the_same_ledger_in_any_order(
    fault_server: Callable[..., AbstractContextManager[Any]],
    make_items: MakeItems,
    annotator_at: Callable[..., Annotator],
    core: Catalogue,
    tmp_path: Path,
) -> None:
    items = make_items(24)
    paths = [tmp_path / f"{number}.sqlite" for number in (1, 2, 3)]
    with fault_server() as server:
        annotator = annotator_at(server.base_url)
        for number, path in enumerate(paths, 1):
            run_annotator(annotator, Shard(number, 3).items(items), core, path)
        assert set(server.asked.values()) == {1}
    merged = []
    for place, order in enumerate(permutations(paths)):
        target = tmp_path / f"merged-{place}.sqlite"
        with Ledger(target, write=True) as ledger:
            new = [ledger.merge(path) for path in order]
            again = [ledger.merge(path) for path in order]
        assert (sum(new), sum(again)) == (24, 0)
        merged.append(rows(target))
    assert all(other == merged[0] for other in merged)
    with fault_server() as server:
        annotator = annotator_at(server.base_url)
        summary = run_annotator(annotator, items, core, tmp_path / "merged-0.sqlite")
        assert (summary.already, server.asked) == (24, Counter())
        one = tmp_path / "one.sqlite"
        run_annotator(annotator, items, core, one)
    values = consolidated_values(one, core, items)
    assert consolidated_values(tmp_path / "merged-0.sqlite", core, items) == values


def test_what_another_ledger_has_is_not_asked_again(
    fault_server: Callable[..., AbstractContextManager[Any]],
    make_items: MakeItems,
    annotator_at: Callable[..., Annotator],
    core: Catalogue,
    tmp_path: Path,
) -> None:
    main, own = tmp_path / "main.sqlite", tmp_path / "own.sqlite"
    with fault_server() as server:
        annotator = annotator_at(server.base_url)
        run_annotator(annotator, make_items(4), core, main)
        summary = run_annotator(annotator, make_items(6), core, own, known=[main])
    assert (summary.asked, summary.already) == (2, 4)
    assert set(server.asked.values()) == {1}


def test_a_ledger_that_is_not_there_is_not_merged(tmp_path: Path) -> None:
    missing = pytest.raises(InputError, match=r"no ledger '.*none\.sqlite'")
    with Ledger(tmp_path / "l.sqlite", write=True) as ledger, missing:
        ledger.merge(tmp_path / "none.sqlite")


def test_a_ledger_merged_into_itself_stays_as_it_is(
    fault_server: Callable[..., AbstractContextManager[Any]], make_items: MakeItems,
    annotator_at: Callable[..., Annotator], core: Catalogue, tmp_path: Path,
) -> None:  # fmt: skip
    path, link = tmp_path / "l.sqlite", tmp_path / "link.sqlite"
    with fault_server() as server:
        run_annotator(annotator_at(server.base_url), make_items(2), core, path)
    link.symlink_to(path)
    before = rows(path)
    with Ledger(path, write=True) as ledger:
        assert [ledger.merge(path), ledger.merge(link)] == [0, 0]
    assert rows(path) == before
