"""Shrinkage: CBRC when peers are few, with what all benchmarks say about how much they agree."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from .consistency import peer_matrix

Floats = NDArray[np.float64]

_PRIOR_MEAN, _PRIOR_DEVIATION = 0.5, 0.5
_SCALE = 0.3
"""Of the half-normal prior of each deviation; taus lie in [-1, 1]."""
_DEVIATIONS = np.geomspace(0.015, 0.8, 10)
_NEGLIGIBLE = 1e-4
"""Settings of the deviations with less than so much of the likeliest one's weight do not count."""
_GRID = np.linspace(-1, 1, 801)


@dataclass(frozen=True, slots=True)
class ShrunkenConsistency:
    """Posterior of the tau that a benchmark would have with one more peer of its domain."""

    mean: float
    deviation: float
    low: float
    """The middle of the posterior, as wide as its level says, goes from here to ``high``."""
    high: float
    peers: int
    """Peers with which the benchmark has a tau."""


@dataclass(frozen=True, slots=True, eq=False)
class _Mixture:
    """Normal posteriors of B numbers, one for each of G settings of the deviations."""

    weights: Floats
    """(G,)."""
    means: Floats
    """(G, B)."""
    deviations: Floats
    """(G, B)."""


def shrunken_consistency(
    tau: Floats, domains: Sequence[str | None], *, level: float = 0.95
) -> list[ShrunkenConsistency]:
    """Bayesian estimate of CBRC, drawn towards the other benchmarks as far as peers are few.

    Tells how well a benchmark would agree with a peer of its domain that is not among those at
    hand. The mean of two or three taus depends on which peers these are.

    Formula: ``tau_ij = mu + d + a_i + a_j + e_ij`` for benchmarks i and j of one domain, with d of
    the domain, a of the benchmark and e of the pair, all normal with mean 0. The estimate is the
    posterior of ``mu + d + a_i`` on [-1, 1]. Priors: mu normal (0.5, 0.5), the three deviations
    half-normal (0.3), integrated over a grid.

    Args:
        tau: (B, B) Kendall's tau of every two benchmarks; NaN where undefined, also on the diagonal
            of a benchmark that does not rank models.
        domains: the domain of each benchmark; none for one without peers.
        level: of the credible interval.

    Returns:
        One posterior a benchmark, in [-1, 1]: with many peers about CBRC, with none what the other
        benchmarks say. NaN for a benchmark without a domain or a ranking, which has no tau with any
        peer; and for all when no tau is defined.

    Source: the random effects model for pairs of C. R. Henderson (see W. G. Hill and R. M. Warner
    et al., "A new round robin analysis of variance", JPSP 37 (1979)), by Bayes' rule.
    """
    pairs = np.argwhere(np.triu(peer_matrix(domains) & ~np.isnan(tau)))
    count = np.bincount(pairs.ravel(), minlength=len(domains))
    if not len(pairs):
        return [ShrunkenConsistency(np.nan, np.nan, np.nan, np.nan, 0) for _ in domains]
    names = sorted({domain for domain in domains if domain is not None})
    place = [names.index(domain) if domain is not None else -1 for domain in domains]
    mixture = _posterior(tau[pairs[:, 0], pairs[:, 1]], pairs, np.array(place), len(names))
    below = _below(mixture)
    low, high = (_quantiles(below, share) for share in ((1 - level) / 2, (1 + level) / 2))
    mean, deviation = _moments(below)
    numbers = np.stack([mean, deviation, low, high], axis=1)
    numbers[(np.array(place) < 0) | np.isnan(np.diagonal(tau))] = np.nan
    return [
        ShrunkenConsistency(mean=own[0], deviation=own[1], low=own[2], high=own[3], peers=peers)
        for own, peers in zip(numbers.tolist(), count.tolist(), strict=True)
    ]


def _posterior(
    taus: Floats, pairs: NDArray[np.intp], place: NDArray[np.intp], domains: int
) -> _Mixture:
    """Posterior of each benchmark's expected tau: linear in effects that are normal."""
    benchmarks = len(place)
    effects = np.zeros((len(pairs), 1 + domains + benchmarks))
    rows = np.arange(len(pairs))
    effects[:, 0] = 1
    effects[rows, 1 + place[pairs[:, 0]]] = 1
    for side in pairs.T:
        effects[rows, 1 + domains + side] = 1
    wanted = np.zeros((benchmarks, effects.shape[1]))
    wanted[:, 0] = 1
    wanted[np.arange(benchmarks), 1 + place] = 1
    wanted[np.arange(benchmarks), 1 + domains + np.arange(benchmarks)] = 1
    centred = taus - _PRIOR_MEAN
    square, cross, total = effects.T @ effects, effects.T @ centred, centred @ centred
    logs, means, deviations = [], [], []
    for of_domain, of_benchmark, of_pair in _settings(domains):
        spread = [_PRIOR_DEVIATION, *[of_domain] * domains, *[of_benchmark] * benchmarks]
        precision = np.diag(1 / np.square(spread)) + square / of_pair**2
        factor = np.linalg.cholesky(precision)
        half = np.linalg.solve(factor, cross / of_pair**2)
        reach = np.linalg.solve(factor, wanted.T)
        evidence = half @ half / 2 - total / of_pair**2 / 2 - len(taus) * np.log(of_pair)
        evidence -= np.log(np.diag(factor)).sum() + np.log(spread).sum()
        drawn = [of_benchmark, of_pair, *[of_domain] * (domains > 1)]
        evidence += sum(np.log(one) - (one / _SCALE) ** 2 / 2 for one in drawn)
        logs.append(evidence)
        means.append(_PRIOR_MEAN + half @ reach)
        deviations.append(np.sqrt((reach**2).sum(axis=0)))
    weights = np.exp(np.array(logs) - max(logs))
    kept = weights > _NEGLIGIBLE
    weights = weights[kept] / weights[kept].sum()
    return _Mixture(weights, np.array(means)[kept], np.array(deviations)[kept])


def _settings(domains: int) -> Iterator[tuple[float, float, float]]:
    """Deviations of domain, benchmark and pair; a single domain has none of its own."""
    own = _DEVIATIONS if domains > 1 else _DEVIATIONS[:1]
    yield from product(own.tolist(), _DEVIATIONS.tolist(), _DEVIATIONS.tolist())


def _below(mixture: _Mixture) -> Floats:
    """Distribution function on [-1, 1] at each point of the grid, (len(grid), B)."""
    z = (_GRID[:, None, None] - mixture.means) / mixture.deviations
    below = np.einsum("xgb,g->xb", ndtr(z), mixture.weights)
    within: Floats = (below - below[0]) / (below[-1] - below[0])
    return within


def _moments(below: Floats) -> tuple[Floats, Floats]:
    """Mean and standard deviation."""
    density = np.diff(below, axis=0)
    middle = (_GRID[1:] + _GRID[:-1]) / 2
    mean = middle @ density
    return mean, np.sqrt(np.maximum(middle**2 @ density - mean**2, 0))


def _quantiles(below: Floats, share: float) -> Floats:
    return np.array([np.interp(share, column, _GRID) for column in below.T])
