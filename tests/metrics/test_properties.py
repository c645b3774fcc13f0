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
    comparison,
    consistency,
    cross_family,
    discriminability,
    inversion_test,
    quality,
    reliability,
    sensitivity,
    shrinkage,
    stability,
    standard_errors,
    tradeoff,
)
from benchprism.metrics.bootstrap.over_items import ItemSample, item_columns
from benchprism.metrics.items import (
    abilities,
    explained,
    guessing,
    item_response,
    item_statistics,
    rank_changes,
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
    a_model: bool = False
    """One number for each model."""
    items_in_any_order: bool = True
    models_in_any_order: bool = True
    items_twice: bool = True
    """The same when every item is there twice."""
    tolerance: float = 1e-9


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


def families(data: Data) -> tuple[alignment.Family, ...]:
    """The first half of the models as one family, the rest as another."""
    half = len(data.sizes) // 2
    names = ["f"] * half + ["g"] * (len(data.sizes) - half)
    return alignment.families_of(names, data.sizes)


def sample(data: Data) -> ItemSample:
    columns = item_columns("b", data.first, np.arange(len(data.sizes)), data.inversions)
    return ItemSample((columns,), len(data.sizes))


def halves(data: Data) -> tuple[float, float]:
    found = reliability.split_half_reliability(sample(data), splits=8)[0]
    return found.tau, found.coefficient


def compared(data: Data) -> tuple[float, ...]:
    rng = np.random.default_rng(0)
    found = comparison.compare_models(data.first[:, 0], data.first[:, 1], rng, replicates=0)
    return found.difference, found.first - 1, found.second - 1


def rates(data: Data) -> list[float]:
    found = data.inversions
    return [
        alignment.inversion_rate(int(found.inverted[k::3].sum()), int(found.compared[k::3].sum()))
        for k in range(3)
    ]


def shrunken(data: Data) -> list[float]:
    tau = consistency.tau_matrix(data.accuracies)
    return [one.mean for one in shrinkage.shrunken_consistency(tau, ["d", "d"])]


def shared(data: Data) -> list[float]:
    found = cross_family.cross_family_evidence(data.first, families(data))
    return [found.shared_rate, found.supported_rate, found.supported_cad]


def demanded(data: Data) -> Floats:
    loadings = np.ones((len(data.first), 1))
    return abilities.fit_abilities(data.first, loadings, iterations=20).ability[:, 0]


def standing(data: Data) -> Floats:
    codes = np.zeros(len(data.first), dtype=np.int64)
    (found,) = rank_changes.rank_changes(
        sample(data).benchmarks[0], data.first, codes, 1, benchmarks=codes, replicates=0
    )
    return found.rank


def share(data: Data) -> list[float]:
    order = np.arange(len(data.first))
    ranked = [tradeoff.RankedItems(data.first, order)]
    curve = tradeoff.share_curve(ranked, shares=[1.0], redraws=4)
    return [curve.points[0].consistency]


def explained_by_second(data: Data) -> float:
    items = min(len(data.first), len(data.second))
    difficulty = item_statistics.difficulty(data.first)[:items]
    level = data.second[:items, :1]
    rng = np.random.default_rng(0)
    return explained.explained_variance(difficulty, level, rng, replicates=0).share


def holey(scores: Floats) -> Floats:
    """The scores without those of the second model that are 0, whatever the order of the items."""
    kept = scores.copy()
    kept[kept[:, 1] == 0, 1] = np.nan
    return kept


def typical(data: Data) -> list[float]:
    error = standard_errors.typical_error(standard_errors.difference_errors(data.first))
    return [standard_errors.detectable_difference(error), standard_errors.noise_epsilon(error)]


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
    "split_half_reliability": Metric(
        halves, -1, 1, items_in_any_order=False, items_twice=False
    ),
    "order_test": Metric(
        lambda d: inversion_test.order_test(
            d.first, alignment.families_of(["f"] * len(d.sizes), d.sizes), np.random.default_rng(0)
        ).p_value, 0, 1,
    ),
    "difference_errors": Metric(
        lambda d: standard_errors.difference_errors(d.first).max(), 0, 1, items_twice=False
    ),
    "paired_errors": Metric(
        lambda d: standard_errors.paired_errors(holey(d.first)), 0, 1,
        models_in_any_order=False, items_twice=False,
    ),
    "detectable_difference": Metric(typical, 0, np.inf, items_twice=False),
    "noise_epsilon": Metric(typical, 0, np.inf, items_twice=False),
    "compare_models": Metric(compared, -1, 1, models_in_any_order=False),
    "exact_mcnemar": Metric(
        lambda d: comparison.exact_mcnemar(
            int((d.first[:, 0] > d.first[:, 1]).sum()), int((d.first[:, 0] < d.first[:, 1]).sum())
        ), 0, 1, models_in_any_order=False, items_twice=False,
    ),
    "adaptive_decay": Metric(
        lambda d: sensitivity.adaptive_decay(rates(d)), 0, np.inf,
        items_in_any_order=False, items_twice=False,
    ),
    "shrunken_consistency": Metric(shrunken, -1, 1),
    "cross_family_evidence": Metric(shared, 0, 1, models_in_any_order=False, items_twice=False),
    "item_evidence_of_families": Metric(
        lambda d: cross_family.item_evidence_of_families(d.first, families(d)).p_values, 0, 1,
        an_item=True, models_in_any_order=False,
    ),
    "guessing_floor": Metric(
        lambda d: guessing.guessing_floor((4 * d.first[:, 0]).astype(np.int64)), 0, 1,
        an_item=True, models_in_any_order=False,
    ),
    "above_guessing": Metric(
        lambda d: guessing.above_guessing(
            1 - item_statistics.difficulty(d.first), np.full(len(d.first), 0.25)
        ), -1 / 3, 1, an_item=True,
    ),
    "fit_item_response": Metric(
        lambda d: item_response.fit_item_response(d.first, iterations=20).ability,
        -np.inf, np.inf, a_model=True, items_twice=False, tolerance=1e-5,
    ),
    "fit_abilities": Metric(
        demanded, -np.inf, np.inf, a_model=True, items_twice=False, tolerance=1e-5
    ),
    "explained_variance": Metric(
        explained_by_second, -np.inf, 1,
        items_in_any_order=False, models_in_any_order=False, items_twice=False,
    ),
    "rank_changes": Metric(standing, 1, np.inf, a_model=True),
    "share_curve": Metric(share, -1, 1),
}  # fmt: skip

MODULES = [
    abilities, alignment, comparison, consistency, cross_family, discriminability, explained,
    guessing, inversion_test, item_response, item_statistics, quality, rank_changes, reliability,
    sensitivity, shrinkage, stability, standard_errors, tradeoff,
]  # fmt: skip
SAME_AS = {"bootstrap_stability": "stability"}
"""Functions that give, for many benchmarks at once, what another gives for one."""


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


def close(one: Floats, other: Floats, tolerance: float = 1e-9) -> bool:
    return np.allclose(one, other, rtol=0, atol=tolerance, equal_nan=True)


ALL = pytest.mark.parametrize("name", METRICS)
few = settings(max_examples=40, deadline=None)


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_every_metric_is_in_the_table(module: ModuleType) -> None:
    own = {
        name
        for name, function in inspect.getmembers(module, inspect.isfunction)
        if function.__module__ == module.__name__ and "Source:" in (function.__doc__ or "")
    }
    assert {SAME_AS.get(name, name) for name in own} <= METRICS.keys()


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
    metric = METRICS[name]
    if not metric.models_in_any_order:
        return
    order = list(range(len(data.sizes)))
    random.shuffle(order)
    sizes = tuple(data.sizes[model] for model in order)
    other = Data(data.first[:, order], data.second[:, order], sizes)
    wanted = value(metric, data)
    wanted = wanted[order] if metric.a_model else wanted
    assert close(wanted, value(metric, other), metric.tolerance)


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
        assert close(value(metric, data), found, metric.tolerance)


@ALL
@few
@given(data=drawn())
def test_items_given_twice_change_nothing(name: str, data: Data) -> None:
    metric = METRICS[name]
    if metric.items_twice:
        twice = Data(np.repeat(data.first, 2, axis=0), data.second, data.sizes)
        wanted = value(metric, data)
        assert close(np.repeat(wanted, 2) if metric.an_item else wanted, value(metric, twice))
