"""The command ``diff`` on a project of twelve items."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from benchprism.records.items.record import Item, content_hashes
from benchprism.records.items.store import write_items
from benchprism.records.results.store import write_results

ROWS = range(6)
BENCHMARKS = ("arc", "gsm")
SOLVED = {"small": 2, "mid": 4, "large": 5}
CRITERIA = "name: NAME\nwhere: {word_count: {min: MIN}}\n"
Run = Callable[..., Any]


def item(benchmark: str, row: int) -> Item:
    """An item of ``row`` words more than three."""
    question = " ".join(["why"] * (3 + row))
    return Item(
        f"{benchmark}/test/{row}", benchmark, "", "test", row, "r", question, "", ("yes", "no"),
        0, "yes", (), "multiple_choice", (), "{}", *content_hashes(question, "", ("yes", "no")),
    )  # fmt: skip


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, benchprism: Run) -> Path:
    """A project with a subset of items of 5 words or more, and one of at most 7."""
    (tmp_path / "benchprism.yaml").write_text("project: p\nseed: 5\n", encoding="utf-8")
    (tmp_path / "criteria").mkdir()
    for benchmark in BENCHMARKS:
        items = [item(benchmark, row) for row in ROWS]
        write_items(tmp_path / "items" / f"{benchmark}.parquet", items, {"preset": benchmark})
    for name, test in (("long", "min: 5"), ("short", "max: 7")):
        text = f"name: {name}\nwhere: {{word_count: {{{test}}}}}\n"
        (tmp_path / "criteria" / f"{name}.yaml").write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    for name in ("long", "short"):
        assert benchprism("compose", f"criteria/{name}.yaml").code == 0
    return tmp_path


def test_items_in_and_out_with_reasons(project: Path, benchprism: Run) -> None:
    ran = benchprism("diff", "long", "short", "--json")
    assert ran.code == 0
    data = ran.data
    assert data["both"] == 6
    assert [(i["item_id"], i["rule"], i["detail"]) for i in data["came"]] == [
        (f"{b}/test/{row}", "word_count >= 5", f"word_count is {3 + row}, wanted at least 5")
        for b in BENCHMARKS
        for row in (0, 1)
    ]
    assert {i["rule"] for i in data["went"]} == {"word_count <= 7"}
    assert data["causes"] == ["the criteria's name, where changed"]
    [words] = [s for s in data["shifts"] if s["attribute"] == "word_count"]
    assert (words["measure"], words["before"], words["after"]) == ("mean", 6.5, 5)
    assert data["ranking"] is None


def test_for_people(project: Path, benchprism: Run) -> None:
    ran = benchprism("diff", "long", "short")
    assert "6 items in both, 4 only in short, 2 only in long." in ran.out
    assert "word_count is 3, wanted at least 5" in ran.out
    lines = [line.split() for line in ran.out.splitlines()]
    assert ["word_count", "mean", "6.5", "5"] in lines
    assert "No ranking of models" in ran.err


def test_two_versions_in_two_folders(project: Path, benchprism: Run, tmp_path: Path) -> None:
    shutil.copytree(project / "subsets" / "long", project / "old" / "long")
    (project / "criteria" / "long.yaml").write_text(
        "name: long\nwhere: {word_count: {min: 6}}\n", encoding="utf-8"
    )
    benchprism("compose", "criteria/long.yaml")
    data = benchprism("diff", "old/long", "long", "--json").data
    assert [i["item_id"] for i in data["went"]] == ["arc/test/2", "gsm/test/2"]
    assert data["came"] == []


def test_folders_can_be_compared_without_a_project(
    project: Path, benchprism: Run, tmp_path_factory: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
    folders = [str(project / "subsets" / name) for name in ("long", "short")]
    assert benchprism("diff", *folders, "--json").data["both"] == 6
    assert "no subset 'lng'" in benchprism("diff", str(project / "subsets" / "lng"), folders[0]).err


def test_the_ranking_of_models_and_its_interval(project: Path, benchprism: Run) -> None:
    rows = [
        (b, f"{b}/test/{row}", model, float(row < solved))
        for b in BENCHMARKS
        for row in ROWS
        for model, solved in SOLVED.items()
    ]
    names = ("benchmark", "item_id", "model", "score")
    columns = dict(zip(names, zip(*rows, strict=True), strict=True))
    write_results(
        project / "results" / "r.parquet", pa.table({k: [*v] for k, v in columns.items()})
    )
    ranking = benchprism("diff", "long", "short", "--json").data["ranking"]
    # rows 2 to 5 against rows 0 to 4: small 0/4 and 2/5, mid 2/4 and 4/5, large 3/4 and 5/5
    found = {m["model"]: (m["accuracy_before"], m["accuracy_after"]) for m in ranking["models"]}
    assert found == {"small": (0, 0.4), "mid": (0.5, 0.8), "large": (0.75, 1)}
    assert (ranking["tau"], ranking["seed"], ranking["replicates"]) == (1, 5, 1000)
    assert (ranking["items_before"], ranking["items_after"]) == (8, 10)
    assert len(ranking["interval"]) == 2
    ran = benchprism("diff", "long", "short", "--replicates", "100")
    assert "Kendall's tau of the two rankings of 3 models: 1.000 [" in ran.out
    assert "100 replicates, seed 5" in ran.err


def test_a_subset_that_is_not_there(project: Path, benchprism: Run) -> None:
    ran = benchprism("diff", "long", "shrt")
    assert ran.code == 2
    assert "did you mean 'short'" in ran.err
