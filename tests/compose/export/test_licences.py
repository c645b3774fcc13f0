"""Licences, and what is known of the presets' benchmarks."""

from __future__ import annotations

import re
from itertools import permutations

import pytest

from benchprism.compose.export.licences import find_licence, licences, strictest
from benchprism.compose.export.sources import OF_CHOICES, known_sources, scoring_rule
from benchprism.records.items.presets import presets


def test_every_presets_licence_is_known() -> None:
    for preset in presets().values():
        assert find_licence(preset.licence) in licences()


@pytest.mark.parametrize(
    ("stated", "hub", "redistribution"),
    [
        ("MIT", "mit", "yes"),
        ("Apache-2.0", "apache-2.0", "yes"),
        ("CC BY", "cc", "yes"),
        ("CC-BY-4.0", "cc-by-4.0", "yes"),
        ("cc-by-nc-sa-4.0", "cc-by-nc-sa-4.0", "non_commercial"),
        ("CC BY-ND 4.0", "cc-by-nd-4.0", "no"),
        ("All rights reserved", "other", "no"),
        ("unknown", "unknown", "unknown"),
        ("other", "other", "unknown"),
        ("as agreed with the authors", "other", "unknown"),
    ],
)
def test_a_licence_in_words(stated: str, hub: str, redistribution: str) -> None:
    found = find_licence(stated)
    assert (found.hub, found.redistribution) == (hub, redistribution)


def test_the_strictest_does_not_depend_on_the_order() -> None:
    names = ["MIT", "CC-BY-SA-4.0", "unknown", "in words", "CC-BY-NC-4.0"]
    for count in range(1, len(names) + 1):
        for order in permutations(names[:count]):
            assert strictest(map(find_licence, order)) == find_licence(names[count - 1])


def test_the_freer_permit_more() -> None:
    order = ("yes", "unknown", "non_commercial", "no")
    ranks = [order.index(licence.redistribution) for licence in licences()]
    assert ranks == sorted(ranks)


def test_every_preset_has_a_rule_and_a_true_entry() -> None:
    assert {*known_sources()} == {*presets()}
    for name, source in known_sources().items():
        assert source.paper is not None or name in {"aime24", "amc"}
        if source.paper is not None:
            assert re.fullmatch(r"\d{4}\.\d{5}", source.paper.arxiv)
            assert source.paper.arxiv[:2] in {str(source.paper.year)[2:]}


def test_a_rule_fits_the_kind_of_item() -> None:
    assert scoring_rule("winogrande", "multiple_choice").scoring == "blank"
    assert scoring_rule("winogrande", "generative").scoring == "exact"
    assert scoring_rule("gsm8k", "multiple_choice").scoring == "letters"
    assert scoring_rule(None, "multiple_choice").scoring in OF_CHOICES
