"""Items with texts of any kind."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from benchprism.records.items.record import Item, choice_set_hash, content_hash

MakeItem = Callable[..., Item]


@pytest.fixture
def make_item() -> MakeItem:
    """Make an item out of its texts; without choices it is an open question."""

    def make(
        question: str,
        choices: Sequence[str] = (),
        *,
        key: int | None = None,
        answer: str | None = None,
        context: str = "",
        accepted: Sequence[str] = (),
    ) -> Item:
        return Item(
            item_id="bench/test/0",
            benchmark="bench",
            subset="",
            split="test",
            row=0,
            revision="r1",
            question=question,
            context=context,
            choices=tuple(choices),
            answer_index=key,
            answer_text=choices[key] if key is not None else answer,
            accepted_answers=tuple(accepted),
            kind="multiple_choice" if choices else "generative",
            faults=(),
            source="{}",
            content_hash=content_hash(question, context, choices),
            choice_set_hash=choice_set_hash(question, context, choices),
        )

    return make
