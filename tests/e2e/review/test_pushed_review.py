"""A pushed dataset, as the person who reviews it sees it in the web UI."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable
from functools import partial
from typing import Any

import pyarrow as pa
import pytest

from benchprism.annotate.consolidation.consolidate import VALUES_SCHEMA
from benchprism.annotate.review.argilla.client import Argilla
from benchprism.annotate.review.argilla.comparison import Delivery, compare
from benchprism.annotate.review.argilla.dataset import Dataset
from benchprism.annotate.review.argilla.push import send
from benchprism.annotate.review.case import cases
from benchprism.annotate.review.form import form_of
from benchprism.annotate.review.server import Access
from benchprism.prompts.library import load_catalogue
from benchprism.records.items.record import Item, choice_set_hash, content_hash, items_table

QUESTIONS = (
    "<script>alert(1)</script><img src=x onerror='alert(1)'><b>b</b> a < b",
    "{{ 7 * 7 }} ${7*7} {{constructor.constructor('alert(1)')()}} \\(x\\)",
    "**not bold** [no link](javascript:alert(1)) `code` &lt;i&gt; &amp;",
    "first line\n  second line",
    "🎉 \u202eright to left\u202c שלום עולם",
    ("word " * 20_000).strip(),
    "An ordinary question?",
)
CHOICES = ("<b>first</b>", "second")


@pytest.fixture
def pushed(review_server: Any) -> Dataset:
    """One item a question, in all of which an annotator found a clarity of 3, and code."""
    items = items_table(_item(row, question) for row, question in enumerate(QUESTIONS))
    values = [
        {"item_id": item_id, "attribute": attribute, "value": json.dumps(value),
         "provenance": "llm_single", "confidence": 0.9, "annotators": 1}
        for item_id in items["item_id"].to_pylist()
        for attribute, value in (("clarity", 3), ("task_kind", "code"))
    ]  # fmt: skip
    table = pa.Table.from_pylist(values, schema=VALUES_SCHEMA)
    form = form_of(load_catalogue("core"), ["clarity", "task_kind"])
    delivery = Delivery(f"ui {uuid.uuid4()}", form, "seen", partial(cases, items, table))
    with Argilla(Access(**review_server.access)) as argilla:
        [found] = compare(argilla, [delivery])
        return send(argilla, found, lambda _: None)


def _item(row: int, question: str) -> Item:
    return Item(
        item_id=f"bench/test/{row}",
        benchmark="bench",
        subset="",
        split="test",
        row=row,
        revision="r1",
        question=question,
        context="",
        choices=CHOICES,
        answer_index=1,
        answer_text="second",
        accepted_answers=(),
        kind="multiple_choice",
        faults=(),
        source="{}",
        content_hash=content_hash(question, "", CHOICES),
        choice_set_hash=choice_set_hash(question, "", CHOICES),
    )


def test_every_item_shows_as_the_text_that_it_is(
    reviewer: Callable[[str], Any], pushed: Dataset
) -> None:
    alice = reviewer("alice")
    alerts: list[str] = []

    def note(dialog: Any) -> None:
        alerts.append(dialog.message)
        dialog.dismiss()

    alice.page.on("dialog", note)
    shown: set[str] = set()
    for number in range(1, len(QUESTIONS) + 1):
        alice.open(pushed.id, number)
        shown.update(text.strip() for text in alice.texts)
    assert alerts == []
    assert all(any(question in text for text in shown) for question in QUESTIONS)
    assert any("✔ B. second" in text and "A. <b>first</b>" in text for text in shown)


def test_one_is_changed_and_submitted_one_discarded_one_kept_as_a_draft(
    reviewer: Callable[[str], Any], pushed: Dataset, review_server: Any
) -> None:
    bob = reviewer("bob")
    bob.open(pushed.id)
    bob.page.get_by_text("llm_single").first.wait_for()
    bob.choose("task_kind", "ordering")
    bob.submit()
    bob.open(pushed.id)
    bob.discard()
    bob.open(pushed.id)
    bob.choose("clarity", "1")
    bob.save_draft()
    listed = review_server.owner("GET", f"datasets/{pushed.id}/records?include=responses")
    found = {r["status"]: r["values"] for one in listed["items"] for r in one["responses"]}
    assert found["submitted"] == {"clarity": {"value": 3}, "task_kind": {"value": "ordering"}}
    assert found["discarded"] == {"clarity": {"value": 3}, "task_kind": {"value": "code"}}
    assert found["draft"]["clarity"] == {"value": 1}
    assert len(found) == 3
