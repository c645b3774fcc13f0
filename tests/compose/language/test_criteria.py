from __future__ import annotations

from pathlib import Path

import jsonschema
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from benchprism.compose.language.criteria import Criteria
from benchprism.compose.language.extends import read_criteria
from benchprism.records.documents import dump_document, parse_document
from benchprism.records.errors import InputError

FULL = """
name: reasoning
description: Chains of reasoning
from: [arc, gsm, mmlu/virology, "subset:deep"]
min_confidence: 0.5
where:
  all:
    - depth: {min: 2, max: 3}
    - any: [{domain: {in: [maths, law]}}, {kinds: {contains: causal}}]
  not: {domain: science, negation: true}
  word_count: {missing: false}
  clarity: {min: 2, human_only: true, min_confidence: 0}
deduplicate: {match: near, similarity: 0.9, keep: [gsm, arc]}
select: {cad_above: null, held_in: [Qwen], seed: 1}
prefer:
  - domain: maths
  - {highest: discrimination}
sample:
  size: 10
  seed: 3
  balance: [benchmark, {field: word_count, cuts: [20, 40]}]
  weights: {benchmark: {gsm: 2}}
  quotas: {depth: {2: {min: 1}, 3: 4}}
  if_short: take_all
expect:
  - {count: items, per: benchmark, min: 2}
  - {share: {negation: true}, max: 0.5}
  - {mean: depth, min: 2}
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
    assert resolved.select is None
    assert read(FULL).resolved(["arc", "gsm", "law"], seed=9) == read(FULL)
    selected = read("name: x\nselect: {}").resolved(["arc"], seed=9)
    assert selected.select is not None
    assert selected.select.seed == 9


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
        ("form: [mmlu]", "line 2, column 1", "did you mean 'from'?"),
        ("from: [arc, arc]", "line 2, column 1", "'arc' stands twice"),
        ("faults: no", "line 2, column 1", "'drop' or 'keep'"),
        ("sample: {sise: 3}", "line 2, column 10", "did you mean 'size'?"),
        ("sample: {size: 0}", "line 2, column 10", "greater than 0"),
        ("sample: {size: '3'}", "line 2, column 10", "a valid integer"),
        ("sample: {size: 3, if_short: stop}", "line 2, column 19", "'refuse' or 'take_all'"),
        ("sample: {seed: 3}", "line 1, column 1", "a 'size' or a 'share'"),
        ("sample: {size: 3, share: 0.5}", "line 2, column 1", "a size or a share, not both"),
        ("sample: {share: 1.5}", "line 2, column 10", "a number from 0 to 1"),
        ("sample: {share: 0}", "line 2, column 10", "greater than 0"),
        ("sample: {size: 3, balance: a, stratify: b}", "line 2, column 1", "not both"),
        ("sample: {size: 3, balance: []}", "line 2, column 19", "{field: FIELD, cuts: [...]}"),
        ("sample: {size: 3, balance: [3]}", "line 2, column 19", "a field, {field"),
        ("sample: {size: 3, balance: {field: a, cut: [1]}}", "line 2, column 39", "mean 'cuts'?"),
        ("sample: {size: 3, balance: {field: a, cuts: [2, 1]}}", "line 2, column 19", "that rise"),
        ("sample: {size: 3, weights: {a: {b: 2}}}", "line 2, column 1", "'balance' or 'stratify'"),
        (
            "sample: {size: 3, balance: a, weights: {a: {b: 0}}}",
            "line 2, column 45",
            "greater than 0",
        ),
        ("sample: {size: 3, quotas: {a: {b: {mn: 2}}}}", "line 2, column 36", "mean 'min'?"),
        (
            "sample: {size: 3, quotas: {a: {b: {min: 3, max: 2}}}}",
            "line 2, column 32",
            "not above the max",
        ),
        ("sample: {size: 3, quotas: {a: {b: 2, c: 2}}}", "line 2, column 1", "no more than the"),
        (
            "sample: {size: 9, balance: a, quotas: {b: {x: 1}, c: {x: 1}}}",
            "line 2, column 1",
            "at most one",
        ),
        ("deduplicate: exakt", "line 2, column 1", "'exact', 'shuffled' or 'near'"),
        ("deduplicate: {mach: near}", "line 2, column 15", "did you mean 'match'?"),
        ("deduplicate: {similarity: 0}", "line 2, column 15", "greater than 0"),
        ("select: {by: dificulty}", "line 2, column 10", "'discrimination' or 'variance'"),
        ("select: {share: 0.2, tradeoff: {}}", "line 2, column 1", "'share' or 'tradeoff'"),
        ("select: {tradeoff: {consistency: -1}}", "line 2, column 10", "weights of 0 or more"),
        ("prefer: [{highest: a, x: 1}]\nsample: {size: 2}", "line 2, column 10", "conditions, or"),
        ("prefer: [{}]\nsample: {size: 2}", "line 2, column 10", "a mapping of conditions"),
        ("prefer: [{highst: a}]", "line 1, column 1", "a 'sample' for 'prefer' to order"),
        ("expect: [{count: items}]", "line 2, column 10", "a min, a max or both"),
        ("expect: [{min: 3}]", "line 2, column 10", "one of 'count', 'mean' and 'share'"),
        ("expect: [{mean: x, min: 3, max: 2}]", "line 2, column 10", "not above the max"),
        ("expect: [{cuont: items, min: 3}]", "line 2, column 11", "did you mean 'count'?"),
        ("expect: {count: items, min: 3}", "line 2, column 1", "a valid list"),
        ("human_only: yes", "line 2, column 1", "a valid boolean"),
        ("min_confidence: 70", "line 2, column 1", "a number from 0 to 1"),
        ("where: {x: {min: 1, min_confidence: 2}}", "line 2, column 21", "from 0 to 1"),
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
    for wrong in (
        "where: {x: {mn: 2}}", "where: {x: [2]}", "from: arc", "sample: {size: 0}",
        "deduplicate: {match: same}", "expect: [{counts: items}]", "min_confidence: 2",
    ):  # fmt: skip
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(yaml.safe_load(f"name: x\n{wrong}"), schema)
    assert "smallest" in str(schema["$defs"]["Condition"])


def test_a_missing_file_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        read_criteria(tmp_path / "none.yaml")
