from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from benchprism.compose.explaining.reasons import reasons
from benchprism.compose.language.conditions import Where
from benchprism.compose.rules import JointRule, Rule, conjuncts, fault_rules


def rule(where: dict[str, Any]) -> Rule:
    rules = conjuncts(Where.model_validate(where))
    return rules[0] if len(rules) == 1 else JointRule("and", tuple(rules))


def true_for(where: dict[str, Any], table: pa.Table) -> set[str]:
    truth = rule(where).truth(table).to_pylist()
    ids = table["item_id"].to_pylist()
    return {item for item, true in zip(ids, truth, strict=True) if true}


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ({"depth": {"min": 2}}, "arc/2 arc/4 gsm/0 gsm/1 gsm/2 law/0 law/1"),
        ({"depth": {"max": 0}}, "arc/0"),
        ({"depth": {"min": 1, "max": 1}}, "arc/1 gsm/3 law/2"),
        ({"depth": 0}, "arc/0"),
        ({"depth": {"min": 2.5}}, "arc/4 gsm/1 gsm/2 law/1"),
        ({"depth": {"in": [0, 3]}}, "arc/0 arc/4 gsm/1 gsm/2 law/1"),
        ({"depth": {"missing": True}}, "arc/3"),
        ({"domain": {"missing": True}}, "arc/3 gsm/2"),
        ({"domain": {"in": ["law"]}}, "law/0 law/1 law/2"),
        ({"not": {"domain": "science"}}, "gsm/0 gsm/1 gsm/3 law/0 law/1 law/2"),
        ({"not": {"not": {"domain": "law"}}}, "law/0 law/1 law/2"),
        ({"kinds": {"contains": "causal"}}, "arc/1 arc/2 law/2"),
        ({"kinds": {"contains_any": ["none", "causal"]}}, "arc/0 arc/1 arc/2 law/0 law/2"),
        ({"not": {"kinds": {"contains": "deductive"}}}, "arc/0 arc/1 law/0 law/2"),
        ({"negation": True}, "arc/2 gsm/1 law/0"),
        ({"question": {"contains": "0 of law"}}, "law/0"),
        ({"question": {"contains_any": ["2 of arc", "1 of gsm"]}}, "arc/2 gsm/1"),
        # a missing domain (gsm/2) does not matter where the depth alone decides
        ({"any": [{"depth": 3}, {"domain": "law"}]}, "arc/4 gsm/1 gsm/2 law/0 law/1 law/2"),
        # not (false and missing) is true: gsm/2 is no 0 whatever its domain
        (
            {"not": {"depth": 0, "domain": "maths"}},
            "arc/0 arc/1 arc/2 arc/4 gsm/0 gsm/1 gsm/2 gsm/3 law/0 law/1 law/2",
        ),
        ({"any": [{"not": {"depth": {"max": 2}}}, {"depth": {"missing": True}}]},
         "arc/3 arc/4 gsm/1 gsm/2 law/1"),
        ({"depth.confidence": {"min": 0.8}}, ""),
        ({"faults": {"contains": "bad_key"}}, "arc/4 gsm/3"),
    ],
)  # fmt: skip
def test_a_missing_value_meets_nothing(
    where: dict[str, Any], expected: str, table: pa.Table
) -> None:
    assert true_for(where, table) == set(expected.split())


@pytest.mark.parametrize(
    ("where", "text"),
    [
        ({"depth": {"min": 2}}, "depth >= 2"),
        ({"depth": {"max": 2.5}}, "depth <= 2.5"),
        ({"domain": "two words"}, 'domain = "two words"'),
        ({"negation": True}, "negation = true"),
        ({"answer_text": {"in": ["12", "true", "-", "deductive"]}},
         'answer_text in ["12", "true", "-", deductive]'),
        ({"domain": {"in": ["law", "maths"]}}, "domain in [law, maths]"),
        ({"kinds": {"contains": "none"}}, "kinds contains none"),
        ({"kinds": {"contains_any": ["a", "b"]}}, "kinds contains one of [a, b]"),
        ({"depth": {"missing": True}}, "depth is missing"),
        ({"depth": {"missing": False}}, "depth is present"),
        ({"not": {"depth": 1}}, "not (depth = 1)"),
        (
            {"any": [{"depth": 1}, {"depth": 2, "domain": "law"}]},
            "depth = 1 or (depth = 2 and domain = law)",
        ),
    ],
)  # fmt: skip
def test_a_rule_has_a_stable_text(where: dict[str, Any], text: str) -> None:
    assert rule(where).text == text


@pytest.mark.parametrize(
    ("where", "row", "reason"),
    [
        ({"depth": {"min": 2}}, 1, "depth is 1, wanted at least 2"),
        ({"depth": {"min": 2}}, 3, "depth is missing, wanted at least 2"),
        ({"depth": {"max": 2}}, 4, "depth is 3, wanted at most 2"),
        ({"domain": "law"}, 0, "domain is science, wanted law"),
        ({"domain": {"in": ["law", "maths"]}}, 0, "domain is science, wanted one of law, maths"),
        ({"kinds": {"contains": "none"}}, 2, "kinds is deductive, causal, wanted none in it"),
        ({"negation": True}, 0, "negation is false, wanted true"),
        ({"readability_grade": {"max": 1}}, 1, "readability_grade is 3, wanted at most 1"),
        ({"depth": {"missing": True}}, 0, "depth is 0, wanted no value"),
        ({"not": {"domain": "science"}}, 0, "domain is science; wanted not (domain = science)"),
        (
            {"any": [{"depth": 3}, {"domain": "law"}]},
            3,
            "depth is missing, domain is missing; wanted depth = 3 or domain = law",
        ),
        (
            {"question": {"contains": "x" * 3}},
            0,
            "question is What is item 0 of arc?, wanted xxx in it",
        ),
    ],
)
def test_a_reason_gives_the_value_and_what_was_wanted(
    where: dict[str, Any], row: int, reason: str, table: pa.Table
) -> None:
    assert reasons(rule(where), table)[row].as_py() == reason


def test_the_first_fault_of_an_item_is_its_rule(table: pa.Table) -> None:
    rules = fault_rules(table)
    assert [found.text for found in rules] == ["fault: bad_key", "fault: no_gold"]
    dropped = [
        [n for n, true in enumerate(found.truth(table).to_pylist()) if not true] for found in rules
    ]
    assert dropped == [[4], [8]]
    assert (
        reasons(rules[1], table)[8].as_py()
        == "faulty: no_gold, bad_key, wanted an item without faults"
    )


LEAVES: list[dict[str, Any]] = [
    {"depth": {"min": 2}}, {"depth": {"in": [0, 3]}}, {"domain": "law"},
    {"domain": {"missing": True}}, {"kinds": {"contains": "causal"}}, {"negation": True},
]  # fmt: skip
TREES = st.recursive(
    st.sampled_from(LEAVES),
    lambda part: st.one_of(
        st.builds(lambda parts: {"all": parts}, st.lists(part, min_size=1, max_size=3)),
        st.builds(lambda parts: {"any": parts}, st.lists(part, min_size=1, max_size=3)),
        st.builds(lambda inner: {"not": inner}, part),
    ),
    max_leaves=8,
)


def by_hand(where: dict[str, Any], row: dict[str, Any]) -> bool | None:
    """Kleene's logic on one row, in plain Python: min is and, max is or, over F < None < T."""
    rank = {False: 0, None: 1, True: 2}
    back = {value: key for key, value in rank.items()}
    [(key, part)] = where.items()
    if key == "all":
        return back[min(rank[by_hand(inner, row)] for inner in part)]
    if key == "any":
        return back[max(rank[by_hand(inner, row)] for inner in part)]
    if key == "not":
        return back[2 - rank[by_hand(part, row)]]
    value = row[key]
    if part == {"missing": True}:
        return value is None
    if value is None:
        return None
    match part:
        case {"min": least}:
            return bool(value >= least)
        case {"in": values}:
            return value in values
        case {"contains": label}:
            return label in value
    return bool(value == part)


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(where=TREES)
def test_trees_follow_three_valued_logic(where: dict[str, Any], table: pa.Table) -> None:
    expected = [by_hand(where, row) for row in table.to_pylist()]
    assert rule(where).truth(table).to_pylist() == expected
