from __future__ import annotations

import numpy as np
import pytest

from benchprism.metrics.counting import pairs
from benchprism.metrics.counting.pairs import count_pairs, pair_differences


@pytest.mark.parametrize("models", [0, 1, 2, 3, 4, 7, 10])
def test_every_unordered_pair_is_met_once(models: int) -> None:
    values = 2 ** np.arange(models)
    met = [np.abs(block) for block in pair_differences(values)]
    wanted = [abs(int(a) - int(b)) for i, a in enumerate(values) for b in values[:i]]
    assert sorted(np.concatenate([*met, []])) == sorted(wanted)


def test_the_counts_are_those_of_a_plain_loop() -> None:
    rng = np.random.default_rng(1)
    values = rng.integers(0, 6, (4, 3, 7)).astype(np.float64)
    values[:, 1, 2] = np.nan
    gaps = np.array([0.0, 1.0, 2.5])
    found = count_pairs(values, gaps)
    balance = np.zeros((4, 3, 3))
    untied = np.zeros((4, 3, 3))
    distant = np.zeros((4, 3), dtype=int)
    for k in range(4):
        for a in range(7):
            for b in range(a):
                d = values[k, :, a] - values[k, :, b]
                for i in range(3):
                    distant[k, i] += abs(d[i]) > gaps[i]
                    for j in range(3):
                        if not np.isnan(d[i] + d[j]):
                            balance[k, i, j] += np.sign(d[i]) * np.sign(d[j])
                            untied[k, i, j] += d[i] != 0
    assert np.array_equal(found.balance, balance)
    assert np.array_equal(found.untied, untied)
    assert np.array_equal(found.distant, distant)


def test_integers_count_as_floats_do_however_the_pairs_are_split(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    values = np.random.default_rng(2).integers(0, 9, (5, 4, 12)).astype(np.int16)
    gaps = np.array([0, 1, 2, 3])
    whole = count_pairs(values.astype(np.float64), gaps)
    monkeypatch.setattr(pairs, "_ELEMENTS", 1)
    split = count_pairs(values, gaps)
    assert np.array_equal(whole.balance, split.balance)
    assert np.array_equal(whole.untied, split.untied)
    assert np.array_equal(whole.distant, split.distant)
