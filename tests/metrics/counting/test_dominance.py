"""Counting without visiting pairs gives what visiting them gives."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import kendalltau

from benchprism.metrics.counting.dominance import balance, ordering


def signs(values: NDArray[np.int16]) -> NDArray[np.int64]:
    wide = values.astype(np.int64)
    return np.asarray(np.sign(wide[:, :, None] - wide[:, None, :]))


def drawn(models: int, items: int, replicates: int = 3, seed: int = 0) -> NDArray[np.int16]:
    rng = np.random.default_rng([seed, items])
    chance = 1 / (1 + np.exp(-np.linspace(-1.5, 1.5, models)))
    return rng.binomial(items, rng.permutation(chance), (replicates, models)).astype(np.int16)


@pytest.mark.parametrize("models", [2, 17, 130, 700])
@pytest.mark.parametrize(("one", "other"), [(5000, 3000), (5000, 9), (40, 25), (3, 2), (0, 50)])
def test_balance_is_that_of_all_pairs(models: int, one: int, other: int) -> None:
    """From hardly any ties to hardly anything but ties."""
    first, second = drawn(models, one), drawn(models, other, seed=1)
    wanted = (signs(first) * signs(second)).sum(axis=(1, 2)) // 2
    assert balance(ordering(first), ordering(second)).tolist() == wanted.tolist()
    assert balance(ordering(second), ordering(first)).tolist() == wanted.tolist()


@pytest.mark.parametrize("items", [2, 30, 4000])
def test_tied_and_distant_pairs_are_those_of_all_pairs(items: int) -> None:
    values = drawn(300, items)
    found = ordering(values)
    apart = np.abs(values[:, :, None].astype(int) - values[:, None, :])
    assert found.tied.tolist() == (((apart == 0).sum(axis=(1, 2)) - 300) // 2).tolist()
    for gap in (0, 1, 7, 10_000):
        assert found.distant(gap).tolist() == ((apart > gap).sum(axis=(1, 2)) // 2).tolist()


def test_tau_is_scipys() -> None:
    first, second = drawn(900, 60), drawn(900, 2000, seed=2)
    one, other = ordering(first), ordering(second)
    pairs = 900 * 899 / 2
    tau = balance(one, other) / np.sqrt((pairs - one.tied) * (pairs - other.tied))
    wanted = [kendalltau(a, b).statistic for a, b in zip(first, second, strict=True)]
    assert tau == pytest.approx(wanted, abs=1e-12)
