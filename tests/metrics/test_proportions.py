from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from benchprism.metrics.proportions import wilson_interval


@given(st.integers(1, 400).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_it_is_wilson_s_interval(pair: tuple[int, int]) -> None:
    count, total = pair
    found = wilson_interval(count, total)
    expected = binomtest(count, total).proportion_ci(method="wilson")
    assert found.share == count / total
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), abs=1e-12)
    assert 0 <= found.low <= found.share <= found.high <= 1


def test_nothing_looked_at_is_undefined() -> None:
    found = wilson_interval(0, 0)
    assert all(math.isnan(number) for number in (found.share, found.low, found.high))


@pytest.mark.parametrize(("count", "total"), [(-1, 3), (4, 3)])
def test_a_count_that_cannot_be_is_refused(count: int, total: int) -> None:
    with pytest.raises(ValueError, match="not between 0 and total"):
        wilson_interval(count, total)
