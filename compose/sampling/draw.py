"""Sampling: which of the items that are left are drawn.

The order of drawing comes from a keyed hash of seed and item id alone. It does not change with the
machine, the engine, the order of the rows or the other items. Without quotas that cross groups, a
larger sample of the same items holds the smaller one.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ..explaining.values import values_in_words
from ..language.drawing import Quota, Sample
from ..language.extends import Place
from ..language.trust import Demands
from .allotment import quotas
from .crossing import Bounds, Unmet, settle
from .groups import Groups, group_by, group_by_value, one_group


def drawing_keys(item_ids: Sequence[str], seed: int) -> NDArray[np.uint64]:
    """One number an item: BLAKE2b (64 bits) of the id, keyed by the seed. The smallest is first."""
    keyed = hashlib.blake2b(key=str(seed).encode(), digest_size=8)

    def digest(item_id: str) -> bytes:
        state = keyed.copy()
        state.update(item_id.encode())
        return state.digest()

    digests = b"".join(map(digest, item_ids))
    return np.frombuffer(digests, dtype=">u8").astype(np.uint64)


def turns(codes: NDArray[np.int64], keys: Sequence[NDArray[Any]]) -> NDArray[np.int64]:
    """Each item's 0-based turn in its group: by the first key, then the next, then as they come."""
    order = np.arange(len(codes))
    for key in reversed(keys):
        order = order[np.argsort(key[order], kind="stable")]
    small = codes.astype(np.uint16) if codes.max(initial=0) < 1 << 16 else codes
    order = order[np.argsort(small[order], kind="stable")]  # of few bits: as fast as counting
    counts = np.bincount(codes)
    turn = np.empty(len(codes), dtype=np.int64)
    turn[order] = np.arange(len(codes)) - np.repeat(np.cumsum(counts) - counts, counts)
    return turn


@dataclass(frozen=True, slots=True, eq=False)
class Draw:
    """The outcome of a draw, item by item and group by group."""

    groups: Groups
    """Of each item: its group and, where quotas cross groups, its value."""
    quota: NDArray[np.int64]
    """Items drawn from each group."""
    turn: NDArray[np.int64]
    """For each item, its 0-based turn in its group's order of drawing."""

    @property
    def drawn(self) -> NDArray[np.bool_]:
        """Which items are drawn."""
        found: NDArray[np.bool_] = self.turn < self.quota[self.groups.codes]
        return found


@dataclass(frozen=True, slots=True, eq=False)
class Shortage:
    """Why a sample cannot be drawn from the items that are left."""

    found: str
    wanted: str
    place: Place
    """The key that asks for too much, inside the criteria."""
    counted: NDArray[np.bool_] | None = None
    """Of the items that are left, those that ``found`` counts; none when it counts others."""


def draw(
    table: pa.Table,
    sample: Sample,
    preferences: Sequence[NDArray[Any]] = (),
    demands: Demands | None = None,
) -> Draw | Shortage:
    """Draw items, or say why there are too few.

    Args:
        table: the items that are left, with their ids and the fields of the sample, in an order of
            their own that settles equal keys.
        sample: how many, and how evenly; with its seed.
        preferences: numbers of each item; the smaller comes first, before the seed decides.
        demands: what values need to count.
    """
    groups = group_by(table, sample.groupings, demands or Demands())
    values = one_group(table.num_rows)
    for field in sample.crossing:
        values = group_by_value((demands or Demands()).on(field).counted(table, field))
    size = _size(sample, table.num_rows)
    if isinstance(size, Shortage):
        return size
    shared = _by_group(table, sample, groups, size)
    if isinstance(shared, Shortage):
        return shared
    keys = [*preferences, drawing_keys(table["item_id"].to_pylist(), sample.seed or 0)]
    if not sample.crossing:
        return Draw(groups, shared, turns(groups.codes, keys))
    return _crossed(sample, groups, values, shared, keys)


def _size(sample: Sample, left: int) -> int | Shortage:
    if sample.size is None:
        share = Fraction(str(sample.share))
        return math.floor(share * left + Fraction(1, 2))
    if left >= sample.size:
        return sample.size
    if sample.if_short == "take_all":
        return left
    found = f"{_are_left(left)} left to draw from"
    return Shortage(found, str(sample.size), ("sample", "size"), np.ones(left, dtype=np.bool_))


def _are_left(items: int, which: str = "") -> str:
    """Such as ``1 item is`` or ``13 items with reasoning_depth 3 are``."""
    return f"1 item{which} is" if items == 1 else f"{items} items{which} are"


def _by_group(
    table: pa.Table, sample: Sample, groups: Groups, size: int
) -> NDArray[np.int64] | Shortage:
    """How many items each group gives, before quotas that cross groups."""
    available = dict(zip(groups.names, groups.counts.tolist(), strict=True))
    field = sample.groupings[0].field if len(sample.groupings) == 1 else ""
    own = (sample.quotas or {}).get(field, {}) if field not in sample.crossing else {}
    short = _short(field, own, groups, size, sample)
    if short is not None:
        return short
    shared = quotas(
        available,
        size,
        weights=_weights(table, sample, groups),
        least={value: quota.min for value, quota in own.items()},
        most={value: quota.max for value, quota in own.items() if quota.max is not None},
    )
    return np.array([shared[name] for name in groups.names], dtype=np.int64)


def _short(
    field: str, given: dict[str, Quota], values: Groups, size: int, sample: Sample
) -> Shortage | None:
    """Why the quotas on one field cannot be met, if that is refused."""
    place: Place = ("sample", "quotas", field)
    available = dict(zip(values.names, values.counts.tolist(), strict=True))
    least = sum(min(quota.min, available.get(value, 0)) for value, quota in given.items())
    if least > size:
        return Shortage(f"the quotas on {field!r} take {least} items", f"at most {size}", place)
    if sample.if_short == "take_all":
        return None
    for value, quota in given.items():
        there = available.get(value, 0)
        if there < quota.min:
            found = f"{_are_left(there, f' with {field} {value}')} left to draw from"
            of = np.array([name == value for name in values.names], dtype=np.bool_)[values.codes]
            return Shortage(found, f"at least {quota.min}", (*place, value), of)
    caps = {value: quota.max for value, quota in given.items() if quota.max is not None}
    room = sum(min(n, caps.get(value, n)) for value, n in available.items())
    if room < size:
        return Shortage(f"the quotas on {field!r} leave room for {room} items", str(size), place)
    return None


def _weights(table: pa.Table, sample: Sample, groups: Groups) -> dict[str, Fraction]:
    """The weight of each group: of its values, and of its size where that is to be kept."""
    counts = groups.counts.tolist()
    first = np.zeros(len(groups.names), dtype=np.int64)
    first[groups.codes[::-1]] = np.arange(len(groups.codes))[::-1]
    found = [Fraction(1 if sample.balance is not None else n) for n in counts]
    for field, weights in (sample.weights or {}).items():
        words = values_in_words(table[field].take(pa.array(first))).to_pylist()
        factors = [Fraction(str(weights.get(word, 1))) for word in words]
        found = [weight * factor for weight, factor in zip(found, factors, strict=True)]
    return dict(zip(groups.names, found, strict=True))


def _crossed(
    sample: Sample,
    groups: Groups,
    values: Groups,
    shared: NDArray[np.int64],
    keys: Sequence[NDArray[Any]],
) -> Draw | Shortage:
    """Change the plain draw as little as quotas on a second field demand."""
    [field] = sample.crossing
    given = (sample.quotas or {})[field]
    shape = (len(groups.names), len(values.names))
    codes = groups.codes * shape[1] + values.codes
    plain = turns(groups.codes, keys) < shared[groups.codes]
    available = np.bincount(codes, minlength=shape[0] * shape[1]).reshape(shape)
    drawn = np.bincount(codes[plain], minlength=shape[0] * shape[1]).reshape(shape)
    short = _short(field, given, values, int(shared.sum()), sample)
    if short is not None:
        return short
    there = dict(zip(values.names, values.counts.tolist(), strict=True))
    least = [min(given[v].min, there[v]) if v in given else 0 for v in values.names]
    none = [given[v].max if v in given else None for v in values.names]
    most = [len(codes) if cap is None else cap for cap in none]
    bounds = Bounds(np.array(least, np.int64), np.array(most, np.int64))
    settled = settle(drawn, available, _group_bounds(sample, groups), bounds)
    if isinstance(settled, Unmet):
        value = values.names[settled.value]
        few = settled.reached < bounds.least[settled.value]
        wanted = (
            f"at least {bounds.least[settled.value]}" if few else f"at most {most[settled.value]}"
        )
        noun = "item" if settled.reached == 1 else "items"
        found = f"the quotas leave {settled.reached} {noun} with {field} {value}"
        return Shortage(found, wanted, ("sample", "quotas", field, value))
    names = tuple(
        f"{group}, {value}" if group else value for group in groups.names for value in values.names
    )
    return Draw(Groups(names, codes), settled.reshape(-1), turns(codes, keys))


def _group_bounds(sample: Sample, groups: Groups) -> Bounds:
    """How far the sums by group may move: as far as quotas of their own allow."""
    most = groups.counts
    least = np.zeros_like(most)
    if len(sample.groupings) == 1 and not sample.groupings[0].cuts:
        for position, name in enumerate(groups.names):
            quota = (sample.quotas or {}).get(sample.groupings[0].field, {}).get(name)
            if quota is not None:
                least[position] = min(quota.min, most[position])
                cap = most[position] if quota.max is None else quota.max
                most[position] = min(cap, most[position])
    return Bounds(least, most)
