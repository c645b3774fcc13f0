from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from benchprism.metrics.scorecard import ScoreSettings
from benchprism.project import Project
from benchprism.records.errors import InputError
from benchprism.scoring import (
    ProjectResults,
    held_out_families,
    null_placings,
    project_results,
    score_results,
    subset_results,
)

POINTS = ScoreSettings(replicates=0, seed=1)
AddSubset = Callable[..., None]


def test_a_random_subset_is_one_of_its_null(project: Project, add_subset: AddSubset) -> None:
    rng = np.random.default_rng(0)
    rows = {"arc": rng.choice(90, 40, replace=False).tolist(), "gsm": [*range(30)]}
    add_subset("any", rows)
    results = project_results(project)
    subset = subset_results(project, "any", results)
    card = score_results(results, subset, settings=POINTS)
    found = null_placings(results, subset, card, subsets=150)
    assert list(found) == ["arc", "gsm", "any"]
    for score in card.benchmarks:
        placed = found[score.benchmark]
        assert placed["ranking_consistency"].value == pytest.approx(score.ranking_consistency)
        for name in ("accuracy", "ds", "cad"):
            assert placed[name].value == pytest.approx(getattr(score, name).value)
            assert placed[name].low <= placed[name].chance <= placed[name].high
            assert 0.005 < placed[name].p_value < 0.995
    assert found["any"]["cbrc"].p_value != found["any"]["cbrc"].p_value  # no peers, no number


def test_a_subset_of_easy_items_stands_out(project: Project, add_subset: AddSubset) -> None:
    add_subset("even", {"arc": [*range(0, 90, 2)], "gsm": [*range(0, 60, 2)]})
    results = project_results(project)
    subset = subset_results(project, "even", results)
    card = score_results(results, subset, settings=POINTS)
    found = null_placings(results, subset, card, subsets=100, threads=2)
    assert found["even"]["accuracy"].p_value == pytest.approx(1 / 101)
    assert found["even"]["accuracy"].value > found["even"]["accuracy"].high
    assert repr(found) == repr(null_placings(results, subset, card, subsets=100))


def test_families_that_had_no_part_are_held_out(project: Project, add_subset: AddSubset) -> None:
    add_subset("chosen", {"arc": [1, 2, 3]}, ["F"])
    assert held_out_families(project, "chosen", project_results(project)) == ("G",)


def test_judges_that_chose_are_warned_of(project: Project, add_subset: AddSubset) -> None:
    add_subset("chosen", {"arc": [*range(40)], "gsm": [*range(40)]}, ["F"])
    add_subset("plain", {"arc": [*range(40)]})
    results = project_results(project)

    def warned(given: ProjectResults, name: str) -> set[str]:
        card = score_results(given, subset_results(project, name, given), settings=POINTS)
        return {
            warning
            for score in card.benchmarks
            for warning in score.warnings
            if "flatters the choice" in warning and score.notes[0] == warning
        }

    (warning,) = warned(results, "chosen")
    assert warning.startswith("its items were chosen by the scores of F, who also judge them")
    assert warned(results, "plain") == set()
    assert warned(results.of_families(["G"]), "chosen") == set()


@pytest.mark.parametrize(
    ("held_in", "sentence"),
    [(None, "were not chosen by scores"), (["F", "G"], "every family had a part")],
)
def test_nobody_is_held_out(
    project: Project, add_subset: AddSubset, held_in: list[str] | None, sentence: str
) -> None:
    add_subset("chosen", {"arc": [1, 2, 3]}, held_in)
    with pytest.raises(InputError, match=sentence):
        held_out_families(project, "chosen", project_results(project))
