"""The scorecard: every number about several benchmarks, with intervals and what to know of it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from .alignment import DECAY
from .bootstrap.resampling import UNDEFINED, Interval
from .consistency import Ties
from .cross_family import CrossFamily
from .inversion_test import UNTESTED, OrderTest
from .reliability import UNKNOWN, Reliability
from .sensitivity import Curve
from .shrinkage import ShrunkenConsistency


@dataclass(frozen=True, slots=True)
class ScoreSettings:
    """Options of a scorecard; written into every output, so that it can be repeated."""

    ties: Ties = "tau-b"
    """How rankings treat models of equal accuracy."""
    epsilon: float | Literal["noise"] = 0.02
    """The difference in accuracy that does not yet tell two models apart; ``"noise"`` takes it from
    the standard error on each benchmark."""
    decay: float | Literal["adaptive"] = DECAY
    """Lambda of CAD; ``"adaptive"`` takes it from the spread of the inversion rates."""
    replicates: int = 1000
    """Bootstrap replicates over items, as many over models and over both; 0 for no intervals."""
    seed: int = 0
    level: float = 0.95
    """Confidence level of the intervals."""
    shrunken: bool = False
    """Whether to give the Bayesian estimate of CBRC as well."""
    cross_family: bool = False
    """Whether to tell shared inversions from those of one family."""
    curves: bool = False
    """Whether to follow CAD and DS over several values of lambda and epsilon."""


@dataclass(frozen=True, slots=True)
class Model:
    """A model, as far as the metrics know it."""

    name: str
    family: str | None = None
    size: float | None = None
    """Parameters, or any number that grows with what the model can do within its family."""


@dataclass(frozen=True, slots=True)
class IntervalEstimate:
    """A number and how sure it is; NaN when undefined."""

    value: float
    over_items: Interval = UNDEFINED
    """For other items of the same kind; the models stay."""
    over_models: Interval = UNDEFINED
    """For other models of the same kind; the items stay."""
    over_both: Interval = UNDEFINED
    """For other items and other models."""
    corrected: float = math.nan
    """The value less what resampling the items adds to it on average: twice the value less the mean
    of the replicates over items."""
    deviation: float = math.nan
    """Standard deviation of the replicates over items."""

    @property
    def defined(self) -> bool:
        """Whether there is a number."""
        return not math.isnan(self.value)


@dataclass(frozen=True, slots=True)
class PeerTau:
    """How alike a benchmark and a peer rank the models that both have."""

    benchmark: str
    tau: float
    models: int


@dataclass(frozen=True, slots=True)
class FamilyScore:
    """One family's part in a benchmark's numbers."""

    family: str
    models: int
    """Models of the family that the benchmark has."""
    ds: float
    inversion_rate: float
    cad: float
    inverted: int | None = None
    """Inverted pairs, each a pair of models on one item; none when only the rate is known."""
    compared: int | None = None


@dataclass(frozen=True, slots=True)
class BenchmarkScore:
    """All numbers about one benchmark."""

    benchmark: str
    domain: str | None
    models: int
    items: int | None
    """None when accuracies were given without items."""
    missing: int
    """Pairs of a model and an item without a score; each accuracy is over the scores there are."""
    accuracy: IntervalEstimate
    """Mean over the models."""
    cbrc: IntervalEstimate
    ds: IntervalEstimate
    cad: IntervalEstimate
    bqs: IntervalEstimate
    cbrc_deviation: float
    """Population standard deviation of the taus with the peers."""
    ds_deviation: float
    """Population standard deviation of the families' own DS."""
    inversion_rate: float
    """Pooled over the families."""
    peers: tuple[PeerTau, ...]
    families: tuple[FamilyScore, ...]
    accuracies: Mapping[str, float] = field(hash=False)
    """Accuracy of each model."""
    groups: int | None = None
    """Groups of items that are drawn together; none when each item stands for itself."""
    reliability: Reliability = UNKNOWN
    """How far random halves of the items agree."""
    stability: float = math.nan
    """Mean Kendall's tau between the rankings on bootstrap draws of the items."""
    detectable: float = math.nan
    """Minimum detectable difference between two models, at 80 % power."""
    apart: float = 0.0
    """Share of the pairs of models that have no item in common; NaN for fewer than two models."""
    order: OrderTest = UNTESTED
    """Whether the sizes of the families order their models better than chance."""
    epsilon: float = math.nan
    """The epsilon of DS."""
    decay: float = math.nan
    """The lambda of CAD."""
    shrunken: ShrunkenConsistency | None = None
    """CBRC drawn towards the other benchmarks; none when not asked for."""
    cross_family: CrossFamily | None = None
    """Which inversions several families share; none when not asked for."""
    ranking_consistency: float = math.nan
    """Of a subset: Kendall's tau with the ranking on all items that it is taken from."""
    warnings: tuple[str, ...] = ()
    """Why the numbers say less than they seem to."""
    notes: tuple[str, ...] = ()
    """What a reader has to know, the warnings first: why a number is undefined, and what it rests
    on."""


@dataclass(frozen=True, slots=True)
class Scorecard:
    """The scores of several benchmarks, made with the same settings."""

    benchmarks: tuple[BenchmarkScore, ...]
    settings: ScoreSettings
    curves: Curves | None = None
    """How the numbers depend on lambda and epsilon; none when not asked for."""


@dataclass(frozen=True, slots=True)
class Curves:
    """How CAD and DS of the benchmarks, and their quality, depend on a constant."""

    decay: Curve
    epsilon: Curve
