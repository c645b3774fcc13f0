"""Which items another value would move into or out of a subset: by hand, and by composing again."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from benchprism.annotate.attribute_table import attribute_table
from benchprism.annotate.consolidation.consolidate import VALUES_SCHEMA
from benchprism.annotate.ledger.current import Current
from benchprism.compose.language.criteria import Criteria
from benchprism.compose.screening import screen
from benchprism.prompts.catalogue import Attribute, Catalogue, Value
from benchprism.records.documents import parse_document
from benchprism.records.items.record import Item, content_hash, items_table
from benchprism.reviewing.consequence import consequences

CATALOGUE = parse_document(
    """
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
""",
    Catalogue,
    name="small.yaml",
)
Words = Mapping[str, Mapping[str, Sequence[Value]]]
"""By attribute and item: what each annotator says; the first one's word is the item's value."""


def items(number: int) -> pa.Table:
    return items_table(
        Item(
            item_id=f"bench/{row}", benchmark="bench", subset="", split="", row=row, revision="",
            question=f"Question {row}?", context="", choices=("yes", "no"), answer_index=0,
            answer_text="yes", accepted_answers=(), kind="multiple_choice", faults=(), source="{}",
            content_hash=content_hash(f"Question {row}?", "", ["yes", "no"]), choice_set_hash="",
        )
        for row in range(number)
    )  # fmt: skip


def table_of(number: int, values: Mapping[tuple[str, str], Value], **of_value: Any) -> pa.Table:
    rows = [
        {"item_id": item, "attribute": attribute, "value": json.dumps(value),
         "provenance": "llm_single", "confidence": 0.6, "annotators": 1, **of_value}
        for (attribute, item), value in values.items()
    ]  # fmt: skip
    return attribute_table(
        items(number), pa.Table.from_pylist(rows, schema=VALUES_SCHEMA), CATALOGUE
    )


def current(attribute: Attribute, words: Mapping[str, Sequence[Value]]) -> Current:
    said = [
        (int(item.removeprefix("bench/")), who, json.dumps(value))
        for item, values in words.items()
        for who, value in enumerate(values)
    ]
    texts = sorted({text for _, _, text in said})
    unknown = np.full(len(said), np.nan)
    return Current(
        attribute=attribute,
        rows=np.array([row for row, _, _ in said], np.int64),
        annotators=np.array([who for _, who, _ in said], np.int64),
        names=("llm:a", "llm:b", "llm:c"),
        codes=np.array([texts.index(text) for _, _, text in said], np.int64),
        values=tuple(json.loads(text) for text in texts),
        confidences=unknown,
        doubts=unknown,
    )


def first_words(words: Words) -> dict[tuple[str, str], Value]:
    return {(a, item): said[0] for a, own in words.items() for item, said in own.items() if said}


def found(
    where: dict[str, Any],
    words: Words,
    number: int,
    doubtful: Mapping[str, Sequence[str]] | None = None,
    **options: Any,
) -> dict[str, set[str]]:
    criteria = Criteria.model_validate({"name": "s", "where": where, **options})
    screening = screen(criteria, table_of(number, first_words(words)), catalogue=CATALOGUE)
    said = [current(attribute, words.get(attribute.id, {})) for attribute in CATALOGUE]
    ids = [f"bench/{row}" for row in range(number)]
    return {one: set(a) for one, a in consequences(screening, ids, said, doubtful or {}).items()}


def test_a_level_moves_by_one_or_to_what_an_annotator_gave() -> None:
    depth: dict[str, Sequence[Value]] = {
        "bench/0": [0],  # 1 is still too little
        "bench/1": [1],  # 2 would be in
        "bench/2": [2],  # 1 would be out
        "bench/3": [3],  # 2 is still enough
        "bench/4": [0, 3],  # an annotator says 3
        "bench/5": [],  # missing: anything is possible
    }
    moving = {"bench/1", "bench/2", "bench/4", "bench/5"}
    assert found({"depth": {"min": 2}}, {"depth": depth}, 6) == {item: {"depth"} for item in moving}


def test_labels_and_truth_values_move_where_they_are_in_doubt() -> None:
    words: Words = {
        "domain": {"bench/0": ["law"], "bench/1": ["law"], "bench/2": ["law", "maths"]},
        "negation": {"bench/0": [False], "bench/1": [False], "bench/2": [False]},
    }
    where = {"domain": "maths", "negation": False}
    assert found(where, words, 3) == {"bench/2": {"domain"}}
    assert found(where, words, 3, {"bench/0": ["domain"]}) == {
        "bench/0": {"domain"},
        "bench/2": {"domain"},
    }
    # in 1 it is the domain that leaves it out, whatever the negation
    assert found(where, words, 3, {"bench/1": ["negation"]}) == {"bench/2": {"domain"}}


def test_another_rule_that_leaves_the_item_out_makes_a_change_idle() -> None:
    words: Words = {
        "depth": {"bench/0": [1], "bench/1": [1]},
        "kinds": {"bench/0": [["causal"]], "bench/1": [["none"]]},
    }
    where = {"depth": {"min": 2}, "kinds": {"contains": "causal"}}
    assert found(where, words, 2) == {"bench/0": {"depth"}}


def test_a_persons_word_counts_where_a_models_does_not() -> None:
    words: Words = {"depth": {"bench/0": [3], "bench/1": [0]}}
    assert found({"depth": {"min": 2}}, words, 2) == {}
    assert found({"depth": {"min": 2}}, words, 2, human_only=True) == {"bench/0": {"depth"}}
    assert found({"depth": {"min": 2}}, words, 2, min_confidence=0.9) == {"bench/0": {"depth"}}


def test_composing_again_with_each_possible_value_finds_the_same() -> None:
    chance = random.Random(5)
    singles: list[Value] = [["none"], ["deductive"], ["causal"]]
    pools: dict[str, list[Value]] = {
        "depth": [0, 1, 2, 3],
        "domain": ["maths", "science", "law"],
        "kinds": [*singles, ["deductive", "causal"]],
        "negation": [False, True],
    }
    ids = [f"bench/{row}" for row in range(30)]
    words = {
        a: {i: [chance.choice(pool) for _ in range(chance.choice([0, 1, 1, 2]))] for i in ids}
        for a, pool in pools.items()
    }
    doubtful = {i: [a for a in pools if chance.random() < 0.3] for i in ids}
    where: dict[str, Any] = {
        "any": [{"depth": {"min": 2}}, {"domain": "law"}],
        "not": {"kinds": {"contains": "causal"}},
        "negation": {"missing": False},
    }
    criteria = Criteria.model_validate({"name": "s", "where": where})
    values = first_words(words)

    def inside(changed: Mapping[tuple[str, str], Value]) -> set[str]:
        screening = screen(criteria, table_of(30, changed), catalogue=CATALOGUE)
        return {ids[row] for row in screening.survivors.tolist()}

    def possible(attribute: str, item: str) -> list[Value]:
        now, given = values.get((attribute, item)), words[attribute][item]
        if now is None:
            return singles if attribute == "kinds" else pools[attribute]
        if attribute == "depth":
            return [*given, *(v for v in pools["depth"] if abs(int(str(v)) - int(str(now))) == 1)]
        sure = attribute == "kinds" or attribute not in doubtful[item]
        return given if sure else pools[attribute]

    now = inside(values)
    expected: dict[str, set[str]] = {}
    for attribute in pools:
        for item in ids:
            for value in possible(attribute, item):
                if (item in inside({**values, (attribute, item): value})) != (item in now):
                    expected.setdefault(item, set()).add(attribute)
    assert found(where, words, 30, doubtful) == expected
    assert len(expected) > 10
