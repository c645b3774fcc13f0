"""A small project to review."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from benchprism.annotate.ledger.outcome import Reply, Usage, Verdict
from benchprism.annotate.ledger.store import Ledger
from benchprism.prompts.catalogue import Value
from benchprism.prompts.library import load_catalogue
from benchprism.records.items.record import Item, choice_set_hash, content_hash
from benchprism.records.items.store import write_items

CATALOGUE = """\
catalogue: small
version: 1
scale: Levels run from 0 to 2.
dimensions:
  - id: demands
    title: Demands
    attributes:
      - {id: depth, type: level, question: "How deep?", levels: {0: not at all, 1: a step, 2: more}}
      - id: kinds
        title: Kinds of reasoning
        type: labels
        question: "Which kinds?"
        labels: {none: no reasoning, deductive: from rules, causal: from causes}
  - id: form
    title: Form
    attributes:
      - {id: task, type: label, question: "What is asked?", labels: [fact, sum, other]}
      - {id: negated, type: boolean, question: "Is it negated?"}
      - id: lures
        type: level
        applies_to: multiple_choice
        question: "How tempting?"
        levels: {0: none, 1: some}
"""
SUGGESTED: dict[str, Value] = {
    "depth": 1,
    "kinds": ["deductive"],
    "task": "fact",
    "negated": False,
    "lures": 0,
}


@pytest.fixture
def review_project(tmp_path: Path) -> Callable[..., Path]:
    """Make a project of questions, all but the last of which a model has annotated.

    Items are ``bench/test/0`` and so on; the last is an open question, the others have choices.
    """

    def make(*questions: str) -> Path:
        folder = tmp_path / "audit"
        folder.mkdir()
        settings = "project: audit\ncatalogue: catalogue.yaml\n"
        (folder / "benchprism.yaml").write_text(settings, encoding="utf-8")
        (folder / "catalogue.yaml").write_text(CATALOGUE, encoding="utf-8")
        last = len(questions) - 1
        items = [_item(row, text, is_open=row == last) for row, text in enumerate(questions)]
        write_items(folder / "items" / "bench.parquet", items, {})
        catalogue = load_catalogue("catalogue.yaml", folder=folder)
        with Ledger(folder / "ledger.sqlite", write=True) as ledger:
            ledger.remember(catalogue)
            ledger.add(_annotated(item, catalogue.hash) for item in items[:-1])
        return folder

    return make


def _item(row: int, question: str, *, is_open: bool) -> Item:
    choices = () if is_open else ("one", question)
    return Item(
        item_id=f"bench/test/{row}",
        benchmark="bench",
        subset="",
        split="test",
        row=row,
        revision="r1",
        question=question,
        context="" if is_open else question,
        choices=choices,
        answer_index=None if is_open else 1,
        answer_text=question,
        accepted_answers=(),
        kind="generative" if is_open else "multiple_choice",
        faults=(),
        source="{}",
        content_hash=content_hash(question, "" if is_open else question, choices),
        choice_set_hash=choice_set_hash(question, "", choices),
    )


def _annotated(item: Item, catalogue: str) -> tuple[Reply, list[Verdict]]:
    reply = Reply(
        request_key=item.item_id,
        item_id=item.item_id,
        content_hash=item.content_hash,
        annotator="llm:main",
        model="m",
        prompt_hash="p",
        catalogue_hash=catalogue,
        status="ok",
        reason="",
        body="{}",
        usage=Usage(),
        price=None,
        time="2026-01-01T00:00:00.000000+00:00",
        seconds=1.0,
        attempts=1,
    )
    return reply, [Verdict(name, value, "ok", confidence=0.8) for name, value in SUGGESTED.items()]
