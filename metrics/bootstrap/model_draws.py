"""Model draws: which models a bootstrap over models takes, and how often."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .resampling import bootstrap_weights

Weights = NDArray[np.float64]


def draw_models(rng: np.random.Generator, present: NDArray[np.bool_], replicates: int) -> Weights:
    """How often each model is drawn, (K, M).

    Models are drawn with replacement within each group that the same benchmarks have, so that
    every benchmark keeps its number of models.

    Args:
        rng: source of chance.
        present: (B, M), which models each benchmark has.
        replicates: K.
    """
    _, group = np.unique(present, axis=1, return_inverse=True)
    weights = np.zeros((replicates, present.shape[1]))
    for number in range(group.max(initial=-1) + 1):
        members = np.flatnonzero(group == number)
        weights[:, members] = bootstrap_weights(rng, len(members), replicates)
    return weights


def repeated(weights: Weights) -> NDArray[np.intp]:
    """The drawn models one by one, (K, M) positions.

    >>> repeated(np.array([[0, 2, 1], [1, 1, 1]]))
    array([[1, 1, 2],
           [0, 1, 2]])
    """
    positions = np.tile(np.arange(weights.shape[1]), len(weights))
    drawn: NDArray[np.intp] = np.repeat(positions, weights.astype(np.intp).ravel())
    return drawn.reshape(weights.shape)


def different_pairs(weights: Weights, present: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Pairs of different models among those drawn, for each benchmark, (K, B).

    >>> different_pairs(np.array([[0.0, 2.0, 1.0]]), np.array([[True, True, True]]))
    array([[2.]])
    """
    own = present.T.astype(np.float64)
    pairs: NDArray[np.float64] = ((weights @ own) ** 2 - weights**2 @ own) / 2
    return pairs
