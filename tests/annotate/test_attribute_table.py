from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest

from benchprism.annotate.attribute_table import attribute_table
from benchprism.annotate.computed.attributes import COMPUTED_SCHEMA
from benchprism.annotate.consolidation.consolidate import VALUES_SCHEMA
from benchprism.prompts.catalogue import Catalogue
from benchprism.records.documents import parse_document
from benchprism.records.errors import InputError
from benchprism.records.items.record import ITEM_SCHEMA

SMALL = """
catalogue: small
version: 1
dimensions:
  - id: d
    title: D
    attributes:
      - {id: depth, type: level, question: "?", levels: {0: a, 1: b, 2: c}}
      - {id: field, type: label, question: "?", labels: [x, y]}
      - {id: topics, type: labels, question: "?", labels: [none, u, v]}
      - {id: negated, type: boolean, question: "?"}
"""
ITEM_IDS = [f"bench/test/{n}" for n in range(3)]


def catalogue(text: str = SMALL) -> Catalogue:
    return parse_document(text, Catalogue, name="small.yaml")


def values(*given: tuple[int, str, Any, str, float | None]) -> pa.Table:
    rows = [
        (ITEM_IDS[n], a, json.dumps(v), source, sure, "none" if sure is None else "agreement", 1)
        for n, a, v, source, sure in given
    ]
    names = VALUES_SCHEMA.names
    return pa.Table.from_pylist([dict(zip(names, row, strict=True)) for row in rows], VALUES_SCHEMA)


def test_values_stand_beside_their_items(make_items: Callable[..., pa.Table]) -> None:
    items = make_items(3)
    given = values(
        (2, "depth", 2, "llm_single", None),
        (0, "depth", 0, "llm_consensus", 0.5),
        (1, "field", "y", "human_majority", 1.0),
        (2, "topics", ["u", "v"], "llm_single", 0.25),
        (0, "topics", ["none"], "llm_single", None),
        (1, "negated", False, "heuristic", None),
    )
    table = attribute_table(items, given, catalogue())
    assert table.column_names == [
        *ITEM_SCHEMA.names,
        *COMPUTED_SCHEMA.names,
        *(f"{a}{part}" for a in ("depth", "field", "topics", "negated")
          for part in ("", ".source", ".confidence", ".confidence_source")),
    ]  # fmt: skip
    assert table["item_id"].to_pylist() == ITEM_IDS
    assert table["depth"].to_pylist() == [0, None, 2]
    assert table["depth.source"].to_pylist() == ["llm_consensus", None, "llm_single"]
    assert table["depth.confidence"].to_pylist() == [0.5, None, None]
    assert table["depth.confidence_source"].to_pylist() == ["agreement", None, "none"]
    assert table["field"].to_pylist() == [None, "y", None]
    assert table["topics"].to_pylist() == [["none"], None, ["u", "v"]]
    assert table["negated"].to_pylist() == [None, False, None]
    assert [table.schema.field(name).type for name in ("depth", "field", "topics", "negated")] == [
        pa.int8(), pa.string(), pa.list_(pa.string()), pa.bool_(),
    ]  # fmt: skip


@pytest.mark.parametrize("rows", [0, 2])
def test_without_values_everything_is_missing(
    make_items: Callable[..., pa.Table], rows: int
) -> None:
    table = attribute_table(make_items(rows), values(), catalogue())
    assert table.num_rows == rows
    assert table["depth"].to_pylist() == [None] * rows
    assert table["topics.source"].to_pylist() == [None] * rows


@pytest.mark.parametrize("name", ["question", "word_count"])
def test_an_attribute_may_not_hide_a_field(make_items: Callable[..., pa.Table], name: str) -> None:
    with pytest.raises(InputError, match=f"the attribute '{name}'"):
        attribute_table(make_items(1), values(), catalogue(SMALL.replace("depth", name)))
