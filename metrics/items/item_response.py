"""Item response: difficulty and discrimination of items, and ability of models, on one scale.

Own code, because what there is does not fit results on benchmarks: girth fits item by item (58 s
for 300 items and 500 models, where this takes under one), py-irt needs PyTorch and Pyro for a
variational fit, and mirt is R.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ..scores import Scores, known
from .response import Responses

Floats = NDArray[np.float64]

_AT_ONCE = 1 << 16
_SLOPE_DEVIATION = 0.5
"""Of the logarithm of the slope, a priori."""
_INTERCEPT_DEVIATION = 3.0


@dataclass(frozen=True, slots=True, eq=False)
class ItemResponse:
    """A fitted item response model of n items and m models."""

    slope: Floats
    """(n,): discrimination; the same for all items with ``"1PL"``."""
    difficulty: Floats
    """(n,): the ability at which the curve is halfway between floor and 1."""
    slope_error: Floats
    """(n,): standard errors; NaN with ``"1PL"``."""
    difficulty_error: Floats
    floor: Floats
    """(n,): probability of a right answer by guessing, as given."""
    from_prior: NDArray[np.bool_]
    """(n,): whether every model with a score has 1, or every one 0. No finite difficulty fits such
    an item best: its numbers are what the prior leaves of infinity."""
    ability: Floats
    """(m,): posterior mean; the models have mean 0 and variance 1."""
    ability_error: Floats
    """(m,): posterior standard deviation."""
    log_likelihood: float
    """Marginal, over abilities; it grows with parameters, so compare by AIC or BIC."""
    iterations: int
    converged: bool


def fit_item_response(
    scores: Scores,
    *,
    model: Literal["1PL", "2PL"] = "2PL",
    floor: Floats | None = None,
    iterations: int = 100,
    tolerance: float = 1e-7,
) -> ItemResponse:
    """Fit a one- or two-parameter logistic model by marginal maximum likelihood.

    Tells how hard each item is and how sharply it separates models, apart from which models happen
    to be there; and how able each model is, apart from which items it was asked.

    Formula: ``P(x_ij = 1) = c_i + (1 - c_i) / (1 + exp(-a_i (t_j - b_i)))`` with ability t normal
    (0, 1), integrated by adaptive Gauss-Hermite quadrature inside an EM algorithm whose scale is
    set anew at each step (parameter expansion). Priors keep items that all or none solve finite:
    log a normal (0, 0.5), intercept normal (0, 3).

    Args:
        scores: (n, m) scores of m models on n items, in [0, 1], NaN where there is none (missing
            at random). A score between 0 and 1 counts as that share of a right answer.
        model: ``"2PL"``; ``"1PL"`` gives all items the same slope, and needs fewer models.
        floor: (n,) c, as ``guessing.guessing_floor`` gives it; none for 0.
        iterations: most steps of EM.
        tolerance: change of the log-likelihood, as a share of it, that is not worth another step.

    Returns:
        An ``ItemResponse``; NaN for an item or model without scores. With fewer than about 200
        models slopes are not identified well, whoever fits them: look at their errors.

    Source: R. D. Bock and M. Aitkin, "Marginal maximum likelihood estimation of item parameters",
    Psychometrika 46 (1981); C. Liu, D. B. Rubin and Y. N. Wu, "Parameter expansion to accelerate
    EM", Biometrika 85 (1998).
    """
    seen = known(scores)
    fit = _Fit(scores, seen, np.zeros(len(scores)) if floor is None else floor, model == "1PL")
    done, before, converged = 0, -math.inf, False
    while done < iterations and not converged:
        fit.step()
        done += 1
        converged = abs(fit.likelihood - before) <= tolerance * abs(fit.likelihood)
        before = fit.likelihood
    fit.locate()
    slope_error, difficulty_error = fit.errors()
    lost = ~seen.any(axis=1)
    filled = np.where(seen, scores, 0)
    alike = ((filled == 1) | ~seen).all(axis=1) | ((filled == 0) | ~seen).all(axis=1)
    absent = ~seen.any(axis=0)
    return ItemResponse(
        slope=np.where(lost, np.nan, fit.slope),
        difficulty=np.where(lost, np.nan, -fit.intercept / fit.slope),
        slope_error=np.where(lost | (model == "1PL"), np.nan, slope_error),
        difficulty_error=np.where(lost, np.nan, difficulty_error),
        floor=fit.floor,
        from_prior=alike & ~lost,
        ability=np.where(absent, np.nan, fit.mean),
        ability_error=np.where(absent, np.nan, fit.deviation),
        log_likelihood=fit.likelihood,
        iterations=done,
        converged=converged,
    )


class _Fit:
    """The state of the EM algorithm: item parameters, and the posterior of each ability."""

    def __init__(
        self, scores: Scores, seen: NDArray[np.bool_], floor: Floats, common_slope: bool
    ) -> None:
        self.floor = floor
        self._scores, self._seen, self._common = scores, seen, common_slope
        asked = np.maximum(seen.sum(axis=1), 1)
        right = np.where(seen, scores, 0).sum(axis=1, dtype=np.float64)
        share = np.clip((right / asked - floor) / (1 - floor), 0.02, 0.98)
        self.slope = np.ones(len(scores))
        self.intercept = np.log(share / (1 - share))
        self.mean = np.zeros(scores.shape[1])
        self.deviation = np.ones(scores.shape[1])
        self.likelihood = math.nan
        self._nodes = self.mean[:, None]
        self._weights = np.ones_like(self._nodes)
        for _ in range(4):
            self._climb()

    def step(self) -> None:
        """One step of EM."""
        self.locate()
        self._rescale()
        self._improve()

    def _chunks(self, nodes: Floats) -> Iterator[tuple[slice, Responses]]:
        """Some items at a time, with their logits at the nodes (m, Q) of the abilities."""
        rows = max(1, _AT_ONCE // max(1, nodes.size))
        for start in range(0, len(self._scores), rows):
            part = slice(start, start + rows)
            seen = self._seen[part, :, None]
            scores = np.where(seen, self._scores[part, :, None], 0).astype(np.float64)
            logits = np.multiply.outer(self.slope[part], nodes)
            logits += self.intercept[part, None, None]
            yield part, Responses(logits, scores, seen, self.floor[part, None, None])

    def _climb(self) -> None:
        """Move each ability towards the mode of its posterior, and see how narrow that is."""
        gradient, information = -self.mean, np.ones_like(self.mean)
        for part, chunk in self._chunks(self.mean[:, None]):
            found = chunk.slopes()
            gradient = gradient + self.slope[part] @ found.residual[:, :, 0]
            information = information + self.slope[part] ** 2 @ found.weight[:, :, 0]
        self.mean = self.mean + np.clip(gradient / information, -1, 1)
        self.deviation = 1 / np.sqrt(information)

    def locate(self) -> None:
        """The posterior of each ability, given the items: nodes, their weights, its moments."""
        self._climb()
        places, logs = _quadrature(float(self.deviation.max(initial=0)))
        self._nodes = self.mean[:, None] + self.deviation[:, None] * places
        logs = logs + np.log(self.deviation / math.sqrt(2 * math.pi))[:, None]
        logs -= self._nodes**2 / 2
        for _, chunk in self._chunks(self._nodes):
            logs += chunk.log_likelihood().sum(axis=0)
        top = logs.max(axis=1, keepdims=True)
        weights = np.exp(logs - top)
        total = weights.sum(axis=1, keepdims=True)
        self._weights = weights / total
        self.likelihood = float((np.log(total) + top).sum())
        self.mean = (self._weights * self._nodes).sum(axis=1)
        if len(places) > 1:
            squares = (self._nodes - self.mean[:, None]) ** 2
            self.deviation = np.sqrt((self._weights * squares).sum(axis=1))

    def _rescale(self) -> None:
        """Set the scale anew, so that the abilities have mean 0 and variance 1."""
        centre = float(self.mean.mean())
        scale = math.sqrt(self.mean.var() + (self.deviation**2).mean())
        self.intercept = self.intercept + self.slope * centre
        self.slope = self.slope * scale
        self._nodes = (self._nodes - centre) / scale
        self.mean = (self.mean - centre) / scale
        self.deviation = self.deviation / scale

    def _improve(self) -> None:
        """Newton's step for the items."""
        by_slope, by_intercept, squares, cross, plain = self._curvature()
        by_slope -= np.log(self.slope) / (_SLOPE_DEVIATION**2 * self.slope)
        by_intercept -= self.intercept / _INTERCEPT_DEVIATION**2
        if self._common:
            total = (squares - cross**2 / plain).sum()
            of_slope = np.full_like(plain, (by_slope - cross * by_intercept / plain).sum() / total)
        else:
            determinant = squares * plain - cross**2
            of_slope = (plain * by_slope - cross * by_intercept) / determinant
        of_slope = np.clip(of_slope, -0.5, 0.5)
        of_intercept = np.clip((by_intercept - cross * of_slope) / plain, -1, 1)
        self.slope = np.clip(self.slope + of_slope, 0.05, 10)
        self.intercept = np.clip(self.intercept + of_intercept, -15, 15)

    def _curvature(self) -> tuple[Floats, Floats, Floats, Floats, Floats]:
        """Expected derivatives of the posterior, (n,) each.

        First ones by slope and intercept, then minus the second ones by slope, by both and by
        intercept; the priors count in the latter.
        """
        powers = np.stack([self._weights * self._nodes**power for power in range(3)], axis=-1)
        powers = powers.reshape(-1, 3)
        first, second = np.empty((len(self.slope), 3)), np.empty((len(self.slope), 3))
        for part, chunk in self._chunks(self._nodes):
            found = chunk.slopes()
            first[part] = found.residual.reshape(len(found.residual), -1) @ powers
            second[part] = found.weight.reshape(len(found.weight), -1) @ powers
        squares = second[:, 2] + 1 / (_SLOPE_DEVIATION * self.slope) ** 2
        plain = second[:, 0] + 1 / _INTERCEPT_DEVIATION**2
        return first[:, 1], first[:, 0], squares, second[:, 1], plain

    def errors(self) -> tuple[Floats, Floats]:
        """Standard errors of slopes and difficulties, (n,) each, from the curvature."""
        _, _, squares, cross, plain = self._curvature()
        if self._common:
            return np.full_like(plain, np.nan), 1 / np.sqrt(plain) / self.slope
        determinant = squares * plain - cross**2
        difficulty = -self.intercept / self.slope
        variance = squares - 2 * difficulty * cross + difficulty**2 * plain
        errors = np.sqrt(np.maximum(variance / determinant, 0)) / self.slope
        return np.sqrt(plain / determinant), errors


def _quadrature(widest: float) -> tuple[Floats, Floats]:
    """Nodes for a posterior, few where all are narrow, and logarithms of their weights."""
    number = 1 if widest < 0.05 else 5 if widest < 0.25 else 15
    nodes, weights = np.polynomial.hermite_e.hermegauss(number)
    return nodes, np.log(weights) + nodes**2 / 2
