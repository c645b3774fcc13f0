"""Bootstrap over models: what the numbers would be with other models of the same kind.

A replicate draws as many models as there are, with replacement: within each group of models that
the same benchmarks have, so that every benchmark keeps its number of models. A model that is drawn
twice is not compared with itself, so every statistic over pairs is a quadratic form of the weights.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ..alignment import DECAY, PairInversions
from ..consistency import Ties, mean_over_peers
from ..counting.crowds import CROWD
from ..counting.division import ratio
from ..counting.threads import one_blas_thread
from ..standings import Standings, Statistics, measure, stacked
from .model_draws import different_pairs, draw_models, repeated
from .resampling import blocks, stream

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
    standings = standings.ranked(ties)
    present = ~np.isnan(standings.values)
    count = _by_drawn_models if present.shape[-1] >= CROWD else _by_quadratic_forms
    parts = []
    with one_blas_thread():
        work = count(standings, present, peers, ties, decay)
        for number, size in blocks(replicates):
            weights = draw_models(stream(seed, _KEY, number), present, size)
            rates = [_rates(weights, found) for found in inversions]
            parts.append(work(weights, np.stack(rates, axis=1)))
    return stacked(parts)


Work = Callable[[Weights, NDArray[np.float64]], Statistics]


def _by_quadratic_forms(
    standings: Standings,
    _: NDArray[np.bool_],
    peers: NDArray[np.bool_],
    __: Ties,
    decay: float,
) -> Work:
    orders = _orders(standings)

    def work(weights: Weights, rates: NDArray[np.float64]) -> Statistics:
        cbrc = mean_over_peers(_taus(weights, orders, peers), peers)
        accuracy, ds = _spreads(weights, standings)
        return Statistics(accuracy, cbrc, ds, np.exp(-decay * rates))

    return work


def _by_drawn_models(
    standings: Standings,
    present: NDArray[np.bool_],
    peers: NDArray[np.bool_],
    ties: Ties,
    decay: float,
) -> Work:
    def work(weights: Weights, rates: NDArray[np.float64]) -> Statistics:
        drawn = standings.drawn(repeated(weights), different_pairs(weights, present))
        return measure(replace(drawn, inversion_rates=rates), peers, ties=ties, decay=decay)

    return work


def _orders(standings: Standings) -> NDArray[np.float64]:
    """Which of two models stands higher, (B, M, M); NaN where a benchmark lacks one of them."""
    keys = standings.values if standings.keys is None else standings.keys
    differences = keys[:, :, None].astype(np.float64) - keys[:, None, :]
    orders: NDArray[np.float64] = np.sign(differences)
    if standings.noise is not None:
        orders[np.abs(differences) <= standings.noise] = 0
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


def _rates(weights: Weights, inversions: PairInversions | None) -> NDArray[np.float64]:
    """Inversion rate of one benchmark under each row of weights, (K,)."""
    if inversions is None:
        return np.full(len(weights), np.nan)
    together = weights[:, inversions.weaker] * weights[:, inversions.stronger]
    return ratio(together @ inversions.inverted, together @ inversions.compared)
