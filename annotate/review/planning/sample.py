"""A stratified random sample that can grow: the same items again, and more of them.

Every item has a key, a hash of its id with the seed. The sample of a stratum is the items with the
smallest keys, whatever their number: a simple random sample, also when it was drawn in two steps
or when items came between them.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Drawn:
    """An item of the sample."""

    item_id: str
    stratum: str
    weight: float
    """How many items of the stratum it stands for: its size by the number drawn from it."""


def key_of(seed: int, *parts: str) -> bytes:
    """A number as good as random that the seed and the parts decide (BLAKE2b, 64 bits)."""
    # the signature keeps the order apart from that in which subsets are drawn with the same seed
    keyed = hashlib.blake2b(key=str(seed).encode(), person=b"review", digest_size=8)
    keyed.update("\n".join(parts).encode())
    return keyed.digest()


def draw(strata: Mapping[str, str], number: int, seed: int, kept: Collection[str]) -> list[Drawn]:
    """Draw from each stratum, one item after the other from each in turn.

    Args:
        strata: The stratum of each item, by item id.
        number: How many are to be drawn, from each stratum as many; from one that has fewer, all
            of them.
        seed: Decides which.
        kept: Items that were drawn before with the same seed and stay. All items with smaller keys
            than theirs stay with them, so that there may be more than ``number``.

    Returns:
        The sample, so ordered that the first of it are a sample too.
    """
    ordered: dict[str, list[str]] = {}
    for item_id in sorted(strata, key=lambda one: key_of(seed, one)):
        ordered.setdefault(strata[item_id], []).append(item_id)
    names = sorted(ordered, key=lambda name: key_of(seed, name))
    before = {name: _reach(ordered[name], kept) for name in names}
    quotas = even_shares({name: len(ordered[name]) for name in names}, number, before)
    return [
        Drawn(ordered[name][turn], name, len(ordered[name]) / quotas[name])
        for turn in range(max(quotas.values(), default=0))
        for name in names
        if turn < quotas[name]
    ]


def even_shares(
    available: Mapping[str, int], number: int, least: Mapping[str, int]
) -> Counter[str]:
    """Share a number out as evenly as can be, the first ones getting what is left over.

    >>> even_shares({"a": 2, "b": 9, "c": 9}, 11, {"c": 5}).most_common()
    [('c', 5), ('b', 4), ('a', 2)]
    """
    shares = Counter({name: least.get(name, 0) for name in available})
    while shares.total() < number:
        open_ = [name for name, size in available.items() if shares[name] < size]
        if not open_:
            break
        lowest = min(shares[name] for name in open_)
        behind = [name for name in open_ if shares[name] == lowest]
        shares.update(behind[: number - shares.total()])
    return shares


def _reach(ordered: Sequence[str], kept: Collection[str]) -> int:
    """How many are drawn so that all that are kept are among them."""
    return max((turn for turn, item_id in enumerate(ordered, 1) if item_id in kept), default=0)
