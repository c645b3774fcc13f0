"""Deciding: one value an item by the method of a policy, with what the method says of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ..metrics.consensus import TIE, UNRATED, Consensus, majority, majority_set, median_level
from ..metrics.dawid_skene import dawid_skene
from ..metrics.division import ratio
from ..metrics.patterns import Codes, Floats
from ..prompts.catalogue import NONE_LABEL, Attribute, Value
from .panel import rater_of
from .policy import Fallback, Policy
from .rating_matrix import RatingMatrix, coded, possible_values

ConfidenceSource = Literal["agreement", "probability", "stated", "posterior", "none"]
"""What a confidence is: the share of annotators that agree; the single annotator's own measure of
how likely its value is; what the single annotator said of its own doubt; the posterior of the
Dawid-Skene model; nothing, where there is none."""

NO_MAJORITY = "no label has a majority"
TOO_FEW = "too few annotators"
DOUBTED, UNDOUBTED = 0.5, 1.0
"""The confidence that is noted for a value of which the annotator said that it hesitated, and for
one of which it did not. They are marks that keep an order, no probabilities."""


@dataclass(frozen=True, slots=True, eq=False)
class Decisions:
    """One value an item, for the items that were rated."""

    values: tuple[Value, ...]
    codes: Codes
    """(N,): position of the value among ``values``, -1 where there is none."""
    confidences: Floats
    """(N,): NaN where nothing measures it."""
    sources: NDArray[np.str_]
    """(N,): a ``ConfidenceSource``."""
    annotators: Codes
    """(N,): how many annotators gave a value."""
    reasons: NDArray[np.str_]
    """(N,): why there is no value, ``unrated`` among them; empty where there is one."""
    note: str
    """What became of the method for all items; empty when it did as it should."""


def decide(matrix: RatingMatrix, policy: Policy) -> Decisions:
    """Make one value an item of what annotators of one kind gave.

    >>> from ..prompts.library import load_catalogue
    >>> from .policy import LevelPolicy
    >>> ratings = np.array([[0, 2, 3], [1, 1, -1]])
    >>> depth, unknown = load_catalogue("core")["reasoning_depth"], np.full((2, 3), np.nan)
    >>> said = RatingMatrix(depth, ("a", "b", "c"), (0, 1, 2, 3), ratings, unknown, unknown)
    >>> made = decide(said, LevelPolicy())
    >>> made.codes.tolist(), np.round(made.confidences, 2).tolist(), made.annotators.tolist()
    ([2, 1], [0.33, 1.0], [3, 2])
    """
    if matrix.attribute.type == "labels":
        made = _decided_labels(matrix, policy)
    elif policy.method == "dawid_skene":
        made = _likeliest(matrix, policy)
    else:
        made = _voted(matrix, policy.method, policy)
    return _with_enough(made, policy.min_annotators)


def _voted(matrix: RatingMatrix, method: Fallback, policy: Policy, note: str = "") -> Decisions:
    if method == "missing":
        number = matrix.rated.sum(axis=1)
        nothing = np.full(len(number), -1), np.full(len(number), np.nan)
        reasons = np.where(number > 0, note, UNRATED)
        return _decisions(matrix, Consensus(*nothing, number, reasons), note)
    codes, values = matrix.codes, len(matrix.values)
    if method == "majority":
        return _decisions(matrix, majority(codes, values=values, ties=policy.ties), note)
    even: Literal["lower", "upper"] = "upper" if policy.ties == "highest" else "lower"
    found = median_level(codes, values=values, even=even)
    if policy.ties == "missing":
        tied = found.values != median_level(codes, values=values, even="upper").values
        found = Consensus(
            np.where(tied, -1, found.values),
            found.confidence,
            found.raters,
            np.where(tied, TIE, found.reasons),
        )
    return _decisions(matrix, found, note)


def _likeliest(matrix: RatingMatrix, policy: Policy) -> Decisions:
    raters = sorted({rater_of(name) for name in matrix.annotators})
    columns = [raters.index(rater_of(name)) for name in matrix.annotators]
    found = dawid_skene(matrix.codes, values=len(matrix.values), raters=columns)
    if found.reason is not None:
        return _voted(matrix, policy.fallback, policy, f"Dawid-Skene: {found.reason}")
    consensus = found.consensus
    given = consensus.raters > 0
    note = "" if found.converged else f"Dawid-Skene: not settled in {found.iterations} iterations"
    return Decisions(
        values=matrix.values,
        codes=consensus.values,
        confidences=consensus.confidence,
        sources=np.where(given, "posterior", "none"),
        annotators=consensus.raters,
        reasons=consensus.reasons,
        note=note,
    )


def _decided_labels(matrix: RatingMatrix, policy: Policy) -> Decisions:
    sets = matrix.label_sets()
    ties: dict[str, Literal["missing", "without", "with"]] = {
        "missing": "missing",
        "lowest": "without",
        "highest": "with",
    }
    found = majority_set(sets, ties=ties[policy.ties])
    labels = [str(label) for label in matrix.attribute.values]
    given = np.maximum(sets, 0).sum(axis=1)
    chosen, reasons = found.sets > 0, found.reasons.astype(object)
    if NONE_LABEL in labels:
        none = labels.index(NONE_LABEL)
        empty = (reasons == "") & ~chosen.any(axis=1)
        if policy.ties == "missing":
            reasons[empty] = NO_MAJORITY
        else:
            most = given == given.max(axis=1, keepdims=True)
            chosen = np.where(empty[:, None], most, chosen)
        chosen = _none_alone(chosen, none, keep=policy.ties == "lowest")
    agreeing = np.where(chosen, given, found.raters[:, None] - given).min(axis=1)
    values = [
        [label for label, is_in in zip(labels, row, strict=True) if is_in]
        for row in np.unique(chosen, axis=0)
    ]
    codes = np.unique(chosen, axis=0, return_inverse=True)[1].reshape(-1)
    consensus = Consensus(
        np.where(reasons == "", codes, -1),
        ratio(agreeing * 1.0, found.raters * 1.0),
        found.raters,
        reasons.astype(np.str_),
    )
    return _decisions(matrix, consensus, "", tuple(values))


def _none_alone(chosen: NDArray[np.bool_], none: int, *, keep: bool) -> NDArray[np.bool_]:
    """Where the label that says that no other applies stands with others: one or the others."""
    mixed = chosen[:, none] & (chosen.sum(axis=1) > 1)
    alone = np.arange(chosen.shape[1]) == none
    return np.where(mixed[:, None], alone if keep else chosen & ~alone, chosen)


def _decisions(
    matrix: RatingMatrix, found: Consensus, note: str, values: tuple[Value, ...] | None = None
) -> Decisions:
    """Add whose confidence it is: one annotator's own, or the share of several that agree."""
    single = found.raters == 1
    own, stated = (_only(cells, matrix.rated) for cells in (matrix.confidences, matrix.doubts))
    stated = np.where(np.isnan(stated), np.nan, np.where(stated > 0, DOUBTED, UNDOUBTED))
    sources = np.select(
        [found.values < 0, ~single, ~np.isnan(own), ~np.isnan(stated)],
        ["none", "agreement", "probability", "stated"],
        "none",
    )
    of_source = {"agreement": found.confidence, "probability": own, "stated": stated}
    confidences = np.select(
        [sources == source for source in of_source], [*of_source.values()], np.nan
    )
    return Decisions(
        matrix.values if values is None else values,
        found.values, confidences, sources, found.raters, found.reasons, note,
    )  # fmt: skip


def _only(cells: Floats, rated: NDArray[np.bool_]) -> Floats:
    """The cell of an item's one rating; of several, any."""
    if not cells.shape[1]:
        return np.full(len(cells), np.nan)
    first: Floats = np.take_along_axis(cells, rated.argmax(axis=1)[:, None], axis=1)[:, 0]
    return first


def _with_enough(made: Decisions, fewest: int) -> Decisions:
    ...


__all__ = ["Attribute", "coded", "possible_values"]
