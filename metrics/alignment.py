"""Alignment: whether items are solved by the stronger models of a family where weaker ones do."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .counting.division import ratio
from .scores import Scores, is_binary, known

DECAY = 12.0


@dataclass(frozen=True, slots=True)
class Family:
    """Models that differ in size only, as columns of a score matrix."""

    name: str
    tiers: tuple[tuple[int, ...], ...]
    """Columns of equal size together, the smallest size first."""

    @property
    def members(self) -> tuple[int, ...]:
        """Columns of the family, weakest first."""
        return tuple(column for tier in self.tiers for column in tier)

    @property
    def pairs(self) -> int:
        """Pairs of a weaker and a stronger model: k(k-1)/2 for k different sizes."""
        sizes = [len(tier) for tier in self.tiers]
        return (sum(sizes) ** 2 - sum(size**2 for size in sizes)) // 2

    def each_pair(self) -> Iterator[tuple[int, int]]:
        """Columns of the weaker and the stronger model of every pair."""
        for place, tier in enumerate(self.tiers):
            for weaker in tier:
                for stronger_tier in self.tiers[place + 1 :]:
                    for stronger in stronger_tier:
                        yield weaker, stronger

    def among(self, places: NDArray[np.intp]) -> Family:
        """The same with columns renumbered: column c becomes ``places[c]``."""
        tiers = tuple(tuple(int(places[column]) for column in tier) for tier in self.tiers)
        return replace(self, tiers=tiers)


@dataclass(frozen=True, slots=True, eq=False)
class ItemInversions:
    """Inversions of every item, over all families."""

    inverted: NDArray[np.int64]
    """(n,): pairs whose stronger model scores strictly less than the weaker one."""
    compared: NDArray[np.int64]
    """(n,): pairs of which both models have a score."""


@dataclass(frozen=True, slots=True, eq=False)
class PairInversions:
    """Inversions of P pairs of a weaker and a stronger model, over all items."""

    weaker: NDArray[np.intp]
    """(P,): column of the weaker model."""
    stronger: NDArray[np.intp]
    """(P,): column of the stronger model."""
    inverted: NDArray[np.int64]
    """(P,): items on which the stronger model scores strictly less."""
    ordered: NDArray[np.int64]
    """(P,): items on which the stronger model scores strictly more."""
    compared: NDArray[np.int64]
    """(P,): items that both models have a score for."""

    def of(self, family: Family) -> tuple[int, int]:
        """Inverted and compared pairs within one family."""
        own = np.isin(self.weaker, family.members)
        return int(self.inverted[own].sum()), int(self.compared[own].sum())

    def among(self, places: NDArray[np.intp]) -> PairInversions:
        """The same with columns renumbered: column c becomes ``places[c]``."""
        return replace(self, weaker=places[self.weaker], stronger=places[self.stronger])


def families_of(names: Sequence[str | None], sizes: Sequence[float | None]) -> tuple[Family, ...]:
    """Group columns into families, ordered by size; a column without family or size is left out.

    Args:
        names: the family of each column, or none.
        sizes: the size (or any rank) of each column's model, or none.

    >>> families_of(["a", "a", "b", None, "a"], [7, 1, 3, 2, None])
    (Family(name='a', tiers=((1,), (0,))), Family(name='b', tiers=((2,),)))
    """
    grouped: dict[str, dict[float, list[int]]] = {}
    for column, (name, size) in enumerate(zip(names, sizes, strict=True)):
        if name is not None and size is not None and not math.isnan(size):
            grouped.setdefault(name, {}).setdefault(float(size), []).append(column)
    return tuple(
        Family(name, tuple(tuple(tiers[size]) for size in sorted(tiers)))
        for name, tiers in grouped.items()
    )


def inversion_rate(inverted: int, compared: int) -> float:
    """Share of compared pairs that are inverted; NaN when none is compared."""
    return inverted / compared if compared else math.nan


def pooled_inversion_rate(rates: Iterable[float], pairs: Iterable[int]) -> float:
    """Inversion rate over several families, each weighing as many pairs as it has.

    A family whose rate is NaN is left out.

    >>> pooled_inversion_rate([0.25, 0.5], [3, 1])
    0.3125
    """
    known = [(rate, n) for rate, n in zip(rates, pairs, strict=True) if n and not math.isnan(rate)]
    total = sum(n for _, n in known)
    return sum(rate * n for rate, n in known) / total if total else math.nan


def capability_alignment(rate: float, *, decay: float = DECAY) -> float:
    """Capability alignment deviation (CAD) of an inversion rate.

    Tells whether stronger models solve what weaker ones of their family solve. Items that turn
    this round are wrongly keyed, ambiguous, or answered by chance.

    Formula: ``CAD = exp(-decay * inverted / compared)``. A pair is a weaker and a stronger model
    of one family (by size) on one item; it is inverted when the stronger scores strictly less.
    Inversions are pooled over the families of a benchmark, so that a family of k sizes weighs
    k(k-1)/2 pairs an item; models of equal size form no pair. The CAD of one item takes the pairs
    of that item alone.

    Args:
        rate: share of inverted pairs, in [0, 1]; NaN when no pair was compared.
        decay: lambda of the formula, how fast inversions cost.

    Returns:
        A number in (0, 1]: 1 without any inversion; with the default decay 0.30 at a rate of 0.1.
        NaN when no pair was compared: no family has two sizes with scores for one item.

    Source: Qian et al., "Benchmark^2", arXiv 2601.03986 (2026), section on CAD; pooling settled by
    recomputing its Table 7.

    >>> [round(capability_alignment(k / 10), 3) for k in range(4)]
    [1.0, 0.301, 0.091, 0.027]
    """
    return math.exp(-decay * rate)


def item_alignment(inversions: ItemInversions, *, decay: float = DECAY) -> NDArray[np.float64]:
    """CAD of every item (n,); NaN for an item of which no pair is compared.

    >>> item_alignment(ItemInversions(np.array([0, 1, 0]), np.array([10, 10, 0]))).round(3)
    array([1.   , 0.301,   nan])
    """
    alignment: NDArray[np.float64] = np.exp(
        -decay * ratio(inversions.inverted, inversions.compared)
    )
    return alignment


def item_inversions(scores: Scores, families: Iterable[Family]) -> ItemInversions:
    """Count the inverted pairs of every item.

    Args:
        scores: (n, m) scores of m models on n items, NaN where there is none. Right and wrong are
            1 and 0; graded scores are compared as they are.
        families: the families, as columns of ``scores``.

    >>> scores = np.array([[1.0, 0.0, 1.0], [0.0, 1.0, 1.0]])
    >>> item_inversions(scores, families_of(["a", "a", "a"], [1, 2, 3])).inverted
    array([1, 0])
    """
    inverted = np.zeros(len(scores), dtype=np.int64)
    compared = np.zeros(len(scores), dtype=np.int64)
    count = _count_by_prefix if is_binary(scores) else _count_by_pair
    for family in families:
        for worse, both in count(scores, family):
            inverted += worse
            compared += both
    return ItemInversions(inverted, compared)


Counts = Iterator[tuple[NDArray[np.integer[Any]], NDArray[np.integer[Any]]]]


def _count_by_prefix(scores: Scores, family: Family) -> Counts:
    """Walk from small to large with a running count of the smaller models that are right."""
    right, seen = _right_and_seen(scores, family)
    right_so_far = np.zeros(len(scores), dtype=np.int32)
    seen_so_far = np.zeros(len(scores), dtype=np.int32)
    start = 0
    for tier in family.tiers:
        own = slice(start, start + len(tier))
        start = own.stop
        right_here = right[own].sum(axis=0, dtype=np.int32)
        seen_here = seen[own].sum(axis=0, dtype=np.int32)
        yield right_so_far * (seen_here - right_here), seen_so_far * seen_here
        right_so_far += right_here
        seen_so_far += seen_here


def _right_and_seen(scores: Scores, family: Family) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Which members are right and which have a score, (members, n), the smallest first."""
    own = np.ascontiguousarray(scores[:, family.members].T)
    return own == 1, known(own)


def _count_by_pair(scores: Scores, family: Family) -> Counts:
    for weaker, stronger in family.each_pair():
        low, high = scores[:, weaker], scores[:, stronger]
        both = ~(np.isnan(low) | np.isnan(high))
        yield (high < low).astype(np.int32), both.astype(np.int32)


def pair_inversions(scores: Scores, families: Iterable[Family]) -> PairInversions:
    """Count the items that every pair of models inverts.

    Args:
        scores: (n, m), as in ``item_inversions``.
        families: the families, as columns of ``scores``.

    >>> scores = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, np.nan]])
    >>> found = pair_inversions(scores, families_of(["a", "a"], [1, 2]))
    >>> found.inverted, found.compared
    (array([1]), array([2]))
    """
    tables = [_pairs_by_product(scores, family) for family in families if family.pairs]
    table = np.concatenate([np.empty((0, 5), dtype=np.int64), *tables])
    weaker, stronger, inverted, ordered, compared = table.T
    return PairInversions(weaker, stronger, inverted, ordered, compared)


def _pairs_by_product(scores: Scores, family: Family) -> NDArray[np.int64]:
    """Count right with wrong for all pairs of a family at once."""
    found = member_wins(scores, family)
    pairs = np.array([*family.each_pair()])
    place = {member: position for position, member in enumerate(family.members)}
    weaker, stronger = np.array([[place[column] for column in pair] for pair in pairs.tolist()]).T
    inverted, ordered = found.wins[weaker, stronger], found.wins[stronger, weaker]
    return np.column_stack([pairs, inverted, ordered, found.together[weaker, stronger]])


@dataclass(frozen=True, slots=True, eq=False)
class MemberWins:
    """How often each of a family's k members scores more than each other."""

    wins: NDArray[np.int64]
    """(k, k): items on which the row's member scores strictly more than the column's."""
    together: NDArray[np.int64]
    """(k, k): items that both have a score for."""


def member_wins(scores: Scores, family: Family) -> MemberWins:
    """Compare every two members of a family, in the order of ``family.members``.

    >>> member_wins(np.array([[1.0, 0.0], [1.0, 1.0]]), Family("f", ((0,), (1,)))).wins.tolist()
    [[0, 1], [0, 0]]
    """
    if not is_binary(scores[:, family.members]):
        own = scores[:, family.members].T
        wins = [[int((one > other).sum()) for other in own] for one in own]
        together = [[int((~np.isnan(one + other)).sum()) for other in own] for one in own]
        return MemberWins(np.array(wins), np.array(together))
    is_right, is_seen = _right_and_seen(scores, family)
    right, seen = is_right.astype(np.float64), is_seen.astype(np.float64)
    return MemberWins((right @ (seen - right).T).astype(np.int64), (seen @ seen.T).astype(np.int64))
