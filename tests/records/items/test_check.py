from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from benchprism.records.items.building import build_items
from benchprism.records.items.check import find_faults
from benchprism.records.items.mapping import ColumnMapping
from benchprism.records.items.position import position_dependent
from benchprism.records.items.record import items_table
from benchprism.records.items.source import Row, Source

CHOICE = ColumnMapping(question="q", choices="c", answer="k", coding="letter", subset="s")
OPEN = ColumnMapping(question="q", answer="k", coding="list", subset="s")


def table(benchmark: str, *rows: tuple[Any, ...], mapping: ColumnMapping = CHOICE) -> pa.Table:
    cells = [dict(zip("sqkc", (*row, None)[:4], strict=True)) for row in rows]
    source = Source("f", "sha256:0", [Row("line", one) for one in cells])
    return items_table(build_items(benchmark, [source], mapping))


def found(*tables: pa.Table) -> list[tuple[str, str]]:
    return [(one.item_id, one.fault) for one in find_faults(pa.concat_tables(tables))]


def test_sound_items_have_no_findings() -> None:
    items = table("b", ("s", "a", "A", ["x", "y"]), ("s", "a", "A", ["x", "z"]))
    assert found(items) == []
    assert find_faults(items.slice(0, 0)) == []


def test_an_items_own_faults_are_findings() -> None:
    items = table("b", ("s", "a", "E", ["x", "y"]), ("s", "", "", ["x", "x"]), ("s", "c", "A", []))
    assert found(items) == [
        ("b/s/0", "bad_key"),
        ("b/s/1", "empty_question"),
        ("b/s/1", "duplicate_choices"),
        ("b/s/1", "no_gold"),
        ("b/s/2", "missing_choices"),
    ]


def test_conflicting_keys_are_found_across_subsets_and_orders() -> None:
    items = table(
        "b",
        ("law", "A\u00a0question", "A", ["x", "y"]),
        ("ethics", "A question", "B", ["x", "y"]),
        ("logic", "A question", "A", ["y", "x"]),
        ("logic", "Another", "A", ["y", "x"]),
    )
    assert found(items) == [
        ("b/law/0", "conflicting_keys"),
        ("b/ethics/0", "conflicting_keys"),
        ("b/ethics/0", "exact_duplicate"),
        ("b/logic/0", "conflicting_keys"),
        ("b/logic/0", "shuffled_duplicate"),
    ]
    details = [one.detail for one in find_faults(items)]
    assert details[0] == "key 'x', but 'y' in b/ethics/0"
    assert details[2] == "the same as b/law/0"
    assert details[4] == "b/law/0 with its choices in another order"


def test_duplicates_are_found_across_benchmarks() -> None:
    one = table("one", ("s", "a", "A", ["x", "y"]))
    two = table("two", ("s", "a", "A", ["x", "y"]), ("s", "a", "B", ["y", "x"]))
    assert found(one, two) == [
        ("two/s/0", "exact_duplicate"),
        ("two/s/1", "shuffled_duplicate"),
    ]


def test_open_answers_conflict_only_when_neither_accepts_the_other() -> None:
    same = [("s", "a", ["1", "one"]), ("s", "a", ["One ", "one"]), ("s", "a", ["2"])]
    assert found(table("b", *same, mapping=OPEN)) == [
        ("b/s/0", "conflicting_keys"),
        ("b/s/1", "conflicting_keys"),
        ("b/s/1", "exact_duplicate"),
        ("b/s/2", "conflicting_keys"),
        ("b/s/2", "exact_duplicate"),
    ]
    assert found(table("b", *same[:2], mapping=OPEN)) == [("b/s/1", "exact_duplicate")]


@pytest.mark.parametrize(
    "option",
    [
        "All of the above",
        "all of the above.",
        "None of these",
        "none of the above, as the dose is low",
        "All of these options.",
        "Both A and B",
        "A and C only",
        "(A), (B), and (C)",
        "either A or B.",
        "Neither of these",
        "none of above",
        "Moons contribute to all of the above.",
        "Options A and B",
    ],
)
def test_options_that_speak_of_others(option: str) -> None:
    assert position_dependent(["x", option]) == option
    (finding,) = find_faults(table("b", ("s", "q", "A", ["x", option])))
    assert (finding.fault, finding.detail) == (
        "position_dependent",
        f"the choice {option!r} speaks of other choices",
    )


@pytest.mark.parametrize(
    "option",
    [
        "None",
        "Vitamin A and E",
        "I and II only",
        "the above-ground parts",
        "prevent which of the following in this mother?",
        "You have any of the following symptoms: fever",
        "If you plan on doing any of the above, use a lighter gloss",
        "All of these changes would help",
        "a and b",
        "the terms of the Treaty of Paris",
    ],
)
def test_options_that_stand_alone(option: str) -> None:
    assert position_dependent([option]) is None


def test_a_position_dependent_option_is_no_fault_of_the_item() -> None:
    items = table("b", ("s", "q", "A", ["x", "All of the above"]))
    assert items.column("faults").to_pylist() == [[]]
