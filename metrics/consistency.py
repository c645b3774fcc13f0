"""Consistency: whether benchmarks of one domain rank models alike."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from .counting.division import ratio
from .counting.pair_counts import PairCounts
from .counting.pairs import count_pairs

Ties = Literal["tau-b", "listing", "noise"]


@dataclass(frozen=True, slots=True)
class Peer:
    """How alike a benchmark and one other of its domain rank the models they share."""

    position: int
    """Row of the other benchmark."""
    tau: float
    """Kendall's tau; NaN when one of the two rankings is constant."""
    models: int
    """Models that both benchmarks have."""


@dataclass(frozen=True, slots=True)
class Consistency:
    """Cross-benchmark ranking consistency of one benchmark."""

    value: float
    """Mean tau with its peers; NaN when undefined."""
    deviation: float
    """Population standard deviation of those taus."""
    peers: tuple[Peer, ...]


def kendall_tau(
    first: NDArray[np.float64],
    second: NDArray[np.float64],
    *,
    ties: Ties = "tau-b",
    noise: NDArray[np.float64] | None = None,
) -> float:
    """Kendall's rank correlation of two score vectors over the same models.

    Tells how alike two benchmarks order models, whatever the distances between them.

    Formula: ``(C - D) / sqrt((P - T1) (P - T2))`` with C concordant and D discordant pairs of
    models, P = m(m-1)/2 pairs, T1 and T2 the pairs tied in each vector (tau-b). With
    ``ties="listing"`` a tie is first broken by the order of the models in the vectors, so that
    ``(C - D) / P`` remains. With ``ties="noise"`` two models are tied when they differ by no more
    than ``noise`` says, as 1.96 standard errors of their difference: what remains is an agreement
    about differences that are there.

    Args:
        first: (m,) scores of m models; NaN where a model has none (the pair of scores is left out).
        second: (m,) scores of the same models, in any unit.
        ties: ``"tau-b"``; ``"listing"`` as the Benchmark^2 paper's numbers were made; ``"noise"``.
        noise: (2, m, m) differences up to which models are tied in each vector.

    Returns:
        A number in [-1, 1]: 1 is the same order, -1 the reverse, 0 no association. NaN when fewer
        than two models have both scores, or one vector is constant (with ``"tau-b"``).

    Raises:
        ValueError: ``ties="noise"`` without noise.

    Source: M. G. Kendall, "The treatment of ties in ranking problems", Biometrika 33 (1945); for
    any antisymmetric signs of pairs, H. E. Daniels, Biometrika 33 (1944).

    >>> kendall_tau(np.array([0.9, 0.5, 0.1]), np.array([0.8, 0.2, 0.3]))
    0.3333333333333333
    """
    return float(tau_matrix(np.stack([first, second]), ties=ties, noise=noise)[0, 1])


def tau_matrix(
    scores: NDArray[Any], *, ties: Ties = "tau-b", noise: NDArray[np.float64] | None = None
) -> NDArray[np.float64]:
    """Kendall's tau of every two rows; see ``kendall_tau``.

    Args:
        scores: (..., B, M) scores of M models on B benchmarks, NaN where there is none.
        ties: as in ``kendall_tau``.
        noise: (..., B, M, M), as there.

    Returns:
        (..., B, B), symmetric, NaN where undefined.

    >>> tau_matrix(np.array([[3, 2, 1], [30, 10, 20], [5, 5, 5]]))[0]
    array([1.        , 0.33333333,        nan])
    """
    keys = ranking_keys(scores, ties=ties)
    noise = noise_for(ties, noise)
    return taus(count_pairs(keys, np.zeros(scores.shape[-2]), noise=noise))


def noise_for(ties: Ties, noise: NDArray[np.float64] | None) -> NDArray[np.float64] | None:
    """The noise where it makes ties; nothing otherwise.

    Raises:
        ValueError: it should make ties, and is not given.
    """
    if ties != "noise":
        return None
    if noise is None:
        raise ValueError("ties by noise, without the noise")
    return noise


def tau_between(
    first: NDArray[Any],
    second: NDArray[Any],
    *,
    ties: Ties = "tau-b",
    noise: NDArray[np.float64] | None = None,
) -> NDArray[np.float64]:
    """Kendall's tau of each row with the row at the same place; see ``kendall_tau``.

    Args:
        first: (..., M) scores of M models, NaN where there is none.
        second: (..., M), likewise.
        ties: as in ``kendall_tau``.
        noise: (..., M, M) differences up to which models are tied, in the scores' unit.

    Returns:
        (...), NaN where undefined.

    >>> tau_between(np.array([[3, 2, 1], [1, 2, 3]]), np.array([[30, 10, 20], [1, 2, 3]]))
    array([0.33333333, 1.        ])
    """
    both = np.stack(np.broadcast_arrays(first, second), axis=-2)
    keys = ranking_keys(both, ties=ties)
    counts = count_pairs(keys, np.zeros(2), noise=None if noise is None else noise[..., None, :, :])
    return taus(counts)[..., 0, 1]


def taus(pairs: PairCounts) -> NDArray[np.float64]:
    """Kendall's tau from counted pairs."""
    norm = np.sqrt(pairs.untied * np.swapaxes(pairs.untied, -1, -2))
    return ratio(pairs.balance, norm)


def ranking_keys(scores: NDArray[Any], *, ties: Ties) -> NDArray[Any]:
    """Values that order the models as the scores do, ties being broken if ``ties`` says so.

    >>> ranking_keys(np.array([0.5, 0.7, 0.5]), ties="listing")
    array([1., 2., 0.])
    """
    if ties != "listing":
        return scores
    order = np.argsort(-scores, axis=-1, kind="stable")
    places = np.empty(scores.shape)
    descending = np.arange(scores.shape[-1])[::-1]
    np.put_along_axis(places, order, np.broadcast_to(descending, order.shape).astype(float), -1)
    return np.where(np.isnan(scores), np.nan, places)


def peer_matrix(domains: Sequence[str | None]) -> NDArray[np.bool_]:
    """Which benchmarks are peers: others of the same domain. Without a domain there are none.

    >>> peer_matrix(["math", "law", "math", None])[0]
    array([False, False,  True, False])
    """
    rows = [
        [a is not None and a == b and i != j for j, b in enumerate(domains)]
        for i, a in enumerate(domains)
    ]
    return np.array(rows, dtype=bool).reshape(len(domains), len(domains))


def mean_over_peers(tau: NDArray[np.float64], peers: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Mean of the defined taus with the peers, (..., B, B) to (..., B); NaN without any."""
    counted = peers & ~np.isnan(tau)
    total = np.where(counted, tau, 0.0).sum(axis=-1)
    return ratio(total, counted.sum(axis=-1))


def cross_benchmark_consistency(
    scores: NDArray[Any],
    domains: Sequence[str | None],
    *,
    ties: Ties = "tau-b",
    noise: NDArray[np.float64] | None = None,
) -> list[Consistency]:
    """Cross-benchmark ranking consistency (CBRC) of every benchmark.

    Tells whether a benchmark ranks models as the other benchmarks of its domain do; one that does
    not measures something else, or noise.

    Formula: ``CBRC_i = mean over j != i of tau(s_i, s_j)``, over the benchmarks j of the domain of
    i, each tau over the models that both have; its deviation is the population standard deviation
    of these taus.

    Args:
        scores: (B, M) accuracies of M models on B benchmarks, in any unit; NaN where there is none.
        domains: the domain of each benchmark; none for a benchmark without peers.
        ties: as in ``kendall_tau``.
        noise: (B, M, M), as there.

    Returns:
        One ``Consistency`` a benchmark, values in [-1, 1]: 1 is the same ranking as every peer.
        NaN when no other benchmark shares the domain, or no tau is defined (fewer than two models
        in common, a constant ranking); a single undefined tau is left out of the mean.

    Source: Qian et al., "Benchmark^2", arXiv 2601.03986 (2026), section on CBRC.

    >>> scores = np.array([[0.9, 0.5, 0.1], [0.8, 0.2, 0.3], [0.7, 0.4, 0.2]])
    >>> [round(found.value, 3) for found in cross_benchmark_consistency(scores, ["a", "a", "a"])]
    [0.667, 0.333, 0.667]
    """
    tau = tau_matrix(scores, ties=ties, noise=noise)
    present = (~np.isnan(scores)).astype(np.int64)
    common = present @ present.T
    peers = peer_matrix(domains)
    means = mean_over_peers(tau, peers)
    found = []
    for row, mean in enumerate(means):
        own = [
            Peer(int(j), float(tau[row, j]), int(common[row, j])) for j in peers[row].nonzero()[0]
        ]
        defined = [peer.tau for peer in own if not math.isnan(peer.tau)]
        deviation = float(np.std(defined)) if defined else math.nan
        found.append(Consistency(float(mean), deviation, tuple(own)))
    return found
