"""``score`` on the Benchmark^2 paper's accuracy table, and on a small project."""

from __future__ import annotations

import csv
import json
import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
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
        "level": 0.95, "replicates": 200, "seed": 3,
        "resampled": {
            "interval": "items", "interval_over_models": "models",
            "interval_over_both": "items and models",
        },
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
        ([*TABLE[1:], "--lambda", "inf"], "--lambda 'inf'; wanted a number from 0 to 1000"),
        ([*TABLE[1:], "--epsilon", "nois"], "--epsilon 'nois'; wanted a number from 0 to 1, or"),
        ([*TABLE[1:], "--epsilon", "noise"], "ties or epsilon by noise for an accuracy table"),
        ([*TABLE[1:], "--ties", "noise"], "ties or epsilon by noise for an accuracy table"),
        ([*TABLE[1:], "--compare", "a", "b"], "--compare together with --accuracy"),
        ([*TABLE[1:], "--null", "5"], "--null together with --accuracy"),
        (["--by", "x", "--items"], "--by and --items together"),
        (["--out", "x.csv"], "--out without --items"),
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
    assert "benchprism results add" in ran.err


@pytest.fixture
def scored(project: Path, benchprism: Run) -> Path:
    """The project with its results added, and two items' tables."""
    benchprism("results", "add", "scores.csv")
    return project


def test_what_stands_beside_the_papers_numbers(scored: Path, benchprism: Run) -> None:
    options = ("--lambda", "adaptive", "--epsilon", "noise", "--shrink", "--cross-family")
    row = benchprism("score", *options, "--curves", "--replicates", "50", "--json").data[0]
    plain = benchprism("score", "--replicates", "50", "--json").data[0]
    for name in ("cbrc", "ds", "cad", "bqs", "cad_interval", "ds_interval_over_both"):
        assert row[name] == plain[name], "the paper's numbers stay"
    assert row["adaptive"]["epsilon"] != 0.02
    assert row["adaptive"]["ds"] is not None
    assert row["adaptive"]["cad"] is None  # two benchmarks have no quartiles
    assert -1 <= row["cbrc_shrunken"]["low"] <= row["cbrc_shrunken"]["high"] <= 1
    assert row["cross_family"]["items_shared"] <= row["cross_family"]["items_inverted"]
    curve = row["curves"]["lambda"]
    assert curve["cad"][curve["constants"].index(12)] == pytest.approx(row["cad"])
    assert len(row["curves"]["epsilon"]["ds"]) == len(row["curves"]["epsilon"]["constants"])
    ran = benchprism("score", *options, "--curves", "--replicates", "50", "--over", "both")
    for words in ("Beside the paper's numbers", "Inversions across families", "CAD by lambda"):
        assert words in ran.out
    assert "basic bootstrap interval over items and models" in ran.err
    assert "with constants from the data: cad: undefined because an adaptive lambda" in ran.err


def test_how_sure_the_numbers_are(scored: Path, benchprism: Run) -> None:
    row = benchprism("score", "--json", "--replicates", "100").data[0]
    widths = {}
    for over in ("interval", "interval_over_models", "interval_over_both"):
        low, high = row[f"accuracy_{over}"]
        widths[over] = high - low
    assert widths["interval"] < widths["interval_over_both"]
    assert 0 < row["reliability"]["tau"] <= 1
    assert 0 < row["reliability"]["coefficient"] <= 1
    assert 0 < row["stability"] <= 1
    assert 0.05 < row["detectable_difference"] < 0.3
    assert row["order_of_sizes"]["p_value"] <= 1
    assert row["groups"] is None
    low, high = row["cbrc_interval"]
    assert low <= row["cbrc_corrected"] <= high
    out = benchprism("score").out
    assert "halves" in out
    assert "detectable" in out


def test_few_models_are_warned_of(scored: Path, benchprism: Run) -> None:
    ran = benchprism("score", "--family", "F1", "--replicates", "10")
    assert "warning: all: only 3 models: a ranking of so few says little" in ran.err
    assert "warning: all: cad: rests on one family, F1" in ran.err


def test_two_models(scored: Path, benchprism: Run) -> None:
    found = benchprism("score", "--compare", "m5", "m0", "--json").data
    assert [one["benchmark"] for one in found["benchmarks"]] == ["arc", "bbh", "all"]
    arc = found["benchmarks"][0]
    assert arc["difference"] == pytest.approx(arc["first"] - arc["second"])
    assert arc["interval"][0] < arc["difference"] < arc["interval"][1]
    assert arc["test"] == "exact McNemar"
    assert arc["p_adjusted"] >= arc["p"]
    ran = benchprism("score", "--compare", "m5", "m0")
    assert "exact McNemar" in ran.out
    assert benchprism("score", "--compare", "m5", "nobody").code == 2
    same = benchprism("score", "--compare", "m5", "m5", "--json").data["benchmarks"][0]
    assert (same["difference"], same["interval"], same["detectable_difference"]) == (0, None, None)
    assert same["reason"].startswith("the models score alike on every item")
    err = benchprism("score", "--compare", "m5", "m5").err
    assert "arc: interval and detectable: undefined because the models score alike" in err


def test_statistics_of_items(scored: Path, benchprism: Run) -> None:
    rows_ = benchprism("score", "--items", "--benchmark", "bbh", "--json").data
    assert len(rows_) == 80
    assert {"difficulty", "discrimination", "inversion_rate", "irt_difficulty"} <= rows_[0].keys()
    ran = benchprism("score", "--items")
    assert "30 of 200 items" in ran.err
    for benchmark in ("arc", "bbh"):
        assert f"{benchmark}: 6 models: discriminations of the item response model" in ran.err
    one = benchprism("score", "--items", "--response", "1PL")
    assert "not identified" not in one.err
    assert "arc: irt discrimination: one for all items" in one.err
    assert "from the prior" not in one.err
    none = benchprism("score", "--items", "--response", "none")
    assert "irt discrimination:" not in none.err
    for name in ("items.csv", "items.parquet"):
        assert benchprism("score", "--items", "--out", name).code == 0
        assert (scored / name).stat().st_size > 1000
    assert "wanted a .parquet or .csv file" in benchprism("score", "--items", "--out", "a.b").err


def test_the_share_to_keep(scored: Path, benchprism: Run) -> None:
    found = benchprism("score", "--share", "--json").data
    assert found["best"] in [point["share"] for point in found["points"]]
    assert sorted(found["held_in"] + found["held_out"]) == ["F0", "F1"]
    ran = benchprism("score", "--share")
    assert "best" in ran.out
    assert "which were held out" in ran.err
    assert f"{found['dropped']} of {found['items']} items dropped first" in ran.err
    assert found["points"][-1]["items"] == 200 - found["dropped"] < found["items"] == 200
    (scored / "models.yaml").unlink()
    assert "warning: fewer than two families" in benchprism("score", "--share").err


def test_by_attribute_and_by_demand(scored: Path, benchprism: Run) -> None:
    lines = [
        json.dumps({"id": str(row), "question": "word " * (1 + row % 4), "answer": "a"})
        for row in range(120)
    ]
    (scored / "arc.jsonl").write_text("\n".join(lines), encoding="utf-8")
    benchprism("items", "add", "arc", "--from", "arc.jsonl", "--map", "question=question",
               "--map", "answer=answer", "--map", "id=id")  # fmt: skip
    table = pq.read_table(scored / "results" / "scores.parquet")
    ids = [
        f"arc/{item}" if benchmark == "arc" else item
        for benchmark, item in zip(
            *(table[c].to_pylist() for c in ("benchmark", "item_id")), strict=True
        )
    ]
    place = table.column_names.index("item_id")
    pq.write_table(
        table.set_column(place, "item_id", pa.array(ids)), scored / "results" / "scores.parquet"
    )
    by = ("score", "--by", "word_count", "--benchmark", "arc", "--replicates", "50")
    found = benchprism(*by, "--json").data
    assert [value["value"] for value in found["values"]] == ["1", "2", "3", "4"]
    model = found["values"][0]["models"][0]
    assert model["accuracy_interval"][0] <= model["accuracy"] <= model["accuracy_interval"][1]
    assert model["rank_interval"][0] <= model["rank"] <= model["rank_interval"][1]
    ran = benchprism(*by)
    assert "By word_count" in ran.out
    assert "rank changes beyond noise" in ran.err
    demand = ("score", "--demand", "word_count", "--benchmark", "arc", "--replicates", "50")
    found = benchprism(*demand, "--json").data
    assert [one["dimension"] for one in found["dimensions"]] == ["general", "word_count"]
    low, high = found["models"][0]["abilities"]["word_count"]["interval"]
    assert low < found["models"][0]["abilities"]["word_count"]["ability"] < high
    assert found["attributes"][0]["explained_interval"] is not None
    ran = benchprism(*demand)
    assert "What makes items hard" in ran.out
    assert benchprism("score", "--by", "word_cuont").code == 2


def test_a_subset_beside_random_ones(scored: Path, benchprism: Run) -> None:
    assert "--null without a subset" in benchprism("score", "--null", "5").err
    assert "--held-out without a subset" in benchprism("score", "--held-out").err


def test_items_that_all_or_none_solve_are_bracketed(project: Path, benchprism: Run) -> None:
    lines = ["benchmark,item_id,model,score"]
    lines += [f"b,{item},m{m},{int(item > 1 and m > item)}" for item in range(6) for m in range(6)]
    (project / "scores.csv").write_text("\n".join(lines), encoding="utf-8")
    benchprism("results", "add", "scores.csv")
    rows_ = benchprism("score", "--items", "--json").data
    assert [row["irt_from_prior"] for row in rows_] == [True, True, False, False, False, True]
    ran = benchprism("score", "--items")
    assert ran.out.count("(") == 6  # difficulty and discrimination of three items
    assert "comes from the prior alone" in ran.err
    assert benchprism("score", "--items", "--response", "1PL").out.count("(") == 3
    assert "warning: all: only 6 items: numbers from so few say little" in benchprism("score").err
