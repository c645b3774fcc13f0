from __future__ import annotations

from pathlib import Path

import jsonschema
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from benchprism.compose.criteria import Criteria, read_criteria
from benchprism.records.documents import dump_document, parse_document
from benchprism.records.errors import InputError

FULL = """
name: reasoning
description: Chains of reasoning
from: [arc, gsm]
where:
  all:
    - depth: {min: 2, max: 3}
    - any: [{domain: {in: [maths, law]}}, {kinds: {contains: causal}}]
  not: {domain: science, negation: true}
  word_count: {missing: false}
sample: {size: 10, balance: benchmark, seed: 3, if_short: take_all}
"""


def read(text: str) -> Criteria:
    return parse_document(text, Criteria, name="c.yaml")


def test_what_is_written_out_reads_back_equal() -> None:
    criteria = read(FULL)
    again = read(dump_document(criteria.plain()))
    assert again == criteria
    assert again.hash == criteria.hash
    assert read(FULL.replace("min: 2", "min: 1")).hash != criteria.hash


def test_what_is_left_to_the_project_is_written_out() -> None:
    resolved = read("name: x\nsample: {size: 3}").resolved(["gsm", "arc"], seed=9)
    assert resolved.from_ == ["arc", "gsm"]
    assert resolved.sample is not None
    assert resolved.sample.seed == 9
    assert read(FULL).resolved(["arc", "gsm", "law"], seed=9) == read(FULL)


@pytest.mark.parametrize(
    ("text", "place", "wanted"),
    [
        ("wher: {x: 1}", "line 2, column 1", "did you mean 'where'?"),
        ("where:\n  al:\n    - x: {min: 2}", "line 3, column 3", "did you mean 'all'?"),
        ("where: {nott: {x: {min: 2}}}", "line 2, column 9", "did you mean 'not'?"),
        ("where:\n  all:\n    - x: {mn: 2}", "line 4, column 11", "did you mean 'min'?"),
        ("where: {x: [a, b]}", "line 2, column 9", "write {in: [...]}"),
        ("where: {x: }", "line 2, column 9", "a condition such as {min: 2}"),
        ("where: {x: {}}", "line 2, column 9", "a condition such as {min: 2}"),
        ("where: {x: {min: ~}}", "line 2, column 9", "a condition such as {min: 2}"),
        ("where: {not: }", "line 2, column 9", "a mapping of conditions"),
        ("where: depth >= 2", "line 2, column 1", "a mapping of conditions"),
        ("where: {all: [depth]}", "line 2, column 15", "a mapping of conditions"),
        ("where: {all: []}", "line 2, column 9", "a list with something in it"),
        ("where: {x: {in: a}}", "line 2, column 13", "a valid list"),
        ("where: {x: {in: [[a]]}}", "line 2, column 18", "a number, text, true or false"),
        ("where: {x: {min: two}}", "line 2, column 13", "a number"),
        ("where: {x: {min: .nan}}", "line 2, column 13", "a number"),
        ("where: {x: {min: true}}", "line 2, column 13", "a number"),
        ("where: {x: {min: 3, max: 2}}", "line 2, column 9", "not above the max"),
        ("where: {x: {missing: true, min: 2}}", "line 2, column 9", "'missing: true' alone"),
        ("where: {x: {missing: yes}}", "line 2, column 13", "a valid boolean"),
        ("where: {x: {contains: 12}}", "line 2, column 13", "a valid string"),
        ("where: {x: 007}", "line 2, column 12", "quote it"),
        ("where: {x: 1, x: 2}", "line 2, column 15", "write the key once"),
        ("\twhere: {x: 1}", "line 2, column 1", "spaces, not tabs"),
        ("from: mmlu", "line 2, column 1", "'all' or a list of benchmarks"),
        ("from: [arc, arc]", "line 2, column 1", "'arc' stands twice"),
        ("faults: no", "line 2, column 1", "'drop' or 'keep'"),
        ("sample: {sise: 3}", "line 2, column 10", "did you mean 'size'?"),
        ("sample: {size: 0}", "line 2, column 10", "greater than 0"),
        ("sample: {size: '3'}", "line 2, column 10", "a valid integer"),
        ("sample: {size: 3, if_short: stop}", "line 2, column 19", "'refuse' or 'take_all'"),
    ],
)
def test_a_fault_is_one_sentence_with_its_place(text: str, place: str, wanted: str) -> None:
    with pytest.raises(InputError) as error:
        read(f"name: x\n{text}")
    assert f"c.yaml, {place}: " in str(error.value)
    assert wanted in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("name", ["A", "../x", "a b", "-x", "''", "3", "~", "x" * 65])
def test_a_name_is_fit_for_a_folder(name: str) -> None:
    with pytest.raises(InputError, match="a name of lower-case letters"):
        read(f"name: {name}")


def test_yaml_1_2_words_stay_text() -> None:
    where = read("name: on\nwhere: {x: no, y: 12:30:45, z: 2024-01-01, n: 1e5}").where
    assert where is not None
    values = {field: condition.is_ for field, condition in where.fields.items()}
    assert values == {"x": "no", "y": "12:30:45", "z": "2024-01-01", "n": 100000.0}


@settings(deadline=None)
@given(st.text(), st.lists(st.text(), min_size=1))
def test_any_text_survives_the_resolved_file(piece: str, values: list[str]) -> None:
    where = {"x": {"is": piece}, "y": {"in": values}}
    criteria = Criteria.model_validate({"name": "x", "description": piece, "where": where})
    assert read(dump_document(criteria.plain())) == criteria


def test_the_schema_guides_an_editor() -> None:
    schema = Criteria.model_json_schema(by_alias=True)
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(yaml.safe_load(FULL), schema)
    for wrong in ("where: {x: {mn: 2}}", "where: {x: [2]}", "from: arc", "sample: {size: 0}"):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(yaml.safe_load(f"name: x\n{wrong}"), schema)
    assert "smallest" in str(schema["$defs"]["Condition"])


def test_a_missing_file_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        read_criteria(tmp_path / "none.yaml")
