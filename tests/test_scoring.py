"""Scoring a project: the join with its items, domains, models, and composed subsets."""

from __future__ import annotations

import json
import math
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from numpy.typing import NDArray
from scipy.stats import kendalltau

from benchprism.compose.composer import EXCLUDED_SCHEMA
from benchprism.compose.locking.lock import LOCK_FORMAT
from benchprism.metrics.scorecard import BenchmarkScore, ScoreSettings
from benchprism.project import Project, find_project
from benchprism.records.errors import InputError
from benchprism.records.items.record import ITEM_SCHEMA, Item, choice_set_hash, content_hash
from benchprism.records.items.store import write_items
from benchprism.records.results.store import TIDY_SCHEMA, write_results
from benchprism.scoring import project_results, score_accuracy, score_project

QUICK = ScoreSettings(replicates=50)
MODELS = ("small", "large", "other", "last")


def item(benchmark: str, row: int, *faults: str) -> Item:
    question, choices = f"Question {row} of {benchmark}?", ("yes", "no")
    return Item(
        item_id=f"{benchmark}/test/{row}", benchmark=benchmark, subset="", split="test", row=row,
        revision="sha256:0", question=question, context="", choices=choices, answer_index=0,
        answer_text="yes", accepted_answers=(), kind="multiple_choice", faults=faults,
        source="{}", content_hash=content_hash(question, "", choices),
        choice_set_hash=choice_set_hash(question, "", choices),
    )  # fmt: skip


def scores(benchmark: str, items: int) -> NDArray[np.float64]:
    rng = np.random.default_rng(len(benchmark) * 1000 + items)
    return (rng.random((items, 4)) < [0.3, 0.6, 0.5, 0.8]).astype(np.float64)


def add_results(root: Path, benchmark: str, items: int, models: tuple[str, ...] = MODELS) -> None:
    matrix = scores(benchmark, items)
    rows = [
        {
            "benchmark": benchmark,
            "item_id": f"{benchmark}/test/{row}",
            "model": model,
            "score": matrix[row, MODELS.index(model)],
        }
        for row in range(items)
        for model in models
    ]
    table = pa.Table.from_pylist(rows, schema=TIDY_SCHEMA)
    write_results(root / "results" / f"{benchmark}.parquet", table)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    (tmp_path / "benchprism.yaml").write_text("project: p\n", encoding="utf-8")
    families = "  large: {family: F, size: 70}\n  small: {family: F, size: 7}\n"
    (tmp_path / "models.yaml").write_text("models:\n" + families, encoding="utf-8")
    add_results(tmp_path, "arc", 40)
    add_results(tmp_path, "gsm", 30)
    return find_project(tmp_path)


def add_items(project: Project, benchmark: str, *items: Item, domain: str | None = None) -> None:
    write_items(project.items / f"{benchmark}.parquet", items, {"domain": domain})


def add_subset(project: Project, name: str, ids: dict[str, list[int]]) -> None:
    """A composed subset's folder, with what scoring reads of it."""
    folder = project.subsets / name
    folder.mkdir(parents=True)
    chosen = [asdict(item(benchmark, row)) for benchmark, rows in ids.items() for row in rows]
    pq.write_table(pa.Table.from_pylist(chosen, ITEM_SCHEMA), folder / "items.parquet")
    pq.write_table(EXCLUDED_SCHEMA.empty_table(), folder / "excluded.parquet")
    (folder / "lock.json").write_text(
        json.dumps({"format": LOCK_FORMAT, "sources": {}, "items": {}, "steps": []}),
        encoding="utf-8",
    )
    (folder / "criteria.yaml").write_text(f"name: {name}\nfrom: all\n", encoding="utf-8")


def by_name(scored: tuple[BenchmarkScore, ...]) -> dict[str, BenchmarkScore]:
    return {score.benchmark: score for score in scored}


def test_results_alone_are_enough(project: Project) -> None:
    card = score_project(project, settings=QUICK)
    arc, gsm = card.benchmarks
    assert (arc.benchmark, gsm.benchmark) == ("arc", "gsm")
    assert arc.accuracies == pytest.approx(
        dict(zip(MODELS, scores("arc", 40).mean(axis=0), strict=True))
    )
    assert arc.domain == gsm.domain == "all"
    assert "no domain is stated for any benchmark: all are compared as one" in arc.notes
    assert arc.families[0].family == "F"
    assert "cad: 2 models without a family: last, other" in arc.notes


def test_the_models_come_in_the_order_of_the_models_file(project: Project) -> None:
    models = project_results(project).models
    assert [model.name for model in models] == ["large", "small", "last", "other"]
    assert [model.size for model in models] == [70, 7, None, None]


def test_without_a_models_file_alignment_is_undefined(project: Project) -> None:
    project.models.unlink()
    found = score_project(project, settings=QUICK).benchmarks[0]
    assert math.isnan(found.cad.value)
    assert any("no model has a family" in note for note in found.notes)


def test_domains_come_from_the_settings_or_from_the_items(project: Project) -> None:
    add_items(project, "arc", item("arc", 0), domain="science")
    assert project_results(project).domains == {"arc": "science", "gsm": None}
    found = score_project(project, settings=QUICK).benchmarks
    assert "no domain is stated: name it under 'domains' in benchprism.yaml" in found[1].notes
    text = "project: p\ndomains: {gsm: maths, arc: maths}\n"
    (project.root / "benchprism.yaml").write_text(text, encoding="utf-8")
    assert project_results(find_project(project.root)).domains == {"arc": "maths", "gsm": "maths"}


def test_items_with_faults_are_left_out_and_strangers_counted(project: Project) -> None:
    items = [item("arc", row, *["bad_key"] * (row < 3)) for row in range(45) if row != 7]
    add_items(project, "arc", *items)
    found = score_project(project, settings=QUICK).benchmarks[0]
    assert found.items == 37
    wanted = dict(zip(MODELS, scores("arc", 40)[3:].mean(axis=0), strict=True))
    assert found.accuracies == pytest.approx(wanted)
    assert "1 of 40 items with results are not in arc.parquet (arc/test/7)" in found.notes
    assert "5 of 44 items have no results" in found.notes
    assert any(note.startswith("3 items left out for their faults") for note in found.notes)


def test_a_subset_is_scored_by_benchmark_and_as_a_whole(project: Project) -> None:
    add_subset(project, "deep", {"arc": list(range(10, 30)), "gsm": list(range(12))})
    arc, gsm, whole = score_project(project, subset="deep", settings=QUICK).benchmarks
    assert [(s.benchmark, s.items) for s in (arc, gsm, whole)] == [
        ("arc", 20), ("gsm", 12), ("deep", 32)
    ]  # fmt: skip
    on_subset = scores("arc", 40)[10:30].mean(axis=0)
    assert arc.accuracies == pytest.approx(dict(zip(MODELS, on_subset, strict=True)))
    tau = kendalltau(on_subset, scores("arc", 40).mean(axis=0)).statistic
    assert arc.ranking_consistency == pytest.approx(tau)
    pooled = np.concatenate([scores("arc", 40)[10:30], scores("gsm", 30)[:12]])
    assert whole.accuracies == pytest.approx(dict(zip(MODELS, pooled.mean(axis=0), strict=True)))
    everything = np.concatenate([scores("arc", 40), scores("gsm", 30)]).mean(axis=0)
    tau = kendalltau(pooled.mean(axis=0), everything).statistic
    assert whole.ranking_consistency == pytest.approx(tau)
    assert math.isnan(whole.cbrc.value)
    assert math.isnan(score_project(project, settings=QUICK).benchmarks[0].ranking_consistency)


def test_what_of_a_subset_has_no_results_is_said(project: Project) -> None:
    add_subset(project, "deep", {"arc": [0, 1, 99], "mmlu": [1, 2]})
    found = by_name(score_project(project, subset="deep", settings=QUICK).benchmarks)
    assert list(found) == ["arc", "deep"]
    assert "no results on 1 of the subset's 3 items" in found["arc"].notes
    assert "without mmlu, on whose items there are no results" in found["deep"].notes


def test_a_subset_as_a_whole_takes_the_models_that_all_its_benchmarks_have(
    project: Project,
) -> None:
    add_results(project.root, "gsm", 30, MODELS[1:])
    add_subset(project, "deep", {"arc": [0, 1, 2], "gsm": [0, 1, 2]})
    found = by_name(score_project(project, subset="deep", settings=QUICK).benchmarks)
    assert (found["arc"].models, found["gsm"].models, found["deep"].models) == (4, 3, 3)


def test_subsets_that_cannot_be_scored(project: Project) -> None:
    with pytest.raises(InputError, match="no subset 'deep'"):
        score_project(project, subset="deep")
    add_subset(project, "deep", {"arc": [100], "mmlu": [1]})
    with pytest.raises(
        InputError, match=r"subset 'deep', which are of arc, mmlu; .* there are some of arc, gsm"
    ):
        score_project(project, subset="deep")


def test_the_numbers_do_not_depend_on_the_number_of_threads(project: Project) -> None:
    settings = ScoreSettings(replicates=300)
    one = score_project(project, settings=settings)
    assert repr(score_project(project, settings=settings, threads=2)) == repr(one)


def test_an_accuracy_table_is_scored_in_its_order(tmp_path: Path) -> None:
    table = tmp_path / "table.csv"
    table.write_text("model,family,B,A\nx,F,0.2,0.1\ny,F,0.4,0.5\n", encoding="utf-8")
    rates = tmp_path / "rates.csv"
    rates.write_text("benchmark,F\nA,0.1\n", encoding="utf-8")
    card = score_accuracy(table, "proportion", inversions=rates, settings=QUICK)
    second, first = card.benchmarks
    assert (second.benchmark, first.benchmark) == ("B", "A")
    assert first.cad.value == pytest.approx(math.exp(-1.2))
    assert math.isnan(second.cad.value)
    assert first.cbrc.value == 1
    assert any("no sizes are given" in note for note in first.notes)


def test_a_table_that_looks_like_proportions_is_remarked_on(tmp_path: Path) -> None:
    table = tmp_path / "table.csv"
    table.write_text("model,A\nx,0.2\ny,0.4\n", encoding="utf-8")
    notes = score_accuracy(table, "percent", settings=QUICK).benchmarks[0].notes
    assert "no accuracy exceeds 1 per cent: is the unit proportion?" in notes
