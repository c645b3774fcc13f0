from __future__ import annotations

from typing import Any

import pytest

from benchprism.compose.language.criteria import Criteria
from benchprism.prompts.library import load_catalogue
from benchprism.scoring.variants import seed_variants, threshold_variants

CORE = load_catalogue("core")


def criteria(**keys: Any) -> Criteria:
    return Criteria.model_validate({"name": "c", "from": ["arc"], **keys})


@pytest.mark.parametrize(
    ("where", "changes"),
    [
        ({"reasoning_depth": 1}, {"= 2, not = 1": None, "= 0, not = 1": None}),
        (
            {"reasoning_depth": {"max": 3}},
            {"<= 4, not <= 3": "levels of reasoning_depth go from 0 to 3", "<= 2, not <= 3": None},
        ),
        (
            {"reasoning_depth": {"in": [0, 3]}},
            {"in [1], not in [0, 3]": None, "in [2], not in [0, 3]": None},
        ),
        (
            {"reasoning_depth": {"min": 2, "max": 2}},
            {
                ">= 3, not >= 2": "criteria want a min that is not above the max",
                ">= 1, not >= 2": None,
                "<= 3, not <= 2": None,
                "<= 1, not <= 2": "criteria want a min that is not above the max",
            },
        ),
        ({"word_count": {"min": 2}}, {}),
    ],
)
def test_each_test_of_a_level_moves_up_and_down(
    where: dict[str, Any], changes: dict[str, str | None]
) -> None:
    found = [*threshold_variants(criteria(where=where), CORE)]
    told = {one.change: one.reason or None for one in found}
    assert told == {f"reasoning_depth {change}": reason for change, reason in changes.items()}
    assert all((one.criteria is None) == bool(one.reason) for one in found)


def test_nested_and_preferred_levels_move_one_at_a_time() -> None:
    given = criteria(
        where={"any": [{"not": {"reasoning_depth": {"min": 2}}}, {"word_count": {"max": 9}}]},
        prefer=[{"reasoning_depth": {"min": 1}}],
        sample={"size": 2},
    )
    found = [one.criteria for one in threshold_variants(given, CORE)]
    assert len(found) == 4
    plain = given.plain()
    for changed, (place, level) in zip(
        found, [("where", 3), ("where", 1), ("prefer", 2), ("prefer", 0)], strict=True
    ):
        assert changed is not None
        own = changed.plain()
        other = "prefer" if place == "where" else "where"
        assert own[other] == plain[other]
        tests = own["where"]["any"][0]["not"] if place == "where" else own["prefer"][0]
        assert tests["reasoning_depth"] == {"min": level}


def test_seeds_go_on_from_those_of_the_criteria() -> None:
    given = criteria(sample={"size": 2, "seed": 4}, select={"seed": 7})
    found = [one.criteria for one in seed_variants(given, 2)]
    for changed, seed in zip(found, (8, 9), strict=True):
        assert changed is not None
        assert changed.sample is not None
        assert changed.select is not None
        assert changed.sample.seed == changed.select.seed == seed
    assert [*seed_variants(criteria(), 3)] == []
