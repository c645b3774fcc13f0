from __future__ import annotations

import re
from typing import get_args

import pytest

from benchprism.compose.export.harness.asking import asking, known_askings
from benchprism.compose.export.sources import OF_CHOICES, Scoring, known_sources
from benchprism.records.items.presets import presets

FIELDS = {"question", "trimmed", "cleaned", "context", "passage", "options", "subset"}


def test_every_rule_is_asked_somehow() -> None:
    for scoring in get_args(Scoring):
        assert set(re.findall(r"\{(\w+)\}", asking(scoring, None).prompt)) <= FIELDS


@pytest.mark.parametrize("name", sorted(known_sources()))
def test_a_preset_is_asked_in_a_way_that_its_rule_can_judge(name: str) -> None:
    scoring = known_sources()[name].scoring
    how = asking(scoring, name)
    assert set(re.findall(r"\{(\w+)\}", how.prompt)) <= FIELDS
    by_letter = scoring in {"letters", "letter_in_text"}
    assert ("{options}" in how.prompt) == by_letter
    assert (how.tokens is None) == (scoring in OF_CHOICES - {"letter_in_text"})


def test_ways_of_their_own_are_of_presets() -> None:
    assert known_askings().keys() <= presets().keys()


def test_gsm8k_alone_has_the_strict_filter() -> None:
    assert asking("number", "gsm8k").filters == ["strict", "flexible"]
    assert asking("number", "aime24").filters == ["flexible"]
