from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from benchprism.prompts.catalogue import Catalogue
from benchprism.records.results.matrix import Outcomes
from benchprism.report.divisions import Division
from benchprism.report.heterogeneity import BenchmarkHeterogeneity, heterogeneity


@pytest.fixture
def found(
    table: pa.Table, catalogue: Catalogue, outcomes: Outcomes, families: dict[str, str]
) -> BenchmarkHeterogeneity:
    return heterogeneity(table, catalogue, outcomes, families, seed=0)


@pytest.fixture
def by_depth(found: BenchmarkHeterogeneity) -> Division:
    assert found.main is not None
    return found.main


# Mean over the models that have a score, item by item.
EASE = [1, 1, 1, 1, 3 / 4, 1 / 4, 2 / 4, 1 / 3, 1 / 3, 0, 0, 1]


def test_accuracy_is_the_mean_over_items_of_the_mean_over_models(
    found: BenchmarkHeterogeneity,
) -> None:
    assert (found.items, found.model_count) == (12, 4)
    assert found.overall.mean == pytest.approx(np.mean(EASE))


def test_strata_have_the_accuracy_of_their_items(by_depth: Division) -> None:
    assert by_depth.attribute == "depth"
    assert [(s.name, s.meaning, s.items) for s in by_depth.strata] == [
        ("0", "none", 6),
        ("2", "more", 5),
    ]
    means = [stratum.accuracy.mean for stratum in by_depth.strata]
    assert means == pytest.approx([np.mean(EASE[:6]), np.mean(EASE[6:11])])
    assert by_depth.spread.spread == pytest.approx(means[0] - means[1])
    assert (by_depth.easiest, by_depth.hardest) == (0, 1)


def test_the_whole_of_a_division_is_what_it_divides(by_depth: Division) -> None:
    assert by_depth.items == 11
    assert by_depth.overall.mean == pytest.approx(np.mean(EASE[:11]))


def test_intervals_hold_their_mean(found: BenchmarkHeterogeneity) -> None:
    parts = [s.accuracy for division in found.divisions for s in division.strata]
    rows = [cell for row in found.models for cell in row.by_stratum if cell.mean == cell.mean]
    for accuracy in (*parts, *rows):
        assert 0 <= accuracy.low <= accuracy.mean <= accuracy.high <= 1


def test_a_value_of_few_items_is_counted_and_not_compared(
    table: pa.Table, catalogue: Catalogue, outcomes: Outcomes
) -> None:
    fewer = replace(outcomes, item_ids=outcomes.item_ids[:9], scores=outcomes.scores[:9])
    found = heterogeneity(table, catalogue, fewer, {}, seed=0)
    assert all(division.attribute != "depth" for division in found.divisions)


def test_models_are_split_as_the_benchmark_is(found: BenchmarkHeterogeneity) -> None:
    rows = {row.name: [cell.mean for cell in row.by_stratum] for row in found.models}
    assert rows["strong"] == pytest.approx([1, 3 / 5])
    assert rows["weak"] == pytest.approx([4 / 6, 0])
    assert rows["part"] == pytest.approx([5 / 6, 0])  # one sum of depth 2 was asked, and failed
    assert [row.name for row in found.models][:2] == ["strong", "part"]  # 9/11, 5/7


def test_families_are_those_declared(found: BenchmarkHeterogeneity) -> None:
    rows = {row.name: row for row in found.families}
    assert {name: row.models for name, row in rows.items()} == {"A": 2, "B": 1}
    assert rows["A"].by_stratum[0].mean == pytest.approx((6 + 4) / 12)


def test_missing_scores_are_not_wrong(
    table: pa.Table, catalogue: Catalogue, outcomes: Outcomes
) -> None:
    without = outcomes.scores.copy()
    without[0] = np.nan
    found = heterogeneity(table, catalogue, replace(outcomes, scores=without), {}, seed=0)
    assert found.items == 11
    assert found.overall.mean == pytest.approx(np.mean(EASE[1:]))


def test_results_of_unknown_items_divide_nothing(
    table: pa.Table, catalogue: Catalogue, outcomes: Outcomes
) -> None:
    strange = replace(outcomes, item_ids=tuple(f"other/{k}" for k in range(12)))
    found = heterogeneity(table, catalogue, strange, {}, seed=0)
    assert found.divisions == ()
    assert found.main is None


def test_the_same_seed_gives_the_same_numbers(
    table: pa.Table, catalogue: Catalogue, outcomes: Outcomes, families: dict[str, str]
) -> None:
    first, second = (heterogeneity(table, catalogue, outcomes, families, seed=3) for _ in "ab")
    assert repr(first) == repr(second)


def test_ranks_compare_the_easiest_and_the_hardest_stratum(found: BenchmarkHeterogeneity) -> None:
    assert found.ranks is not None
    assert found.ranks.models == 4
    # Depth 0: strong 1, middling 5/6, part 5/6, weak 4/6. Depth 2: 3/5, 1/5, 0, 0.
    # Five pairs agree or tie once: strong above all (3), middling above weak (1), middling and
    # part tie in the first, part and weak in the second: 4 / sqrt(5 * 5).
    assert found.ranks.tau == pytest.approx(4 / 5)
