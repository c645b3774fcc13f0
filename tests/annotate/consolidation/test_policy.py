from __future__ import annotations

import pytest

from benchprism.annotate.consolidation.policy import ConsolidationSettings
from benchprism.project import ProjectSettings
from benchprism.records.documents import parse_document
from benchprism.records.errors import InputError


def settings(text: str) -> ProjectSettings:
    return parse_document(f"project: p\n{text}", ProjectSettings, name="benchprism.yaml")


def test_each_type_has_a_method_of_its_own() -> None:
    chosen = ConsolidationSettings()
    methods = [chosen.of(type_).method for type_ in ("level", "label", "labels", "boolean")]
    assert methods == ["median", "majority", "majority", "majority"]
    assert not chosen.pools_items


def test_what_is_set_is_for_models_and_its_ties_for_everyone() -> None:
    made = settings(
        "consolidation:\n"
        "  level: {method: dawid_skene, fallback: median, ties: highest, min_annotators: 3}"
    ).consolidation
    level = made.of("level")
    assert (level.method, level.fallback, level.min_annotators) == ("dawid_skene", "median", 3)
    assert made.pools_items
    others = level.for_others
    assert (others.method, others.ties, others.min_annotators) == ("median", "highest", 1)


WRONG = [
    ("{levels: {method: median}}", "the unknown key 'levels'.*did you mean"),
    ("{label: {method: median}}", r"consolidation.label.method is 'median'; wanted 'majority'"),
    ("{labels: {method: dawid_skene}}", "labels.method is 'dawid_skene'; wanted 'majority'"),
    ("{level: {fallback: median}}", "'fallback' only beside 'method: dawid_skene'"),
    ("{boolean: {ties: random}}", "boolean.ties is 'random'; wanted 'lowest', 'highest' or"),
    ("{boolean: {min_annotators: 0}}", "min_annotators is 0; wanted greater than or equal to 1"),
]


@pytest.mark.parametrize(("text", "sentence"), WRONG)
def test_wrong_settings_are_one_sentence_with_their_place(text: str, sentence: str) -> None:
    with pytest.raises(InputError, match=f"benchprism.yaml, line 2, column .*{sentence}") as error:
        settings(f"consolidation: {text}")
    assert "\n" not in str(error.value)


def test_a_number_sign_is_left_to_passes() -> None:
    with pytest.raises(InputError, match="names without '#', which numbers passes; 'a#2' has one"):
        settings("annotators: {'a#2': {model: m}}")
    with pytest.raises(InputError, match="repeats is 0"):
        settings("annotators: {a: {model: m, repeats: 0}}")
