from __future__ import annotations

import numpy as np

from benchprism.metrics.bootstrap.groups import joined_groups, summed_by_group


def test_keys_of_several_kinds_join_in_chains() -> None:
    # 0 and 2 share a passage, 2 and 3 a text: all three are one group.
    passages = ["p", None, "p", None, None]
    texts = ["a", "b", "c", "c", "d"]
    found = joined_groups(passages, texts)
    assert found is not None
    assert found.tolist() == [0, 1, 0, 0, 2]


def test_what_is_absent_joins_nothing() -> None:
    assert joined_groups([None, None, None]) is None
    assert joined_groups(["a", "b", "c"], [None] * 3) is None
    assert joined_groups() is None


def test_sums_by_group() -> None:
    rows = np.array([[1.0, 10.0], [2.0, 20.0], [4.0, 40.0]])
    assert summed_by_group(rows, np.array([1, 0, 1])).tolist() == [[2, 20], [5, 50]]
    assert summed_by_group(rows, None) is rows
