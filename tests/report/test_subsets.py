from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from benchprism.compose.composer import compose
from benchprism.compose.language.criteria import Criteria
from benchprism.compose.locking.lock import lock
from benchprism.compose.store import Subset, read_subset, write_subset
from benchprism.prompts.catalogue import Catalogue
from benchprism.records.documents import parse_document
from benchprism.records.results.matrix import Outcomes
from benchprism.report.subsets import SubsetView, view_subset

CRITERIA = """
name: deep
from: all
where:
  all:
    - depth: {min: 1}
    - kinds: {contains: sums}
"""
LONG = """
name: long
from: all
where: {all: [{word_count: {min: 3}}, {any: [{depth: {min: 1}}, {domain: play_of_words}]}]}
"""


@pytest.fixture
def subset(table: pa.Table, catalogue: Catalogue, tmp_path: Path) -> Subset:
    criteria = parse_document(CRITERIA, Criteria, name="deep")
    composition = compose(criteria, table, catalogue=catalogue)
    write_subset(tmp_path / "deep", composition, lock(composition, catalogue=catalogue))
    return read_subset(tmp_path / "deep")


@pytest.fixture
def view(subset: Subset, table: pa.Table, catalogue: Catalogue, outcomes: Outcomes) -> SubsetView:
    return view_subset(subset, table, catalogue, {"sums": outcomes})


def test_every_item_of_the_sources_is_accounted_for(view: SubsetView) -> None:
    counts = {
        o.benchmark: (o.available, o.not_annotated, o.excluded, o.chosen) for o in view.origins
    }
    assert counts == {"riddles": (3, 1, 1, 1), "sums": (12, 1, 6, 5)}
    assert view.items == 6


def test_exclusions_are_counted_by_rule_and_benchmark(view: SubsetView, subset: Subset) -> None:
    assert sum(exclusion.items for exclusion in view.exclusions) == subset.excluded.num_rows == 9
    assert [(e.items, e.by_benchmark) for e in view.exclusions] == [(8, (1, 7)), (1, (1, 0))]


def test_accuracy_before_and_after(view: SubsetView) -> None:
    riddles, sums = view.origins
    assert riddles.accuracy_after != riddles.accuracy_after
    assert sums.accuracy_before == pytest.approx(
        (4 + 3 / 4 + 1 / 4 + 2 / 4 + 1 / 3 + 1 / 3 + 1) / 12
    )
    assert sums.accuracy_after == pytest.approx((2 / 4 + 1 / 3 + 1 / 3) / 5)


def test_shifts_are_of_the_value_that_moved_most(view: SubsetView) -> None:
    shifts = {shift.attribute: (shift.value, shift.before, shift.after) for shift in view.shifts}
    # 7 of 13 items have depth 1 or more, 5 have 2; all of the 6 chosen have 1 or more.
    assert shifts["depth"][0] == "1 or more"
    assert shifts["depth"][1:] == pytest.approx((7 / 13, 1))
    assert shifts["kinds"][0] == "sums"
    assert shifts["kinds"][1:] == pytest.approx((12 / 13, 1))


def test_examples_are_of_different_benchmarks(view: SubsetView) -> None:
    assert [example.item_id.partition("/")[0] for example in view.examples] == ["riddles", "sums"]


def test_the_table_s_order_changes_nothing(
    view: SubsetView, subset: Subset, table: pa.Table, catalogue: Catalogue, outcomes: Outcomes
) -> None:
    turned = table.take(pc.sort_indices(table, [("content_hash", "ascending")]))
    assert repr(view_subset(subset, turned, catalogue, {"sums": outcomes})) == repr(view)


def test_an_item_without_annotations_can_be_left_out_for_another_reason(
    table: pa.Table, catalogue: Catalogue, tmp_path: Path
) -> None:
    criteria = parse_document(LONG, Criteria, name="long")
    composition = compose(criteria, table, catalogue=catalogue)
    write_subset(tmp_path / "long", composition, lock(composition))
    view = view_subset(read_subset(tmp_path / "long"), table, catalogue, {})
    # "What runs?" has no value, but it is left out for having fewer words than three.
    # Six of the sums have depth 0; the one without a value is left out for that.
    counts = {o.benchmark: (o.not_annotated, o.excluded, o.chosen) for o in view.origins}
    assert counts == {"riddles": (0, 1, 2), "sums": (1, 6, 5)}


def test_an_attribute_that_came_later_is_missing(
    subset: Subset, table: pa.Table, catalogue: Catalogue
) -> None:
    attribute = catalogue["depth"]
    gone = subset.items.drop_columns(["depth", "depth.source", "depth.confidence"])
    texts = pa.array(["deep"] * subset.items.num_rows)
    for items in (gone, gone.append_column(attribute.id, texts)):
        view = view_subset(replace(subset, items=items), table, catalogue, {})
        assert "kinds" in {shift.attribute for shift in view.shifts}
        assert attribute.id not in {shift.attribute for shift in view.shifts}
