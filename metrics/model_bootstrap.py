"""Bootstrap over models: what the numbers would be with other models of the same kind.

A replicate draws as many models as there are, with replacement: within each group of models that
the same benchmarks have, so that every benchmark keeps its number of models. A model that is drawn
twice is not compared with itself, so every statistic over pairs is a quadratic form of the weights.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .alignment import DECAY, PairInversions
from .consistency import Ties, mean_over_peers, ranking_keys
from .division import ratio
from .resampling import blocks, bootstrap_weights, stream
from .standings import Standings, Statistics, stacked
from .threads import one_blas_thread

_KEY = "\0models"  # no benchmark has this name

Weights = NDArray[np.float64]


def bootstrap_models(
    standings: Standings,
    inversions: Sequence[PairInversions | None],
    peers: NDArray[np.bool_],
    *,
    replicates: int,
    seed: int,
    ties: Ties = "tau-b",
    decay: float = DECAY,
) -> Statistics:
    """The numbers of all benchmarks for resampled models, (K, B) each.

    The models are drawn for all benchmarks together; the items stay.

    Args:
        standings: (B, M) scores of M models on B benchmarks.
        inversions: of each benchmark, with models by their position among the M; none where those
            of single pairs are not known.
        peers: (B, B), as in ``standings.measure``.
        replicates: K.
        seed: of the random numbers.
        ties: as in ``consistency.kendall_tau``.
        decay: as in ``alignment.capability_alignment``.
    """
    groups = _groups(~np.isnan(standings.values))
    orders = _orders(standings.values, ties)
    parts = []
    with one_blas_thread():
        for number, size in blocks(replicates):
            rng = stream(seed, _KEY, number)
            weights = np.zeros((size, standings.values.shape[-1]))
            for group in groups:
                weights[:, group] = bootstrap_weights(rng, len(group), size)
            cbrc = mean_over_peers(_taus(weights, orders, peers), peers)
            accuracy, ds = _spreads(weights, standings)
            cad = [_alignment(weights, found, decay) for found in inversions]
            parts.append(Statistics(accuracy, cbrc, ds, np.stack(cad, axis=1)))
    return stacked(parts)


def _groups(present: NDArray[np.bool_]) -> list[NDArray[np.intp]]:
    """Models that the same benchmarks have, (B, M) to their positions."""
    _, group = np.unique(present, axis=1, return_inverse=True)
    return [np.flatnonzero(group == number) for number in range(group.max(initial=-1) + 1)]


def _orders(values: NDArray[Any], ties: Ties) -> NDArray[np.float64]:
    """Which of two models stands higher, (B, M, M); NaN where a benchmark lacks one of them."""
    keys = ranking_keys(values, ties=ties).astype(np.float64)
    orders: NDArray[np.float64] = np.sign(keys[:, :, None] - keys[:, None, :])
    return orders


def _quadratic(weights: Weights, form: NDArray[np.float64]) -> NDArray[np.float64]:
    """The form's value for each row of weights, (K, M) and (M, M) to (K,)."""
    value: NDArray[np.float64] = np.einsum("km,km->k", weights @ form, weights)
    return value


def _taus(
    weights: Weights, orders: NDArray[np.float64], peers: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """Kendall's tau of every two peers under each row of weights, (K, B, B)."""
    signs = np.nan_to_num(orders)
    present = ~np.isnan(orders)
    tau = np.full((len(weights), *peers.shape), np.nan)
    for i, j in np.argwhere(np.triu(peers)):
        balance = _quadratic(weights, signs[i] * signs[j])
        untied_i = _quadratic(weights, np.abs(signs[i]) * present[j])
        untied_j = _quadratic(weights, np.abs(signs[j]) * present[i])
        tau[:, i, j] = tau[:, j, i] = ratio(balance, np.sqrt(untied_i * untied_j))
    return tau


def _spreads(
    weights: Weights, standings: Standings
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Mean accuracy and DS of every benchmark under each row of weights, (K, B) both."""
    accuracies = standings.accuracies
    shape = (len(weights), len(accuracies))
    means, ds = np.full(shape, np.nan), np.full(shape, np.nan)
    for row, values in enumerate(standings.values):
        known = ~np.isnan(values)
        drawn, scores = weights[:, known], accuracies[row, known]
        total = drawn.sum(axis=1)
        mean = ratio(drawn @ scores, total)
        squares = drawn * (scores - mean[:, None]) ** 2
        variance = ratio(squares.sum(axis=1), total)
        apart = np.abs(values[known, None] - values[known]) > standings.gaps[row]
        different = total**2 - (drawn**2).sum(axis=1)
        share = ratio(_quadratic(drawn, apart.astype(np.float64)), different)
        means[:, row], ds[:, row] = mean, ratio(np.sqrt(variance * share), mean)
    return means, ds


def _alignment(
    weights: Weights, inversions: PairInversions | None, decay: float
) -> NDArray[np.float64]:
    """CAD of one benchmark under each row of weights, (K,)."""
    if inversions is None:
        return np.full(len(weights), np.nan)
    together = weights[:, inversions.weaker] * weights[:, inversions.stronger]
    rates = ratio(together @ inversions.inverted, together @ inversions.compared)
    alignment: NDArray[np.float64] = np.exp(-decay * rates)
    return alignment
