"""Standings: where every model stands on every benchmark, and what is measured on them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import NDArray

from .alignment import DECAY
from .consistency import Ties, mean_over_peers, noise_for, ranking_keys, taus
from .counting.division import ratio
from .counting.pairs import count_pairs
from .discriminability import spread_and_distance
from .quality import benchmark_quality

Floats = NDArray[np.float64]

_ELEMENTS = 2_400_000
"""Values that are measured together."""


@dataclass(frozen=True, slots=True, eq=False)
class Standings:
    """Scores of M models on B benchmarks, each benchmark in a unit of its own."""

    values: NDArray[Any]
    """(..., B, M): right answers, as whole numbers, where every item of a benchmark is right or
    wrong for every model; accuracies otherwise. NaN where a benchmark does not have a model."""
    units: Floats
    """(B,): number of items of a benchmark whose values are right answers, otherwise 1."""
    gaps: Floats
    """(B,): the largest difference of values that does not tell two models apart."""
    inversion_rates: Floats
    """(..., B): inversion rate, NaN where no pair was compared."""
    noise: Floats | None = None
    """(..., B, M, M): differences of values up to which models are tied with ``ties="noise"``."""
    keys: NDArray[Any] | None = None
    """(..., B, M): what the models are ranked by, where it is not their values."""
    pairs: Floats | None = None
    """(..., B): pairs of different models, where models are drawn and one may be there twice."""

    @property
    def accuracies(self) -> Floats:
        """The values as accuracies, in [0, 1]."""
        accuracies: Floats = self.values / self.units[:, None]
        return accuracies

    def ranked(self, ties: Ties) -> Standings:
        """The same with what settles the order of the models under a rule for ties."""
        if self.keys is not None:
            return self
        if ties == "listing":
            return replace(self, keys=ranking_keys(self.values, ties=ties), noise=None)
        return replace(self, noise=noise_for(ties, self.noise))

    def pieces(self) -> Iterator[Standings]:
        """Split replicates (K, B, M), so that no piece takes much memory."""
        if self.values.ndim < 3:
            yield self
            return
        per_replicate = self.values[0].size if self.noise is None else self.noise[0].size
        rows = max(1, _ELEMENTS // max(1, per_replicate))
        for start in range(0, len(self.values), rows):
            part = slice(start, start + rows)
            yield replace(
                self,
                values=self.values[part],
                inversion_rates=self.inversion_rates[part],
                noise=self.noise[part] if _replicated(self.noise, 4) else self.noise,
                keys=self.keys[part] if _replicated(self.keys, 3) else self.keys,
                pairs=self.pairs[part] if _replicated(self.pairs, 2) else self.pairs,
            )

    def drawn(self, models: NDArray[np.intp], pairs: Floats) -> Standings:
        """The same on drawn models.

        Args:
            models: (K, M) positions of the models drawn in each of K replicates.
            pairs: (K, B), as the field.
        """

        def take(values: NDArray[Any]) -> NDArray[Any]:
            shape = len(models), *values.shape[-2:]
            return np.take_along_axis(np.broadcast_to(values, shape), models[:, None], axis=-1)

        noise = self.noise
        if noise is not None:
            noise = noise[:, models[:, :, None], models[:, None, :]].swapaxes(0, 1)
        keys = None if self.keys is None else take(self.keys)
        return replace(self, values=take(self.values), noise=noise, keys=keys, pairs=pairs)


def _replicated(array: NDArray[Any] | None, axes: int) -> TypeGuard[NDArray[Any]]:
    return array is not None and array.ndim == axes


@dataclass(frozen=True, slots=True, eq=False)
class Statistics:
    """The numbers of B benchmarks, (..., B) each; NaN where undefined."""

    accuracy: Floats
    """Mean over the models."""
    cbrc: Floats
    ds: Floats
    cad: Floats

    @property
    def bqs(self) -> Floats:
        """Benchmark quality score of the other three."""
        quality: Floats = benchmark_quality(self.cbrc, self.ds, self.cad)
        return quality


def measure(
    standings: Standings, peers: NDArray[np.bool_], *, ties: Ties = "tau-b", decay: float = DECAY
) -> Statistics:
    """Measure every benchmark at once.

    Args:
        standings: the scores, with leading axes for replicates if there are any.
        peers: (B, B), true where the column's benchmark is a peer of the row's.
        ties: as in ``consistency.kendall_tau``.
        decay: as in ``alignment.capability_alignment``.
    """
    pieces = [_measure(piece, peers, decay) for piece in standings.ranked(ties).pieces()]
    return pieces[0] if len(pieces) == 1 else stacked(pieces)


def _measure(standings: Standings, peers: NDArray[np.bool_], decay: float) -> Statistics:
    gaps = np.nan_to_num(standings.gaps)
    counts = count_pairs(standings.values, gaps, noise=standings.noise, wanted=peers)
    accuracies = standings.accuracies
    tau = taus(counts)
    if standings.keys is not None:
        tau = taus(count_pairs(standings.keys, np.zeros_like(standings.gaps), wanted=peers))
    spread = spread_and_distance(accuracies, counts.distant, standings.pairs)
    return Statistics(
        accuracy=mean_over_models(accuracies),
        cbrc=mean_over_peers(tau, peers),
        ds=np.where(np.isnan(standings.gaps), np.nan, spread),
        cad=np.exp(-decay * standings.inversion_rates),
    )


def stacked(parts: Sequence[Statistics]) -> Statistics:
    """Put blocks of replicates, (K, B) each, under one another."""
    return Statistics(
        accuracy=np.concatenate([part.accuracy for part in parts]),
        cbrc=np.concatenate([part.cbrc for part in parts]),
        ds=np.concatenate([part.ds for part in parts]),
        cad=np.concatenate([part.cad for part in parts]),
    )


def mean_over_models(accuracies: Floats) -> Floats:
    """Mean over the models that a benchmark has, (..., M) to (...); NaN for none."""
    known = ~np.isnan(accuracies)
    return ratio(np.where(known, accuracies, 0.0).sum(axis=-1), known.sum(axis=-1))
