from pathlib import Path

import pytest

from benchprism.prompts.library import load_catalogue
from benchprism.records.errors import InputError

OWN = """
catalogue: bank
version: 1
extends: core
drop: [ethics_safety_and_fairness, clarity]
dimensions:
  - id: context
    attributes:
      - {id: setting, type: boolean, question: "Is it set in a branch?"}
  - id: bank
    title: Banking
    attributes:
      - {id: activity, type: label, question: "Which activity?", labels: [lending, payments]}
      - {id: reasoning_depth, type: level, question: "How deep?", levels: {0: no, 1: yes}}
"""


def write(folder: Path, text: str, name: str = "own.yaml") -> str:
    (folder / name).write_text(text, encoding="utf-8")
    return name


def test_a_catalogue_extends_another(tmp_path: Path) -> None:
    core, own = load_catalogue("core"), load_catalogue(write(tmp_path, OWN), folder=tmp_path)
    ids = {dimension.id: [a.id for a in dimension.attributes] for dimension in own.dimensions}
    assert "ethics_safety_and_fairness" not in ids
    assert "clarity" not in ids["language_and_content_quality"]
    assert ids["bank"] == ["activity", "reasoning_depth"]
    assert "reasoning_depth" not in ids["cognitive_and_knowledge_demands"]
    assert ids["context"] == [a.id for a in core.dimensions[3].attributes]
    assert own["setting"].type == "boolean"
    assert own["reasoning_depth"].levels == {0: "no", 1: "yes"}
    assert own.scale == core.scale
    assert (own.catalogue, own.version) == ("bank", 1)


def test_a_catalogue_replaces_the_shipped_one(tmp_path: Path) -> None:
    text = (
        "catalogue: one\nversion: 3\ndimensions:\n- id: d\n  title: D\n"
        '  attributes: [{id: a, type: boolean, question: "?"}]\n'
    )
    assert [a.id for a in load_catalogue(write(tmp_path, text), folder=tmp_path)] == ["a"]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (OWN.replace("clarity", "clarty"), "did you mean 'clarity'?"),
        (OWN.replace("title: Banking", "title: ~"), "the new dimension 'bank' has no title"),
        (OWN.replace("extends: core", "extends: own.yaml"), "extends itself"),
        (OWN.replace("extends: core", "extends: none.yaml"), "no catalogue 'none.yaml'"),
        (
            OWN.replace("extends: core", "extnds: core"),
            "line 4, column 1: the unknown key 'extnds'",
        ),
        (OWN.replace("extends: core\n", ""), "'drop' only beside 'extends'"),
        (OWN.replace("id: bank", "id: context"), "'context' stands twice"),
        (OWN.replace("id: activity", "id: setting"), "'setting' stands twice"),
        ("catalogue: c\nversion: 1", "dimensions, or 'extends'"),
        ("catalogue: c\nversion: one\nextends: core", "line 2, column 1: version is 'one'"),
    ],
)
def test_a_fault_is_one_sentence_with_the_mend(tmp_path: Path, text: str, wanted: str) -> None:
    with pytest.raises(InputError) as error:
        load_catalogue(write(tmp_path, text), folder=tmp_path)
    assert wanted in str(error.value)
    assert "\n" not in str(error.value)


def test_everything_dropped_is_no_catalogue(tmp_path: Path) -> None:
    dimensions = ", ".join(dimension.id for dimension in load_catalogue("core").dimensions)
    text = f"catalogue: c\nversion: 1\nextends: core\ndrop: [{dimensions}]\n"
    with pytest.raises(InputError, match="makes no catalogue"):
        load_catalogue(write(tmp_path, text), folder=tmp_path)


def test_a_missing_catalogue_names_the_shipped_one(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no catalogue 'cor' in .*wanted 'core' or the path"):
        load_catalogue("cor", folder=tmp_path)
