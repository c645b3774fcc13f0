"""Dawid-Skene: the likely true values, and each rater's errors, from the ratings alone."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..counting.division import ratio
from .consensus import TIE, UNRATED, Consensus
from .patterns import Codes, Floats, Ratings, checked, patterns

FEWEST_RATERS = 3
_NEXT_TO_NOTHING = 1e-300
_INDISTINCT = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class DawidSkene:
    """What the ratings say about the true values and about the raters."""

    posterior: Floats
    """(N, V): probability of each value being the true one; NaN for an item no one rated."""
    raters: Codes
    """(N,): how many ratings the item has."""
    confusion: Floats
    """(G, V, V): ``[g, t, v]`` is how often rater g says v where t is true; NaN where no item shows
    it."""
    support: Floats
    """(G, V): the expected number of ratings by g of items whose true value is t."""
    prevalence: Floats
    """(V,): the share of items whose true value it is."""
    log_likelihood: float
    """Of the ratings, in nats."""
    iterations: int
    converged: bool
    """Whether the last iteration moved no posterior by more than the tolerance."""
    reason: str | None
    """Why everything is undefined; none when it is defined."""

    @property
    def consensus(self) -> Consensus:
        """The likeliest value of each item, with its posterior as confidence."""
        unknown = np.isnan(self.posterior[:, 0])
        shares = np.where(unknown[:, None], 0.0, self.posterior)
        most = shares.max(axis=1)
        tied = (shares >= most[:, None] - _INDISTINCT).sum(axis=1) > 1
        reasons = np.select([unknown, tied], [self.reason or UNRATED, TIE], "")
        values = np.where(reasons == "", shares.argmax(axis=1), -1)
        return Consensus(values, np.where(unknown, np.nan, most), self.raters, reasons)


def dawid_skene(
    ratings: Ratings,
    *,
    values: int,
    raters: Sequence[int] | None = None,
    smoothing: float = 1.0,
    tolerance: float = 1e-6,
    iterations: int = 2000,
) -> DawidSkene:
    """Dawid-Skene estimate of true values and raters' errors, by the EM algorithm.

    Tells the likeliest value of each item when raters differ in skill or in habit: a rater whom
    the others rarely bear out has less of a voice, and one who always says a level too much is
    still of use.

    Formula: ``P(ratings of an item) = sum_t p_t prod_g prod_v e_gtv^n_gv`` with p_t the prevalence
    of the true value t, e_gtv how often rater g says v where t is true, n_gv how often g gave the
    item v. The start is each item's share of votes. Then in turn p and e are estimated from the
    posteriors, ``e_gtv = (sum_i P_i(t) n_igv + s / V) / (sum_iv P_i(t) n_igv + s)``, and the
    posteriors from p and e, until no posterior moves by more than ``tolerance``.

    Args:
        ratings: (N, R) items by columns of ratings, values coded 0 to V - 1, -1 where there is
            none.
        values: V, how many values there are.
        raters: (R,) the rater of each column, numbered from 0; columns of one rater are repeats
            and share its errors. Each column is a rater of its own if not given.
        smoothing: s, imaginary ratings by each rater for each true value, spread evenly over the
            values. 0 is the maximum likelihood of the source, which takes what was never seen for
            impossible and is then too sure: in simulations of 100 items with ten values and three
            raters who are right 70 % of the time, it claims .99 and is right for .86; with s = 1
            it claims .98 and is right for .88.
        tolerance: largest change of a posterior at which the iteration ends.
        iterations: most iterations; ``converged`` says whether they sufficed.

    Returns:
        A ``DawidSkene``; posteriors are in [0, 1] and sum to 1 for an item: 1 is certain, 1 / V
        knows nothing. They take raters to err independently of each other, which raters of one
        kind (two prompts to one model) do not: then they are surer than they should be. Everything
        is NaN, with the reason, for fewer than three raters: their errors are not identified, and
        the answer would be the start's. Where raters are mostly wrong, the values of the solution
        found may be exchanged.

    Source: A. P. Dawid, A. M. Skene, "Maximum likelihood estimation of observer error-rates using
    the EM algorithm", Applied Statistics 28 (1979), 20-28. Own code: crowd-kit, the
    library that has it, depends on transformers, scikit-learn and nltk.

    >>> ratings = np.repeat([[0, 0, 0], [1, 1, 1], [0, 0, 1], [1, 1, 0]], [9, 8, 4, 3], axis=0)
    >>> found = dawid_skene(ratings, values=2)
    >>> found.consensus.values[[0, 9, 17, 21]].tolist(), found.converged
    ([0, 1, 0, 1], True)
    >>> bool(found.confusion[0, 0, 0] > found.confusion[2, 0, 0])
    True
    """
    coded = checked(ratings, values)
    groups = np.arange(coded.shape[1]) if raters is None else np.asarray(raters)
    number = (coded >= 0).sum(axis=1)
    if len(np.unique(groups[(coded >= 0).any(axis=0)])) < FEWEST_RATERS:
        return _undefined(number, int(groups.max(initial=-1)) + 1, values)
    rated = number > 0
    found = patterns(coded[rated], values)
    fit = _fit(
        _Votes.of(found.rows, found.items, groups, values),
        smoothing=smoothing,
        tolerance=tolerance,
        iterations=iterations,
    )
    posterior = np.full((len(coded), values), np.nan)
    posterior[rated] = fit.posterior[found.of_item]
    return DawidSkene(
        posterior=posterior,
        raters=number,
        confusion=np.where(fit.support[:, :, None] > _INDISTINCT, fit.confusion, np.nan),
        support=fit.support,
        prevalence=fit.prevalence,
        log_likelihood=fit.log_likelihood,
        iterations=fit.iterations,
        converged=fit.converged,
        reason=None,
    )


def _undefined(number: Codes, groups: int, values: int) -> DawidSkene:
    return DawidSkene(
        posterior=np.full((len(number), values), np.nan),
        raters=number,
        confusion=np.full((groups, values, values), np.nan),
        support=np.full((groups, values), np.nan),
        prevalence=np.full(values, np.nan),
        log_likelihood=math.nan,
        iterations=0,
        converged=False,
        reason="fewer than three raters",
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Votes:
    """How often each rater gave each value, by pattern, and how many items have the pattern."""

    counts: Floats
    """(P, G, V)."""
    items: Floats
    """(P,)."""

    @classmethod
    def of(cls, rows: Codes, items: Codes, groups: NDArray[np.integer], values: int) -> _Votes:
        counts = np.zeros((len(rows), int(groups.max()) + 1, values))
        for group, column in zip(groups, rows.T, strict=True):
            given = np.flatnonzero(column >= 0)
            counts[given, group, column[given]] += 1
        return cls(counts, items.astype(np.float64))

    @property
    def shares(self) -> Floats:
        """(P, V): the share of each value among a pattern's ratings."""
        by_value = self.counts.sum(axis=1)
        return ratio(by_value, np.broadcast_to(by_value.sum(axis=1)[:, None], by_value.shape))

    def by_truth(self, posterior: Floats) -> Floats:
        """(G, V, V): expected ratings ``[g, t, v]`` under posteriors of the patterns."""
        _, groups, values = self.counts.shape
        flat = self.counts.reshape(-1, groups * values)
        expected = (posterior * self.items[:, None]).T @ flat
        return expected.reshape(values, groups, values).swapaxes(0, 1)

    def log_likelihoods(self, confusion: Floats) -> Floats:
        """(P, V): of a pattern's ratings, were the value true."""
        _, groups, values = self.counts.shape
        logs = np.log(np.maximum(confusion, _NEXT_TO_NOTHING)).swapaxes(1, 2)
        likelihoods: Floats = self.counts.reshape(-1, groups * values) @ logs.reshape(-1, values)
        return likelihoods


@dataclass(frozen=True, slots=True, eq=False)
class _Fit:
    posterior: Floats
    confusion: Floats
    support: Floats
    prevalence: Floats
    log_likelihood: float
    iterations: int
    converged: bool


def _fit(votes: _Votes, *, smoothing: float, tolerance: float, iterations: int) -> _Fit:
    posterior, values = votes.shares, votes.counts.shape[2]
    iteration, change = 0, math.inf
    while change > tolerance and iteration < iterations:
        prevalence = votes.items @ posterior / votes.items.sum()
        expected = votes.by_truth(posterior) + smoothing / values
        confusion = np.nan_to_num(ratio(expected, expected.sum(axis=2, keepdims=True)))
        joint = votes.log_likelihoods(confusion) + np.log(np.maximum(prevalence, _NEXT_TO_NOTHING))
        total = np.logaddexp.reduce(joint, axis=1)
        before, posterior = posterior, np.exp(joint - total[:, None])
        iteration, change = iteration + 1, float(np.abs(posterior - before).max())
    return _Fit(
        posterior=posterior,
        confusion=confusion,
        support=votes.by_truth(posterior).sum(axis=2),
        prevalence=prevalence,
        log_likelihood=float(votes.items @ total),
        iterations=iteration,
        converged=change <= tolerance,
    )
