"""The command ``export`` on a small project."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import datasets
import pytest

from benchprism.compose.export.spreadsheet import read_sheet
from benchprism.compose.export.tables import export_schema
from benchprism.prompts.library import load_catalogue

QUESTIONS = [
    {"q": f"What is {n} + {n}?", "a": str(2 * n), "b": str(n), "key": "A"} for n in range(5)
]


@pytest.fixture
def project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, benchprism: Callable[..., Any]
) -> Path:
    """A project with a subset ``sums`` of a benchmark of one's own."""
    (tmp_path / "benchprism.yaml").write_text("project: p\n", encoding="utf-8")
    (tmp_path / "criteria").mkdir()
    text = "name: sums\nsample: {size: 3}\n"
    (tmp_path / "criteria" / "sums.yaml").write_text(text, encoding="utf-8")
    lines = "\n".join(map(json.dumps, QUESTIONS))
    (tmp_path / "mine.jsonl").write_text(lines, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    add(benchprism, "MIT")
    return tmp_path


def add(benchprism: Callable[..., Any], licence: str) -> None:
    columns = ("--map", "question=q", "--map", "choices=a,b", "--map", "answer=key")
    added = benchprism("items", "add", "mine", "--from", "mine.jsonl", *columns,
                       "--answer", "letter", "--licence", licence)  # fmt: skip
    assert added.code == 0
    assert benchprism("compose", "criteria/sums.yaml").code == 0


def test_export_writes_a_dataset(project: Path, benchprism: Callable[..., Any]) -> None:
    ran = benchprism("export", "sums", "--csv", "--json")
    folder = project / "exports" / "sums"
    assert ran.code == 0
    assert ran.data["folder"] == str(folder)
    assert (ran.data["items"], ran.data["configs"]) == (3, {"multiple_choice": 3})
    assert (ran.data["licence"], ran.data["ids_only"]) == ("mit", False)
    assert [(s["benchmark"], s["items"], s["redistribution"]) for s in ran.data["sources"]] == [
        ("mine", 3, "yes")
    ]
    assert "Wrote 3 items to exports/sums." in ran.err
    rows = datasets.load_dataset(
        str(folder), "multiple_choice", split="test", cache_dir=str(project / "cache")
    )
    answers = {row["question"]: row["choices"][row["answer_index"]] for row in rows}
    assert answers.items() <= {q["q"]: q["a"] for q in QUESTIONS}.items()
    assert len(answers) == 3
    sheet = read_sheet(folder / "items.csv", export_schema(load_catalogue("core")))
    assert sheet["question"].to_pylist() == rows["question"][:]


def test_export_to_a_folder_of_ones_own(project: Path, benchprism: Callable[..., Any]) -> None:
    (project / "mine").mkdir()
    (project / "mine" / "notes.txt").write_text("mine")
    refused = benchprism("export", "sums", "--out", "mine")
    assert refused.code == 2
    assert "mine was not made by 'benchprism export'" in refused.err
    ran = benchprism("export", "sums", "--out", "set")
    assert ran.code == 0
    assert "mine" in ran.out
    assert (project / "set" / "README.md").is_file()


def test_export_asks_for_the_licence(project: Path, benchprism: Callable[..., Any]) -> None:
    add(benchprism, "unknown")
    assert "it is not known whether mine may be passed on" in benchprism("export", "sums").err
    add(benchprism, "CC-BY-NC-4.0")
    assert "no commercial use of mine" in benchprism("export", "sums").err
    add(benchprism, "CC-BY-ND-4.0")
    refused = benchprism("export", "sums", "--out", "set")
    assert refused.code == 2
    assert "does not permit passing its items on" in refused.err
    assert not (project / "set").exists()
    ran = benchprism("export", "sums", "--out", "set", "--ids-only", "--json")
    assert (ran.code, ran.data["ids_only"]) == (0, True)
    assert "What is" not in (project / "set" / "README.md").read_text(encoding="utf-8")


def test_export_of_an_unknown_subset(project: Path, benchprism: Callable[..., Any]) -> None:
    ran = benchprism("export", "sum")
    assert ran.code == 2
    assert "did you mean 'sums'?" in ran.err
