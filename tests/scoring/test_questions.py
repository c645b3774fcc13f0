"""Questions about models and items of a project: comparison, kinds of items, demands, shares."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import binomtest

from benchprism.metrics.alignment import families_of, item_inversions
from benchprism.metrics.items.item_statistics import difficulty
from benchprism.metrics.items.strata import holm
from benchprism.metrics.scorecard import Model
from benchprism.project import Project
from benchprism.records.errors import InputError
from benchprism.scoring import ProjectResults, project_results
from benchprism.scoring.attribute_values import demands, item_kinds
from benchprism.scoring.by_attribute import standings_by
from benchprism.scoring.comparison import compare_in_project
from benchprism.scoring.demanded import demanded_abilities
from benchprism.scoring.item_numbers import item_numbers
from benchprism.scoring.share import share_to_keep


@pytest.fixture
def results(project: Project) -> ProjectResults:
    return project_results(project)


def test_two_models_are_compared_by_benchmark_and_together(results: ProjectResults) -> None:
    arc, gsm, together = compare_in_project(results, "F4", "F1", replicates=200)
    assert [one.benchmark for one in (arc, gsm, together)] == ["arc", "gsm", "all"]
    given = results.outcomes[1]
    first, second = (given.scores[:, given.models.index(name)] for name in ("F4", "F1"))
    alone = int((first > second).sum()), int((first < second).sum())
    assert (gsm.comparison.first_only, gsm.comparison.second_only) == alone
    assert gsm.comparison.p_value == pytest.approx(binomtest(alone[0], sum(alone)).pvalue)
    assert gsm.comparison.test == "exact McNemar"
    assert (arc.comparison.test, arc.groups) == ("sign flips", 30)
    assert (together.comparison.items, together.groups) == (150, 90)
    raw = np.array([arc.comparison.p_value, gsm.comparison.p_value])
    assert [arc.adjusted_p, gsm.adjusted_p] == pytest.approx(holm(raw).tolist())
    assert together.adjusted_p == together.comparison.p_value


def test_models_that_cannot_be_compared(results: ProjectResults) -> None:
    with pytest.raises(InputError, match=r"no results of the model 'F9'.* use one of F1, F2"):
        compare_in_project(results, "F1", "F9")
    arc, gsm = results.outcomes
    apart = replace(
        results,
        outcomes=(
            replace(arc, models=arc.models[:1], scores=arc.scores[:, :1]),
            replace(gsm, models=gsm.models[1:], scores=gsm.scores[:, 1:]),
        ),
    )
    with pytest.raises(InputError, match="no benchmark has results of both"):
        compare_in_project(apart, "F1", "F2")


def test_who_names_all_models(results: ProjectResults) -> None:
    many = tuple(Model(f"model {number}", f"family {number}") for number in range(30))
    with pytest.raises(InputError, match="'benchprism results models' names them all"):
        compare_in_project(replace(results, models=many), "model 1", "zzz")
    with pytest.raises(InputError, match="'benchprism results models' names them all"):
        replace(results, models=many).of_families(["zzz"])


def test_standings_by_an_attribute(results: ProjectResults, attributes: pa.Table) -> None:
    found = standings_by(results, results.outcomes, attributes, "odd", replicates=300)
    assert (found.names, found.items, found.without) == (("no", "yes"), 150, 0)
    even, odd = found.standings
    scores = np.concatenate([given.scores for given in results.outcomes])
    ids = [one for given in results.outcomes for one in given.item_ids]
    is_odd = np.array([int(one.split("/")[1]) % 2 == 1 for one in ids])
    assert odd.accuracy == pytest.approx(scores[is_odd].mean(axis=0))
    assert found.overall.accuracy == pytest.approx(scores.mean(axis=0))
    assert (even.items, odd.items) == (75, 75)
    strongest = found.models.index("G4")
    assert odd.rank[strongest] > odd.expected_rank[strongest] > even.rank[strongest]
    assert odd.rank_low[strongest] <= odd.rank[strongest] <= odd.rank_high[strongest]
    assert 0 < odd.p_values.min() <= 1


def test_kinds_of_items(attributes: pa.Table) -> None:
    ids = ["arc/0", "arc/1", "gsm/9", "elsewhere/0"]
    assert item_kinds(attributes, "odd", ids).codes.tolist() == [0, 1, 1, -1]
    assert item_kinds(attributes, "level", ids).names == ("0", "3")
    assert item_kinds(attributes, "level", ids).codes.tolist() == [0, 1, -1, -1]
    everything = attributes["item_id"].to_pylist()
    thirds = item_kinds(attributes, "length", everything)
    assert len(thirds.names) == 3
    assert np.bincount(thirds.codes).min() > 30
    counts = item_kinds(attributes, "skills:count", ids)
    assert counts.codes.tolist() == [0, 1, 1, -1]


@pytest.mark.parametrize(
    ("attribute", "sentence"),
    [
        ("leval", r"no attribute 'leval'; .* did you mean 'level'\?"),
        ("skills", r"several labels of 'skills'; .* as in skills:count"),
        ("skills:counts", r"value of 'skills:counts'; .* did you mean 'count'\?"),
        ("same", "one value of 'same'"),
    ],
)
def test_attributes_that_do_not_divide(attributes: pa.Table, attribute: str, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        item_kinds(attributes, attribute, ["arc/0", "arc/1"])


def test_attributes_as_demands(attributes: pa.Table) -> None:
    ids = ["arc/0", "arc/1", "arc/9", "arc/3"]
    level = demands(attributes, "level", ids)
    assert level.names == ("level",)
    assert level.columns[:, 0] == pytest.approx([0, 1, math.nan, 1], nan_ok=True)
    kind = demands(attributes, "kind", ["arc/0", "arc/1", "arc/2"])
    assert kind.names == ("kind:y",)
    assert kind.columns[:, 0].tolist() == [1, 0, 0]
    skills = demands(attributes, "skills", ids)
    assert skills.names == ("skills:count",)
    assert skills.columns[:, 0].tolist() == [0, 1, 1, 1]


def test_abilities_in_what_is_demanded(results: ProjectResults, attributes: pa.Table) -> None:
    found = demanded_abilities(
        results, results.outcomes, attributes, ["level", "kind"], replicates=100
    )
    assert found.dimensions == ("general", "level", "kind:y")
    assert (found.items, found.without) == (135, 15)
    assert found.abilities.demand[1] > 2 * found.abilities.demand_error[1]
    level, kind = found.explained
    assert level.share > 0.15
    assert level.interval.low > 0
    assert level.p_value < 0.05
    assert abs(kind.share) < 0.15
    of_family = {name: found.abilities.ability[row, 1] for row, name in enumerate(found.models)}
    assert np.mean([of_family[f"F{k}"] for k in range(1, 5)]) > np.mean(
        [of_family[f"G{k}"] for k in range(1, 5)]
    )


def test_demands_that_cannot_be_told_apart(results: ProjectResults, attributes: pa.Table) -> None:
    with pytest.raises(InputError, match="odd and skills cannot be told apart"):
        demanded_abilities(results, results.outcomes, attributes, ["odd", "skills"])
    few = results.of_families(["F"])
    with pytest.raises(InputError, match="abilities of 4 models"):
        demanded_abilities(few, few.outcomes, attributes, ["odd"])


def test_numbers_of_items(results: ProjectResults) -> None:
    table = item_numbers(results, results.outcomes)
    assert len(table) == 150
    arc = results.outcomes[0]
    scores = arc.scores.astype(float)
    assert table["difficulty"].to_pylist()[:90] == pytest.approx(difficulty(scores).tolist())
    families = families_of([name[0] for name in arc.models], [int(name[1]) for name in arc.models])
    rate = item_inversions(scores, families).inverted / 12
    assert table["inversion_rate"].to_pylist()[:90] == pytest.approx(rate.tolist())
    assert table["guessing_floor"].to_pylist()[0] == 0.25
    assert table["guessing_floor"].to_pylist()[-1] == 0
    hard = np.array(table["irt_difficulty"].to_pylist()[:90])
    assert np.corrcoef(hard, difficulty(scores))[0, 1] > 0.9
    alike = scores.all(axis=1) | (1 - scores).all(axis=1)
    assert table["irt_from_prior"].to_pylist()[:90] == alike.tolist()
    plain = item_numbers(results, results.outcomes, response=None)
    assert plain["irt_from_prior"].null_count == 150
    assert plain["irt_difficulty"].null_count == 150
    solved = scores.all(axis=1)
    assert table["discrimination"].slice(0, 90).null_count >= int(solved.sum())


def test_the_share_to_keep_is_judged_by_those_who_did_not_choose(results: ProjectResults) -> None:
    found = share_to_keep(results, results.outcomes, seed=1)
    assert found.split is not None
    assert set(found.split.held_in) != set(found.split.held_out)
    assert found.curve.best in [point.share for point in found.curve.points]
    alone = results.of_families(["F"])
    assert share_to_keep(alone, alone.outcomes).split is None


def test_what_no_share_keeps_is_counted(results: ProjectResults) -> None:
    """An item has six pairs of models of one family; CAD is above 0.15 with none inverted alone."""
    alone = results.of_families(["F"])
    found = share_to_keep(alone, alone.outcomes)
    families = families_of(["F"] * 4, [1, 2, 3, 4])
    inverted = [
        item_inversions(given.scores.astype(float), families).inverted for given in alone.outcomes
    ]
    kept = sum(int((one == 0).sum()) for one in inverted)
    assert (found.items, found.dropped) == (150, 150 - kept)
    assert 0 < kept < 150
    assert found.curve.points[-1].items == kept
