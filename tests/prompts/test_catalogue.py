import pytest

from benchprism.prompts.catalogue import Catalogue
from benchprism.prompts.library import load_catalogue
from benchprism.records.documents import parse_document
from benchprism.records.errors import InputError

HEAD = "catalogue: c\nversion: 1\ndimensions:\n  - id: d\n    title: D\n    attributes:\n"


def catalogue(attribute: str) -> Catalogue:
    return parse_document(f"{HEAD}      - {attribute}\n", Catalogue, name="c.yaml")


def test_the_shipped_catalogue_has_the_dimensions_of_the_paper() -> None:
    core = load_catalogue("core")
    assert [dimension.id for dimension in core.dimensions] == [
        "cognitive_and_knowledge_demands",
        "language_and_content_quality",
        "task_properties",
        "context",
        "ethics_safety_and_fairness",
    ]
    assert len(list(core)) == 24
    assert all(a.levels.keys() == {0, 1, 2, 3} for a in core if a.type == "level")
    assert all(attribute.aspect for attribute in core)


@pytest.mark.parametrize(
    ("attribute", "wanted"),
    [
        ('{id: a, type: level, question: "?", levels: {0: x, 2: y}}', "from 0 without gaps"),
        ('{id: a, type: level, question: "?"}', "levels for the type 'level'"),
        ('{id: a, type: boolean, question: "?", levels: {0: x}}', "levels for the type 'level'"),
        ('{id: a, type: label, question: "?"}', "labels for the types"),
        ('{id: a, type: label, question: "?", labels: [x, x]}', "each label once"),
        ('{id: A b, type: boolean, question: "?"}', "match pattern"),
        ('{id: a, type: boolean, qestion: "?"}', "did you mean 'question'?"),
        ('{id: a, type: bool, question: "?"}', "'boolean'"),
    ],
)
def test_a_fault_in_an_attribute_names_its_place(attribute: str, wanted: str) -> None:
    with pytest.raises(InputError) as error:
        catalogue(attribute)
    assert "c.yaml, line 7" in str(error.value)
    assert wanted in str(error.value)


def test_an_attribute_stands_once() -> None:
    twice = '{id: a, type: boolean, question: "?"}\n      - {id: a, type: boolean, question: "?"}'
    with pytest.raises(InputError, match="'a' stands twice"):
        catalogue(twice)


def test_values_keep_the_order_of_the_catalogue() -> None:
    core = load_catalogue("core")
    assert list(core["clarity"].values) == [0, 1, 2, 3]
    assert list(core["uses_negation"].values) == [True, False]
    assert list(core["sensitive_topics"].values)[:3] == ["none", "violence", "crime"]
    assert core["answerability"].values["wrong_key"].startswith("another option is right")


def test_the_hash_follows_the_content() -> None:
    one = catalogue('{id: a, type: boolean, question: "One?"}')
    same = catalogue("{question: 'One?', type: boolean, id: a}")
    other = catalogue('{id: a, type: boolean, question: "Two?"}')
    assert one.hash == same.hash != other.hash


def test_only_the_meaning_tells_attributes_apart() -> None:
    plain = catalogue('{id: a, type: boolean, question: "One?"}')["a"]
    dressed = catalogue('{id: a, type: boolean, question: "One?", title: T, aspect: S}')["a"]
    other = catalogue('{id: a, type: boolean, question: "One?", not: Two}')["a"]
    assert plain.values == dressed.values
    assert plain.means_the_same_as(dressed)
    assert not plain.means_the_same_as(other)
