from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from benchprism.compose.language.criteria import Criteria
from benchprism.compose.language.errors import located, where
from benchprism.compose.language.extends import read_criteria
from benchprism.compose.screening import screen
from benchprism.records.errors import InputError

BASE = """
name: base
description: of the base
from: [arc, gsm]
faults: keep
where: {depth: {min: 1}}
sample: {size: 5, seed: 3, balance: benchmark}
expect: [{count: items, min: 1}]
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write(tmp_path / "base.yaml", BASE)
    return tmp_path


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def read(path: Path, text: str) -> Criteria:
    return read_criteria(write(path, text))


def test_what_a_file_leaves_out_is_inherited(folder: Path) -> None:
    criteria = read(folder / "own.yaml", "name: own\nextends: base.yaml\n")
    expected = Criteria.model_validate(
        {
            "name": "own",
            "from": ["arc", "gsm"],
            "faults": "keep",
            "where": {"depth": {"min": 1}},
            "sample": {"size": 5, "seed": 3, "balance": "benchmark"},
            "expect": [{"count": "items", "min": 1}],
        }
    )
    assert criteria == expected
    assert "extends" not in criteria.plain()


def test_conditions_sample_and_expectations_are_joined(folder: Path) -> None:
    text = """
name: own
extends: base.yaml
faults: drop
where: {negation: true}
sample: {share: 0.5, stratify: domain}
expect: [{mean: depth, min: 2}]
"""
    plain = read(folder / "own.yaml", text).plain()
    assert plain["faults"] == "drop"
    assert plain["where"] == {"all": [{"depth": {"min": 1}}, {"negation": {"is": True}}]}
    assert plain["sample"] == {
        "share": 0.5, "seed": 3, "stratify": ["domain"], "if_short": "refuse",
    }  # fmt: skip
    assert plain["expect"] == [{"count": "items", "min": 1}, {"mean": "depth", "min": 2}]


def test_null_takes_away_what_is_inherited(folder: Path) -> None:
    text = "name: own\nextends: base.yaml\nsample: null\nwhere: ~\n"
    criteria = read(folder / "own.yaml", text)
    assert criteria.sample is None
    assert criteria.where is None
    assert criteria.from_ == ["arc", "gsm"]


def test_a_chain_goes_through_folders(folder: Path) -> None:
    write(folder / "sub" / "middle.yaml", "name: m\nextends: ../base.yaml\nwhere: {a: 1}\n")
    criteria = read(folder / "own.yaml", "name: own\nextends: sub/middle.yaml\nwhere: {b: 2}\n")
    inner = {"all": [{"depth": {"min": 1}}, {"a": {"is": 1}}]}
    assert criteria.plain()["where"] == {"all": [inner, {"b": {"is": 2}}]}


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("name: own\nextends: none.yaml", "line 2, column 1: no criteria file 'none.yaml'"),
        ("name: own\nextends: own.yaml", "line 2, column 1: own.yaml extends itself"),
        ("name: own\nextends: /base.yaml", "line 2, column 1: the absolute path '/base.yaml'"),
        ("name: own\nextends: base.yaml\nsample: {size: ~}", "do not go together; wanted a 'size'"),
        ("name: own\nextends: base.yaml\nwher: {}", "line 3, column 1: the unknown key 'wher'"),
    ],
)
def test_a_fault_is_one_sentence(text: str, sentence: str, folder: Path) -> None:
    with pytest.raises(InputError) as error:
        read(folder / "own.yaml", text)
    assert sentence in str(error.value)
    assert "\n" not in str(error.value)


def test_a_circle_is_refused(folder: Path) -> None:
    write(folder / "base.yaml", "name: base\nextends: own.yaml\n")
    with pytest.raises(InputError, match=r"base.yaml, line 2, column 1: own.yaml extends itself"):
        read(folder / "own.yaml", "name: own\nextends: base.yaml\n")


def test_a_fault_in_what_is_extended_names_that_file(folder: Path) -> None:
    write(folder / "base.yaml", BASE.replace("depth: {min", "depth: {mn"))
    with pytest.raises(InputError, match=r"base.yaml, line 6, column \d+: .* mean 'min'"):
        read(folder / "own.yaml", "name: own\nextends: base.yaml\n")


@pytest.mark.parametrize(
    ("base", "own", "file", "line"),
    [
        ("where: {dept: 1}", "where: {depth: 1}", "base.yaml", 2),
        ("where: {depth: 1}", "where: {dept: 1}", "own.yaml", 3),
        ("where: {dept: 1}", "from: [arc]", "base.yaml", 2),
        ("sample: {size: 2, balance: domian}", "sample: {size: 3}", "base.yaml", 2),
        ("sample: {size: 2}", "sample: {balance: domian}", "own.yaml", 3),
        ("expect: [{mean: dept, min: 1}]", "expect: [{mean: depth, min: 1}]", "base.yaml", 2),
        ("expect: [{mean: depth, min: 1}]", "expect: [{mean: dept, min: 1}]", "own.yaml", 3),
    ],
)
def test_a_field_that_is_not_there_is_found_in_its_own_file(
    base: str, own: str, file: str, line: int, folder: Path, table: pa.Table
) -> None:
    write(folder / "base.yaml", f"name: base\n{base}\n")
    path = write(folder / "own.yaml", f"name: own\nextends: base.yaml\n{own}\n")
    with pytest.raises(InputError) as error, located(path):
        screen(read_criteria(path), table)
    assert f"{folder / file}, line {line}, column " in str(error.value)
    assert "did you mean" in str(error.value)


def test_places_go_through_a_chain(folder: Path) -> None:
    write(folder / "middle.yaml", "name: m\nextends: base.yaml\nwhere: {a: 1}\n")
    path = write(folder / "own.yaml", "name: own\nextends: middle.yaml\nwhere: {b: 2}\n")
    places = {
        "base.yaml, line 6": ("where", "all", 0, "all", 0, "depth"),
        "middle.yaml, line 3": ("where", "all", 0, "all", 1, "a"),
        "own.yaml, line 3": ("where", "all", 1, "b"),
    }
    for place, keys in places.items():
        assert where(path, keys).startswith(f"{folder}/{place}, column")
