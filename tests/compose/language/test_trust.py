from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from benchprism.compose.composer import compose
from benchprism.compose.language.criteria import Criteria
from benchprism.prompts.catalogue import Catalogue
from benchprism.records.errors import InputError

SOURCES = ["llm_single", "human_majority", "human_adjudicated", None, "llm_consensus"]
SURE = [0.9, 0.6, None, None, 0.7]
DEPTHS = [3, 3, 3, None, 3]


@pytest.fixture
def five(table: pa.Table) -> pa.Table:
    """Five items of depth 3 or unknown, from five provenances."""
    rows = table.slice(0, 5)
    columns = {
        "depth": pa.array(DEPTHS, pa.int8()),
        "depth.source": pa.array(SOURCES, pa.string()),
        "depth.confidence": pa.array(SURE, pa.float64()),
    }
    for name, column in columns.items():
        rows = rows.set_column(rows.schema.get_field_index(name), name, column)
    return rows


def chosen(table: pa.Table, where: dict[str, Any], **parts: Any) -> str:
    criteria = {"name": "x", "faults": "keep", "where": where, **parts}
    found = compose(Criteria.model_validate(criteria), table)
    return " ".join(item.split("/")[1] for item in found.chosen_ids)


@pytest.mark.parametrize(
    ("where", "parts", "expected"),
    [
        ({"depth": 3}, {}, "0 1 2 4"),
        ({"depth": {"is": 3, "human_only": True}}, {}, "1 2"),
        ({"depth": {"is": 3, "min_confidence": 0.7}}, {}, "0 4"),
        ({"depth": {"is": 3, "min_confidence": 0.5, "human_only": True}}, {}, "1"),
        ({"depth": 3}, {"human_only": True}, "1 2"),
        ({"depth": 3}, {"min_confidence": 0.6}, "0 1 4"),
        # a condition's own options win, a smaller one too
        ({"depth": {"is": 3, "human_only": False}}, {"human_only": True}, "0 1 2 4"),
        ({"depth": {"is": 3, "min_confidence": 0}}, {"min_confidence": 0.9}, "0 1 4"),
        # a value that does not count is missing, also to 'not' and to 'missing'
        ({"not": {"depth": {"is": 0, "human_only": True}}}, {}, "1 2"),
        ({"depth": {"missing": True, "human_only": True}}, {}, "0 3 4"),
        ({"depth": {"human_only": True}}, {}, "1 2"),
        ({"any": [{"depth": 3}, {"word_count": {"max": 9}}]}, {"human_only": True}, "1 2 3"),
        # what nobody annotates counts always
        ({"word_count": {"min": 10}}, {"human_only": True}, "0 1 2 4"),
    ],
)
def test_only_trusted_values_count(
    where: dict[str, Any], parts: dict[str, Any], expected: str, five: pa.Table
) -> None:
    assert chosen(five, where, **parts) == expected


def test_the_reason_says_who_gave_the_value(five: pa.Table) -> None:
    where = {"depth": {"min": 2, "human_only": True, "min_confidence": 0.5}}
    criteria = Criteria.model_validate({"name": "x", "faults": "keep", "where": where})
    found = compose(criteria, five)
    rule = "depth >= 2 (by people, confidence >= 0.5)"
    wanted = "wanted at least 2, by people, confidence >= 0.5"
    assert {r["item_id"]: (r["rule"], r["detail"]) for r in found.excluded.to_pylist()} == {
        "arc/0": (rule, f"depth is 3 (llm_single, 0.9), {wanted}"),
        "arc/2": (rule, f"depth is 3 (human_adjudicated, missing), {wanted}"),
        "arc/3": (rule, f"depth is missing, {wanted}"),
        "arc/4": (rule, f"depth is 3 (llm_consensus, 0.7), {wanted}"),
    }
    assert found.steps[0].missing == 4


def test_groups_and_means_take_trusted_values_alone(five: pa.Table) -> None:
    criteria = Criteria.model_validate(
        {
            "name": "x",
            "faults": "keep",
            "human_only": True,
            "sample": {"size": 2, "balance": "depth"},
            "expect": [{"mean": "depth", "min": 3}],
        }
    )
    found = compose(criteria, five)
    assert found.chosen_ids == ["arc/1", "arc/2"]
    assert (found.findings[0].items, found.findings[0].value) == (2, 3)
    assert found.steps[0].rule == "depth is present (by people)"


@pytest.mark.parametrize("option", [{"human_only": True}, {"min_confidence": 0.5}])
def test_what_no_annotator_gives_cannot_be_asked_for_one(
    option: dict[str, Any], table: pa.Table, catalogue: Catalogue
) -> None:
    where = {"word_count": {"min": 10, **option}}
    with pytest.raises(InputError, match="'word_count', whose values no annotator gives"):
        compose(Criteria.model_validate({"name": "x", "where": where}), table, catalogue=catalogue)
