"""Settling: one value an item, by the method of a policy, out of what annotators gave."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ...metrics.counting.division import ratio
from ...metrics.raters.consensus import TIE, Consensus, majority, majority_set, median_level
from ...metrics.raters.dawid_skene import dawid_skene
from ...metrics.raters.patterns import Codes, Floats
from ...prompts.catalogue import NONE_LABEL, Value
from ..ledger.panel import rater_of
from .confidence import confidences
from .policy import Policy, Ties
from .rating_matrix import RatingMatrix

NO_MAJORITY = "no label has a majority"
TOO_FEW = "too few annotators"

_SET_TIES: dict[Ties, Literal["missing", "without", "with"]] = {
    "missing": "missing",
    "lowest": "without",
    "highest": "with",
}


@dataclass(frozen=True, slots=True, eq=False)
class Settled:
    """One value an item, for the items that were rated."""

    values: tuple[Value, ...]
    codes: Codes
    """(N,): position of the value among ``values``, -1 where there is none."""
    confidences: Floats
    """(N,): NaN where nothing measures it."""
    sources: NDArray[np.str_]
    """(N,): each a ``ConfidenceSource``."""
    annotators: Codes
    """(N,): how many annotators gave a value."""
    reasons: NDArray[np.str_]
    """(N,): why there is no value, ``unrated`` among them; empty where there is one."""
    note: str
    """Why the policy's method could not decide, or did not settle; empty when it did."""


@dataclass(frozen=True, slots=True, eq=False)
class _Found:
    consensus: Consensus
    values: tuple[Value, ...]
    tied: NDArray[np.bool_]
    """(N,): whether values come out equal, so that only a rule decides between them."""
    posterior: bool = False
    note: str = ""


def settle(matrix: RatingMatrix, policy: Policy) -> Settled:
    """Make one value an item of what annotators of one kind gave.

    >>> from ...prompts.library import load_catalogue
    >>> from .policy import LevelPolicy
    >>> ratings = np.array([[0, 2, 3], [1, 1, -1]])
    >>> depth, unknown = load_catalogue("core")["reasoning_depth"], np.full((2, 3), np.nan)
    >>> said = RatingMatrix(depth, ("a", "b", "c"), (0, 1, 2, 3), ratings, unknown, unknown)
    >>> made = settle(said, LevelPolicy())
    >>> made.codes.tolist(), np.round(made.confidences, 2).tolist(), made.annotators.tolist()
    ([2, 1], [0.33, 1.0], [3, 2])
    """
    found = _found(matrix, policy)
    consensus = found.consensus
    few = (consensus.raters > 0) & (consensus.raters < policy.min_annotators)
    reasons = np.where(few, TOO_FEW, consensus.reasons)
    decided = reasons == ""
    if found.posterior:
        sure, sources = consensus.confidence, np.full(len(decided), "posterior")
    else:
        sure, sources = confidences(matrix, consensus, found.tied)
    return Settled(
        values=found.values,
        codes=np.where(decided, consensus.values, -1),
        confidences=np.where(decided, sure, np.nan),
        sources=np.where(decided, sources, "none"),
        annotators=consensus.raters,
        reasons=reasons,
        note=found.note,
    )


def _found(matrix: RatingMatrix, policy: Policy) -> _Found:
    if matrix.attribute.type == "labels":
        return _vote_on_labels(matrix, policy.ties)
    if policy.method != "dawid_skene":
        return _voted(matrix, policy.method, policy.ties)
    raters = sorted({rater_of(name) for name in matrix.annotators})
    columns = [raters.index(rater_of(name)) for name in matrix.annotators]
    no_tie = np.zeros(len(matrix.codes), np.bool_)
    made = dawid_skene(matrix.codes, values=len(matrix.values), raters=columns)
    if made.reason is None:
        note = "" if made.converged else f"not settled in {made.iterations} iterations"
        return _Found(made.consensus, matrix.values, no_tie, posterior=True, note=note)
    fallback = policy.fallback
    if fallback == "missing":
        return _Found(made.consensus, matrix.values, no_tie, note=f"{made.reason}: no value")
    voted = _voted(matrix, fallback, policy.ties)
    return replace(voted, note=f"{made.reason}: {fallback} instead")


def _voted(matrix: RatingMatrix, method: Literal["majority", "median"], ties: Ties) -> _Found:
    codes, values = matrix.codes, len(matrix.values)
    if method == "majority":
        strict = majority(codes, values=values)
        decided = strict if ties == "missing" else majority(codes, values=values, ties=ties)
        return _Found(decided, matrix.values, strict.reasons == TIE)
    lower = median_level(codes, values=values, even="lower")
    upper = median_level(codes, values=values, even="upper")
    tied = lower.values != upper.values
    if ties != "missing":
        return _Found(upper if ties == "highest" else lower, matrix.values, tied)
    undecided = replace(
        lower,
        values=np.where(tied, -1, lower.values),
        reasons=np.where(tied, TIE, lower.reasons),
    )
    return _Found(undecided, matrix.values, tied)


def _vote_on_labels(matrix: RatingMatrix, ties: Ties) -> _Found:
    """Vote on each label; see to it that a value comes out that an annotator could have given."""
    sets = matrix.label_sets()
    found = majority_set(sets, ties=_SET_TIES[ties])
    labels = [str(label) for label in matrix.attribute.values]
    given = np.maximum(sets, 0).sum(axis=1)
    chosen, reasons = found.sets > 0, found.reasons
    if NONE_LABEL in labels:
        empty = (reasons == "") & ~chosen.any(axis=1)
        if ties == "missing":
            reasons = np.where(empty, NO_MAJORITY, reasons)
        else:
            most = given == given.max(axis=1, keepdims=True)
            chosen = np.where(empty[:, None], most, chosen)
            chosen = _none_alone(chosen, labels.index(NONE_LABEL), keep=ties == "lowest")
    agreeing = np.where(chosen, given, found.raters[:, None] - given).min(axis=1)
    different, codes = np.unique(chosen, axis=0, return_inverse=True)
    values = [[label for label, in_ in zip(labels, row, strict=True) if in_] for row in different]
    return _Found(
        Consensus(codes.reshape(-1), ratio(agreeing, found.raters), found.raters, reasons),
        tuple(values),
        (2 * given == found.raters[:, None]).any(axis=1) & (found.raters > 0),
    )


def _none_alone(chosen: NDArray[np.bool_], none: int, *, keep: bool) -> NDArray[np.bool_]:
    """Where the label that says that no other applies stands with others, keep it or the others."""
    mixed = chosen[:, none] & (chosen.sum(axis=1) > 1)
    alone = np.arange(chosen.shape[1]) == none
    return np.where(mixed[:, None], alone if keep else chosen & ~alone, chosen)
