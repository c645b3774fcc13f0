from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from benchprism.annotate.consolidation.consolidate import VALUES_SCHEMA
from benchprism.annotate.ledger.current import Current
from benchprism.annotate.review.case import Errand, cases, disagreements
from benchprism.prompts.catalogue import Catalogue


def said(core: Catalogue, attribute: str, *triples: tuple[int, int, int]) -> Current:
    """Row of the item, number of the annotator, level; sorted."""
    rows, annotators, codes = (np.array(column, np.int64) for column in zip(*triples, strict=True))
    nothing = np.full(len(rows), np.nan)
    return Current(
        core[attribute], rows, annotators, ("llm:a", "llm:b"), codes, (0, 1, 2, 3), nothing, nothing
    )


def value(item: str, attribute: str, given: Any, **other: Any) -> dict[str, Any]:
    plain = {"provenance": "llm_single", "confidence": None, "annotators": 1}
    return {
        "item_id": item,
        "attribute": attribute,
        "value": json.dumps(given),
        "confidence_source": None,
        **plain,
        **other,
    }


def test_disagreement_is_the_share_of_attributes_on_which_two_differ(core: Catalogue) -> None:
    columns = [
        said(core, "clarity", (0, 0, 3), (0, 1, 3), (1, 0, 2), (1, 1, 1), (2, 0, 0)),
        said(core, "reasoning_depth", (0, 0, 1), (0, 1, 2), (1, 0, 0), (1, 1, 3)),
        said(core, "harm_potential", (0, 0, 0), (0, 1, 0), (1, 0, 0)),
    ]
    np.testing.assert_array_equal(disagreements(columns, 4), [1 / 3, 1.0, np.nan, np.nan])


def test_a_case_has_the_item_and_what_was_made_of_it(
    core: Catalogue, make_items: Callable[..., pa.Table]
) -> None:
    items = make_items(1200)
    ids = items["item_id"].to_pylist()
    rows = [
        value(ids[0], "clarity", 3, confidence=0.5),
        value(ids[1100], "clarity", 2, confidence=0.75),
        value("elsewhere", "clarity", 0),
        value(ids[0], "sensitive_topics", ["none"], provenance="llm_consensus", confidence=0.25),
        value(ids[0], "setting", "news", confidence=0.1),
    ]
    values = pa.Table.from_pylist(rows, schema=VALUES_SCHEMA)
    columns = [said(core, "clarity", (0, 0, 3), (1100, 0, 2), (1100, 1, 1))]
    errands = {ids[0]: Errand(("low_confidence", "failed"), ("alice",))}
    made = list(
        cases(
            items, values, said=columns, errands=errands, attributes=["clarity", "sensitive_topics"]
        )
    )
    assert [case.item_id for case in made] == ids
    first, late, plain = made[0], made[1100], made[5]
    assert (first.question, first.choices) == ("What is 0 plus 0?", ("one", "two"))
    assert {name: s.value for name, s in first.suggestions.items()} == {
        "clarity": 3, "sensitive_topics": ["none"]
    }  # fmt: skip
    assert first.suggestions["clarity"].agent == "llm:a"
    assert first.suggestions["sensitive_topics"].agent == "llm_consensus"
    assert (first.confidence, first.disagreement) == (0.25, None)
    assert (first.reasons, first.reviewers) == (("low_confidence", "failed"), ("alice",))
    assert (late.suggestions["clarity"].agent, late.disagreement) == ("llm_single", 1.0)
    assert (plain.suggestions, plain.confidence, plain.reasons) == ({}, None, ("all",))


@pytest.mark.parametrize("blind", [False, True])
def test_a_blind_case_has_no_suggestion_and_still_its_confidence(
    make_items: Callable[..., pa.Table], blind: bool
) -> None:
    items = make_items(1)
    rows = [value(items["item_id"][0].as_py(), "clarity", 3, confidence=0.5)]
    [case] = cases(items, pa.Table.from_pylist(rows, schema=VALUES_SCHEMA), blind=blind)
    assert (len(case.suggestions), case.confidence) == (0 if blind else 1, 0.5)
