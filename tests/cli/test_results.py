from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]

SCORES = "benchmark,item_id,model,correct\na,1,m,1\na,2,m,\na,1,n,0\nb,x,m,0.5\nb,x,m,0.5\n"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "benchprism.yaml").write_text("project: p\n", encoding="utf-8")
    (tmp_path / "scores.csv").write_text(SCORES, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_add_counts_what_it_read(project: Path, benchprism: Run) -> None:
    ran = benchprism("results", "add", "scores.csv", "--map", "score=correct")
    assert (ran.code, ran.out) == (0, "")
    assert "Added a: items 2, models 2, scores 2, missing 2\n" in ran.err
    assert "Added b: items 1, models 1, scores 1, missing 0, 1 given twice\n" in ran.err
    assert (project / "results" / "scores.parquet").is_file()


def test_add_and_list_as_json(project: Path, benchprism: Run) -> None:
    ran = benchprism("results", "add", "scores.csv", "--map", "score=correct", "--json")
    wanted = [
        {"file": "scores.parquet", "benchmark": "a", "items": 2, "models": 2, "scores": 2,
         "missing": 2, "repeated": 0},
        {"file": "scores.parquet", "benchmark": "b", "items": 1, "models": 1, "scores": 1,
         "missing": 0, "repeated": 1},
    ]  # fmt: skip
    assert ran.data == wanted
    assert benchprism("results", "list", "--json").data == wanted
    lines = [line.split() for line in benchprism("results", "list").out.splitlines()]
    assert ["scores.parquet", "a", "2", "2", "2", "2"] in lines


def test_a_name_is_taken_once(project: Path, benchprism: Run) -> None:
    add = ("results", "add", "scores.csv", "--map", "score=correct")
    assert benchprism(*add).code == 0
    again = benchprism(*add)
    assert again.code == 2
    assert "scores.parquet is among the results already" in again.err
    assert benchprism(*add, "--replace").code == 0
    assert benchprism(*add, "--name", "second").code == 0
    assert (project / "results" / "second.parquet").is_file()


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["results", "add", "none.csv"], "none.csv cannot be read (No such file or directory)"),
        (["results", "add", "scores.csv"], "has no column 'score'"),
        (["results", "add", "scores.csv", "--map", "score"], "wanted a pair such as score=correct"),
        (["results", "add", "scores.csv", "--map", "scor=correct"], "did you mean 'score'?"),
        (["results", "add", "scores.csv", "--name", "../x"], "wanted a name without folders"),
        (["results", "list"], "add them with 'benchprism results add FILE'"),
        (["results", "list", "-p", "/"], "no benchprism.yaml in /"),
    ],
)
def test_wrong_use_is_one_sentence(
    project: Path, benchprism: Run, words: list[str], sentence: str
) -> None:
    ran = benchprism(*words)
    assert ran.code == 2
    assert sentence in ran.err
    assert ran.err.count("\n") == 1
    assert not (project / "results").exists()


def test_two_scores_for_one_cell_are_refused(project: Path, benchprism: Run) -> None:
    text = "benchmark,item_id,model,score\na,1,m,1\na,1,m,0\n"
    (project / "twice.csv").write_text(text, encoding="utf-8")
    ran = benchprism("results", "add", "twice.csv")
    assert ran.code == 2
    assert "'m' has two scores for item '1' of 'a': 1.0 in twice.csv row 1, 0.0 in" in ran.err
    assert not (project / "results").exists()
