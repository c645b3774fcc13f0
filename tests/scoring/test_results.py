from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from benchprism.metrics.scorecard import ScoreSettings
from benchprism.project import Project
from benchprism.records.errors import InputError
from benchprism.records.results.store import write_results
from benchprism.scoring import Scope, project_results, score_project

POINTS = ScoreSettings(replicates=0)


def test_items_that_share_a_passage_are_grouped(project: Project) -> None:
    results = project_results(project)
    arc, gsm = results.outcomes
    groups = results.groups_of(arc.item_ids)
    assert groups is not None
    assert int(groups.max()) + 1 == 30
    of_item = dict(zip(arc.item_ids, groups.tolist(), strict=True))
    assert of_item["arc/0"] == of_item["arc/1"] == of_item["arc/2"] != of_item["arc/3"]
    assert results.groups_of(gsm.item_ids) is None
    card = score_project(project, settings=POINTS)
    assert [score.groups for score in card.benchmarks] == [30, None]
    note = "90 items in 30 groups that share a passage or a text, and are drawn together"
    assert note in card.benchmarks[0].notes


def test_groups_widen_the_intervals_and_may_be_refused(project: Project) -> None:
    settings = ScoreSettings(replicates=300)
    grouped = score_project(project, settings=settings).benchmarks[0]
    alone = score_project(project, settings=settings, scope=Scope(grouped=False)).benchmarks[0]
    assert alone.groups is None
    assert alone.cad.value == grouped.cad.value
    assert alone.ds.over_items != grouped.ds.over_items


def test_only_some_benchmarks_and_families(project: Project) -> None:
    results = project_results(project, Scope(benchmarks=("gsm",), families=("G",)))
    assert [given.benchmark for given in results.outcomes] == ["gsm"]
    assert [model.name for model in results.models] == ["G1", "G2", "G3", "G4"]
    assert results.outcomes[0].scores.shape == (60, 4)
    card = score_project(project, settings=POINTS, scope=Scope(families=("G",)))
    assert "only 4 models: a ranking of so few says little" in card.benchmarks[0].warnings
    assert "cad: rests on one family, G: its order may just be wrong" in card.benchmarks[0].warnings


@pytest.mark.parametrize(
    ("scope", "sentence"),
    [
        (Scope(benchmarks=("gsn",)), r"benchmark 'gsn'; .* did you mean 'gsm'\?"),
        (Scope(families=("H",)), r"family 'H' has results; .* use one of F, G"),
    ],
)
def test_what_is_not_there_is_refused(project: Project, scope: Scope, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        project_results(project, scope)


def test_without_families(project: Project) -> None:
    project.models.unlink()
    with pytest.raises(InputError, match="draft it with 'benchprism results models'"):
        project_results(project, Scope(families=("F",)))


def test_the_numbers_of_a_family_do_not_depend_on_the_others(project: Project) -> None:
    everything = score_project(project, settings=POINTS).benchmarks[0]
    alone = score_project(project, settings=POINTS, scope=Scope(families=("F",))).benchmarks[0]
    of_family = next(family for family in everything.families if family.family == "F")
    assert alone.cad.value == pytest.approx(of_family.cad)
    assert np.isclose(alone.ds.value, of_family.ds)


def test_guessed_families_are_not_used_until_someone_confirms_them(project: Project) -> None:
    text = project.models.read_text(encoding="utf-8")
    guessed = text.replace("size: 4}", "size: 4, guessed: [size]}")
    project.models.write_text(guessed, encoding="utf-8")
    found = score_project(project, settings=POINTS).benchmarks[0]
    assert any("of 2 models are guesses that nobody confirmed" in note for note in found.notes)
    assert sum(family.models for family in found.families) == 6
    project.models.write_text("confirmed: true\n" + guessed, encoding="utf-8")
    found = score_project(project, settings=POINTS).benchmarks[0]
    assert not any("guesses" in note for note in found.notes)
    assert sum(family.models for family in found.families) == 8


def test_models_of_one_benchmark_scored_by_different_metrics_are_named(project: Project) -> None:
    path = project.results / "gsm.parquet"
    table = pq.read_table(path)
    metric = pc.if_else(pc.starts_with(table["model"].cast(pa.string()), "F"), "em", "match")
    at = table.schema.get_field_index("metric")
    write_results(path, table.set_column(at, "metric", metric))
    arc, gsm = score_project(project, settings=POINTS).benchmarks
    note = "results are of different metrics, which need not compare: em (4 models), match (4"
    assert any(note in one for one in gsm.notes)
    assert not any("different metrics" in one for one in arc.notes)


def test_slips_in_the_models_file_are_named(project: Project) -> None:
    text = project.models.read_text(encoding="utf-8").replace("F1:", "f-1:")
    project.models.write_text(text, encoding="utf-8")
    card = score_project(project, settings=POINTS, scope=Scope(benchmarks=("gsm",)))
    wanted = "models.yaml names 'f-1', which has no results; did you mean 'F1'?"
    assert wanted in card.benchmarks[0].notes
