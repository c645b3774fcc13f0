"""What every coefficient of agreement must do, as a table: one row a coefficient."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from benchprism.metrics.raters import agreement, kappa, krippendorff, label_sets
from benchprism.metrics.raters.agreement import Agreement
from benchprism.metrics.raters.patterns import Ratings

VALUES = 4
Coefficient = Callable[[Ratings], Agreement]


def _options(**more: Any) -> dict[str, Any]:
    return {"rng": np.random.default_rng(0), "replicates": 40, **more}


def _alpha(scale: krippendorff.Scale) -> Coefficient:
    return lambda ratings: krippendorff.krippendorff_alpha(
        ratings, **_options(values=VALUES, scale=scale)
    )


def _cohen(weights: kappa.Weights) -> Coefficient:
    return lambda ratings: kappa.cohen_kappa(
        ratings[:, :2], **_options(values=VALUES, weights=weights)
    )


def _fleiss(ratings: Ratings) -> Agreement:
    return kappa.fleiss_kappa(ratings, **_options(values=VALUES))


def _sets(distance: label_sets.SetDistance) -> Coefficient:
    """A code is read as the set of its two bits."""

    def coefficient(ratings: Ratings) -> Agreement:
        bits = np.stack([ratings & 1, ratings >> 1], axis=2)
        coded = np.where(ratings[:, :, None] < 0, -1, bits)
        return label_sets.label_set_alpha(coded, **_options(distance=distance))

    return coefficient


@dataclass(frozen=True)
class Row:
    """What is claimed of a coefficient."""

    of: str
    coefficient: Coefficient
    nominal: bool
    """Whether the names of the values are of no importance."""
    reversible: bool
    """Whether it is the same when levels are counted from the other end."""
    repeats: bool
    """Whether it is the same when every item occurs twice."""


TABLE = {
    "alpha nominal": Row("krippendorff_alpha", _alpha("nominal"), True, True, False),
    "alpha ordinal": Row("krippendorff_alpha", _alpha("ordinal"), False, True, False),
    "alpha interval": Row("krippendorff_alpha", _alpha("interval"), False, True, False),
    "kappa": Row("cohen_kappa", _cohen("none"), True, True, True),
    "kappa linear": Row("cohen_kappa", _cohen("linear"), False, True, True),
    "kappa quadratic": Row("cohen_kappa", _cohen("quadratic"), False, True, True),
    "fleiss": Row("fleiss_kappa", _fleiss, True, True, True),
    "masi": Row("label_set_alpha", _sets("masi"), False, False, False),
    "jaccard": Row("label_set_alpha", _sets("jaccard"), False, False, False),
}

tables = arrays(np.int64, (9, 3), elements=st.integers(-1, VALUES - 1))
rows = pytest.mark.parametrize("row", TABLE.values(), ids=TABLE)
quick = settings(deadline=None, max_examples=25)


def same(one: Agreement, other: Agreement) -> None:
    assert one.estimate == pytest.approx(other.estimate, nan_ok=True)
    assert one.interval == pytest.approx(other.interval, nan_ok=True)
    assert one.raw == pytest.approx(other.raw, nan_ok=True)
    assert (one.items, one.pairable, one.reason) == (other.items, other.pairable, other.reason)


def test_every_coefficient_is_in_the_table() -> None:
    found = {
        name
        for module in (agreement, kappa, krippendorff, label_sets)
        for name, function in inspect.getmembers(module, inspect.isfunction)
        if function.__annotations__.get("return") == "Agreement" and name != "assess"
    }
    assert found == {row.of for row in TABLE.values()}


@rows
@quick
@given(ratings=tables, seed=st.integers(0, 99))
def test_the_order_of_items_is_of_no_importance(row: Row, ratings: Ratings, seed: int) -> None:
    shuffled = np.random.default_rng(seed).permutation(ratings)
    same(row.coefficient(shuffled), row.coefficient(ratings))


@rows
@quick
@given(ratings=tables)
def test_the_order_of_raters_is_of_no_importance(row: Row, ratings: Ratings) -> None:
    ratings = ratings[:, :2]
    one, other = row.coefficient(ratings[:, ::-1]), row.coefficient(ratings)
    assert one.estimate == pytest.approx(other.estimate, nan_ok=True)
    assert one.raw == pytest.approx(other.raw, nan_ok=True)


@rows
@quick
@given(ratings=tables)
def test_bounds(row: Row, ratings: Ratings) -> None:
    found = row.coefficient(ratings)
    if found.reason != "every rating has the same value" and found.pairable:
        assert -1 - 1e-9 <= found.estimate <= 1
        assert 0 <= found.raw <= 1
        low, high = found.interval
        assert np.isnan(low) == (found.reason is not None)
        assert np.isnan(low) or -1 - 1e-9 <= low <= high <= 1


@rows
@quick
@given(ratings=tables, names=st.permutations(range(VALUES)))
def test_names_of_nominal_values_are_of_no_importance(
    row: Row, ratings: Ratings, names: list[int]
) -> None:
    renamed = np.array([*names, -1])[ratings]
    if row.nominal:
        assert row.coefficient(renamed).estimate == pytest.approx(
            row.coefficient(ratings).estimate, nan_ok=True
        )


@rows
@quick
@given(ratings=tables)
def test_levels_may_be_counted_from_the_other_end(row: Row, ratings: Ratings) -> None:
    turned = np.where(ratings < 0, -1, VALUES - 1 - ratings)
    if row.reversible:
        assert row.coefficient(turned).estimate == pytest.approx(
            row.coefficient(ratings).estimate, nan_ok=True
        )


@rows
@quick
@given(ratings=tables)
def test_every_item_twice(row: Row, ratings: Ratings) -> None:
    once, twice = row.coefficient(ratings), row.coefficient(np.repeat(ratings, 2, axis=0))
    assert twice.raw == pytest.approx(once.raw, nan_ok=True)
    assert twice.prevalence == pytest.approx(once.prevalence, nan_ok=True)
    if row.repeats:
        assert twice.estimate == pytest.approx(once.estimate, nan_ok=True)
    elif not np.isnan(once.estimate):
        # Alpha counts a pair of one rating with itself out; the fewer ratings, the more it weighs.
        assert twice.estimate <= once.estimate + 1e-9


@rows
@quick
@given(ratings=tables)
def test_items_without_a_pair_change_nothing(row: Row, ratings: Ratings) -> None:
    more = np.concatenate([ratings, [[0, -1, -1], [-1, 3, -1], [-1, -1, -1]]])
    one, other = row.coefficient(more), row.coefficient(ratings)
    if other.pairable:
        assert one.estimate == pytest.approx(other.estimate, nan_ok=True)
        assert one.pairable == other.pairable
