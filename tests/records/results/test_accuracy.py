from __future__ import annotations

from pathlib import Path

import pytest

from benchprism.records.errors import InputError
from benchprism.records.results.accuracy import (
    Unit,
    read_accuracy,
    read_domains,
    read_inversions,
)

TABLE = "name,family,size,ARC,MATH-500\nm1,M,1,82.1,0\nm2,M,7,90,\nn,,,50.5,100\n"


def written(folder: Path, text: str, name: str = "table.csv") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_a_table_in_per_cent(tmp_path: Path) -> None:
    found = read_accuracy(written(tmp_path, TABLE), "percent")
    assert found.models == ("m1", "m2", "n")
    assert found.families == {"m1": "M", "m2": "M"}
    assert found.sizes == {"m1": 1.0, "m2": 7.0}
    assert found.accuracies["ARC"] == pytest.approx({"m1": 0.821, "m2": 0.9, "n": 0.505})
    assert found.accuracies["MATH-500"] == {"m1": 0.0, "n": 1.0}
    assert not found.looks_like_proportions


def test_a_table_of_proportions_without_families(tmp_path: Path) -> None:
    path = written(tmp_path, "model,ARC\nm,0.5\n")
    found = read_accuracy(path, "proportion")
    assert found.accuracies == {"ARC": {"m": 0.5}}
    assert found.families == {}
    assert found.sizes is None
    assert read_accuracy(path, "percent").looks_like_proportions


@pytest.mark.parametrize(
    ("text", "unit", "sentence"),
    [
        (TABLE, "proportion", "line 2, column 'ARC': the accuracy '82.1'; wanted a number from 0"),
        (TABLE, "proportion", "give the unit as percent"),
        ("model,ARC\nm,100.5\n", "percent", "the accuracy '100.5'"),
        ("model,ARC\nm,-1\n", "percent", "the accuracy '-1'"),
        ("model,ARC\nm,nan\n", "percent", "'nan'; wanted a number"),
        ("model,ARC\nm,high\n", "percent", "line 2, column 'ARC': 'high'"),
        ("model,ARC\nm,1\nm,2\n", "percent", "line 3: the model 'm' again"),
        ("model,ARC\n,1\n", "percent", "line 2: no model"),
        ("model,ARC,ARC\nm,1,2\n", "percent", "the column 'ARC' twice"),
        ("model,ARC,\nm,1,2\n", "percent", "a column without a name"),
        ("model,ARC\nm,1,2\n", "percent", "line 2: 3 cells"),
        ("model,family\nm,M\n", "percent", "no benchmark among its columns"),
        ("model,ARC\n", "percent", "has no rows"),
    ],
)
def test_wrong_tables_are_one_sentence(
    tmp_path: Path, text: str, unit: Unit, sentence: str
) -> None:
    with pytest.raises(InputError) as caught:
        read_accuracy(written(tmp_path, text), unit)
    assert sentence in str(caught.value)


def test_domains(tmp_path: Path) -> None:
    path = written(tmp_path, "benchmark,CBRC,domain\nARC,1,Reasoning\nMATH,2,Mathematics\n")
    assert read_domains(path, ["ARC"]) == {"ARC": "Reasoning", "MATH": "Mathematics"}
    with pytest.raises(InputError, match=r"no domain for the benchmark 'MATHS'.*'MATH'\?"):
        read_domains(path, ["ARC", "MATHS"])
    path = written(tmp_path, "benchmark,domain\nARC,a\nARC,b\n")
    with pytest.raises(InputError, match="line 3: the domain 'b' of 'ARC'"):
        read_domains(path, ["ARC"])
    path = written(tmp_path, "benchmark,domain\nARC,\n")
    with pytest.raises(InputError, match="the domain '' of 'ARC'"):
        read_domains(path, ["ARC"])


def test_inversion_rates(tmp_path: Path) -> None:
    table = read_accuracy(written(tmp_path, TABLE), "percent")
    path = written(tmp_path, "benchmark,M\nARC,0.1\nMATH-500,\n", "rates.csv")
    assert read_inversions(path, table) == {"ARC": {"M": 0.1}, "MATH-500": {}}


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("benchmark,MM\nARC,0.1\n", "the family 'MM'; wanted a family of the accuracy table; did"),
        ("benchmark,M\nARK,0.1\n", "line 2: the benchmark 'ARK'; wanted each benchmark"),
        ("benchmark,M\nARK,0.1\n", "did you mean 'ARC'?"),
        ("benchmark,M\nARC,0.1\nARC,0.1\n", "line 3: the benchmark 'ARC' again"),
        ("benchmark,M\nARC,1.1\n", "line 2, column 'M': the inversion rate 1.1"),
    ],
)
def test_wrong_inversion_rates_are_one_sentence(tmp_path: Path, text: str, sentence: str) -> None:
    table = read_accuracy(written(tmp_path, TABLE), "percent")
    with pytest.raises(InputError) as caught:
        read_inversions(written(tmp_path, text, "rates.csv"), table)
    assert sentence in str(caught.value)
