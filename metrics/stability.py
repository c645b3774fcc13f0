"""Stability: whether a benchmark, or a subset of it, keeps the ranking of models."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .consistency import Ties, kendall_tau, tau_matrix
from .standings import mean_over_models


def stability(
    scores: NDArray[np.floating[Any]],
    rng: np.random.Generator,
    *,
    share: float = 1.0,
    draws: int = 100,
    replace: bool = True,
    ties: Ties = "tau-b",
) -> float:
    """Stability of a benchmark's ranking of models.

    Tells how far the ranking would survive another sample of items.

    Formula: mean of Kendall's tau over all pairs of ``draws`` rankings, each made from
    ``round(share * n)`` of the n items.

    Args:
        scores: (n, m) scores of m models on n items, in [0, 1], NaN where there is none.
        rng: source of chance.
        share: r, the size of a draw as a share of the items.
        draws: K, number of rankings.
        replace: whether an item can be drawn twice in a draw. The paper does not say; a bootstrap
            draws with replacement.
        ties: as in ``consistency.kendall_tau``.

    Returns:
        A number in [-1, 1]: 1 when every draw ranks alike, near 0 when the ranking is chance. NaN
        for fewer than two models, draws of no item, or rankings that are all constant.

    Source: Qian et al., "Benchmark^2", arXiv 2601.03986 (2026), section on subset selection.

    >>> scores = np.array([[1.0, 0.0, 0.0], [1.0, 1.0, 0.0]] * 50)
    >>> stability(scores, np.random.default_rng(0))
    1.0
    """
    items = len(scores)
    size = round(share * items)
    if size < 1 or draws < 2:
        return math.nan
    rankings = np.stack(
        [
            mean_over_models(scores[rng.choice(items, size, replace=replace)].T.astype(np.float64))
            for _ in range(draws)
        ]
    )
    taus = tau_matrix(rankings, ties=ties)[np.triu_indices(draws, 1)]
    known = taus[~np.isnan(taus)]
    return float(known.mean()) if len(known) else math.nan


def ranking_consistency(
    full: NDArray[np.float64], reduced: NDArray[np.float64], *, ties: Ties = "tau-b"
) -> float:
    """Ranking consistency of a subset with the benchmark it comes from.

    Tells whether a subset of the items still ranks models as all items do.

    Formula: Kendall's tau between the two vectors of accuracies; see ``consistency.kendall_tau``.

    Args:
        full: (m,) accuracies on all items.
        reduced: (m,) accuracies on the subset, of the same models.
        ties: as in ``consistency.kendall_tau``.

    Returns:
        A number in [-1, 1]: 1 is the same ranking. NaN for fewer than two models or a constant
        ranking. A subset shares its items with the benchmark, so that chance gives more than 0:
        compare with random subsets of the same size.

    Source: Qian et al., "Benchmark^2", arXiv 2601.03986 (2026), section on subset selection.

    >>> ranking_consistency(np.array([0.9, 0.6, 0.3]), np.array([1.0, 0.4, 0.5]))
    0.3333333333333333
    """
    return kendall_tau(full, reduced, ties=ties)
