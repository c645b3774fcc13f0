from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from benchprism.compose.composer import compose
from benchprism.compose.language.criteria import Criteria
from benchprism.compose.language.errors import Infeasible, Relaxation
from benchprism.compose.sampling.feasibility import relaxations
from benchprism.compose.screening import screen


def refused(table: pa.Table, **parts: Any) -> Infeasible:
    with pytest.raises(Infeasible) as error:
        compose(Criteria.model_validate({"name": "x", **parts}), table)
    return error.value


# without faults: depths arc 0 1 2 None, gsm 2 3 3, law 2 3 1
@pytest.mark.parametrize(
    ("where", "size", "mend"),
    [
        ({"depth": {"min": 3}}, 5, "depth >= 2 gives 6"),
        ({"depth": {"min": 3}}, 7, "depth >= 1 gives 8"),
        ({"depth": {"min": 3}}, 9, "depth >= 0 gives 9"),
        ({"depth": {"max": 0}}, 2, "depth <= 1 gives 3"),
        ({"depth": 0}, 4, "depth in [0, 1, 2] gives 6"),
        ({"depth": {"in": [0, 1]}}, 6, "depth in [0, 1, 2] gives 6"),
        # depths are 0 1 1 2 2 2 3 3 3: the neighbours of 3 come first, never 0 without them
        ({"depth": 3}, 5, "depth in [2, 3] gives 6"),
        ({"depth": 3}, 7, "depth in [1, 2, 3] gives 8"),
        ({"depth": {"in": [3, 1]}}, 6, "depth in [0, 1, 3] gives 6"),
        ({"word_count": 27}, 3, "word_count in [25, 26, 27] gives 3"),
        # of word counts 9 10 12 14 25 26 27 40 55 60 the fourth from above is 27
        ({"word_count": {"min": 50}}, 4, "word_count >= 27 gives 4"),
        ({"domain": "law"}, 5, "domain in [law, maths] gives 5; or"),
        ({"kinds": {"contains": "causal"}}, 9, "without 'kinds contains causal' gives 10"),
        ({"depth": {"min": 1, "min_confidence": 0.8}}, 5,
         "depth >= 1 (confidence >= 0.7) gives 8"),
        ({"depth": {"min": 1, "human_only": True}}, 5, "depth >= 1 gives 8"),
        # either of two rules can give way; the change that lets in fewer comes first
        (
            {"depth": {"min": 3}, "word_count": {"min": 50}}, 3,
            "word_count >= 26 gives 3",
        ),
        # nine faultless items have a depth; only with the faulty ones there are eleven
        ({"depth": {"missing": False}}, 11, "faults: keep gives 11"),
    ],
)  # fmt: skip
def test_the_smallest_change_that_would_do(
    where: dict[str, Any], size: int, mend: str, table: pa.Table
) -> None:
    error = refused(table, where=where, sample={"size": size})
    assert error.mend.startswith(mend) or f"; {mend}" in error.mend
    assert error.place == (() if error.found == "no item is left" else ("sample", "size"))


def test_every_change_that_is_named_does_what_it_says(table: pa.Table) -> None:
    where = {"depth": {"min": 3}, "negation": False}
    error = refused(table, where=where, sample={"size": 4})
    assert [change.change for change in error.relaxations if change.enough] == ["depth >= 1"]
    looser = {"depth": {"min": 1}, "negation": False}
    found = compose(
        Criteria.model_validate({"name": "x", "where": looser, "sample": {"size": 4}}), table
    )
    [change] = [c for c in error.relaxations if c.enough]
    assert change.left == sum(found.steps[-2].left.values())
    assert change.by_benchmark == found.steps[-2].left


def test_a_quota_is_met_by_the_change_that_brings_its_value(table: pa.Table) -> None:
    sample = {"size": 3, "balance": "benchmark", "quotas": {"domain": {"law": {"min": 3}}}}
    error = refused(table, where={"depth": {"min": 2}}, sample=sample)
    assert str(error) == (
        "2 items with domain law are left to draw from (law 2); wanted at least 3;"
        " depth >= 1 gives 8; or change sample.quotas.domain.law, or take what there is with"
        " if_short: take_all"
    )
    assert error.place == ("sample", "quotas", "domain", "law")


def test_a_quota_that_no_change_meets_says_what_it_would_still_lack(table: pa.Table) -> None:
    sample = {"size": 5, "balance": "benchmark", "quotas": {"depth": {3: {"min": 5}}}}
    error = refused(table, where={"depth": {"min": 2}, "word_count": {"max": 58}}, sample=sample)
    # without faults, depth 3 is of gsm/1, gsm/2 (60 words) and law/1; arc/4 has a fault
    assert str(error) == (
        "2 items with depth 3 are left to draw from (gsm 1, law 1); wanted at least 5; no single"
        " change is enough (without 'depth >= 2': 2 items with depth 3 are left to draw from); or"
        " change sample.quotas.depth.3, or take what there is with if_short: take_all"
    )


def test_copies_are_left_out_again_when_a_change_is_tried(table: pa.Table) -> None:
    hashes = table["content_hash"].to_pylist()
    hashes[1] = hashes[0]  # arc/1 becomes a copy of arc/0
    table = table.set_column(
        table.schema.get_field_index("content_hash"), "content_hash", pa.array(hashes)
    )
    parts = {"where": {"depth": {"max": 0}}, "deduplicate": "exact", "sample": {"size": 2}}
    # depth 1 would bring arc/1 and law/2, and arc/1 is a copy
    assert refused(table, **parts).mend.startswith("depth <= 1 gives 2")


def test_nothing_left_says_what_would_leave_something(table: pa.Table) -> None:
    error = refused(table, where={"depth": {"min": 1}, "word_count": {"min": 99}})
    assert str(error) == "no item is left; wanted at least one; word_count >= 60 gives 1"
    assert error.place == ()


def test_missing_values_are_to_be_annotated(table: pa.Table) -> None:
    nulls = pa.array([None] * 11 + [1], pa.int8())
    table = table.set_column(table.schema.get_field_index("depth"), "depth", nulls)
    error = refused(table, where={"depth": {"min": 1}}, sample={"size": 5})
    assert error.mend.startswith(
        "annotate more items: 'depth >= 1' leaves out 9, 9 of them without a value;"
        " without 'depth >= 1' gives 10; or change sample.size"
    )


def test_a_rule_that_holds_back_nothing_is_no_change(table: pa.Table) -> None:
    criteria = Criteria.model_validate(
        {"name": "x", "where": {"word_count": {"min": 1}, "depth": {"min": 3}}}
    )
    found = relaxations(screen(criteria, table))
    assert found == [
        Relaxation("faults: keep", 4, {"arc": 1, "gsm": 2, "law": 1}, True),
        Relaxation("depth >= 2", 6, {"arc": 1, "gsm": 3, "law": 2}, True),
    ]
