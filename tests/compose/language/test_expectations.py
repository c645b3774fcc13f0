from __future__ import annotations

from dataclasses import replace
from typing import Any

import pyarrow as pa
import pytest

from benchprism.compose.composer import Composition, compose
from benchprism.compose.language.criteria import Criteria
from benchprism.compose.language.expectations import Finding
from benchprism.records.errors import InputError


def composed(table: pa.Table, expect: dict[str, Any], **parts: Any) -> Composition:
    criteria = {"name": "x", "where": {"depth": {"min": 2}}, "expect": [expect], **parts}
    return compose(Criteria.model_validate(criteria), table)


# chosen: arc/2, gsm/0, gsm/1, gsm/2, law/0, law/1 with depth 2, 2, 3, 3, 2, 3
@pytest.mark.parametrize(
    ("expect", "text", "found"),
    [
        ({"count": "items", "min": 6}, "items: at least 6", [("", 6, 6, True)]),
        ({"count": "items", "max": 5}, "items: at most 5", [("", 6, 6, False)]),
        (
            {"count": "items", "per": "benchmark", "min": 2},
            "items per benchmark: at least 2",
            [("arc", 1, 1, False), ("gsm", 3, 3, True), ("law", 2, 2, True)],
        ),
        (
            {"count": {"negation": True}, "min": 3},
            "items with negation = true: at least 3",
            [("", 3, 6, True)],
        ),
        ({"mean": "depth", "min": 2.5}, "mean depth: at least 2.5", [("", 2.5, 6, True)]),
        (
            {"mean": "word_count", "per": "benchmark", "min": 20, "max": 30},
            "mean word_count per benchmark: at least 20 and at most 30",
            [("arc", 14, 1, False), ("gsm", 155 / 3, 3, False), ("law", 25.5, 2, True)],
        ),
        (
            {"share": {"negation": True}, "max": 0.5},
            "share with negation = true: at most 0.5",
            [("", 0.5, 6, True)],
        ),
        # one of the six has no domain, and a missing value meets nothing
        (
            {"share": {"domain": {"missing": True}}, "max": 0.1},
            "share with domain is missing: at most 0.1",
            [("", 1 / 6, 6, False)],
        ),
        # values of the candidates: science has one item, and no group is called missing
        (
            {"count": "items", "per": "domain", "min": 1},
            "items per domain: at least 1",
            [("law", 2, 2, True), ("maths", 2, 2, True), ("science", 1, 1, True)],
        ),
    ],
)
def test_what_is_found(
    expect: dict[str, Any],
    text: str,
    found: list[tuple[str, float, int, bool]],
    table: pa.Table,
) -> None:
    composition = composed(table, expect)
    assert [replace(finding, value=0) for finding in composition.findings] == [
        Finding(text, group, 0, items, met, ("expect", 0)) for group, _, items, met in found
    ]
    assert [f.value for f in composition.findings] == pytest.approx([row[1] for row in found])
    assert composition.met == all(met for *_, met in found)


def test_a_benchmark_that_lost_every_item_is_a_group(table: pa.Table) -> None:
    where = {"domain": "law"}
    composition = composed(table, {"count": "items", "per": "benchmark", "min": 1}, where=where)
    assert {f.group: f.met for f in composition.findings} == {
        "arc": False, "gsm": False, "law": True,
    }  # fmt: skip


def test_a_mean_of_nothing_is_undefined_and_not_true(table: pa.Table) -> None:
    expect = {"mean": "depth", "min": 0}
    composition = composed(table, expect, where={"depth": {"missing": True}})
    [finding] = composition.findings
    assert finding.value != finding.value
    assert (finding.items, finding.met) == (0, False)


@pytest.mark.parametrize(
    ("expect", "sentence"),
    [
        ({"mean": "domain", "min": 1}, "'domain', which holds a text"),
        ({"mean": "dept", "min": 1}, "did you mean 'depth'"),
        ({"count": {"dept": 1}, "min": 1}, "did you mean 'depth'"),
        ({"count": "items", "per": "kinds", "min": 1}, "'kinds' cannot be balanced"),
    ],
)
def test_what_cannot_be_expected(expect: dict[str, Any], sentence: str, table: pa.Table) -> None:
    with pytest.raises(InputError, match=sentence):
        composed(table, expect)
