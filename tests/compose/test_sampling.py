from __future__ import annotations

import hashlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchprism.compose.sampling import draw, drawing_keys, quotas


@pytest.mark.parametrize(
    ("available", "size", "expected"),
    [
        ({"a": 2, "b": 5, "c": 10}, 12, {"a": 2, "b": 5, "c": 5}),
        # a is short by one of 9/3 = 3: its place goes on to b and c, 7 = 4 + 3
        ({"a": 2, "b": 5, "c": 10}, 9, {"a": 2, "b": 4, "c": 3}),
        ({"a": 2, "b": 5, "c": 10}, 7, {"a": 2, "b": 3, "c": 2}),
        ({"a": 2, "b": 5, "c": 10}, 1, {"a": 1, "b": 0, "c": 0}),
        ({"a": 2, "b": 5, "c": 10}, 100, {"a": 2, "b": 5, "c": 10}),
        # after a (1) and d (2), 97 are left for b and c: 49 + 48
        ({"d": 2, "c": 60, "b": 60, "a": 1}, 100, {"a": 1, "b": 49, "c": 48, "d": 2}),
        ({}, 3, {}),
    ],
)
def test_quotas_fill_up_evenly(
    available: dict[str, int], size: int, expected: dict[str, int]
) -> None:
    assert quotas(available, size) == expected


COUNTS = st.dictionaries(st.text("abcdef", min_size=1, max_size=2), st.integers(0, 50))


@settings(deadline=None)
@given(COUNTS, st.integers(0, 200))
def test_quotas_are_as_equal_as_can_be(available: dict[str, int], size: int) -> None:
    shares = quotas(available, size)
    assert sum(shares.values()) == min(size, sum(available.values()))
    assert all(0 <= shares[group] <= available[group] for group in available)
    level = max(shares.values(), default=0)
    assert all(shares[g] >= level - 1 for g in available if shares[g] < available[g])
    larger = quotas(available, size + 1)
    assert all(larger[group] >= shares[group] for group in available)


def test_the_order_is_blake2b_of_the_id_keyed_by_the_seed() -> None:
    ids = ["arc/0", "gsm/1", "läw/2"]
    expected = [
        int.from_bytes(hashlib.blake2b(i.encode(), key=b"-7", digest_size=8).digest(), "big")
        for i in ids
    ]
    assert drawing_keys(ids, -7).tolist() == expected
    # fixed for all time: a change here changes every subset that was ever drawn
    assert drawing_keys(["arc/0"], 0).tolist() == [KEY_OF_ARC_0]


KEY_OF_ARC_0 = 10757946497362556764


IDS = st.lists(st.integers(0, 999).map("item/{}".format), min_size=1, max_size=60, unique=True)


@settings(deadline=None)
@given(IDS, st.integers(1, 80), st.integers(-5, 5))
def test_a_larger_sample_holds_the_smaller_one(ids: list[str], size: int, seed: int) -> None:
    groups = [str(int(name.split("/")[1]) % 3) for name in ids]
    small = draw(ids, groups, size=size, seed=seed).drawn
    large = draw(ids, groups, size=size + 1, seed=seed).drawn
    assert small.sum() == min(size, len(ids))
    assert not (small & ~large).any()


@settings(deadline=None)
@given(IDS, st.integers(1, 80), st.data())
def test_the_draw_does_not_depend_on_the_order(
    ids: list[str], size: int, data: st.DataObject
) -> None:
    shuffled = data.draw(st.permutations(ids))
    one = draw(ids, [""] * len(ids), size=size, seed=1).drawn
    other = draw(shuffled, [""] * len(ids), size=size, seed=1).drawn
    assert {i for i, d in zip(ids, one, strict=True) if d} == {
        i for i, d in zip(shuffled, other, strict=True) if d
    }


def test_each_item_has_its_turn_in_its_group() -> None:
    outcome = draw(["a/0", "b/0", "a/1", "a/2"], ["a", "b", "a", "a"], size=2, seed=0)
    assert outcome.groups == ("a", "b")
    assert outcome.available.tolist() == [3, 1]
    assert outcome.quota.tolist() == [1, 1]
    assert sorted(outcome.turn[[0, 2, 3]].tolist()) == [0, 1, 2]
    assert outcome.turn[1] == 0
