from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from scipy.stats import norm, t

from benchprism.metrics.raters.patterns import Floats
from benchprism.metrics.raters.prediction_powered import (
    PredictionPowered,
    Stratum,
    common_tuning,
    prediction_bias,
    prediction_powered_mean,
    prediction_powered_share,
)

FIRST, REST = np.arange(40), np.arange(360)
TRUTH = (FIRST * 7 % 10 < 3).astype(float)
SHARES = Stratum(
    TRUTH, np.where(FIRST % 8 == 0, 1 - TRUTH, TRUTH), (REST * 3 % 11 < 5).astype(float)
)
LEVELS = Stratum(
    (FIRST * 7 % 4).astype(float),
    ((FIRST * 7 + (FIRST % 5 == 0)) % 4).astype(float),
    (REST * 5 % 7 % 4).astype(float),
)
# ppi_mean_pointestimate and ppi_mean_ci(alpha=0.05) of ppi-python 0.2.3, by lam
PPI_PYTHON = [
    (SHARES, 0.0, 0.3, 0.15798711745533733, 0.44201288254466264),
    (SHARES, 0.5, 0.3652777777777778, 0.2582696113698141, 0.47228594418574155),
    (SHARES, 1.0, 0.4305555555555555, 0.309761773456318, 0.5513493376547931),
    (LEVELS, 0.0, 1.5, 1.1535240439125807, 1.8464759560874193),
    (LEVELS, 0.5, 1.3930555555555557, 1.1447324101241765, 1.641378700986935),
    (LEVELS, 1.0, 1.2861111111111112, 1.0234515067357284, 1.548770715486494),
]
TUNED = [(SHARES, 0.3724540168731474), (LEVELS, 1.3323279006842035)]


@pytest.mark.parametrize(("stratum", "tuning", "estimate", "low", "high"), PPI_PYTHON)
def test_it_is_what_ppi_python_gives(
    stratum: Stratum, tuning: float, estimate: float, low: float, high: float
) -> None:
    found = prediction_powered_mean([stratum], tuning=tuning, finite=False)
    assert found.estimate == pytest.approx(estimate, abs=1e-12)
    # theirs takes the normal quantile and divides squares by n, ours Student's and n - 1
    wider = (found.interval.high - found.interval.low) / (high - low)
    quantiles = t.ppf(0.975, 39) / norm.ppf(0.975)
    assert quantiles * math.sqrt(360 / 359) <= wider <= quantiles * math.sqrt(40 / 39) + 1e-12
    assert sum(found.interval) / 2 == pytest.approx((low + high) / 2, abs=1e-12)


@pytest.mark.parametrize(("stratum", "estimate"), TUNED)
def test_the_tuning_is_that_of_ppi_python_but_for_its_variance(
    stratum: Stratum, estimate: float
) -> None:
    without, with_ = (prediction_powered_mean([stratum], tuning=t).estimate for t in (0.0, 1.0))
    theirs = (estimate - without) / (with_ - without)
    everything = np.concatenate([stratum.predictions, stratum.others]).var(ddof=1)
    ours = prediction_powered_mean([stratum]).tuning
    assert ours == pytest.approx(theirs * everything / stratum.predictions.var())


def test_the_tuning_is_the_slope_of_a_regression() -> None:
    # Labels 0 1 1 2 on predictions 0 0 2 2, means 1 and 1: products 1 0 0 1, squares 1 1 1 1, and
    # the slope is 1/2; over 1 + 4/4, that is 1/4.
    stratum = Stratum(np.array([0.0, 1, 1, 2]), np.array([0.0, 0, 2, 2]), np.array([2.0, 2, 2, 2]))
    found = prediction_powered_mean([stratum])
    assert found.tuning == pytest.approx(0.25)
    assert found.estimate == pytest.approx(1 + 0.25 * (2 - 1))
    # Residuals of y - f/2: 0 1 0 1, variance 1/3; half of the items are labelled.
    error = math.sqrt((1 - 4 / 8) / 3 / 4)
    reach = t.ppf(0.975, 3) * error
    assert found.interval == pytest.approx((1.25 - reach, 1.25 + reach))
    assert found.labels_only.value == 1
    assert found.predicted == pytest.approx((4 + 8) / 8)


def test_shares_of_all_values_sum_to_one_under_one_tuning() -> None:
    rng = np.random.default_rng(3)
    truth, rest = rng.integers(0, 3, 50), rng.integers(0, 3, 200)
    predicted = np.where(rng.random(50) < 0.7, truth, 0)
    outcomes = [
        [Stratum(*(np.equal(values, value) * 1.0 for values in (truth, predicted, rest)))]
        for value in range(3)
    ]
    tuning = common_tuning(outcomes)
    found = [prediction_powered_share(strata, tuning=tuning) for strata in outcomes]
    assert sum(one.estimate for one in found) == pytest.approx(1)
    own = [prediction_powered_share(strata).tuning for strata in outcomes]
    assert min(own) < tuning < max(own)


def test_strata_count_by_their_items_whatever_was_sampled_of_them() -> None:
    # 90 items, of which 2 are labelled, and 10, of which 4 are.
    large = Stratum(np.array([1.0, 0]), np.array([1.0, 1]), np.ones(88))
    small = Stratum(np.array([0.0, 0, 1, 0]), np.zeros(4), np.zeros(6))
    found = prediction_powered_mean([large, small], tuning=0)
    assert found.estimate == pytest.approx(0.9 * 0.5 + 0.1 * 0.25)
    variance = 0.81 * (88 / 90) * 0.5 / 2 + 0.01 * (6 / 10) * 0.25 / 4
    reach = t.ppf(0.975, 4) * math.sqrt(variance)
    assert found.interval.high - found.estimate == pytest.approx(reach)
    assert (found.labelled, found.items) == (6, 100)


def test_all_items_labelled_leave_nothing_open() -> None:
    labels = np.array([0.0, 1, 1, 1])
    found = prediction_powered_share([Stratum(labels, np.zeros(4), np.array([]))])
    assert (found.estimate, found.predicted) == (0.75, 0)
    assert found.interval.low == found.interval.high


def test_right_predictions_give_the_share_itself() -> None:
    labels = np.repeat([1.0, 0.0], [10, 30])
    found = prediction_powered_share([Stratum(labels, labels, np.repeat([1.0, 0.0], [40, 160]))])
    assert found.estimate == pytest.approx(50 / 240)
    assert found.interval.low < 50 / 240 < found.interval.high


def test_half_items_keep_an_interval_where_nothing_differs() -> None:
    # No label of 40 and no prediction: 1 of 42, twice 0.95 items of it unlabelled.
    found = prediction_powered_share([Stratum(np.zeros(40), np.zeros(40), np.zeros(760))])
    mean = 1 / 42
    reach = t.ppf(0.975, 39) * math.sqrt(0.95 * mean * (1 - mean) / 41)
    assert found.estimate == 0
    assert found.interval == pytest.approx((0, mean + reach))


def test_the_bias_is_on_the_side_of_the_predictions() -> None:
    labels, predictions = np.array([1.0, 2, 3, 0]), np.array([2.0, 2, 3, 2])
    found = prediction_bias([Stratum(labels, predictions, np.zeros(96))], share=False)
    assert found.value == pytest.approx(0.75)
    # differences 1 0 0 2: variance 11/12
    reach = t.ppf(0.975, 3) * math.sqrt(0.96 * 11 / 12 / 4)
    assert found.interval == pytest.approx((0.75 - reach, 0.75 + reach))


def test_what_is_undefined_says_why() -> None:
    empty = Stratum(np.array([]), np.array([]), np.ones(5))
    for found in (prediction_powered_share([empty]), prediction_powered_mean([empty])):
        assert math.isnan(found.estimate)
        assert found.reason == "a stratum has no labelled item"
        assert (found.predicted, found.items) == (1, 5)
    assert prediction_powered_mean([]).reason == "there is no item"
    assert prediction_bias([empty], share=True).reason == "a stratum has no labelled item"
    one = Stratum(np.ones(1), np.ones(1), np.ones(5))
    assert prediction_powered_mean([one]).reason == (
        "no interval: a stratum has a single labelled item"
    )
    assert prediction_powered_share([one]).reason == "no interval: a single labelled item"
    alike = prediction_bias([Stratum(np.ones(9), np.ones(9), np.ones(5))], share=False)
    assert (alike.value, alike.reason) == (0, "no interval: all differences are the same")


Draw = Callable[[np.random.Generator], tuple[Floats, Floats]]


def benchmark(prevalence: float, found: float, false: float, items: int = 1000) -> Draw:
    def draw(rng: np.random.Generator) -> tuple[Floats, Floats]:
        truth = rng.random(items) < prevalence
        predicted = rng.random(items) < np.where(truth, found, false)
        return truth.astype(float), predicted.astype(float)

    return draw


def covered(
    draw: Draw,
    of: Callable[[list[Stratum]], PredictionPowered],
    sizes: tuple[tuple[int, int], ...],
    times: int = 500,
) -> tuple[float, float, float]:
    """How often the interval, and that of labels alone, holds the mean; the one's width of the
    other's. Each stratum has a number of items and of labels."""
    rng = np.random.default_rng(7)
    held = held_alone = 0
    widths = np.zeros(2)
    for _ in range(times):
        truth, predicted = draw(rng)
        strata, start = [], 0
        for items, labelled in sizes:
            rows = start + rng.permutation(items)
            first, rest = rows[:labelled], rows[labelled:]
            strata.append(Stratum(truth[first], predicted[first], predicted[rest]))
            start += items
        found, mean = of(strata), truth.mean()
        alone = found.labels_only.interval
        held += found.interval.low <= mean <= found.interval.high
        held_alone += alone.low <= mean <= alone.high
        widths += found.interval.high - found.interval.low, alone.high - alone.low
    return held / times, held_alone / times, widths[0] / widths[1]


@pytest.mark.parametrize(
    ("draw", "sizes"),
    [
        (benchmark(0.3, 0.9, 0.1), ((1000, 50),)),
        (benchmark(0.05, 0.8, 0.02), ((1000, 50),)),
        (benchmark(0.02, 0.0, 0.3), ((1000, 30),)),
        (benchmark(0.5, 0.5, 0.5), ((1000, 100),)),
        (benchmark(0.3, 0.9, 0.1), ((1000, 600),)),
        (benchmark(0.2, 0.7, 0.2), ((700, 20), (200, 20), (100, 10))),
        (benchmark(0.3, 0.9, 0.1), ((50, 2),) * 20),
    ],
)
def test_intervals_of_a_share_hold_it(draw: Draw, sizes: tuple[tuple[int, int], ...]) -> None:
    held, held_alone, _ = covered(draw, prediction_powered_share, sizes)
    assert held > 0.92
    assert held_alone > 0.92


def test_good_predictions_narrow_the_interval_and_useless_ones_do_no_harm() -> None:
    good = covered(benchmark(0.4, 0.95, 0.05), prediction_powered_share, ((1000, 60),), 100)
    useless = covered(benchmark(0.4, 0.5, 0.5), prediction_powered_share, ((1000, 60),), 100)
    assert good[2] < 0.6
    assert useless[2] < 1.02


def test_intervals_of_a_mean_hold_it() -> None:
    def levels(rng: np.random.Generator) -> tuple[Floats, Floats]:
        truth = rng.choice(4, 800, p=[0.4, 0.3, 0.2, 0.1]).astype(float)
        return truth, np.minimum(truth + (rng.random(800) < 0.4), 3)

    held, held_alone, width = covered(levels, prediction_powered_mean, ((800, 50),))
    assert 0.92 < held <= 1
    assert 0.92 < held_alone <= 1
    assert width < 0.7
