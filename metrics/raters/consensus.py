"""Consensus: one value for an item out of the values that several raters gave it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ..counting.division import ratio
from .patterns import Codes, Floats, Ratings, checked, patterns

Ties = Literal["missing", "first", "lowest", "highest"]

UNRATED = "unrated"
TIE = "tie"


@dataclass(frozen=True, slots=True, eq=False)
class Consensus:
    """One value an item."""

    values: Codes
    """(N,): the value, -1 where there is none."""
    confidence: Floats
    """(N,): how well the ratings support the value, in [0, 1]; NaN where no one rated the item."""
    raters: Codes
    """(N,): how many ratings the item has."""
    reasons: NDArray[np.str_]
    """(N,): ``"unrated"`` or ``"tie"`` where there is no value, empty elsewhere."""


@dataclass(frozen=True, slots=True, eq=False)
class SetConsensus:
    """One set of labels an item."""

    sets: Codes
    """(N, L): 1 for a label of the set, 0 for one that is not in it, -1 in all where none."""
    confidence: Floats
    """(N,): the share of raters behind the least certain label; NaN where no one rated."""
    raters: Codes
    """(N,): how many ratings the item has."""
    reasons: NDArray[np.str_]
    """(N,): ``"unrated"`` or ``"tie"`` where there is no set, empty elsewhere."""


def majority(ratings: Ratings, *, values: int, ties: Ties = "missing") -> Consensus:
    """Plurality vote: the value that most raters of an item gave.

    Tells what the raters say as a body, each having one voice. For levels, see ``median_level``.

    Formula: ``argmax_v n_v`` with n_v the raters that gave v; confidence is ``n_v / n``.

    Args:
        ratings: (N, R) items by raters, values coded 0 to ``values`` - 1, -1 where there is none.
        values: how many values there are.
        ties: what becomes of an item where several values have most voices: ``"missing"`` (no
            value, with the reason), ``"first"`` (that of them which the first rater in the order
            of the columns gave), ``"lowest"`` or ``"highest"`` (of the codes).

    Returns:
        A ``Consensus``; confidence is 1 when all raters agree, and at least 1 / ``values``. It
        says how many agreed, not how often such a body is right. An unrated item has no value.

    Source: the vote is older than its theory; for when it is right see Condorcet, "Essai sur
    l'application de l'analyse à la probabilité des décisions" (1785).

    >>> found = majority(np.array([[0, 0, 1], [0, 1, -1], [-1, -1, -1]]), values=2)
    >>> found.values.tolist(), found.reasons.tolist()
    ([0, -1, -1], ['', 'tie', 'unrated'])
    >>> np.round(found.confidence, 2).tolist()
    [0.67, 0.5, nan]
    """
    found = patterns(checked(ratings, values), values)
    counts = found.counts(values)
    most = counts.max(axis=1, initial=0.0)
    leading = counts == most[:, None]
    chosen = _broken(found.rows, leading, ties)
    tied = (leading.sum(axis=1) > 1) & (ties == "missing")
    number = counts.sum(axis=1)
    reasons = _reasons(number, tied)
    chosen = np.where(reasons == "", chosen, -1)
    of_item = found.of_item
    return Consensus(
        chosen[of_item],
        ratio(most, number)[of_item],
        number.astype(np.int64)[of_item],
        reasons[of_item],
    )


def _broken(rows: Codes, leading: NDArray[np.bool_], ties: Ties) -> Codes:
    """The leading value that the tie rule picks; any where there is no tie."""
    if ties == "highest":
        return np.asarray(leading.shape[1] - 1 - leading[:, ::-1].argmax(axis=1))
    if ties == "first":
        leads = np.take_along_axis(leading, np.maximum(rows, 0), axis=1) & (rows >= 0)
        first: Codes = np.take_along_axis(rows, leads.argmax(axis=1)[:, None], axis=1)[:, 0]
        return first
    return np.asarray(leading.argmax(axis=1))


def _reasons(number: Floats, tied: NDArray[np.bool_]) -> NDArray[np.str_]:
    return np.select([number == 0, tied], [UNRATED, TIE], "")


def median_level(
    ratings: Ratings, *, values: int, even: Literal["lower", "upper"] = "lower"
) -> Consensus:
    """Median of the levels that the raters of an item gave.

    Tells the level that half of the raters reach and half do not pass; one stray rater cannot
    move it far. A level between two levels is never made up.

    Formula: of n sorted levels the one at place ``(n + 1) / 2``; for an even n at place ``n / 2``
    (``"lower"``) or ``n / 2 + 1`` (``"upper"``), which differ only when the two middle levels do.

    Args:
        ratings: (N, R) items by raters, levels 0 to ``values`` - 1, -1 where there is none.
        values: how many levels there are.
        even: which of the two middle levels is taken when the number of ratings is even.

    Returns:
        A ``Consensus`` without ties; confidence is the share of raters that gave the very level,
        which is 0 for no item: the level is always one that somebody gave. An unrated item has no
        value.

    Source: the lower and upper median, e.g. T. H. Cormen et al., "Introduction to Algorithms",
    chapter on order statistics.

    >>> found = median_level(np.array([[0, 3, 3], [1, 2, -1]]), values=4)
    >>> found.values.tolist(), np.round(found.confidence, 2).tolist()
    ([3, 1], [0.67, 0.5])
    """
    rows = np.sort(checked(ratings, values), axis=1)
    number = (rows >= 0).sum(axis=1)
    place = rows.shape[1] - number + (number - (even == "lower")) // 2
    place = np.minimum(place, rows.shape[1] - 1)
    levels = np.where(number > 0, np.take_along_axis(rows, place[:, None], axis=1)[:, 0], -1)
    alike = ((rows == levels[:, None]) & (rows >= 0)).sum(axis=1)
    return Consensus(levels, ratio(alike, number), number, _reasons(number * 1.0, number < 0))


def majority_set(
    label_sets: Ratings, *, ties: Literal["missing", "without", "with"] = "missing"
) -> SetConsensus:
    """Vote on each label of a set: those that more than half of the raters gave.

    Tells which labels the raters stand behind, where each may give several.

    Formula: label l is in the set when ``n_l > n / 2`` of the n raters of the item gave it;
    confidence is the least over labels of ``max(n_l, n - n_l) / n``.

    Args:
        label_sets: (N, R, L) items by raters by labels: 1 where the rater gave the label, 0 where
            not, -1 in all labels where the rater did not rate the item.
        ties: what becomes of an item where exactly half of the raters gave some label:
            ``"missing"`` (no set, with the reason), or the set ``"without"`` or ``"with"`` it.

    Returns:
        A ``SetConsensus``; confidence is 1 when all raters agree on every label, and at least 1/2.
        The set may be empty though no rater's is. An unrated item has no set.

    Source: as ``majority``, label by label.

    >>> found = majority_set(np.array([[[1, 0], [1, 1], [1, 1]], [[1, 0], [1, 1], [-1, -1]]]))
    >>> found.sets.tolist(), found.reasons.tolist()
    ([[1, 1], [-1, -1]], ['', 'tie'])
    """
    number = (label_sets >= 0).all(axis=2).sum(axis=1)
    given = np.maximum(label_sets, 0).sum(axis=1)
    twice = 2 * given - number[:, None]
    inside = (twice >= 0) if ties == "with" else (twice > 0)
    tied = (twice == 0).any(axis=1) & (ties == "missing")
    reasons = _reasons(number * 1.0, tied)
    agreeing = np.maximum(given, number[:, None] - given).min(axis=1)
    return SetConsensus(
        np.where((reasons == "")[:, None], inside, -1).astype(np.int64),
        ratio(agreeing, number),
        number,
        reasons,
    )
