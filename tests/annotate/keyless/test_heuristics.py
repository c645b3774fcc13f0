from __future__ import annotations

import pyarrow as pa
import pytest

from benchprism.annotate.keyless.heuristics import RULES, propose_by_rule
from benchprism.prompts.catalogue import Catalogue
from benchprism.records.documents import parse_document
from benchprism.records.items.record import items_table

from .conftest import item


def test_the_rules_decide_or_abstain(items: pa.Table, core: Catalogue) -> None:
    said = {(p.item_id[-1], p.attribute): p.value for p in propose_by_rule(items, core)}

    assert said == {
        ("0", "uses_negation"): True,
        ("1", "requires_calculation"): True,
        ("1", "task_kind"): "calculation",
        ("1", "uses_negation"): False,
        ("2", "requires_calculation"): False,
        ("2", "task_kind"): "question_answering",
        ("2", "uses_negation"): False,
        ("3", "requires_calculation"): False,
        ("3", "uses_negation"): False,
    }


def test_a_proposal_names_its_item_and_has_no_confidence(items: pa.Table, core: Catalogue) -> None:
    first = next(propose_by_rule(items, core))

    assert (first.item_id, first.content_hash) == ("made/test/0", items["content_hash"][0].as_py())
    assert first.confidence is None


def test_a_rule_speaks_only_with_the_words_of_the_catalogue(items: pa.Table) -> None:
    text = """
catalogue: own
version: 1
dimensions:
  - id: task
    title: Task
    attributes:
      - {id: task_kind, type: label, question: "Which?", labels: [calculation, essay]}
      - {id: uses_negation, type: boolean, question: "Does it?", applies_to: multiple_choice}
"""
    own = parse_document(text, Catalogue, name="own.yaml")

    said = [(p.item_id[-1], p.attribute, p.value) for p in propose_by_rule(items, own)]

    assert said == [
        ("0", "uses_negation", True),
        ("1", "task_kind", "calculation"),
        ("2", "uses_negation", False),
        ("3", "uses_negation", False),
    ]


@pytest.mark.parametrize("rule", RULES)
def test_every_rule_is_for_an_attribute_of_the_core_catalogue(rule: str, core: Catalogue) -> None:
    assert rule in {attribute.id for attribute in core}


@pytest.mark.parametrize(
    "text",
    [
        "(A) ",
        "all of these ",
        "\n",
        "which of the following ",
        "$",
        "a",
        "?!",
        "```",
        "_ ",
    ],
)
def test_hostile_texts_take_no_longer_than_others(text: str, core: Catalogue) -> None:
    question = (text * 200_000)[:200_000] + "x"

    assert list(propose_by_rule(items_table([item("long", question, "x", "y")]), core))
