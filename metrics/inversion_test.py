"""Inversion test: whether the sizes of a family say anything about which model is stronger."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from .alignment import Family, member_wins
from .scores import Scores

EXACT = 10_000
"""Most orders of one family that are all visited; of more, a sample is drawn."""


@dataclass(frozen=True, slots=True)
class OrderTest:
    """How the inversions under the declared sizes compare with those under shuffled sizes."""

    p_value: float
    """Share of shuffled sizes with at most as many inversions; NaN without a pair."""
    chance_rate: float
    """Mean inversion rate under shuffled sizes."""
    smallest: float
    """The least p value that so few models can give."""


Places = NDArray[np.intp]
UNTESTED = OrderTest(math.nan, math.nan, math.nan)


def order_test(
    scores: Scores,
    families: Sequence[Family],
    rng: np.random.Generator,
    *,
    replicates: int = 1999,
) -> OrderTest:
    """Permutation test of the order of sizes behind CAD.

    Tells whether fewer inversions are seen than if sizes had been dealt out at random among the
    models of each family. Where they are not, CAD measures something else than alignment.

    Formula: the statistic is the number of inversions pooled over the families. Sizes are permuted
    within each family, in all ways if these are few, otherwise in random ways;
    ``p = P(inversions under permuted sizes <= inversions)``, and with random ways
    ``(1 + number of them) / (1 + replicates)``.

    Args:
        scores: (n, m) scores of m models on n items, NaN where there is none.
        families: the families, as columns of ``scores``.
        rng: source of chance, where ways are drawn.
        replicates: number of random ways.

    Returns:
        An ``OrderTest`` with p in (0, 1]: small when sizes order the models, 0.5 when they say
        nothing. With one family of k sizes p cannot be below 1/k!. NaN when no family has two
        sizes.

    Source: E. J. G. Pitman, "Significance tests which may be applied to samples from any
    populations", JRSS Supplement 4 (1937).
    """
    usable = [family for family in families if family.pairs]
    wins = [member_wins(scores, family) for family in usable]
    declared = [_declared(family) for family in usable]
    compared = sum(
        int(own.together[_different(family)].sum())
        for own, family in zip(wins, usable, strict=True)
    )
    if not compared:
        return UNTESTED
    observed = sum(
        int(_inversions(order, family, own.wins)[0])
        for order, family, own in zip(declared, usable, wins, strict=True)
    )
    ways = math.prod(_ways(family) for family in usable)
    if ways <= EXACT:
        shuffled = np.zeros(1)
        for family, own in zip(usable, wins, strict=True):
            counts = _inversions(np.array([*_every_order(family)]), family, own.wins)
            shuffled = (shuffled[:, None] + counts).ravel()
        p_value = float((shuffled <= observed).mean())
    else:
        shuffled = np.zeros(replicates)
        for family, own in zip(usable, wins, strict=True):
            places = np.tile(np.arange(len(family.members)), (replicates, 1))
            shuffled += _inversions(rng.permuted(places, axis=1), family, own.wins)
        p_value = float((1 + (shuffled <= observed).sum()) / (1 + replicates))
    smallest = 1 / ways if ways <= EXACT else 1 / (1 + replicates)
    return OrderTest(p_value, float(shuffled.mean()) / compared, smallest)


def _ways(family: Family) -> int:
    """Different ways to deal the sizes out among the members."""
    tiers = [math.factorial(len(tier)) for tier in family.tiers]
    return math.factorial(len(family.members)) // math.prod(tiers)


def _every_order(family: Family) -> Iterator[list[int]]:
    """Each way once: which members have the smallest size, which the next, and so on."""

    def deal(left: frozenset[int], tiers: Sequence[int]) -> Iterator[list[int]]:
        if not tiers:
            yield []
            return
        for taken in combinations(sorted(left), tiers[0]):
            for others in deal(left.difference(taken), tiers[1:]):
                yield [*taken, *others]

    yield from deal(frozenset(range(len(family.members))), [len(tier) for tier in family.tiers])


def _declared(family: Family) -> Places:
    return np.arange(len(family.members))[None]


def _different(family: Family) -> tuple[Places, Places]:
    """Positions of every pair of different sizes in an order of the members, smaller first."""
    tiers = np.repeat(np.arange(len(family.tiers)), [len(tier) for tier in family.tiers])
    low, high = np.nonzero(tiers[:, None] < tiers)
    return low, high


def _inversions(orders: Places, family: Family, wins: NDArray[np.int64]) -> NDArray[np.int64]:
    """Inverted pairs for each order of the members (K, k), the smallest first."""
    low, high = _different(family)
    counts: NDArray[np.int64] = wins[orders[:, low], orders[:, high]].sum(axis=1)
    return counts
