from __future__ import annotations

from pathlib import Path

import pytest

from benchprism.records.errors import InputError
from benchprism.records.results.models import DeclaredModel, read_models


def written(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_yaml_and_csv_say_the_same(tmp_path: Path) -> None:
    yaml = "models:\n  b-70b: {family: B, size: 70}\n  a: {family: A}\n"
    csv = "model,family,size,licence\nb-70b,B,70,mit\na,A,,\n"
    wanted = {
        "b-70b": DeclaredModel(family="B", size=70.0),
        "a": DeclaredModel(family="A", size=None),
    }
    for path in (written(tmp_path, "m.yaml", yaml), written(tmp_path, "m.csv", csv)):
        found = read_models(path)
        assert found == wanted
        assert list(found) == ["b-70b", "a"]


@pytest.mark.parametrize(
    ("name", "text", "sentence"),
    [
        ("m.yaml", "models:\n  a: {familly: A}\n", "did you mean 'family'?"),
        ("m.yaml", "models:\n  a: {family: A, size: 8x7B}\n", "line 2"),
        (
            "m.csv",
            "model,family,size\na,A,8x7B\n",
            "line 2, column 'size': '8x7B'; wanted a number",
        ),
        ("m.csv", "model,family,size\na,A,1\na,B,2\n", "line 3: the model 'a' again"),
        ("m.csv", "model,family,size\na,,1\n", "line 2: no model or no family"),
        ("m.csv", "model,familie,size\na,A,1\n", "did you mean 'familie'?"),
        ("none.yaml", None, "No such file"),
        ("none.csv", None, "No such file"),
    ],
)
def test_wrong_files_are_one_sentence(
    tmp_path: Path, name: str, text: str | None, sentence: str
) -> None:
    path = tmp_path / name if text is None else written(tmp_path, name, text)
    with pytest.raises(InputError) as caught:
        read_models(path)
    assert sentence in str(caught.value)
    assert name in str(caught.value)
