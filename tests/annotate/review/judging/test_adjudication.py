"""What is a conflict, and what the person who decides is shown."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pyarrow as pa
import pytest

from benchprism.annotate.consolidation.consolidate import consolidate
from benchprism.annotate.consolidation.policy import ConsolidationSettings
from benchprism.annotate.ledger.current import Current, current_annotations
from benchprism.annotate.ledger.outcome import Reply, Usage, Verdict
from benchprism.annotate.ledger.panel import PEOPLE
from benchprism.annotate.ledger.store import Ledger
from benchprism.annotate.review.judging.adjudication import (
    adjudication_cases,
    adjudication_form,
    conflicts,
)
from benchprism.prompts.catalogue import Value
from benchprism.prompts.library import load_catalogue

CORE = load_catalogue("core")
MakeItems = Callable[..., pa.Table]
Said = Sequence[tuple[int, str, Mapping[str, Value]]]
"""Item, annotator and values."""


@pytest.fixture
def items(make_items: MakeItems) -> pa.Table:
    return make_items(8)


@pytest.fixture
def said(tmp_path: Path, items: pa.Table) -> Callable[[Said], list[Current]]:
    def read(given: Said) -> list[Current]:
        with Ledger(tmp_path / "ledger.sqlite", write=True) as ledger:
            ledger.remember(CORE)
            for second, (row, name, values) in enumerate(given):
                reply = Reply(
                    request_key=f"{name}-{row}", item_id=items["item_id"][row].as_py(),
                    content_hash=items["content_hash"][row].as_py(), annotator=name, model="m",
                    prompt_hash="p", catalogue_hash=CORE.hash, status="ok", reason="", body="",
                    usage=Usage(), price=None, seconds=0.0, attempts=1,
                    time=f"2026-11-29T10:00:{second:02}.000000+00:00",
                )  # fmt: skip
                ledger.add([(reply, [Verdict(*pair, "ok") for pair in values.items()])])
            return current_annotations(ledger, CORE, items)

    return read


def values_of(said: Sequence[Current], items: pa.Table) -> pa.Table:
    return consolidate(said, items, ConsolidationSettings()).values


def test_a_conflict_is_what_people_differ_on_and_nobody_decided(
    items: pa.Table, said: Callable[[Said], list[Current]]
) -> None:
    found = said(
        [
            (0, "human:ann", {"clarity": 3}), (0, "human:ben", {"clarity": 3}),
            (1, "human:ann", {"clarity": 3}), (1, "human:ben", {"clarity": 1}),
            (2, "human:ann", {"clarity": 3}), (2, "llm:main", {"clarity": 0}),
            (3, "human:ann", {"clarity": 3}), (3, "human:ben", {"clarity": 1}),
            (3, "adjudicator:lea", {"clarity": 2}),
            (6, "human:ann", {"clarity": 3}), (6, "human:ben", {"clarity": 3}),
            (6, "adjudicator:lea", {"clarity": 0}), (6, "adjudicator:lou", {"clarity": 3}),
            (7, "human:ann", {"clarity": 3}), (7, "human:ben", {"clarity": 1}),
            (7, "adjudicator:lea", {"clarity": 2}), (7, "adjudicator:lou", {"clarity": 2}),
            (4, "llm:main", {"clarity": 3}), (4, "llm:other", {"clarity": 1}),
        ]
    )  # fmt: skip
    assert [conflict.row for conflict in conflicts(found, items)] == [1, 6]
    undecided = conflicts(found, items)[1]
    assert undecided.text() == "Clarity\n  0: lea (decided)\n  3: lou (decided), ann, ben"
    assert undecided.text(anonymous=True) == "Clarity\n  0: 1 decision\n  3: 1 decision, 2 people"
    alone = values_of([one.without(PEOPLE) for one in found], items)
    both = conflicts(found, items, alone)
    assert [conflict.row for conflict in both] == [1, 2, 6]
    assert both[1].said == ((0, ("llm:main",)), (3, ("human:ann",)))


def test_a_value_that_only_consolidation_makes_is_another(
    items: pa.Table, said: Callable[[Said], list[Current]]
) -> None:
    # two models give overlapping labels, of which consolidation makes those that both gave
    found = said(
        [
            (0, "llm:a", {"reasoning_kinds": ["deductive", "causal"]}),
            (0, "llm:b", {"reasoning_kinds": ["deductive", "social"]}),
            (0, "human:ann", {"reasoning_kinds": ["deductive", "causal"]}),
            (1, "llm:a", {"reasoning_kinds": ["causal"]}),
            (1, "human:ann", {"reasoning_kinds": ["causal"]}),
        ]
    )
    alone = values_of([one.without(PEOPLE) for one in found], items)
    (conflict,) = conflicts(found, items, alone)
    assert conflict.row == 0
    assert conflict.text() == (
        "Kinds of reasoning\n  deductive, causal: ann, llm:a\n  deductive, social: llm:b"
    )


def test_cases_show_only_what_is_in_conflict(
    items: pa.Table, said: Callable[[Said], list[Current]]
) -> None:
    found = said(
        [
            (2, "human:ann", {"clarity": 3, "uses_negation": True}),
            (2, "human:ben", {"clarity": 1, "uses_negation": True}),
            (5, "human:ann", {"clarity": 3, "uses_negation": True}),
            (5, "human:ben", {"clarity": 3, "uses_negation": False}),
            (5, "llm:main", {"clarity": 2, "uses_negation": False}),
        ]
    )
    values, all_ = values_of(found, items), conflicts(found, items)
    form = adjudication_form(CORE, all_)
    assert [(question.name, question.required) for question in form] == [
        ("clarity", False), ("uses_negation", False),
    ]  # fmt: skip
    first, second = adjudication_cases(
        all_, items, values, found, lead="lea", anonymous=True, suggest=True
    )
    assert (first.item_id[-1], second.item_id[-1]) == ("2", "5")
    assert {name: one.value for name, one in first.suggestions.items()} == {"clarity": 1}
    assert {name: one.value for name, one in second.suggestions.items()} == {"uses_negation": False}
    assert first.said == "Clarity\n  1: 1 person\n  3: 1 person"
    assert second.said == "Uses negation\n  true: 1 person\n  false: 1 person, 1 model"
    assert (first.reviewers, first.reasons) == (("lea",), ("disagreement",))
    plain = adjudication_cases(all_, items, values, found)
    assert all(not case.suggestions and not case.reviewers for case in plain)
