"""Twelve items of three benchmarks, small enough to work out every choice by hand."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from benchprism.prompts.catalogue import Catalogue
from benchprism.records.documents import parse_document
from benchprism.records.items.record import Item, content_hash, items_table

CATALOGUE = """
catalogue: small
version: 1
dimensions:
  - id: demands
    title: Demands
    attributes:
      - {id: depth, type: level, question: "?", levels: {0: a, 1: b, 2: c, 3: d}}
      - {id: domain, type: label, question: "?", labels: [maths, science, law]}
      - {id: kinds, type: labels, question: "?", labels: [none, deductive, causal]}
      - {id: negation, type: boolean, question: "?"}
"""

ROWS: list[tuple[str, int | None, str | None, list[str] | None, bool | None, int, list[str]]] = [
    ("arc/0", 0, "science", ["none"], False, 10, []),
    ("arc/1", 1, "science", ["causal"], False, 12, []),
    ("arc/2", 2, "science", ["deductive", "causal"], True, 14, []),
    ("arc/3", None, None, None, None, 9, []),
    ("arc/4", 3, "science", ["deductive"], False, 20, ["bad_key"]),
    ("gsm/0", 2, "maths", ["deductive"], False, 40, []),
    ("gsm/1", 3, "maths", ["deductive"], True, 55, []),
    ("gsm/2", 3, None, ["deductive"], False, 60, []),
    ("gsm/3", 1, "maths", ["deductive"], False, 30, ["no_gold", "bad_key"]),
    ("law/0", 2, "law", ["none"], True, 25, []),
    ("law/1", 3, "law", None, False, 26, []),
    ("law/2", 1, "law", ["causal"], False, 27, []),
]


def item(item_id: str, faults: list[str]) -> Item:
    benchmark, row = item_id.split("/")
    question = f"What is item {row} of {benchmark}?"
    return Item(
        item_id=item_id, benchmark=benchmark, subset="", split="", row=int(row),
        revision=f"rev-{benchmark}", question=question, context="", choices=("yes", "no"),
        answer_index=0, answer_text="yes", accepted_answers=(), kind="multiple_choice",
        faults=tuple(faults), source="{}", content_hash=content_hash(question, "", ["yes", "no"]),
        choice_set_hash="",
    )  # fmt: skip


@pytest.fixture
def table() -> pa.Table:
    """The attribute table of the twelve items."""
    columns: list[Any] = [*zip(*ROWS, strict=True)]
    ids, depth, domain, kinds, negation, words, faults = columns
    return (
        items_table(item(*pair) for pair in zip(ids, faults, strict=True))
        .append_column("word_count", pa.array(words, pa.int32()))
        .append_column("answer_format", pa.array(["choice"] * 12))
        .append_column("readability_grade", pa.array([w / 4 for w in words], pa.float64()))
        .append_column("depth", pa.array(depth, pa.int8()))
        .append_column("depth.source", pa.array([d if d is None else "llm_single" for d in depth]))
        .append_column("depth.confidence", pa.array([None if d is None else 0.75 for d in depth]))
        .append_column("domain", pa.array(domain, pa.string()))
        .append_column("kinds", pa.array(kinds, pa.list_(pa.string())))
        .append_column("negation", pa.array(negation, pa.bool_()))
    )


@pytest.fixture
def catalogue() -> Catalogue:
    """The catalogue behind the four attributes."""
    return parse_document(CATALOGUE, Catalogue, name="small.yaml")
