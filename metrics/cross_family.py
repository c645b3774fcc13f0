"""Cross-family evidence: whether inversions are the item's fault or the family's.

An item that several families invert is suspicious: their models have little in common but the
item. A pair of models that is inverted on most items may just be in the wrong order.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from .alignment import (
    DECAY,
    Family,
    PairInversions,
    capability_alignment,
    inversion_rate,
    pair_inversions,
)
from .comparison import exact_mcnemar
from .items.strata import holm
from .scores import Scores, is_binary, known

Floats = NDArray[np.float64]
_MOST_EXACT = 12
"""Families up to which the distribution of inversions is added up exactly."""


@dataclass(frozen=True, slots=True, eq=False)
class ItemEvidence:
    """What the families say of each of n items."""

    inverting: NDArray[np.int64]
    """(n,): families of which a smaller model scores more than a larger one."""
    comparing: NDArray[np.int64]
    """(n,): families that have two sizes with a score for the item."""
    inverted: NDArray[np.int64]
    """(n,): inverted pairs in families that are together at least two."""
    p_values: Floats
    """(n,): that as many inversions or more are seen when sizes say nothing about who of a family
    solves the item; NaN with graded scores."""


@dataclass(frozen=True, slots=True)
class Contradiction:
    """A pair of models whose declared order the items contradict."""

    weaker: int
    """Column of the model that is declared smaller."""
    stronger: int
    inverted: int
    """Items on which the larger model scores less."""
    ordered: int
    """Items on which it scores more."""
    p_value: float
    """Exact McNemar test, adjusted for the number of pairs (Holm)."""


@dataclass(frozen=True, slots=True)
class CrossFamily:
    """A benchmark's inversions, told apart by how many families share them."""

    items_inverted: int
    """Items that at least one family inverts."""
    items_shared: int
    """Items that at least two families invert."""
    shared_by_chance: float
    """Items that two would invert if each inverted as many items as it does, at random."""
    shared_rate: float
    """Inversion rate that counts only items inverted by at least two families."""
    shared_cad: float
    """CAD of that rate."""
    supported_rate: float
    """Inversion rate without the contradicted pairs of models."""
    supported_cad: float
    contradictions: tuple[Contradiction, ...]


def item_evidence_of_families(scores: Scores, families: Sequence[Family]) -> ItemEvidence:
    """Ask every family about every item.

    Tells which items several families agree on turning round: the key is probably wrong, or the
    item rewards something else than capability.

    Formula: given how many models of a family solve an item, and no matter which, every choice of
    them is as likely; the inversions of the item summed over the families have the convolution of
    the families' distributions, and p is its upper tail (normal, with continuity correction, for
    more than twelve families).

    Args:
        scores: (n, m) scores of m models on n items, NaN where there is none.
        families: the families, as columns of ``scores``.

    Returns:
        Counts, and p in (0, 1]: small where more is inverted than chance explains. An item that all
        or none of each family's models solve has p = 1.

    Source: for each family the null distribution of H. B. Mann and D. R. Whitney (1947), combined
    as by P. van Elteren (1960).
    """
    items = len(scores)
    usable = [family for family in families if family.pairs]
    inverting, comparing = np.zeros(items, np.int64), np.zeros(items, np.int64)
    total = np.zeros(items, np.int64)
    binary = is_binary(scores)
    patterns = []
    for family in usable:
        inverted, compared = _inverted_and_compared(scores, family)
        inverting += inverted > 0
        comparing += compared > 0
        total += inverted
        if binary:
            patterns.append(_patterns(scores, family))
    p_values = np.full(items, np.nan)
    if binary and usable:
        p_values = _tails(total, patterns)
    return ItemEvidence(inverting, comparing, np.where(inverting > 1, total, 0), p_values)


def _inverted_and_compared(
    scores: Scores, family: Family
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    inverted = np.zeros(len(scores), dtype=np.int64)
    compared = np.zeros(len(scores), dtype=np.int64)
    seen = known(scores)
    for weaker, stronger in family.each_pair():
        inverted += scores[:, stronger] < scores[:, weaker]
        compared += seen[:, weaker] & seen[:, stronger]
    return inverted, compared


Pattern = tuple[tuple[int, ...], int]
"""Models with a score in each tier, and how many of them are right."""


def _patterns(scores: Scores, family: Family) -> list[Pattern]:
    seen, right = known(scores), scores == 1
    tiers = np.stack([seen[:, tier].sum(axis=1) for tier in family.tiers], axis=1)
    solved = right[:, family.members].sum(axis=1)
    rows = zip(tiers.tolist(), solved.tolist(), strict=True)
    return [(tuple(sizes), number) for sizes, number in rows]


def _tails(total: NDArray[np.int64], patterns: Sequence[list[Pattern]]) -> Floats:
    """Upper tail of the inversions of each item, given its families' patterns."""
    by_item = list(zip(*patterns, strict=True))
    tail_of: dict[tuple[Pattern, ...], Floats] = {}
    exact = len(patterns) <= _MOST_EXACT
    p_values = np.empty(len(total))
    for item, (own, observed) in enumerate(zip(by_item, total.tolist(), strict=True)):
        if not exact:
            p_values[item] = _normal_tail(own, observed)
            continue
        if own not in tail_of:
            law = np.ones(1)
            for pattern in own:
                law = np.convolve(law, _law(*pattern))
            tail_of[own] = np.minimum(law[::-1].cumsum()[::-1], 1.0)
        p_values[item] = tail_of[own][observed]
    return p_values


def _normal_tail(own: Sequence[Pattern], observed: int) -> float:
    moments = [_moments(*pattern) for pattern in own]
    mean, variance = (sum(part) for part in zip(*moments, strict=True))
    if not variance:
        return 1.0
    return float(ndtr((mean - observed + 0.5) / math.sqrt(variance)))


@lru_cache(maxsize=4096)
def _moments(tiers: tuple[int, ...], right: int) -> tuple[float, float]:
    law = _law(tiers, right)
    values = np.arange(len(law))
    mean = float(values @ law)
    return mean, float(values**2 @ law) - mean**2


@lru_cache(maxsize=4096)
def _law(tiers: tuple[int, ...], right: int) -> Floats:
    """Probability of each number of inversions when the models that are right are any.

    Models are dealt out tier by tier, the smallest first; ``ways[r][u]`` counts the ways in which
    r of them are right and u pairs are inverted.
    """
    most = sum(tiers) ** 2 // 4 + 1
    ways = np.zeros((right + 1, most))
    ways[0, 0] = 1
    for size in tiers:
        dealt = np.zeros_like(ways)
        for before in np.flatnonzero(ways.any(axis=1)).tolist():
            for own in range(min(size, right - before) + 1):
                shift = before * (size - own)
                moved = math.comb(size, own) * ways[before, : most - shift]
                dealt[before + own, shift:] += moved
        ways = dealt
    law = ways[right]
    law = law[: np.flatnonzero(law)[-1] + 1] if law.any() else np.ones(1)
    distribution: Floats = law / law.sum()
    return distribution


def cross_family_evidence(
    scores: Scores,
    families: Sequence[Family],
    *,
    decay: float = DECAY,
    level: float = 0.95,
) -> CrossFamily:
    """Tell inversions that families share from those that one family's order makes.

    Tells how far a low CAD is the benchmark's fault. CAD takes the sizes in a family for the truth;
    here other families, and the models' own results, are heard.

    Formula: the shared rate counts the inversions of items that at least two families invert, over
    all compared pairs; by chance ``sum over items of P(N >= 2)``, N the number of families that
    invert it if family f inverts any item that it compares with its own share of inverted items.
    A pair is contradicted when its larger model scores less significantly more often than more
    (exact McNemar, Holm); the supported rate leaves such pairs out.

    Args:
        scores: (n, m) scores of m models on n items, NaN where there is none.
        families: the families, as columns of ``scores``.
        decay: as in ``alignment.capability_alignment``.
        level: of the tests of pairs: 0.95 for p below 0.05.

    Returns:
        Counts, rates in [0, 1] and CADs in (0, 1]. With one family nothing is shared, and the
        shared rate is NaN.

    Source: ours, answering the reliance of Benchmark^2 (arXiv 2601.03986) on parameter counts.
    """
    usable = [family for family in families if family.pairs]
    pairs = pair_inversions(scores, usable)
    evidence = item_evidence_of_families(scores, usable)
    compared = int(pairs.compared.sum())
    shared = math.nan
    if len(usable) > 1:
        shared = inversion_rate(int(evidence.inverted.sum()), compared)
    found = _contradictions(pairs, level)
    wrong = {(one.weaker, one.stronger) for one in found}
    cells = zip(pairs.weaker.tolist(), pairs.stronger.tolist(), strict=True)
    kept = np.array([cell not in wrong for cell in cells], dtype=bool)
    supported = inversion_rate(int(pairs.inverted[kept].sum()), int(pairs.compared[kept].sum()))
    return CrossFamily(
        items_inverted=int((evidence.inverting > 0).sum()),
        items_shared=int((evidence.inverting > 1).sum()),
        shared_by_chance=_shared_by_chance(scores, usable),
        shared_rate=shared,
        shared_cad=capability_alignment(shared, decay=decay),
        supported_rate=supported,
        supported_cad=capability_alignment(supported, decay=decay),
        contradictions=found,
    )


def _shared_by_chance(scores: Scores, families: Sequence[Family]) -> float:
    """Expected number of items inverted by two families or more, if families were independent."""
    none, one = np.ones(len(scores)), np.zeros(len(scores))
    for family in families:
        inverted, compared = _inverted_and_compared(scores, family)
        asked = compared > 0
        share = (inverted > 0).sum() / max(1, asked.sum())
        probability = np.where(asked, share, 0.0)
        one = one * (1 - probability) + none * probability
        none = none * (1 - probability)
    return float((1 - none - one).sum())


def _contradictions(pairs: PairInversions, level: float) -> tuple[Contradiction, ...]:
    counts = list(zip(pairs.inverted.tolist(), pairs.ordered.tolist(), strict=True))
    p_values = holm(np.array([exact_mcnemar(*pair) for pair in counts]))
    return tuple(
        Contradiction(int(weaker), int(stronger), inverted, ordered, float(p_value))
        for weaker, stronger, (inverted, ordered), p_value in zip(
            pairs.weaker, pairs.stronger, counts, p_values, strict=True
        )
        if inverted > ordered and p_value < 1 - level
    )
