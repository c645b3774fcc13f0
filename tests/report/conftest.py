"""Twelve sums that four models answered and three riddles that nobody did, checked by hand."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pytest

from benchprism.annotate.attribute_table import attribute_table
from benchprism.annotate.consolidation.consolidate import UNDECIDED_SCHEMA, VALUES_SCHEMA
from benchprism.metrics.scorecard import Scorecard, ScoreSettings
from benchprism.prompts.catalogue import Catalogue
from benchprism.records.documents import parse_document
from benchprism.records.items.check import find_faults
from benchprism.records.items.record import Item, content_hash, items_table
from benchprism.records.results.matrix import Outcomes
from benchprism.report.assemble import Holdings, Results
from benchprism.report.content import AnnotatorNote
from benchprism.report.said import Said

CATALOGUE = """
catalogue: small
version: 3
dimensions:
  - id: demands
    title: Demands
    attributes:
      - {id: depth, type: level, question: "How deep?", levels: {0: none, 1: one step, 2: more}}
      - {id: kinds, type: labels, question: "Which?", labels: [none, sums, words]}
  - id: quality
    title: Quality & more
    attributes:
      - {id: distractors, type: level, question: "?", applies_to: multiple_choice,
         levels: {0: weak, 1: strong}}
      - {id: negation, type: boolean, question: "?"}
      - {id: domain, type: label, question: "?", labels: [maths, play_of_words]}
"""
HOSTILE = "<script>alert('x')</script> & \u202eright to left\u0000 {{ report.seed }} </svg>"

# Of the sums, six have depth 0 and five depth 2; the last has no value at all.
DEPTHS: list[int | None] = [0, 0, 0, 0, 0, 0, 2, 2, 2, 2, 2, None]
# Columns: strong, middling, weak, part; the last was asked seven of the sums only.
SCORES: list[list[int | None]] = [
    [1, 1, 1, 1], [1, 1, 1, 1], [1, 1, 1, 1], [1, 1, 1, 1], [1, 1, 0, 1], [1, 0, 0, 0],
    [1, 1, 0, 0], [1, 0, 0, None], [1, 0, 0, None], [0, 0, 0, None], [0, 0, 0, None],
    [1, 1, 1, None],
]  # fmt: skip
MODELS = ("strong", "middling", "weak", "part")


@pytest.fixture
def hostile() -> str:
    """The question of riddles/0."""
    return HOSTILE


@pytest.fixture
def catalogue() -> Catalogue:
    return parse_document(CATALOGUE, Catalogue, name="small")


def item(benchmark: str, row: int, question: str, choices: tuple[str, ...] = ()) -> Item:
    return Item(
        item_id=f"{benchmark}/{row}", benchmark=benchmark, subset="", split="", row=row,
        revision="sha256:0", question=question, context="", choices=choices,
        answer_index=0 if choices else None, answer_text=choices[0] if choices else "7",
        accepted_answers=(), kind="multiple_choice" if choices else "generative", faults=(),
        source="{}", content_hash=content_hash(question, "", choices), choice_set_hash="",
    )  # fmt: skip


def sums() -> list[Item]:
    return [item("sums", row, f"What is {row} and {row + 1}?") for row in range(len(DEPTHS))]


def riddles() -> list[Item]:
    return [
        item("riddles", 0, HOSTILE, ("a", "b")),
        item("riddles", 1, "What has keys?", ("a piano", "a fish")),
        item("riddles", 2, "What runs?", ("a river", "all of the above")),
    ]


def refused(item_id: str) -> list[Said]:
    contents = {item.item_id: item.content_hash for item in riddles()}
    asked = ("depth", "kinds", "distractors", "negation", "domain")
    return [Said(item_id, contents[item_id], attribute, "refused") for attribute in asked]


@pytest.fixture
def table(catalogue: Catalogue) -> pa.Table:
    rows: list[tuple[str, str, object]] = [("riddles/0", "depth", 1), ("riddles/1", "depth", 1)]
    rows += [("riddles/0", "kinds", ["words"]), ("riddles/1", "kinds", ["sums", "words"])]
    rows += [("riddles/0", "distractors", 1), ("riddles/0", "negation", True)]
    rows += [("riddles/0", "domain", "play_of_words")]
    for row, depth in enumerate(DEPTHS):
        if depth is not None:
            rows += [(f"sums/{row}", "depth", depth), (f"sums/{row}", "domain", "maths")]
            rows += [(f"sums/{row}", "kinds", ["sums"])]
    values = [
        {"item_id": i, "attribute": a, "value": json.dumps(v), "provenance": "llm_single",
         "confidence": 1.0, "annotators": 1}
        for i, a, v in rows
    ]  # fmt: skip
    given = pa.Table.from_pylist(values, schema=VALUES_SCHEMA)
    return attribute_table(items_table([*riddles(), *sums()]), given, catalogue)


@pytest.fixture
def outcomes() -> Outcomes:
    scores = [[np.nan if cell is None else cell for cell in row] for row in SCORES]
    ids = tuple(f"sums/{row}" for row in range(len(SCORES)))
    return Outcomes("sums", ids, MODELS, np.array(scores, dtype=np.float32))


@pytest.fixture
def families() -> dict[str, str]:
    return {"strong": "A", "weak": "A", "middling": "B"}


@pytest.fixture
def holdings(
    table: pa.Table, catalogue: Catalogue, outcomes: Outcomes, families: dict[str, str]
) -> Holdings:
    return Holdings(
        project="tiny <b>project</b>",
        catalogue=catalogue,
        table=table,
        provenance={"sums": {"file": "sums.csv", "licence": "MIT", "revision": "sha256:0"}},
        annotators=[AnnotatorNote("llm:replay:reader-a", 30, replayed=True)],
        verdicts=[],
        said=refused("riddles/2"),
        awaited=[],
        undecided=UNDECIDED_SCHEMA.empty_table(),
        notes=[],
        findings=find_faults(items_table(riddles())),
        results=Results([outcomes], families, Scorecard((), ScoreSettings())),
        subsets=[],
        seed=5,
    )
