from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from benchprism.compose.sampling.crossing import Bounds, Counts, Unmet, settle


def counts(*values: object) -> Counts:
    return np.array(values, dtype=np.int64)


FREE = Bounds(counts(0, 0), counts(99, 99))


def test_nothing_changes_where_the_bounds_hold() -> None:
    drawn = counts([3, 1], [2, 2])
    settled = settle(drawn, counts([9, 9], [9, 9]), FREE, Bounds(counts(0, 0), counts(5, 5)))
    assert isinstance(settled, np.ndarray)
    assert settled.tolist() == [[3, 1], [2, 2]]


def test_an_exchange_stays_inside_a_group_where_it_can() -> None:
    drawn, available = counts([4, 0], [4, 0]), counts([9, 1], [9, 9])
    settled = settle(drawn, available, FREE, Bounds(counts(0, 3), counts(99, 99)))
    assert isinstance(settled, np.ndarray)
    # three of the second value: both groups still give four, though the first has only one
    assert settled.sum(axis=1).tolist() == [4, 4]
    assert settled.sum(axis=0).tolist() == [5, 3]


def test_groups_give_way_only_when_they_must() -> None:
    drawn, available = counts([4, 0], [4, 0]), counts([9, 0], [9, 9])
    values = Bounds(counts(0, 6), counts(99, 99))
    settled = settle(drawn, available, FREE, values)
    assert isinstance(settled, np.ndarray)
    # the first group has none of the value: the second gives six, the first the other two
    assert settled.tolist() == [[2, 0], [0, 6]]


def test_what_cannot_be_met_is_named() -> None:
    drawn, available = counts([4, 0], [4, 0]), counts([9, 1], [9, 1])
    assert settle(drawn, available, FREE, Bounds(counts(0, 3), counts(99, 99))) == Unmet(1, 2)
    held = Bounds(counts(4, 4), counts(4, 4))
    found = settle(drawn, counts([4, 0], [9, 9]), held, Bounds(counts(0, 0), counts(3, 99)))
    assert found == Unmet(0, 4)


@settings(deadline=None, max_examples=150)
@given(st.integers(0, 10**6))
def test_a_way_is_found_whenever_there_is_one(seed: int) -> None:
    rng = np.random.default_rng(seed)
    shape = tuple(rng.integers(1, 5, 2))
    available = rng.integers(0, 12, shape)
    drawn = rng.integers(0, available + 1)
    rows, columns = drawn.sum(axis=1), drawn.sum(axis=0)
    groups = Bounds(
        np.maximum(rows - rng.integers(0, 4, shape[0]), 0), rows + rng.integers(0, 4, shape[0])
    )
    least = np.maximum(columns + rng.integers(-6, 6, shape[1]), 0)
    values = Bounds(least, least + rng.integers(0, 8, shape[1]))
    settled = settle(drawn, available, groups, values)
    assert isinstance(settled, Unmet) == (not feasible(available, int(drawn.sum()), groups, values))
    if not isinstance(settled, Unmet):
        assert (settled >= 0).all()
        assert (settled <= available).all()
        assert settled.sum() == drawn.sum()
        for sums, bounds in ((settled.sum(axis=1), groups), (settled.sum(axis=0), values)):
            assert (bounds.least <= sums).all()
            assert (sums <= bounds.most).all()


def feasible(available: Counts, total: int, groups: Bounds, values: Bounds) -> bool:
    """By linear programming: a transport problem has a whole solution if it has any."""
    rows, columns = available.shape
    sums = [np.kron(np.eye(rows), np.ones(columns)), np.kron(np.ones(rows), np.eye(columns))]
    matrix = np.concatenate([s for own in sums for s in (own, -own)])
    bounds = [b for own in (groups, values) for b in (own.most, -own.least)]
    found = linprog(
        np.zeros(available.size),
        A_ub=matrix,
        b_ub=np.concatenate(bounds),
        A_eq=np.ones((1, available.size)),
        b_eq=[total],
        bounds=[(0, int(n)) for n in available.ravel()],
    )
    return bool(found.status == 0)
