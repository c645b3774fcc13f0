"""Responses: the logistic curve with a floor, and what its likelihood needs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Slopes:
    """What moves a logit towards the scores."""

    residual: Floats
    """Derivative of the log-likelihood."""
    weight: Floats
    """Expected information: minus the second derivative, on average."""


def curve(logits: Floats) -> Floats:
    """``1 / (1 + exp(-logit))``, without overflow.

    >>> curve(np.array([0.0, -1000.0, 1000.0]))
    array([0.5, 0. , 1. ])
    """
    small = np.exp(-np.abs(logits))
    free: Floats = np.where(logits >= 0, 1.0, small) / (1 + small)
    return free


def log_likelihood(logits: Floats, scores: Floats, floor: Floats) -> Floats:
    """Log-likelihood of scores under ``floor + (1 - floor) * curve(logits)``.

    A score between 0 and 1 counts as that share of a right answer.

    Args:
        logits: any shape.
        scores: in [0, 1], of a shape that fits.
        floor: probability of a right answer by guessing, below 1, of a shape that fits.

    >>> log_likelihood(np.zeros(1), np.ones(1), np.array([0.25])).round(3)  # log 0.625
    array([-0.47])
    """
    soft = np.maximum(logits, 0) + np.log(1 + np.exp(-np.abs(logits)))
    right, wrong = logits - soft, -soft
    if np.any(floor):
        right = np.log(np.maximum(floor + (1 - floor) * curve(logits), 1e-300))
        wrong = np.log1p(-floor) - soft
    likelihood: Floats = scores * right + (1 - scores) * wrong
    return likelihood


def slopes(logits: Floats, scores: Floats, floor: Floats) -> Slopes:
    """Derivatives of ``log_likelihood`` with respect to the logits.

    >>> slopes(np.zeros(1), np.ones(1), np.zeros(1)).residual
    array([0.5])
    """
    free = curve(logits)
    if not np.any(floor):
        return Slopes(scores - free, free * (1 - free))
    chance = floor + (1 - floor) * free
    share = free / np.maximum(chance, 1e-300)
    return Slopes((scores - chance) * share, (1 - floor) * free * (1 - free) * share)


@dataclass(frozen=True, slots=True, eq=False)
class Responses:
    """Scores of m models on some items, with their logits at Q nodes."""

    logits: Floats
    """(c, m, Q)."""
    scores: Floats
    """(c, m, 1), 0 where missing."""
    seen: NDArray[np.bool_]
    """(c, m, 1)."""
    floor: Floats
    """(c, 1, 1)."""

    def slopes(self) -> Slopes:
        """As the function of this name; 0 where a score is missing."""
        found = slopes(self.logits, self.scores, self.floor)
        return Slopes(found.residual * self.seen, found.weight * self.seen)

    def log_likelihood(self) -> Floats:
        """As the function of this name; 0 where a score is missing."""
        return log_likelihood(self.logits, self.scores, self.floor) * self.seen
