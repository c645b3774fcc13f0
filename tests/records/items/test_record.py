from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from benchprism.records.items.record import (
    ITEM_SCHEMA,
    Item,
    choice_set_hash,
    content_hash,
    content_hashes,
    fold,
    item_from_row,
    items_table,
)

TEXTS = st.text(max_size=20)


def test_the_hash_ignores_unicode_variants_and_white_space() -> None:
    assert content_hash("A\u00a0 b\r\n", "", ["ﬁve"]) == content_hash("A b", "", ["five"])
    assert content_hash("A b", "", ["x"]) != content_hash("A b", "x", [])
    assert content_hash("A b", "", ["x", "y"]) != content_hash("A b", "", ["x y"])


@given(TEXTS, TEXTS, st.lists(TEXTS, max_size=5), st.randoms())
def test_the_choice_set_hash_ignores_the_order_of_choices(question, context, choices, random):  # type: ignore[no-untyped-def]
    shuffled = random.sample(choices, len(choices))
    assert choice_set_hash(question, context, choices) == choice_set_hash(
        question, context, shuffled
    )
    assert content_hashes(question, context, choices) == (
        content_hash(question, context, choices),
        choice_set_hash(question, context, choices),
    )


@given(TEXTS)
def test_folding_twice_changes_nothing(text: str) -> None:
    assert fold(fold(text)) == fold(text)


def test_an_item_survives_the_table() -> None:
    item = Item(
        item_id="b/0",
        benchmark="b",
        subset="",
        split="",
        row=0,
        revision="sha256:0",
        question="{{ q }}\u2028",
        context="",
        choices=("None", ""),
        answer_index=1,
        answer_text="",
        accepted_answers=(),
        kind="multiple_choice",
        faults=("empty_choice",),
        source="{}",
        content_hash="0",
        choice_set_hash="0",
    )
    table = items_table([item])
    assert table.schema.equals(ITEM_SCHEMA)
    assert item_from_row(table.to_pylist()[0]) == item
    assert items_table([]).schema.equals(ITEM_SCHEMA)
