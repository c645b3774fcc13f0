"""The random sample: who is drawn, and that it can grow."""

from __future__ import annotations

import hashlib
from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from benchprism.annotate.review.planning.sample import draw, even_shares

STRATA = {
    f"{name}/{row}": name for name, size in (("a", 3), ("b", 40), ("c", 60)) for row in range(size)
}


def digest(seed: int, item_id: str) -> str:
    """The key as documented, worked out on its own."""
    key = str(seed).encode()
    return hashlib.blake2b(item_id.encode(), key=key, person=b"review", digest_size=8).hexdigest()


def test_each_stratum_gives_as_many_and_the_smallest_keys() -> None:
    drawn = draw(STRATA, 23, seed=7, kept=())
    assert Counter(one.stratum for one in drawn) == {"a": 3, "b": 10, "c": 10}
    for name, size in (("b", 40), ("c", 60)):
        ids = sorted((i for i in STRATA if STRATA[i] == name), key=lambda one: digest(7, one))
        own = [one for one in drawn if one.stratum == name]
        assert [one.item_id for one in own] == ids[:10]
        assert {one.weight for one in own} == {size / 10}
    assert {one.stratum for one in drawn[:3]} == {"a", "b", "c"}


def test_a_larger_sample_holds_the_smaller_one() -> None:
    small = [one.item_id for one in draw(STRATA, 20, seed=1, kept=())]
    large = [one.item_id for one in draw(STRATA, 50, seed=1, kept=small)]
    assert set(small) < set(large)
    assert len(large) == 50
    assert [one.item_id for one in draw(STRATA, 20, seed=1, kept=small)] == small
    assert small != [one.item_id for one in draw(STRATA, 20, seed=2, kept=())]


def test_items_that_came_later_are_drawn_if_their_turn_is_before_one_that_is_kept() -> None:
    first = {name: stratum for name, stratum in STRATA.items() if int(name[2:]) % 2}
    kept = [one.item_id for one in draw(first, 20, seed=0, kept=())]
    again = {one.item_id for one in draw(STRATA, 20, seed=0, kept=kept)}
    assert again > set(kept)
    for name in ("b", "c"):
        last = max(digest(0, one) for one in kept if STRATA[one] == name)
        due = {one for one in STRATA if STRATA[one] == name and digest(0, one) <= last}
        assert {one for one in again if STRATA[one] == name} == due


def test_there_may_be_nothing_to_draw() -> None:
    assert draw({}, 5, seed=0, kept=()) == []
    assert draw(STRATA, 0, seed=0, kept=()) == []
    assert len(draw(STRATA, 500, seed=0, kept=())) == 103


@given(
    st.dictionaries(st.text("abc", min_size=1), st.integers(0, 9), max_size=5), st.integers(0, 40)
)
def test_shares_are_even(available: dict[str, int], number: int) -> None:
    shares = even_shares(available, number, {})
    assert shares.total() == min(number, sum(available.values()))
    most = max(shares.values(), default=0)
    for name, size in available.items():
        assert shares[name] <= size
        assert shares[name] == size or shares[name] >= most - 1
