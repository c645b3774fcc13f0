from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchprism.compose.language.drawing import Sample
from benchprism.compose.sampling.draw import Draw, Shortage, draw, drawing_keys, turns


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


def test_each_item_has_its_turn_in_its_group() -> None:
    codes, first, then = np.array([0, 1, 0, 0]), np.array([1, 0, 0, 1]), np.array([5, 0, 9, 4])
    # in group 0 the third comes first, then the fourth, whose second key is smaller
    assert turns(codes, [first, then]).tolist() == [2, 0, 0, 1]
    assert turns(np.array([0, 0, 0]), [np.array([7, 7, 7])]).tolist() == [0, 1, 2]


def items(ids: list[str], **columns: list[Any]) -> pa.Table:
    return pa.table({"item_id": ids, **columns})


def drawn(table: pa.Table, **sample: Any) -> set[str]:
    outcome = draw(table, Sample.model_validate({"seed": 1, **sample}))
    assert isinstance(outcome, Draw)
    return {*table["item_id"].filter(pa.array(outcome.drawn)).to_pylist()}


def shortage(table: pa.Table, **sample: Any) -> Shortage:
    outcome = draw(table, Sample.model_validate({"seed": 1, **sample}))
    assert isinstance(outcome, Shortage)
    return outcome


IDS = st.lists(st.integers(0, 999).map("item/{}".format), min_size=1, max_size=60, unique=True)
GROUPED = [
    {},
    {"balance": "group"},
    {"stratify": "group"},
    {"balance": "group", "weights": {"group": {0: 3, 2: 0.5}}},
    {"quotas": {"group": {1: {"max": 4}}}},
]


@settings(deadline=None)
@given(IDS, st.integers(1, 80), st.integers(-5, 5), st.sampled_from(GROUPED))
def test_a_larger_sample_holds_the_smaller_one(
    ids: list[str], size: int, seed: int, how: dict[str, Any]
) -> None:
    table = items(ids, group=[int(name.split("/")[1]) % 3 for name in ids])
    how = {**how, "seed": seed, "if_short": "take_all"}
    small, large = drawn(table, size=size, **how), drawn(table, size=size + 1, **how)
    assert small <= large
    if "quotas" not in how:
        assert len(small) == min(size, len(ids))


@settings(deadline=None)
@given(IDS, st.integers(1, 80), st.sampled_from(GROUPED), st.data())
def test_the_draw_does_not_depend_on_the_order(
    ids: list[str], size: int, how: dict[str, Any], data: st.DataObject
) -> None:
    how = {**how, "size": size, "if_short": "take_all"}
    one, other = (
        items(names, group=[int(name.split("/")[1]) % 3 for name in names])
        for names in (ids, data.draw(st.permutations(ids)))
    )
    assert drawn(one, **how) == drawn(other, **how)


HUNDRED = items(
    [f"i/{n}" for n in range(100)],
    source=["a"] * 60 + ["b"] * 30 + ["c"] * 10,
    level=[n % 4 for n in range(100)],
    hard=[n / 100 for n in range(100)],
)


def counted(field: str, **sample: Any) -> dict[Any, int]:
    chosen = drawn(HUNDRED, **sample)
    values = zip(HUNDRED["item_id"].to_pylist(), HUNDRED[field].to_pylist(), strict=True)
    found = [value for name, value in values if name in chosen]
    return {value: found.count(value) for value in sorted(set(found))}


@pytest.mark.parametrize(
    ("sample", "field", "expected"),
    [
        ({"size": 30, "balance": "source"}, "source", {"a": 10, "b": 10, "c": 10}),
        ({"size": 50, "balance": "source"}, "source", {"a": 20, "b": 20, "c": 10}),
        ({"size": 20, "stratify": "source"}, "source", {"a": 12, "b": 6, "c": 2}),
        ({"share": 0.2, "stratify": "source"}, "source", {"a": 12, "b": 6, "c": 2}),
        ({"share": 0.125, "balance": "source"}, "source", {"a": 5, "b": 4, "c": 4}),
        (
            {"size": 30, "balance": "source", "weights": {"source": {"a": 2, "c": 0.5}}},
            "source",
            {"a": 17, "b": 9, "c": 4},
        ),
        # twice its share for b: 60 : 60 : 10
        (
            {"size": 26, "stratify": "source", "weights": {"source": {"b": 2}}},
            "source",
            {"a": 12, "b": 12, "c": 2},
        ),
        (
            {"size": 30, "balance": "source", "quotas": {"source": {"a": 4, "c": {"min": 1}}}},
            "source",
            {"a": 4, "b": 16, "c": 10},
        ),
        # without balance, a quota's field keeps its shares: 60 : 30 : 10 of what is left
        (
            {"size": 20, "quotas": {"source": {"c": {"min": 8}}}},
            "source",
            {"a": 8, "b": 4, "c": 8},
        ),
        ({"size": 24, "balance": ["source", "level"]}, "level", {0: 6, 1: 6, 2: 6, 3: 6}),
    ],
)
def test_how_many_of_each_value(
    sample: dict[str, Any], field: str, expected: dict[Any, int]
) -> None:
    assert counted(field, **sample) == expected


def test_numbers_are_cut_into_ranges() -> None:
    outcome = draw(
        HUNDRED,
        Sample.model_validate(
            {"size": 6, "seed": 0, "balance": {"field": "hard", "cuts": [0.1, 0.5]}}
        ),
    )
    assert isinstance(outcome, Draw)
    assert outcome.groups.names == ("below 0.1", "0.1 to 0.5", "0.5 or more")
    assert outcome.groups.counts.tolist() == [10, 40, 50]  # 0.1 and 0.5 belong to the upper range
    assert outcome.quota.tolist() == [2, 2, 2]


def test_a_quota_on_another_field_changes_the_draw_as_little_as_it_can() -> None:
    plain = drawn(HUNDRED, size=24, balance="source")
    crossed = drawn(HUNDRED, size=24, balance="source", quotas={"level": {0: {"min": 1}}})
    assert plain == crossed
    outcome = draw(
        HUNDRED,
        Sample.model_validate(
            {"size": 24, "seed": 1, "balance": "source", "quotas": {"level": {2: {"min": 15}}}}
        ),
    )
    assert isinstance(outcome, Draw)
    by_cell = dict(zip(outcome.groups.names, outcome.quota.tolist(), strict=True))
    assert sum(n for name, n in by_cell.items() if name.endswith(", 2")) == 15
    # c has only two or three items of level 2, so that the others give the rest; still 8 each
    for source in "abc":
        assert sum(n for name, n in by_cell.items() if name.startswith(source)) == 8


def test_quotas_come_before_balance() -> None:
    # level 2 has 15, 8 and 2 items of a, b and c; 20 of it, and none of level 3
    sample = {"size": 30, "balance": "source", "quotas": {"level": {3: 0, 2: {"min": 20}}}}
    levels = counted("level", **sample)
    assert levels[2] == 20
    assert 3 not in levels
    assert sum(counted("source", **sample).values()) == 30


@pytest.mark.parametrize(
    ("sample", "found", "wanted", "place"),
    [
        ({"size": 101}, "100 items are left to draw from", "101", ("sample", "size")),
        (
            {"size": 20, "quotas": {"source": {"c": {"min": 12}}}},
            "10 items with source c are left to draw from",
            "at least 12",
            ("sample", "quotas", "source", "c"),
        ),
        (
            {"size": 30, "quotas": {"source": {"a": {"max": 3}, "b": {"max": 3}}}},
            "the quotas on 'source' leave room for 16 items",
            "30",
            ("sample", "quotas", "source"),
        ),
        (
            {"size": 30, "balance": "source", "quotas": {"level": {0: {"min": 26}}}},
            "25 items with level 0 are left to draw from",
            "at least 26",
            ("sample", "quotas", "level", "0"),
        ),
        (
            {"size": 60, "balance": "source", "quotas": {"level": {0: 1, 1: 1}}},
            "the quotas on 'level' leave room for 52 items",  # 1 + 1 + 25 + 25
            "60",
            ("sample", "quotas", "level"),
        ),
        (
            {"share": 0.1, "quotas": {"source": {"a": {"min": 11}}}},
            "the quotas on 'source' take 11 items",
            "at most 10",
            ("sample", "quotas", "source"),
        ),
        # 15 of the 60 items of a have level 0, so that 55 of a and 5 others have 20 at most
        (
            {"size": 60, "quotas": {"source": {"a": {"min": 55}}, "level": {0: {"min": 21}}}},
            "the quotas leave 20 items with level 0",
            "at least 21",
            ("sample", "quotas", "level", "0"),
        ),
    ],
)
def test_a_shortage_says_what_is_short(
    sample: dict[str, Any], found: str, wanted: str, place: tuple[str, ...]
) -> None:
    short = shortage(HUNDRED, **sample)
    assert short.found.startswith(found)
    assert (short.wanted, short.place) == (wanted, place)


def test_take_all_takes_what_there_is() -> None:
    assert len(drawn(HUNDRED, size=500, if_short="take_all")) == 100
    quotas = {"source": {"c": {"min": 40}, "a": {"max": 5}}}
    assert counted("source", size=60, quotas=quotas, if_short="take_all") == {
        "a": 5, "b": 30, "c": 10,
    }  # fmt: skip


def test_preferred_items_come_first() -> None:
    sample = Sample.model_validate({"size": 10, "seed": 3})
    rising = np.arange(100.0)
    outcome = draw(HUNDRED, sample, [rising % 10, -rising])
    assert isinstance(outcome, Draw)
    assert np.flatnonzero(outcome.drawn).tolist() == [*range(0, 100, 10)]
    outcome = draw(HUNDRED, sample, [np.zeros(100)])
    assert isinstance(outcome, Draw)
    plain = draw(HUNDRED, sample)
    assert isinstance(plain, Draw)
    assert (outcome.drawn == plain.drawn).all()
