"""Allotment: how many items each group gives."""

from __future__ import annotations

import heapq
import math
from collections.abc import Mapping
from fractions import Fraction

Number = int | float | Fraction


def quotas(
    available: Mapping[str, int],
    size: int,
    *,
    weights: Mapping[str, Number] | None = None,
    least: Mapping[str, int] | None = None,
    most: Mapping[str, int] | None = None,
) -> dict[str, int]:
    """Share ``size`` out by weight, as evenly as the groups allow; a short group gives all it has.

    Places go one by one to the group with the largest ``weight / (2 n + 1)``, where n is what it
    has (the method of Webster and Sainte-Laguë), ties to the first group by order. Every group
    starts with its least. So one place more never takes a place away.

    Args:
        available: items of each group.
        size: places to share out; never more than the groups can take.
        weights: what counts for more or less than 1.
        least: what a group gets at least; adding up to ``size`` at most.
        most: what a group gets at most.

    >>> quotas({"arc": 5, "gsm8k": 40, "mmlu": 100}, 50)
    {'arc': 5, 'gsm8k': 23, 'mmlu': 22}
    >>> quotas({"arc": 50, "gsm8k": 50}, 30, weights={"gsm8k": 2})
    {'arc': 10, 'gsm8k': 20}
    """
    order = sorted(available)
    caps = {g: min(available[g], (most or {}).get(g, available[g])) for g in order}
    starts = {g: min((least or {}).get(g, 0), caps[g]) for g in order}
    shares = _whole_numbers(order, weights or {})
    places = min(size, sum(caps.values()))
    given = _at_highest_level(shares, starts, caps, places)
    waiting = [_turn(shares, given, g) for g in order if given[g] < caps[g]]
    heapq.heapify(waiting)
    for _ in range(places - sum(given.values())):
        _, group = heapq.heappop(waiting)
        given[group] += 1
        if given[group] < caps[group]:
            heapq.heappush(waiting, _turn(shares, given, group))
    return given


def _turn(shares: Mapping[str, int], given: Mapping[str, int], group: str) -> tuple[Fraction, str]:
    return -Fraction(shares[group], 2 * given[group] + 1), group


def _whole_numbers(groups: list[str], weights: Mapping[str, Number]) -> dict[str, int]:
    """The weights as whole numbers, so that no rounding can decide."""
    exact = {group: Fraction(str(weights.get(group, 1))) for group in groups}
    unit = math.lcm(*(share.denominator for share in exact.values()))
    return {group: int(share * unit) for group, share in exact.items()}


def _at_highest_level(
    shares: Mapping[str, int], starts: Mapping[str, int], caps: Mapping[str, int], places: int
) -> dict[str, int]:
    """Give the places of all turns down to some priority: the most that ``places`` allows.

    The priority is ``unit / level``; between two levels lie at most turns of equal priority, which
    are left.
    """
    unit = max(shares.values(), default=1) ** 2

    def given(level: int) -> dict[str, int]:
        return {
            group: min(max((share * level + unit) // (2 * unit), starts[group]), caps[group])
            for group, share in shares.items()
        }

    low, high = 0, unit * (2 * max(caps.values(), default=0) + 1)
    while low < high:
        level = (low + high + 1) // 2
        if sum(given(level).values()) <= places:
            low = level
        else:
            high = level - 1
    return given(low)
