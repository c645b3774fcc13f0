"""Assigning items to reviewers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchprism.annotate.review.planning.assignment import Charge, assign
from benchprism.records.errors import InputError

PEOPLE = ("ann", "bob", "cem", "dot", "eve")


def charges(number: int) -> list[Charge]:
    return [Charge(f"item/{row}") for row in range(number)]


def load(assigned: Sequence[Sequence[str]]) -> Counter[str]:
    return Counter(name for names in assigned for name in names)


@given(st.integers(1, 60), st.integers(1, 5), st.integers(1, 5), st.integers(0, 3))
def test_overlap_is_exact_and_loads_are_alike(
    number: int, people: int, overlap: int, seed: int
) -> None:
    reviewers = PEOPLE[: max(people, overlap)]
    assigned = assign(charges(number), reviewers, overlap, seed)
    assert all(len(names) == len(set(names)) == overlap for names in assigned)
    loads = [load(assigned)[name] for name in reviewers]
    assert max(loads) - min(loads) <= 1
    assert assigned == assign(charges(number), reviewers, overlap, seed)


def test_everyone_comes_together_with_everyone() -> None:
    pairs = Counter(frozenset(names) for names in assign(charges(200), PEOPLE[:4], 2, 0))
    assert len(pairs) == 6


def test_who_has_an_item_keeps_it_and_who_joins_catches_up() -> None:
    before = assign(charges(30), PEOPLE[:2], 1, 0)
    kept = [Charge(c.item_id, names) for c, names in zip(charges(30), before, strict=True)]
    later = [Charge(f"later/{row}") for row in range(15)]
    after = assign([*kept, *later], PEOPLE[:3], 1, 0)
    assert after[:30] == before
    assert load(after) == {"ann": 15, "bob": 15, "cem": 15}


def test_a_larger_overlap_adds_reviewers_and_a_smaller_one_takes_none_away() -> None:
    one = [Charge("item", ("bob",))]
    [two] = assign(one, PEOPLE[:3], 2, 0)
    assert (two[0], len(set(two))) == ("bob", 2)
    assert assign([Charge("item", two)], PEOPLE[:3], 1, 0) == [two]


def test_who_knows_the_item_gets_it_only_if_there_is_nobody_else() -> None:
    seen = [Charge(f"item/{row}", acquainted=("ann",)) for row in range(8)]
    assert load(assign(seen, PEOPLE[:2], 1, 0)) == {"bob": 8}
    assert load(assign(seen, PEOPLE[:1], 1, 0)) == {"ann": 8}


def test_without_reviewers_items_are_for_anyone() -> None:
    assert assign(charges(2), (), 1, 0) == [(), ()]
    assert assign([Charge("item", ("ann",))], (), 1, 0) == [("ann",)]


@pytest.mark.parametrize(("reviewers", "overlap"), [((), 2), (PEOPLE[:2], 3)])
def test_there_must_be_as_many_reviewers_as_an_item_needs(
    reviewers: Sequence[str], overlap: int
) -> None:
    with pytest.raises(InputError, match=f"an overlap of {overlap} with {len(reviewers)} review"):
        assign(charges(1), reviewers, overlap, 0)
