"""``score`` on the Benchmark^2 paper's accuracy table, and on a small project."""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

Run = Callable[..., Any]

DATA = Path(__file__).parent.parent / "data"
ACCURACY = DATA / "benchmark2_accuracy.csv"
PUBLISHED = DATA / "benchmark2_published.csv"
FAMILIES = {
    "DeepSeek": "DeepSeek-R1-Distill-Qwen",
    "Llama": "Llama-3.1-Instruct",
    "Qwen2.5": "Qwen2.5-Instruct",
    "Qwen3": "Qwen3",
}
TABLE = ("score", "--accuracy", ACCURACY, "--unit", "percent")


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture
def inversions(tmp_path: Path) -> Path:
    """The families' inversion rates behind the CADs that the paper's Table 7 prints."""
    path = tmp_path / "inversions.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["benchmark", *FAMILIES.values()])
        for row in rows(DATA / "benchmark2_cad_by_family.csv"):
            rates = [-math.log(float(row[short])) / 12 for short in FAMILIES]
            writer.writerow([row["benchmark"], *rates])
    return path


def test_the_papers_table_1(benchprism: Run, inversions: Path) -> None:
    options = ("--domains", PUBLISHED, "--inversions", inversions, "--ties", "listing", "--json")
    ran = benchprism(*TABLE, *options)
    assert ran.code == 0
    published = {row["benchmark"]: row for row in rows(PUBLISHED)}
    assert [row["benchmark"] for row in ran.data] == list(rows(ACCURACY)[0])[2:]
    checked = 0
    for row in ran.data:
        wanted = published[row["benchmark"]]
        if row["benchmark"] == "MMLU-Pro":  # the paper contradicts itself there
            continue
        assert row["ds"] == pytest.approx(float(wanted["DS"]), abs=0.006)
        assert row["cad"] == pytest.approx(float(wanted["CAD"]), abs=0.006)
        if row["domain"] in {"Mathematics", "General Reasoning"}:
            assert row["cbrc"] == pytest.approx(float(wanted["CBRC"]), abs=0.005)
            assert row["bqs"] == pytest.approx(float(wanted["BQS"]), abs=0.0075)
            checked += 1
    assert checked == 10


def test_an_accuracy_table_alone(benchprism: Run) -> None:
    ran = benchprism(*TABLE, "--json", "--replicates", "200", "--seed", "3")
    row = ran.data[0]
    assert (row["benchmark"], row["domain"], row["models"], row["items"]) == (
        "MATH-500", "all", 11, None
    )  # fmt: skip
    assert row["cad"] is None
    assert row["bqs"] is None
    assert row["cbrc_interval"] is None
    low, high = row["ds_interval_over_models"]
    assert low < row["ds"] < high
    assert row["settings"] == {
        "ties": "tau-b", "epsilon": 0.02, "lambda": 12.0, "interval": "basic bootstrap",
        "level": 0.95, "resampled": {"interval": "items", "interval_over_models": "models"},
        "replicates": 200, "seed": 3,
    }  # fmt: skip
    for note in (
        "no domains are given: all benchmarks are compared as one",
        "cad: undefined because no inversion rate is given of a family with two sizes",
        "bqs: undefined because cad is",
        "no intervals over items: the accuracies are given without items",
    ):
        assert note in row["notes"]
    assert benchprism(*TABLE, "--json", "--replicates", "200", "--seed", "3").data == ran.data


def test_the_table_for_people(benchprism: Run) -> None:
    ran = benchprism(*TABLE, "--domains", PUBLISHED)
    line = next(line for line in ran.out.splitlines() if "OmniMath" in line)
    assert "Mathematics" in line
    assert re.search(r" 0\.79 \[0\.\d\d, 1\.\d\d\] ", line)
    assert line.split()[-2:] == ["–", "–"]
    assert "basic bootstrap interval over models, not clipped" in ran.err
    assert "all: bqs: undefined because cad is" in ran.err


def test_options_of_the_metrics_are_heeded(benchprism: Run, inversions: Path) -> None:
    options = ("--inversions", inversions, "--replicates", "0", "--json")
    plain = benchprism(*TABLE, *options).data[0]
    other = benchprism(*TABLE, *options, "--lambda", "6", "--epsilon", "0.5").data[0]
    assert other["cad"] == pytest.approx(math.sqrt(plain["cad"]))
    assert other["ds"] == 0
    assert plain["ds_interval_over_models"] is None


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--accuracy", ACCURACY], "--accuracy without --unit"),
        (
            ["--accuracy", ACCURACY, "--unit", "proportion"],
            "column 'MATH-500': the accuracy '68.4'",
        ),
        (["deep", "--accuracy", ACCURACY, "--unit", "percent"], "the subset 'deep' together with"),
        (["--domains", PUBLISHED], "--domains without --accuracy"),
        ([*TABLE[1:], "--domains", ACCURACY], "has no column 'benchmark'"),
        ([*TABLE[1:], "--domains", "none.csv"], "none.csv cannot be read"),
        ([*TABLE[1:], "--inversions", DATA / "benchmark2_cad_by_family.csv"], "family 'DeepSeek'"),
        (["--project", "/"], "no benchprism.yaml in /"),
        ([*TABLE[1:], "--lambda", "inf"], "Invalid value for '--lambda'"),
    ],
)
def test_wrong_use_is_one_sentence(benchprism: Run, words: list[str], sentence: str) -> None:
    ran = benchprism("score", *words)
    assert (ran.code, ran.out) == (2, "")
    assert sentence in ran.err
    assert ran.err.count("\n") == 1


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    rng = np.random.default_rng(0)
    lines = ["benchmark,item_id,model,score"]
    for benchmark, items in (("arc", 120), ("bbh", 80)):
        for item in range(items):
            scores = rng.random(6) < np.linspace(0.3, 0.8, 6)
            lines += [f"{benchmark},{item},m{m},{int(score)}" for m, score in enumerate(scores)]
    (tmp_path / "scores.csv").write_text("\n".join(lines), encoding="utf-8")
    (tmp_path / "benchprism.yaml").write_text("project: p\nseed: 7\n", encoding="utf-8")
    models = "".join(f"  m{m}: {{family: F{m % 2}, size: {m}}}\n" for m in range(6))
    (tmp_path / "models.yaml").write_text("models:\n" + models, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_project(project: Path, benchprism: Run) -> None:
    assert benchprism("results", "add", "scores.csv").code == 0
    ran = benchprism("score", "--json")
    assert [(row["benchmark"], row["items"], row["models"]) for row in ran.data] == [
        ("arc", 120, 6),
        ("bbh", 80, 6),
    ]
    for row in ran.data:
        for name in ("accuracy", "cbrc", "ds", "cad", "bqs"):
            assert isinstance(row[name], float)
            assert len(row[f"{name}_interval"]) == 2
        assert row["settings"]["seed"] == 7
        assert [family["family"] for family in row["families"]] == ["F0", "F1"]
        assert row["peers"][0]["models"] == 6
        assert len(row["accuracies"]) == 6
    lines = benchprism("score").out.splitlines()
    assert any(line.split()[:3] == ["arc", "6", "120"] for line in lines)


def test_a_project_without_results(project: Path, benchprism: Run) -> None:
    ran = benchprism("score")
    assert ran.code == 2
    assert "no results in" in ran.err
    assert "benchprism results add FILE" in ran.err
