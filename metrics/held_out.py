"""Held-out families: choosing items with some models, and judging the choice with others.

Items chosen because the models at hand separate well on them separate the same models well; that
says nothing yet. Models of one family are alike, so whole families are held out.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class FamilySplit:
    """Which families choose, and which judge."""

    held_in: tuple[str, ...]
    held_out: tuple[str, ...]


def split_families(families: Iterable[str], *, seed: int = 0) -> FamilySplit:
    """Split families in halves, by seed; of an odd number, the larger half chooses.

    Args:
        families: names, in any order and as often as one likes.
        seed: of the split, which depends on nothing but it and the names.

    Returns:
        Both halves, each sorted. One family alone chooses, and nobody is left to judge.

    >>> split_families(["a", "b", "c", "d", "a"], seed=1)
    FamilySplit(held_in=('c', 'd'), held_out=('a', 'b'))
    """
    shuffled = _shuffled(families, seed)
    half = (len(shuffled) + 1) // 2
    return FamilySplit(tuple(sorted(shuffled[:half])), tuple(sorted(shuffled[half:])))


def family_folds(families: Iterable[str], folds: int, *, seed: int = 0) -> list[FamilySplit]:
    """Hold each family out once, in as many folds as are asked for and there are families for.

    Args:
        families: as in ``split_families``.
        folds: number of folds.
        seed: as in ``split_families``.

    >>> [fold.held_out for fold in family_folds("abc", 2)]
    [('a', 'b'), ('c',)]
    """
    shuffled = _shuffled(families, seed)
    parts = [sorted(shuffled[fold::folds]) for fold in range(min(folds, len(shuffled)))]
    return [
        FamilySplit(tuple(sorted(set(shuffled).difference(part))), tuple(part)) for part in parts
    ]


def _shuffled(families: Iterable[str], seed: int) -> list[str]:
    key = str(seed).encode()
    return sorted(
        set(families),
        key=lambda name: (hashlib.blake2b(name.encode(), key=key, digest_size=8).digest(), name),
    )
