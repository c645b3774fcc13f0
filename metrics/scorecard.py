"""The scorecard: every number about several benchmarks, with intervals and what to know of it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from .alignment import DECAY
from .consistency import Ties
from .resampling import UNDEFINED, Interval


@dataclass(frozen=True, slots=True)
class ScoreSettings:
    """Options of a scorecard; written into every output, so that it can be repeated."""

    ties: Ties = "tau-b"
    """How rankings treat models of equal accuracy."""
    epsilon: float = 0.02
    """The difference in accuracy that does not yet tell two models apart."""
    decay: float = DECAY
    """Lambda of CAD."""
    replicates: int = 1000
    """Bootstrap replicates over items, and as many over models; 0 for no intervals."""
    seed: int = 0
    level: float = 0.95
    """Confidence level of the intervals."""


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
    ranking_consistency: float = math.nan
    """Of a subset: Kendall's tau with the ranking on all items that it is taken from."""
    notes: tuple[str, ...] = ()
    """What a reader has to know: why a number is undefined, and what it rests on."""


@dataclass(frozen=True, slots=True)
class Scorecard:
    """The scores of several benchmarks, made with the same settings."""

    benchmarks: tuple[BenchmarkScore, ...]
    settings: ScoreSettings
