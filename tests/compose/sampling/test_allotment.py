from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchprism.compose.sampling.allotment import quotas


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


def test_weights_least_and_most_by_hand() -> None:
    plenty = {"a": 99, "b": 99, "c": 99}
    assert quotas(plenty, 40, weights={"a": 2, "b": 1, "c": 1}) == {"a": 20, "b": 10, "c": 10}
    assert quotas(plenty, 12, weights={"a": 0.5}) == {"a": 2, "b": 5, "c": 5}
    # c starts with 8 of 12, so a and b share 4; at most 1 of b leaves 3 to a
    assert quotas(plenty, 12, least={"c": 8}) == {"a": 2, "b": 2, "c": 8}
    assert quotas(plenty, 12, least={"c": 8}, most={"b": 1}) == {"a": 3, "b": 1, "c": 8}
    # the seven largest quotients: 53, 24, 23, 53/3 = 17.7, 53/5 = 10.6, 24/3 = 8, 23/3 = 7.7
    votes = {"a": 53, "b": 24, "c": 23}
    assert quotas(plenty, 7, weights=votes) == {"a": 3, "b": 2, "c": 2}


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


def one_by_one(
    available: dict[str, int],
    size: int,
    weights: dict[str, float],
    least: dict[str, int],
    most: dict[str, int],
) -> dict[str, int]:
    """The rule as it is stated: each place to the group with the largest weight / (2 n + 1)."""
    caps = {g: min(n, most.get(g, n)) for g, n in available.items()}
    given_ = {g: min(least.get(g, 0), caps[g]) for g in available}
    while sum(given_.values()) < min(size, sum(caps.values())):
        waiting = [g for g in sorted(available) if given_[g] < caps[g]]
        first = max(waiting, key=lambda g: Fraction(str(weights.get(g, 1))) / (2 * given_[g] + 1))
        given_[first] += 1
    return given_


@settings(deadline=None)
@given(data=st.data(), available=COUNTS)
def test_places_go_one_by_one_to_the_largest_quotient(
    data: st.DataObject, available: dict[str, int]
) -> None:
    names = st.sampled_from(sorted(available)) if available else st.nothing()
    weights = data.draw(st.dictionaries(names, st.sampled_from([0.1, 0.5, 1, 1.7, 3])))
    least = data.draw(st.dictionaries(names, st.integers(0, 5)))
    most = {g: least.get(g, 0) + n for g, n in data.draw(
        st.dictionaries(names, st.integers(0, 9))).items()}  # fmt: skip
    size = data.draw(st.integers(sum(least.values()), 120))
    expected = one_by_one(available, size, weights, least, most)
    assert quotas(available, size, weights=weights, least=least, most=most) == expected


def test_a_million_places_are_shared_out_at_once() -> None:
    shares = quotas({str(n): 50_000 for n in range(40)}, 10**6)
    assert {*shares.values()} == {25_000}
