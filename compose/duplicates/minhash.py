"""MinHash: finding the pairs of texts that may be alike without comparing all of them.

A signature is the smallest hash of a text's shingles under each of many hash functions; two texts
agree in one of them with a probability equal to their Jaccard index. Signatures are cut into bands
of a few rows, and texts that agree in a whole band are candidates. A candidate is a copy only if
the exact Jaccard index of the two sets says so.
"""

from __future__ import annotations

import hashlib
import itertools
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .shingles import ShingleSets

ROWS = 128
"""Hash functions, at most."""
MISSED = 0.005
"""The largest probability that a pair just as alike as asked for is no candidate."""
_FACTOR = np.uint64(0x9E3779B97F4A7C15)
_BLOCK = 1 << 15  # shingles at a time: few enough to stay in a core's cache


def bands(similarity: float) -> tuple[int, int]:
    """Number of bands and rows of each: as many rows as ``MISSED`` allows, for few candidates.

    A pair with the Jaccard index s is a candidate with the probability ``1 - (1 - s^rows)^bands``.

    >>> bands(0.8), bands(0.5)
    ((21, 6), (42, 3))
    """
    for rows in range(ROWS, 1, -1):
        if (1 - similarity**rows) ** (ROWS // rows) <= MISSED:
            return ROWS // rows, rows
    return ROWS, 1


@dataclass(frozen=True, slots=True, eq=False)
class Copies:
    """Which of n texts are copies of an earlier one that stays."""

    of: NDArray[np.int64]
    """(n,): the text that each is a copy of, or -1 for one that stays."""
    similarity: NDArray[np.float64]
    """(n,): the Jaccard index with that text; NaN for one that stays."""


def near_copies(sets: ShingleSets, similarity: float) -> Copies:
    """Find copies: going through the texts in order, each that is like an earlier one that stays.

    A copy is always a copy of a text that stays, never only of another copy. A text without
    shingles stays.

    Args:
        sets: the texts, the ones that should rather stay first.
        similarity: the Jaccard index from which on two texts are alike, above 0.
    """
    first, copied = _equal_sets(sets)
    of = np.full(len(sets.sizes), -1, dtype=np.int64)
    found = np.full(len(of), np.nan)
    for leaders, members in _candidates(sets, first, similarity, of):
        alike = sets.jaccard(leaders, members)
        # The index comes from whole numbers; the last bit must not decide at the threshold.
        close = alike >= similarity - 1e-12
        # Last writing wins, so that of several the earliest text is named.
        of[members[close][::-1]] = leaders[close][::-1]
        found[members[close][::-1]] = alike[close][::-1]
    rest = np.flatnonzero(copied >= 0)
    original = copied[rest]
    of[rest] = np.where(of[original] >= 0, of[original], original)
    found[rest] = np.where(np.isnan(found[original]), 1.0, found[original])
    return Copies(of, found)


def _equal_sets(sets: ShingleSets) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Texts that differ in their sets, and for each other text the first one with the same set."""
    filled = np.flatnonzero(sets.sizes)
    copied = np.full(len(sets.sizes), -1, dtype=np.int64)
    if not len(filled):
        return filled, copied
    starts = sets.starts[:-1][filled]
    spread = sets.hashes * _FACTOR
    spread ^= spread >> np.uint64(29)
    key = np.add.reduceat(sets.hashes, starts) * _FACTOR + np.add.reduceat(spread, starts)
    _, first, same = np.unique(key, return_index=True, return_inverse=True)
    original = filled[first[same]]
    later = original != filled
    later[later] = sets.jaccard(original[later], filled[later]) == 1
    copied[filled[later]] = original[later]
    return filled[~later], copied


def _candidates(
    sets: ShingleSets, texts: NDArray[np.int64], similarity: float, of: NDArray[np.int64]
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Yield pairs of a text that stays and a later candidate, until every text is decided.

    A text stays once no undecided earlier one shares a bucket with it. The caller decides each
    round's pairs in ``of`` before the next round.
    """
    bucket, member = _buckets(sets, texts, similarity)
    open_ = np.ones(len(of), dtype=bool)
    while len(bucket):
        leads = np.append(True, bucket[1:] != bucket[:-1])
        leader = member[np.maximum.accumulate(np.where(leads, np.arange(len(leads)), 0))]
        waiting = np.zeros(len(of), dtype=bool)
        waiting[member[~leads]] = True
        ready = ~leads & ~waiting[leader]
        pairs = np.unique(leader[ready] * len(of) + member[ready])
        yield pairs // len(of), pairs % len(of)
        open_[member[~waiting[member]]] = False
        open_[of >= 0] = False
        left = open_[member]
        bucket, member = bucket[left], member[left]


def _buckets(
    sets: ShingleSets, texts: NDArray[np.int64], similarity: float
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The bucket and the text of each membership in a bucket of two or more; sorted."""
    number, rows = bands(similarity)
    signatures = _signatures(sets, texts, number * rows)
    buckets, members, used = [], [], 0
    for band in range(number):
        key = np.zeros(len(texts), dtype=np.uint64)
        for row in range(band * rows, (band + 1) * rows):
            key = (key ^ signatures[row]) * _FACTOR
            key ^= key >> np.uint64(29)
        order = np.argsort(key, kind="stable")
        new = np.append(True, key[order][1:] != key[order][:-1])[: len(order)]
        code = np.cumsum(new) - 1
        shared = np.bincount(code, minlength=1)[code] > 1
        buckets.append(code[shared] + used)
        members.append(texts[order[shared]])
        used += len(texts)
    return np.concatenate(buckets), np.concatenate(members)


def _signatures(sets: ShingleSets, texts: NDArray[np.int64], functions: int) -> NDArray[np.uint32]:
    """(functions, len(texts)): the smallest hash of each text under each function."""
    factors, shifts = _functions(functions)
    starts, ends = sets.starts[texts], sets.starts[texts + 1]
    signatures = np.empty((functions, len(texts)), dtype=np.uint32)

    def work(block: slice) -> None:
        sizes = ends[block] - starts[block]
        offsets = np.cumsum(sizes) - sizes
        places = np.repeat(starts[block] - offsets, sizes) + np.arange(sizes.sum())
        values = sets.hashes[places].astype(np.uint32)
        hashed = np.empty_like(values)
        for row in range(functions):
            np.bitwise_xor(values, shifts[row], out=hashed)
            np.multiply(hashed, factors[row], out=hashed)
            np.minimum.reduceat(hashed, offsets, out=signatures[row, block])

    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        list(pool.map(work, _blocks(ends - starts)))
    return signatures


def _blocks(sizes: NDArray[np.int64]) -> Iterator[slice]:
    """Cut texts into runs of about ``_BLOCK`` shingles."""
    if not len(sizes):
        return
    number = np.cumsum(sizes) // _BLOCK
    edges = np.flatnonzero(np.diff(number)) + 1
    bounds = [0, *edges.tolist(), len(sizes)]
    yield from (slice(a, b) for a, b in itertools.pairwise(bounds))


def _functions(number: int) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
    """The same functions on every machine: an odd factor and a mask each."""
    digest = b"".join(
        hashlib.blake2b(str(position).encode(), digest_size=8, key=b"minhash").digest()
        for position in range(number)
    )
    words = np.frombuffer(digest, dtype="<u4").astype(np.uint32).reshape(number, 2)
    return words[:, 0] | np.uint32(1), words[:, 1]
