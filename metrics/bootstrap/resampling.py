"""Resampling: random weights of items or models, and intervals from replicates.

A bootstrap replicate is a vector of weights: how often each item (or model) is drawn. Every
statistic that is a sum over items is then one matrix product for many replicates.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray

BLOCK = 128
"""Replicates that share one stream of random numbers."""

_LARGEST_UNDEFINED_SHARE = 0.05
_SAME = 1e-12
_LOST = "it is undefined in more than 5 % of the replicates"
_CONSTANT = "it is the same in every replicate, which does not say how sure it is"


@dataclass(frozen=True, slots=True)
class Interval:
    """An interval for the true value of an estimate; NaN at both ends when undefined."""

    low: float
    high: float
    method: Literal["basic"] = "basic"
    reason: str = field(default="", repr=False)
    """Why it is undefined, where that is known."""

    @property
    def defined(self) -> bool:
        """Whether there is an interval."""
        return not math.isnan(self.low)


UNDEFINED = Interval(math.nan, math.nan)


def basic_interval(
    estimate: float, replicates: NDArray[np.float64], *, level: float = 0.95
) -> Interval:
    """Basic (reverse percentile) bootstrap interval.

    Tells where the true value lies, given how replicates scatter about the estimate.

    Formula: ``[2 t - q(1 - a/2), 2 t - q(a/2)]`` with t the estimate, q the quantiles of the
    replicates and a = 1 - level. Where resampling pulls replicates down, as it does with CBRC
    (noise is added a second time), the interval moves up by as much: unlike the percentile
    interval it corrects for the bias, and it may then lie wholly above the estimate.

    Args:
        estimate: the value on the data.
        replicates: (K,) the values on K resampled data sets; NaN where a replicate has none.
        level: confidence level.

    Returns:
        An ``Interval``. It is clipped nowhere: its ends can pass the bounds of the statistic. NaN
        when the estimate is NaN or more than 5 % of the replicates are.

    Source: A. C. Davison and D. V. Hinkley, Bootstrap Methods and their Application (1997), 5.2.

    >>> basic_interval(0.5, np.array([0.3, 0.4, 0.5, 0.6, 0.8]), level=0.5)
    Interval(low=0.4, high=0.6, method='basic')
    """
    known = replicates[~np.isnan(replicates)]
    lost = len(replicates) - len(known)
    if math.isnan(estimate) or not len(known) or lost > _LARGEST_UNDEFINED_SHARE * len(replicates):
        return Interval(math.nan, math.nan, reason=_LOST)
    low, high = np.quantile(known, [(1 - level) / 2, (1 + level) / 2])
    return Interval(float(2 * estimate - high), float(2 * estimate - low))


def sampling_interval(
    estimate: float, replicates: NDArray[np.float64], *, level: float = 0.95
) -> Interval:
    """``basic_interval`` of a number whose replicates have to differ for it to say anything.

    Resampling items that all models solve gives an accuracy of 1 each time, and an interval without
    width. Other items of the same kind would tell; these do not.

    Args:
        estimate: as there.
        replicates: as there.
        level: as there.

    Returns:
        An ``Interval``, NaN also when all replicates are the same.

    >>> sampling_interval(1.0, np.ones(100)).defined
    False
    """
    found = basic_interval(estimate, replicates, level=level)
    if found.defined and np.nanmax(replicates) - np.nanmin(replicates) < _SAME:
        return Interval(math.nan, math.nan, reason=_CONSTANT)
    return found


def blocks(replicates: int) -> Iterator[tuple[int, int]]:
    """Split replicates into blocks: number and size of each.

    >>> list(blocks(150))
    [(0, 128), (1, 22)]
    """
    for number, start in enumerate(range(0, replicates, BLOCK)):
        yield number, min(BLOCK, replicates - start)


def stream(seed: int, key: str, block: int) -> np.random.Generator:
    """The random numbers of one block of replicates of what ``key`` names.

    They depend on nothing else: neither on how many benchmarks are scored together nor on threads.
    """
    digest = hashlib.blake2b(key.encode(), digest_size=8).digest()
    entropy = [seed, int.from_bytes(digest, "little"), block]
    return np.random.Generator(np.random.SFC64(np.random.SeedSequence(entropy)))


def bootstrap_weights(rng: np.random.Generator, units: int, replicates: int) -> NDArray[np.float32]:
    """How often each of ``units`` is drawn in ``units`` draws with replacement.

    Exactly multinomial, and several times faster than drawing indices: independent Poisson counts
    with a mean a little below 1 are multinomial given their total, and stay so when the draws that
    are missing are added, or the few that are too many taken away, at random.

    Args:
        rng: source of chance.
        units: number of items or models, at least 1.
        replicates: number of rows.

    Returns:
        (replicates, units), whole numbers; each row sums to ``units``.

    >>> bootstrap_weights(np.random.default_rng(0), 5, 3).sum(axis=1)
    array([5., 5., 5.], dtype=float32)
    """
    counts = _poisson_counts(rng, units, replicates * units).reshape(replicates, units)
    weights = counts.astype(np.float32)
    lacking = units - weights.sum(axis=1).astype(np.int64)
    for row in np.flatnonzero(lacking < 0):
        drawn = np.repeat(np.arange(units), counts[row])
        surplus = rng.choice(drawn, -lacking[row], replace=False)
        np.subtract.at(weights[row], surplus, np.float32(1))
    rows = np.repeat(np.arange(replicates), np.maximum(lacking, 0))
    places = rows * units + rng.integers(0, units, len(rows))
    np.add.at(weights.reshape(-1), places, np.float32(1))
    return weights


def _poisson_counts(rng: np.random.Generator, units: int, number: int) -> NDArray[np.uint8]:
    """Poisson counts from 16 random bits; what 16 bits cannot tell is drawn again.

    A count is how many thresholds the bits reach: comparisons are faster than looking up a table.
    """
    thresholds, remainder = _poisson_law(units)
    bits = np.frombuffer(_raw(rng, number), dtype="<u2")[:number]
    counts = np.zeros(number, dtype=np.uint8)
    reached = np.zeros(number, dtype=bool)
    for threshold in thresholds:
        counts += np.greater_equal(bits, threshold, out=reached).view(np.uint8)
    undecided = np.flatnonzero(reached)
    counts[undecided] = np.searchsorted(remainder, rng.random(len(undecided)), side="right")
    return counts


def _raw(rng: np.random.Generator, number: int) -> NDArray[np.uint64]:
    words: NDArray[np.uint64] = rng.bit_generator.random_raw((number + 3) // 4)
    return words


@lru_cache(maxsize=256)
def _poisson_law(units: int) -> tuple[tuple[np.uint16, ...], NDArray[np.float64]]:
    """Thresholds on 16 bits for whole slots of probability, and the law of what they leave over.

    Bits from the last threshold on are left over. The mean is set 2.5 standard deviations short of
    one draw a unit, so that a row is rarely too full.
    """
    mean = max(0.0, 1 - 2.5 / math.sqrt(units))
    law = [math.exp(-mean) * mean**count / math.factorial(count) for count in range(32)]
    shares = 65536 * np.array(law)
    slots = np.floor(shares).astype(np.int64)
    ends = slots.cumsum()[slots > 0]
    thresholds = tuple(np.uint16(end) for end in ends if end < 65536)
    left = np.cumsum(shares - slots)
    return thresholds, left / (left[-1] or 1.0)
