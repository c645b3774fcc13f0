from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from benchprism.compose.composer import compose
from benchprism.compose.language.criteria import Criteria
from benchprism.records.errors import InputError


def chosen(table: pa.Table, prefer: list[dict[str, Any]], size: int, **sample: Any) -> list[str]:
    parts = {"name": "x", "prefer": prefer, "sample": {"size": size, "seed": 0, **sample}}
    return compose(Criteria.model_validate(parts), table).chosen_ids


# without faults there are arc/0-3, gsm/0-2 and law/0-2, word counts 10 12 14 9 40 55 60 25 26 27
@pytest.mark.parametrize(
    ("prefer", "size", "expected"),
    [
        ([{"highest": "word_count"}], 3, "gsm/0 gsm/1 gsm/2"),
        ([{"lowest": "word_count"}], 3, "arc/0 arc/1 arc/3"),
        ([{"depth": {"min": 3}}], 3, "gsm/1 gsm/2 law/1"),
        # three of depth 3, of which the longest two
        ([{"depth": 3}, {"highest": "word_count"}], 2, "gsm/1 gsm/2"),
        # depth 3 first (3 items), then depth 2 by length: gsm/0 (40)
        ([{"highest": "depth"}, {"highest": "word_count"}], 4, "gsm/0 gsm/1 gsm/2 law/1"),
        # arc/3 has no depth: it comes last whichever way round
        ([{"lowest": "depth"}], 9, "arc/0 arc/1 arc/2 gsm/0 gsm/1 gsm/2 law/0 law/1 law/2"),
        ([{"any": [{"domain": "law"}, {"depth": 0}]}], 4, "arc/0 law/0 law/1 law/2"),
    ],
)
def test_what_is_preferred_is_drawn_first(
    prefer: list[dict[str, Any]], size: int, expected: str, table: pa.Table
) -> None:
    assert chosen(table, prefer, size) == expected.split()


def test_preference_works_inside_groups(table: pa.Table) -> None:
    found = chosen(table, [{"highest": "word_count"}], 3, balance="benchmark")
    assert found == ["arc/2", "gsm/2", "law/2"]


def test_the_rule_says_what_is_preferred(table: pa.Table) -> None:
    prefer = [{"depth": {"min": 3}}, {"highest": "word_count"}, {"lowest": "depth"}]
    parts = {"name": "x", "prefer": prefer, "sample": {"size": 2, "seed": 0}}
    composition = compose(Criteria.model_validate(parts), table)
    assert composition.steps[-1].rule == (
        "sample: size 2, seed 0, first depth >= 3, then the highest word_count,"
        " then the lowest depth"
    )


def test_only_numbers_have_a_highest(table: pa.Table) -> None:
    with pytest.raises(InputError, match="'domain', which holds a text; wanted a field of numbers"):
        chosen(table, [{"highest": "domain"}], 2)
