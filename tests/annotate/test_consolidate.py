from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from benchprism.annotate.consolidate import (
    VALUES_SCHEMA,
    Consolidated,
    Given,
    consolidate,
    consolidated_values,
)
from benchprism.annotate.ledger import Ledger
from benchprism.annotate.outcome import Reply, Status, Usage, Verdict
from benchprism.prompts.catalogue import Catalogue, Value
from benchprism.prompts.library import load_catalogue

CORE = load_catalogue("core")


def agreed(attribute: str, *values: Any) -> tuple[Value, float | None]:
    given = [Given(f"llm:{n}", value, None) for n, value in enumerate(values)]
    made = consolidate(given, CORE[attribute])
    return made.value, made.confidence


@pytest.mark.parametrize(
    ("attribute", "values", "value", "confidence"),
    [
        ("clarity", [2], 2, None),
        ("clarity", [1, 3], 1, 1 / 2),
        ("clarity", [3, 0, 2], 2, 1 / 3),
        ("clarity", [3, 3, 0, 1], 1, 1 / 4),
        ("uses_negation", [True, False], False, 1 / 2),
        ("uses_negation", [True, True, False], True, 2 / 3),
        ("answerability", ["wrong_key", "ok"], "ok", 1 / 2),
        ("answerability", ["wrong_key", "ok", "wrong_key"], "wrong_key", 2 / 3),
        ("sensitive_topics", [["crime"], ["crime"]], ["crime"], 1.0),
        # one of two overlaps in half of the labels, the other in all: (1 + 1/2) / 2
        ("sensitive_topics", [["crime"], ["violence", "crime"]], ["crime"], 3 / 4),
        # no label has a majority: the most frequent ones stay, each overlaps in half
        ("sensitive_topics", [["crime"], ["violence"]], ["violence", "crime"], 1 / 2),
        ("sensitive_topics", [["none"], ["crime"]], ["none"], 1 / 2),
        # crime twice, religion and politics once: (1/2 + 1/2 + 0) / 3
        (
            "sensitive_topics",
            [["crime", "religion"], ["politics", "crime"], ["none"]],
            ["crime"],
            1 / 3,
        ),
    ],
)
def test_a_claim_needs_more_than_half(
    attribute: str, values: list[Any], value: Any, confidence: float | None
) -> None:
    made, sure = agreed(attribute, *values)
    assert made == value
    assert sure == pytest.approx(confidence)


@pytest.mark.parametrize("order", [1, -1])
def test_the_best_kind_of_annotator_decides(order: int) -> None:
    given = [
        Given("adjudicator:lead", 0, None),
        Given("human:ann", 1, None),
        Given("human:bob", 1, None),
        Given("llm:a", 2, 0.9),
        Given("heuristic", 3, None),
    ]
    made = [consolidate(given[n:][::order], CORE["clarity"]) for n in range(5)]
    assert made == [
        Consolidated(0, "human_adjudicated", None, 1),
        Consolidated(1, "human_majority", 1.0, 2),
        Consolidated(1, "human_majority", None, 1),
        Consolidated(2, "llm_single", 0.9, 1),
        Consolidated(3, "heuristic", None, 1),
    ]


def reply(second: int, item: int, items: pa.Table, annotator: str, catalogue: Catalogue) -> Reply:
    return Reply(
        request_key=f"{annotator}-{item}",
        item_id=items["item_id"][item].as_py(),
        content_hash=items["content_hash"][item].as_py(),
        annotator=annotator,
        model="m",
        prompt_hash="p",
        catalogue_hash=catalogue.hash,
        status="ok",
        reason="",
        body="",
        usage=Usage(),
        price=None,
        time=f"2026-11-29T10:00:{second:02}.000000+00:00",
        seconds=0.0,
        attempts=1,
    )


def said(attribute: str, value: Value | None, status: Status = "ok") -> Verdict:
    return Verdict(attribute, value, status)


def rows(table: pa.Table) -> list[tuple[Any, ...]]:
    assert table.schema == VALUES_SCHEMA
    return [
        (r["item_id"][-1], r["attribute"], json.loads(r["value"]), r["provenance"], r["annotators"])
        for r in table.to_pylist()
    ]


def test_only_what_exists_today_counts(
    tmp_path: Path, make_items: Callable[..., pa.Table], core: Catalogue
) -> None:
    items, path = make_items(3), tmp_path / "l.sqlite"
    changed = core.model_copy(deep=True)
    changed.dimensions[1].attributes[2] = core["clarity"].model_copy(update={"question": "Other?"})
    gone = items.set_column(
        items.schema.get_field_index("content_hash"), "content_hash", pa.array(["x"] * 3)
    )
    with Ledger(path, write=True) as ledger:
        ledger.remember(core)
        ledger.remember(changed)
        ledger.add(
            [
                (
                    reply(1, 0, items, "llm:a", core),
                    [said("clarity", 0), said("task_kind", "code")],
                ),
                (reply(2, 0, items, "llm:a", core), [said("clarity", 1)]),
                (reply(3, 0, items, "llm:a", core), [said("clarity", None, "refused")]),
                (reply(4, 0, items, "llm:b", changed), [said("clarity", 3)]),
                (reply(5, 1, gone, "llm:a", core), [said("clarity", 2)]),
                (reply(6, 2, items, "llm:b", changed), [said("language_errors", 2)]),
                (reply(7, 2, items, "llm:a", core), [said("unknown", 2)]),
            ]
        )
    assert rows(consolidated_values(path, core, items)) == [
        ("2", "language_errors", 2, "llm_single", 1),
        ("0", "clarity", 1, "llm_single", 1),
        ("0", "task_kind", "code", "llm_single", 1),
    ]
    assert rows(consolidated_values(path, core, items[1:2])) == []


def test_no_ledger_is_no_values(tmp_path: Path, make_items: Callable[..., pa.Table]) -> None:
    table = consolidated_values(tmp_path / "none.sqlite", CORE, make_items(2))
    assert rows(table) == []
    assert not list(tmp_path.iterdir())
