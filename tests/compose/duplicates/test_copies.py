from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from benchprism.compose.composer import Composition, compose
from benchprism.compose.language.criteria import Criteria
from benchprism.records.errors import InputError
from benchprism.records.items.record import Item, content_hashes, items_table

LONG = "Which of these four animals lives in the sea and breathes air through its lungs?"
ROWS: list[tuple[str, str, list[str], str]] = [
    ("arc/0", LONG, ["whale", "trout", "shark", "crab"], "whale"),
    ("arc/1", LONG, ["trout", "whale", "shark", "crab"], "whale"),  # shuffled
    ("arc/2", "What is 2 + 3?", ["5", "6"], "5"),
    ("arc/3", "What is 2 - 3?", ["5", "6"], "5"),
    ("gsm/0", LONG.replace("four", "five"), ["whale", "trout", "shark", "crab"], "whale"),  # near
    ("gsm/1", "What  is 2 + 3?", ["5", "6"], "6"),  # exact but for a space, with another key
    ("law/0", LONG, ["whale", "trout", "shark", "crab"], "whale"),  # exact
]


def item(item_id: str, question: str, choices: list[str], answer: str) -> Item:
    benchmark, row = item_id.split("/")
    hashes = content_hashes(question, "", choices)
    return Item(
        item_id=item_id, benchmark=benchmark, subset="", split="", row=int(row), revision="r",
        question=question, context="", choices=tuple(choices), answer_index=choices.index(answer),
        answer_text=answer, accepted_answers=(), kind="multiple_choice", faults=(), source="{}",
        content_hash=hashes[0], choice_set_hash=hashes[1],
    )  # fmt: skip


@pytest.fixture
def copies() -> pa.Table:
    return items_table(item(*row) for row in ROWS)


def composed(table: pa.Table, wanted: Any) -> Composition:
    return compose(Criteria.model_validate({"name": "x", "deduplicate": wanted}), table)


@pytest.mark.parametrize(
    ("wanted", "out"),
    [
        ("exact", {"gsm/1": "arc/2", "law/0": "arc/0"}),
        ("shuffled", {"arc/1": "arc/0", "gsm/1": "arc/2", "law/0": "arc/0"}),
        (
            {"match": "near", "similarity": 0.8},
            {"arc/1": "arc/0", "gsm/0": "arc/0", "gsm/1": "arc/2", "law/0": "arc/0"},
        ),
        ({"match": "near", "similarity": 0.95}, {"arc/1": "arc/0", "gsm/1": "arc/2",
                                                 "law/0": "arc/0"}),
        ({"match": "exact", "within": "benchmark"}, {}),
        ({"match": "shuffled", "within": "benchmark"}, {"arc/1": "arc/0"}),
        ({"match": "exact", "keep": ["law", "gsm"]}, {"arc/2": "gsm/1", "arc/0": "law/0"}),
        # of law/0, arc/0, arc/1 and gsm/0, that of gsm stays
        (
            {"match": "near", "keep": ["gsm"]},
            {"arc/0": "gsm/0", "arc/1": "gsm/0", "arc/2": "gsm/1", "law/0": "gsm/0"},
        ),
    ],
)  # fmt: skip
def test_which_copies_are_left_out(wanted: Any, out: dict[str, str], copies: pa.Table) -> None:
    composition = composed(copies, wanted)
    rows = composition.excluded.to_pylist()
    assert {row["item_id"]: row["instead"] for row in rows} == out
    assert {*composition.chosen_ids} == {row[0] for row in ROWS} - out.keys()
    assert composition.steps[-1].left_out == len(out)


def test_the_reason_names_what_stays_and_another_key(copies: pa.Table) -> None:
    composition = composed(copies, {"match": "near", "similarity": 0.7})
    why = {r["item_id"]: (r["rule"], r["detail"]) for r in composition.excluded.to_pylist()}
    rule = "deduplicate: near, similarity 0.7"
    assert why["gsm/1"] == (rule, "a copy of arc/2 (Jaccard 1), whose key is another")
    # 16 pairs and four choices: two pairs and their replacements are not shared
    assert why["gsm/0"] == (rule, f"a copy of arc/0 (Jaccard {round(17 / 21, 3)})")
    exact = composed(copies, {"match": "exact", "within": "all", "keep": ["law"]})
    why = {r["item_id"]: (r["rule"], r["detail"]) for r in exact.excluded.to_pylist()}
    assert why["arc/0"] == ("deduplicate: exact, keep law", "a copy of law/0")


def test_only_items_that_the_rules_leave_can_be_copied(copies: pa.Table) -> None:
    parts = {"name": "x", "where": {"not": {"benchmark": "arc"}}, "deduplicate": "exact"}
    assert compose(Criteria.model_validate(parts), copies).chosen_ids == ["gsm/0", "gsm/1", "law/0"]


def test_an_unknown_benchmark_to_keep(copies: pa.Table) -> None:
    with pytest.raises(InputError, match=r"the unknown benchmark 'lwa'; .* did you mean 'law'"):
        composed(copies, {"keep": ["lwa"]})
