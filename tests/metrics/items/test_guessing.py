from __future__ import annotations

import numpy as np
import pytest

from benchprism.metrics.items.guessing import above_guessing, guessing_floor


def test_by_hand() -> None:
    floor = guessing_floor(np.array([4, 5, 0]))
    assert floor.tolist() == [0.25, 0.2, 0]
    found = above_guessing(np.array([0.25, 0.1, 0.3]), floor)
    assert found == pytest.approx([0, -0.125, 0.3])


def test_undefined() -> None:
    found = above_guessing(np.array([1.0, np.nan]), guessing_floor(np.array([1, 4])))
    assert np.isnan(found).all()
