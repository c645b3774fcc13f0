from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from benchprism.annotate.consolidation.consolidate import (
    UNDECIDED_SCHEMA,
    VALUES_SCHEMA,
    Consolidation,
    consolidated_values,
    consolidation,
)
from benchprism.annotate.consolidation.policy import ConsolidationSettings, LevelPolicy
from benchprism.annotate.ledger.outcome import Reply, Status, Usage, Verdict
from benchprism.annotate.ledger.store import Ledger
from benchprism.annotate.reading.parsing import HESITATED
from benchprism.prompts.catalogue import Catalogue, Value
from benchprism.prompts.library import load_catalogue

CORE = load_catalogue("core")
MakeItems = Callable[..., pa.Table]


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


def said(
    attribute: str,
    value: Value | None,
    status: Status = "ok",
    *,
    reason: str = "",
    confidence: float | None = None,
) -> Verdict:
    return Verdict(attribute, value, status, reason, confidence)


def ledger(path: Path, items: pa.Table, given: Sequence[tuple[int, str, Verdict]]) -> Path:
    """A ledger in which each entry is an item, an annotator and what it said of clarity."""
    with Ledger(path, write=True) as opened:
        opened.remember(CORE)
        opened.add(
            (reply(second, item, items, name, CORE), [verdict])
            for second, (item, name, verdict) in enumerate(given)
        )
    return path


def rows(table: pa.Table) -> list[tuple[Any, ...]]:
    assert table.schema == VALUES_SCHEMA
    return [
        (r["item_id"][-1], r["attribute"], json.loads(r["value"]), r["provenance"], r["annotators"])
        for r in table.to_pylist()
    ]


@pytest.mark.parametrize("order", [1, -1])
def test_the_best_kind_of_annotator_decides(
    tmp_path: Path, make_items: MakeItems, order: int
) -> None:
    given = [
        ("adjudicator:lead", said("clarity", 0)),
        ("human:ann", said("clarity", 1)),
        ("human:bob", said("clarity", 1)),
        ("llm:a", said("clarity", 2, confidence=0.9)),
        ("embed:minilm", said("clarity", 3)),
    ]
    items = make_items(5)
    entries = [(item, *one) for item in range(5) for one in given[item:]][::order]
    made = consolidated_values(ledger(tmp_path / "l", items, entries), CORE, items)
    assert rows(made) == [
        ("0", "clarity", 0, "human_adjudicated", 1),
        ("1", "clarity", 1, "human_majority", 2),
        ("2", "clarity", 1, "human_majority", 1),
        ("3", "clarity", 2, "llm_single", 1),
        ("4", "clarity", 3, "heuristic", 1),
    ]
    assert made["confidence"].to_pylist() == [None, 1.0, None, 0.9, None]
    assert made["confidence_source"].to_pylist() == [
        "none", "agreement", "none", "probability", "none",
    ]  # fmt: skip


def test_silence_about_doubt_tells_only_of_those_who_speak_of_it(
    tmp_path: Path, make_items: MakeItems
) -> None:
    items = make_items(3)
    given = [
        (0, "llm:a", said("clarity", 0, reason=f"read from '0'; {HESITATED}")),
        (1, "llm:a", said("clarity", 1)),
        (2, "llm:b", said("clarity", 2)),
    ]
    made = consolidated_values(ledger(tmp_path / "l", items, given), CORE, items)
    assert made["confidence_source"].to_pylist() == ["stated", "stated", "none"]
    assert made["confidence"].to_pylist() == [0.5, 1.0, None]
    alone = consolidated_values(tmp_path / "l", CORE, items[1:2])
    assert alone["confidence_source"].to_pylist() == ["stated"]


def panel(tmp_path: Path, items: pa.Table) -> Path:
    """Two passes of one model, one of another, and a person who looked at the last item."""
    given = [
        *[(item, name, said("clarity", level))
          for item, levels in enumerate([(1, 1, 3), (0, 2, 2), (1, 3, 3)])
          for name, level in zip(("llm:a", "llm:a#2", "llm:b"), levels, strict=True)],
        (3, "llm:a", said("clarity", 1)),
        (2, "human:ann", said("clarity", 0)),
        (2, "human:bob", said("clarity", 3)),
    ]  # fmt: skip
    return ledger(tmp_path / "l", items, given)


def test_passes_have_a_voice_each(tmp_path: Path, make_items: MakeItems) -> None:
    items = make_items(4)
    made = consolidated_values(panel(tmp_path, items), CORE, items)
    assert sorted(rows(made)) == [
        ("0", "clarity", 1, "llm_consensus", 3),
        ("1", "clarity", 2, "llm_consensus", 3),
        ("2", "clarity", 0, "human_majority", 2),
        ("3", "clarity", 1, "llm_single", 1),
    ]


def undecided(made: Consolidation) -> list[tuple[str, str, int]]:
    assert made.undecided.schema == UNDECIDED_SCHEMA
    return sorted(
        (r["item_id"][-1], r["reason"], r["annotators"]) for r in made.undecided.to_pylist()
    )


def test_what_cannot_be_decided_is_listed_with_its_reason(
    tmp_path: Path, make_items: MakeItems
) -> None:
    items = make_items(4)
    settings = ConsolidationSettings(level=LevelPolicy(ties="missing", min_annotators=2))
    made = consolidation(panel(tmp_path, items), CORE, items, settings)
    assert [row[0] for row in sorted(rows(made.values))] == ["0", "1"]
    assert undecided(made) == [("2", "tie", 2), ("3", "too few annotators", 1)]
    assert made.notes == ()


def test_a_method_that_is_undefined_says_so_and_people_vote_all_the_same(
    tmp_path: Path, make_items: MakeItems
) -> None:
    items, path = make_items(4), panel(tmp_path, make_items(4))
    missing = ConsolidationSettings(level=LevelPolicy(method="dawid_skene"))
    made = consolidation(path, CORE, items, missing)
    assert [row[:4] for row in rows(made.values)] == [("2", "clarity", 0, "human_majority")]
    assert [row[1] for row in undecided(made)] == ["fewer than three raters"] * 3
    assert made.notes == (
        "consolidation of clarity by dawid_skene: fewer than three raters: no value",
    )
    instead = missing.model_copy(
        update={"level": LevelPolicy(method="dawid_skene", fallback="median")}
    )
    made = consolidation(path, CORE, items, instead)
    assert len(rows(made.values)) == 4
    assert made.notes == (
        "consolidation of clarity by dawid_skene: fewer than three raters: median instead",
    )


def test_only_what_exists_today_counts(
    tmp_path: Path, make_items: MakeItems, core: Catalogue
) -> None:
    items, path = make_items(3), tmp_path / "l.sqlite"
    changed = core.model_copy(deep=True)
    changed.dimensions[1].attributes[2] = core["clarity"].model_copy(update={"question": "Other?"})
    gone = items.set_column(
        items.schema.get_field_index("content_hash"), "content_hash", pa.array(["x"] * 3)
    )
    with Ledger(path, write=True) as opened:
        opened.remember(core)
        opened.remember(changed)
        opened.add(
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


def test_no_ledger_is_no_values(tmp_path: Path, make_items: MakeItems) -> None:
    made = consolidation(tmp_path / "none.sqlite", CORE, make_items(2))
    assert rows(made.values) == []
    assert undecided(made) == []
    assert not list(tmp_path.iterdir())
