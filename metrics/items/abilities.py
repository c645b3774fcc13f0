"""Abilities: how strong each model is in each of the things that items demand.

A confirmatory, multidimensional item response model: what an item demands is given (by its
annotations), not found, so that each dimension means what its attribute says.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..scores import Scores, known
from .response import Responses

Floats = NDArray[np.float64]

_AT_ONCE = 1 << 16
_LEAST_VARIANCE = 1e-4


@dataclass(frozen=True, slots=True, eq=False)
class Abilities:
    """Abilities of m models in D dimensions, and what the dimensions make items harder by."""

    ability: Floats
    """(m, D), in logits; the models have mean 0 in each dimension."""
    error: Floats
    """(m, D): posterior standard deviations, so that 1.96 of them are half a 95 % interval."""
    demand: Floats
    """(D,): logits by which an item that loads 1 on the dimension is harder than one that does
    not."""
    demand_error: Floats
    """(D,): standard errors."""
    residual: float
    """Standard deviation of the items' difficulties that the dimensions do not explain."""
    explained: float
    """Share of the variance of the difficulties that they explain."""
    deviations: Floats
    """(D,): how far the models differ in each dimension."""
    log_likelihood: float
    iterations: int
    converged: bool


def fit_abilities(
    scores: Scores,
    loadings: Floats,
    *,
    floor: Floats | None = None,
    iterations: int = 200,
    tolerance: float = 1e-7,
) -> Abilities:
    """Fit abilities in given dimensions by marginal maximum likelihood.

    Tells where a model is stronger or weaker than its general level says: on items that demand
    knowledge, or several steps, or whatever the dimensions stand for.

    Formula: ``P(x_ij = 1) = c_i + (1 - c_i) / (1 + exp(-(q_i . t_j - b_i)))`` with
    ``b_i = q_i . beta + e_i``, q the loadings, t the abilities, e normal (0, sigma) and integrated
    by adaptive Gauss-Hermite quadrature inside an EM algorithm. Abilities have normal priors whose
    variances are estimated, one for each dimension.

    Args:
        scores: (n, m) scores of m models on n items, in [0, 1], NaN where there is none.
        loadings: (n, D) how much of each dimension an item demands, 0 for nothing. With a first
            column of 1 that dimension is general, and the others say what a model adds to it.
        floor: (n,) c, as ``guessing.guessing_floor`` gives it; none for 0.
        iterations: most steps of EM.
        tolerance: change of the log-likelihood, as a share of it, that is not worth another step.

    Returns:
        ``Abilities``; NaN for a model without scores.

    Raises:
        ValueError: the dimensions cannot be told apart, because the loadings on one follow from
            those on others.

    Source: M. D. Reckase, Multidimensional Item Response Theory (2009), for the compensatory model;
    G. H. Fischer, "The linear logistic test model", Acta Psychologica 37 (1973), for b, here with
    the residual of R. Janssen et al. (2004).
    """
    if np.linalg.matrix_rank(loadings) < loadings.shape[1]:
        raise ValueError("the loadings on one dimension follow from those on the others")
    fit = _Fit(scores, loadings, np.zeros(len(scores)) if floor is None else floor)
    done, before, converged = 0, -math.inf, False
    while done < iterations and not converged:
        fit.step()
        done += 1
        converged = abs(fit.likelihood - before) <= tolerance * abs(fit.likelihood)
        before = fit.likelihood
    explained = float((loadings @ fit.demand).var())
    seen = known(scores).sum(axis=0)
    absent = seen[:, None] == 0
    return Abilities(
        ability=np.where(absent, np.nan, fit.ability),
        error=np.where(absent, np.nan, np.sqrt(np.diagonal(fit.covariance, axis1=1, axis2=2))),
        demand=fit.demand,
        demand_error=fit.demand_errors(),
        residual=fit.residual,
        explained=explained / (explained + fit.residual**2),
        deviations=np.sqrt(fit.variances),
        log_likelihood=fit.likelihood,
        iterations=done,
        converged=converged,
    )


class _Fit:
    """The state of the EM algorithm: abilities, and the posterior of each item's difficulty.

    ``spread`` are the posterior standard deviations of the difficulties, ``information`` what the
    scores alone say of them.
    """

    def __init__(self, scores: Scores, loadings: Floats, floor: Floats) -> None:
        self._scores, self._loadings, self._floor = scores, loadings, floor
        self._seen = known(scores)
        items, models = scores.shape
        dimensions = loadings.shape[1]
        asked = np.maximum(self._seen.sum(axis=1), 1)
        right = np.where(self._seen, scores, 0).sum(axis=1, dtype=np.float64)
        share = np.clip((right / asked - floor) / (1 - floor), 0.02, 0.98)
        self.ability = np.zeros((models, dimensions))
        self.variances = np.ones(dimensions)
        self.covariance: Floats = np.zeros((models, dimensions, dimensions))
        self.difficulty = -np.log(share / (1 - share))
        self.spread = np.ones(items)
        self.information = np.ones(items)
        self.demand = np.zeros(dimensions)
        self.residual = 1.0
        self.likelihood = math.nan
        self._regress(np.zeros(items))
        self._squares = np.einsum("id,ie->ide", loadings, loadings).reshape(items, -1)

    def step(self) -> None:
        """One step of EM."""
        self._climb()
        nodes, weights = self._locate()
        self._improve(nodes, weights)
        centre = self.ability.mean(axis=0)
        self.ability = self.ability - centre
        self.difficulty = self.difficulty - self._loadings @ centre
        self._regress(self.spread**2)

    def _chunks(self, nodes: Floats) -> Iterator[tuple[slice, Responses]]:
        """Some items at a time, with their logits at the nodes (n, Q) of their difficulties."""
        models, places = len(self.ability), nodes.shape[1]
        rows = max(1, _AT_ONCE // max(1, models * places))
        for start in range(0, len(nodes), rows):
            part = slice(start, start + rows)
            seen = self._seen[part, :, None]
            scores = np.where(seen, self._scores[part, :, None], 0).astype(np.float64)
            able = self._loadings[part] @ self.ability.T
            logits = able[:, :, None] - nodes[part, None, :]
            yield part, Responses(logits, scores, seen, self._floor[part, None, None])

    def _climb(self) -> None:
        """Move each difficulty towards the mode of its posterior, and see how narrow that is."""
        gradient, information = np.empty_like(self.difficulty), np.empty_like(self.difficulty)
        for part, chunk in self._chunks(self.difficulty[:, None]):
            found = chunk.slopes()
            gradient[part] = -found.residual.sum(axis=(1, 2))
            information[part] = found.weight.sum(axis=(1, 2))
        prior = 1 / self.residual**2
        gradient -= (self.difficulty - self._loadings @ self.demand) * prior
        self.information = information
        self.difficulty = self.difficulty + np.clip(gradient / (information + prior), -1, 1)
        self.spread = 1 / np.sqrt(information + prior)

    def _locate(self) -> tuple[Floats, Floats]:
        """Nodes and weights (n, Q) of the posterior of each difficulty, and its moments."""
        number = 1 if self.spread.max(initial=0) < 0.05 else 7
        places, weights = np.polynomial.hermite_e.hermegauss(number)
        nodes = self.difficulty[:, None] + self.spread[:, None] * places
        expected = (self._loadings @ self.demand)[:, None]
        logs = np.log(weights) + places**2 / 2 - ((nodes - expected) / self.residual) ** 2 / 2
        logs += np.log(self.spread / (self.residual * math.sqrt(2 * math.pi)))[:, None]
        for part, chunk in self._chunks(nodes):
            logs[part] += chunk.log_likelihood().sum(axis=1)
        top = logs.max(axis=1, keepdims=True)
        posterior = np.exp(logs - top)
        total = posterior.sum(axis=1, keepdims=True)
        posterior /= total
        self.likelihood = float((np.log(total) + top).sum())
        self.difficulty = (posterior * nodes).sum(axis=1)
        if number > 1:
            squares = (nodes - self.difficulty[:, None]) ** 2
            self.spread = np.sqrt((posterior * squares).sum(axis=1))
        return nodes, posterior

    def _improve(self, nodes: Floats, weights: Floats) -> None:
        """Newton's step for the abilities, and their variances."""
        models, dimensions = self.ability.shape
        gradient = -self.ability / self.variances
        information = np.zeros((models, dimensions * dimensions))
        for part, chunk in self._chunks(nodes):
            found = chunk.slopes()
            residual = np.einsum("imq,iq->im", found.residual, weights[part])
            weight = np.einsum("imq,iq->im", found.weight, weights[part])
            gradient += residual.T @ self._loadings[part]
            information += weight.T @ self._squares[part]
        precision = information.reshape(models, dimensions, dimensions)
        precision = precision + np.diag(1 / self.variances)
        self.covariance = np.linalg.inv(precision).astype(np.float64)
        move = np.einsum("mde,me->md", self.covariance, gradient)
        self.ability = self.ability + np.clip(move, -1, 1)
        own = np.diagonal(self.covariance, axis1=1, axis2=2)
        self.variances = np.maximum((self.ability**2 + own).mean(axis=0), _LEAST_VARIANCE)

    def _regress(self, variance: Floats) -> None:
        """What the loadings explain of the difficulties, and what they leave."""
        self.demand = np.linalg.lstsq(self._loadings, self.difficulty)[0]
        left = self.difficulty - self._loadings @ self.demand
        self.residual = math.sqrt(max(float((left**2 + variance).mean()), _LEAST_VARIANCE))

    def demand_errors(self) -> Floats:
        """Standard errors of the demands: residual difficulties and their own errors together."""
        known_to = self.residual**2 + 1 / np.maximum(self.information, 1e-9)
        precision = (self._loadings / known_to[:, None]).T @ self._loadings
        errors: Floats = np.sqrt(np.diagonal(np.linalg.inv(precision)))
        return errors
