"""Properties of the benchmark metrics, declared in one table and tried on drawn scores."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from types import ModuleType

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from benchprism.metrics import (
    alignment,
    consistency,
    discriminability,
    item_statistics,
    quality,
    stability,
)

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Data:
    """Two benchmarks with the same models."""

    first: Floats
    second: Floats
    sizes: tuple[int, ...]
    """Sizes of the models, which are all of one family."""

    @property
    def accuracies(self) -> Floats:
        return np.array([self.first.mean(axis=0), self.second.mean(axis=0)]).round(12)

    @property
    def inversions(self) -> alignment.ItemInversions:
        families = alignment.families_of(["f"] * len(self.sizes), self.sizes)
        return alignment.item_inversions(self.first, families)


@dataclass(frozen=True)
class Metric:
    """One metric of two benchmarks and what is promised of it."""

    of: Callable[[Data], object]
    low: float
    high: float
    an_item: bool = False
    """One number for each item of the first benchmark."""
    items_in_any_order: bool = True
    items_twice: bool = True
    """The same when every item is there twice."""


def cad(data: Data) -> float:
    found = data.inversions
    rate = alignment.inversion_rate(int(found.inverted.sum()), int(found.compared.sum()))
    return alignment.capability_alignment(rate)


def cbrc(data: Data) -> list[float]:
    found = consistency.cross_benchmark_consistency(data.accuracies, ["d", "d"])
    return [one.value for one in found]


def ds(data: Data) -> float:
    items = len(data.first) if np.isin(data.first, [0, 1]).all() else None
    return discriminability.discriminability(data.accuracies[0], items=items)


METRICS: dict[str, Metric] = {
    "kendall_tau": Metric(lambda d: consistency.kendall_tau(*d.accuracies), -1, 1),
    "cross_benchmark_consistency": Metric(cbrc, -1, 1),
    "discriminability": Metric(ds, 0, np.inf),
    "capability_alignment": Metric(cad, 0, 1),
    "benchmark_quality": Metric(
        lambda d: quality.benchmark_quality(cbrc(d)[0], ds(d), cad(d)), 0, np.inf
    ),
    "ranking_consistency": Metric(lambda d: stability.ranking_consistency(*d.accuracies), -1, 1),
    "stability": Metric(
        lambda d: stability.stability(d.first, np.random.default_rng(0), draws=5),
        -1, 1, items_in_any_order=False, items_twice=False,
    ),
    "difficulty": Metric(lambda d: item_statistics.difficulty(d.first), 0, 1, an_item=True),
    "variance": Metric(lambda d: item_statistics.variance(d.first), 0, 0.25, an_item=True),
    "discrimination": Metric(
        lambda d: item_statistics.discrimination(d.first), -1, 1, an_item=True, items_twice=False
    ),
}  # fmt: skip

MODULES = [alignment, consistency, discriminability, item_statistics, quality, stability]


@st.composite
def drawn(draw: st.DrawFn) -> Data:
    models = draw(st.integers(2, 6))
    sizes = tuple(draw(st.lists(st.integers(1, 4), min_size=models, max_size=models)))
    steps = draw(st.sampled_from([1, 4]))  # right or wrong, or quarters

    def scores() -> Floats:
        row = st.lists(st.integers(0, steps), min_size=models, max_size=models)
        rows = draw(st.lists(row, min_size=1, max_size=12))
        return np.array(rows, dtype=np.float64) / steps

    return Data(scores(), scores(), sizes)


def value(metric: Metric, data: Data) -> Floats:
    return np.atleast_1d(np.asarray(metric.of(data), dtype=np.float64))


def close(one: Floats, other: Floats) -> bool:
    return np.allclose(one, other, rtol=0, atol=1e-9, equal_nan=True)


ALL = pytest.mark.parametrize("name", METRICS)
few = settings(max_examples=40, deadline=None)


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_every_metric_is_in_the_table(module: ModuleType) -> None:
    own = {
        name
        for name, function in inspect.getmembers(module, inspect.isfunction)
        if function.__module__ == module.__name__ and "Source:" in (function.__doc__ or "")
    }
    assert own <= METRICS.keys()


@ALL
@few
@given(data=drawn())
def test_bounds(name: str, data: Data) -> None:
    metric = METRICS[name]
    found = value(metric, data)
    known = found[~np.isnan(found)]
    assert (known >= metric.low - 1e-9).all()
    assert (known <= metric.high + 1e-9).all()


@ALL
@few
@given(data=drawn(), random=st.randoms(use_true_random=False))
def test_the_order_of_models_does_not_matter(name: str, data: Data, random: Random) -> None:
    order = list(range(len(data.sizes)))
    random.shuffle(order)
    sizes = tuple(data.sizes[model] for model in order)
    other = Data(data.first[:, order], data.second[:, order], sizes)
    assert close(value(METRICS[name], data), value(METRICS[name], other))


@ALL
@few
@given(data=drawn(), random=st.randoms(use_true_random=False))
def test_the_order_of_items_does_not_matter(name: str, data: Data, random: Random) -> None:
    metric = METRICS[name]
    order = list(range(len(data.first)))
    random.shuffle(order)
    found = value(metric, Data(data.first[order], data.second, data.sizes))
    if metric.an_item:
        assert close(value(metric, data)[order], found)
    elif metric.items_in_any_order:
        assert close(value(metric, data), found)


@ALL
@few
@given(data=drawn())
def test_items_given_twice_change_nothing(name: str, data: Data) -> None:
    metric = METRICS[name]
    if metric.items_twice:
        twice = Data(np.repeat(data.first, 2, axis=0), data.second, data.sizes)
        wanted = value(metric, data)
        assert close(np.repeat(wanted, 2) if metric.an_item else wanted, value(metric, twice))
