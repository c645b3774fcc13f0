from __future__ import annotations

import math

import numpy as np
import pytest

from benchprism.metrics.quality import benchmark_quality


def test_by_hand() -> None:
    # 0.3 * 0.75 + 0.3 * 0.2 + 0.4 * 0.6
    assert benchmark_quality(0.5, 0.2, 0.6) == pytest.approx(0.525)


def test_nothing_is_clipped() -> None:
    assert benchmark_quality(1.0, 2.0, 1.0) == pytest.approx(1.3)


def test_it_is_undefined_when_a_part_is() -> None:
    assert math.isnan(benchmark_quality(math.nan, 0.5, 0.5))


def test_of_arrays() -> None:
    found = benchmark_quality(np.array([1.0, -1.0]), np.array([1.0, 0.0]), np.array([1.0, 0.5]))
    assert found.tolist() == pytest.approx([1.0, 0.2])
