"""What a library made of items, against the items; each row is one mistake that it could make."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from benchprism.compose.export.harness.rendering import check_samples
from benchprism.records.items.record import Item

PART = {
    "benchmark": "arc", "kind": "multiple_choice", "scoring": "options", "cleaned": False,
    "metric": "acc",
}  # fmt: skip
RIGHT = {
    "item_id": "arc/test/0",
    "part": "arc",
    "asked": [["Question: 12?\nAnswer:", " 007"], ["Question: 12?\nAnswer:", " None"]],
    "key": 1,
    "score": 1.0,
}


def check(rows: list[dict[str, Any]], item: Item) -> tuple[Any, list[str]]:
    exported = [
        {
            "item_id": item.item_id, "benchmark": "arc", "kind": item.kind, "question": "12?",
            "choices": [*item.choices], "answer_index": 1, "answer_text": "None",
            "source_record": None,
        }
    ]  # fmt: skip
    found = check_samples(rows, exported, {item.item_id: item}, {"arc": PART})
    found.joined = {"arc": 1}
    return found.counts(logs=True)["arc"], found.differences


@pytest.fixture
def item(make_choice: Callable[..., Item]) -> Item:
    return make_choice("arc", 0, "12?", "007", "None", key=1)


def test_what_is_asked_keyed_and_scored_as_it_should_be_holds(item: Item) -> None:
    counts, differences = check([RIGHT], item)
    assert counts.holds
    assert differences == []


@pytest.mark.parametrize(
    ("changes", "figures", "difference"),
    [
        ({"asked": [["12?", " 7"], ["12?", " None"]]}, (0, 1, 1), "asked with other texts"),
        ({"asked": [["12?", " None"], ["12?", " 007"]]}, (0, 1, 1), "asked with other texts"),
        ({"asked": [["12", " 007"], ["12", " None"]]}, (0, 1, 1), "asked with other texts"),
        ({"key": 0}, (1, 0, 1), "the key 0"),
        ({"score": 0.0}, (1, 1, 0), "the key scores 0.0"),
        ({"item_id": "arc/test/1"}, (0, 0, 0), "not asked"),
    ],
)
def test_each_mistake_is_found(
    changes: dict[str, Any], figures: tuple[int, int, int], difference: str, item: Item
) -> None:
    counts, differences = check([{**RIGHT, **changes}], item)
    assert not counts.holds
    assert (counts.rendered, counts.keyed, counts.right) == figures
    assert any(difference in text for text in differences)


def test_letters_and_accepted_answers_are_keys(item: Item, make_open: Callable[..., Item]) -> None:
    asked = {"asked": "12? A) 007 B) None", "choices": ["007", "None"]}
    assert check([{**RIGHT, **asked, "key": "B"}], item)[0].holds
    assert not check([{**RIGHT, **asked, "key": "A"}], item)[0].holds

    part = {**PART, "kind": "generative", "scoring": "exact"}
    opened = make_open("arc", 0, "12?", "None", accepted_answers=("null",))
    row = {"item_id": opened.item_id, "benchmark": "arc", "kind": "generative",
           "answer_text": "None", "source_record": None}  # fmt: skip
    for key, holds in ((["None", "null"], True), (["null"], False), (["None", "nil"], False)):
        seen = {"item_id": opened.item_id, "part": "arc", "asked": "12?", "key": key, "score": 1.0}
        found = check_samples([seen], [row], {opened.item_id: opened}, {"arc": part})
        assert found.counts(logs=False)["arc"].holds == holds
