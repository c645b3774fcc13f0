from __future__ import annotations

import math

import pyarrow as pa
import pytest

from benchprism.prompts.catalogue import Catalogue
from benchprism.report.profile import BenchmarkProfile, profiles


@pytest.fixture
def sums(table: pa.Table, catalogue: Catalogue) -> BenchmarkProfile:
    return profiles(table, catalogue)[1]


@pytest.fixture
def riddles(table: pa.Table, catalogue: Catalogue) -> BenchmarkProfile:
    return profiles(table, catalogue)[0]


def test_benchmarks_stand_in_the_order_of_the_table(table: pa.Table, catalogue: Catalogue) -> None:
    assert [p.benchmark for p in profiles(table, catalogue)] == ["riddles", "sums"]


def test_items_are_counted_with_and_without_values(
    sums: BenchmarkProfile, riddles: BenchmarkProfile
) -> None:
    assert (sums.items, sums.annotated) == (12, 11)
    assert (riddles.items, riddles.annotated) == (3, 2)
    depth = sums["depth"]
    assert (depth.items, depth.missing, depth.missing_here) == (11, 1, 0)


def test_shares_are_of_the_items_with_a_value(sums: BenchmarkProfile) -> None:
    shares = {share.value: (share.count, share.share.share) for share in sums["depth"].shares}
    assert shares == {0: (6, 6 / 11), 1: (0, 0.0), 2: (5, 5 / 11)}


def test_several_labels_are_each_counted(riddles: BenchmarkProfile) -> None:
    shares = {share.value: share.share.share for share in riddles["kinds"].shares}
    assert shares == {"none": 0.0, "sums": 0.5, "words": 1.0}


def test_an_attribute_is_missing_only_where_it_is_asked(
    sums: BenchmarkProfile, riddles: BenchmarkProfile
) -> None:
    assert (sums["distractors"].items, sums["distractors"].missing) == (0, 0)
    assert riddles["distractors"].missing == 2
    assert riddles["distractors"].missing_here == 1


def test_evenness_is_the_entropy_over_its_greatest_value(sums: BenchmarkProfile) -> None:
    p, q = 6 / 11, 5 / 11
    assert sums["depth"].evenness == pytest.approx(
        -(p * math.log(p) + q * math.log(q)) / math.log(3)
    )
    assert sums["domain"].evenness == 0.0
    assert math.isnan(sums["negation"].evenness)


def test_evenness_of_labels_is_that_of_yes_or_no(riddles: BenchmarkProfile) -> None:
    # none 0 of 2, sums 1 of 2, words 2 of 2: entropies 0, 1 and 0 bits.
    assert riddles["kinds"].evenness == pytest.approx(1 / 3)


def test_a_benchmark_s_evenness_is_the_mean_of_what_is_known(riddles: BenchmarkProfile) -> None:
    assert riddles.evenness == pytest.approx((0 + 1 / 3 + 0 + 0 + 0) / 5)
