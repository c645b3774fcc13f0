"""Who reviews what: every item by so many people, all people alike much."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ....records.errors import InputError
from .sample import key_of


@dataclass(frozen=True, slots=True)
class Charge:
    """An item to be assigned."""

    item_id: str
    reviewers: tuple[str, ...] = ()
    """Who has it already, and keeps it."""
    acquainted: tuple[str, ...] = ()
    """Who gets it only if there is nobody else: they have seen the suggestions of a blind item."""


def assign(
    charges: Iterable[Charge], reviewers: Sequence[str], overlap: int, seed: int
) -> list[tuple[str, ...]]:
    """Assign items to reviewers.

    Whoever has the fewest items is next; between equals a hash decides, so that everyone comes
    together with everyone. Where nobody had any items, loads differ by one at most.

    Args:
        charges: The items, the most urgent first.
        reviewers: Who may get items; with none, all items are for anyone.
        overlap: How many different reviewers an item gets. One that has more keeps them.
        seed: Decides between equals.

    Returns:
        The reviewers of each item, those who had it first.

    Raises:
        InputError: there are fewer reviewers than each item needs.
    """
    charges = list(charges)
    if overlap > max(len(reviewers), 1):
        raise InputError(
            f"an overlap of {overlap} with {len(reviewers)} reviewers",
            wanted="as many reviewers, since each item goes to different ones",
            mend="name more with --reviewer, or lower --overlap",
        )
    load = Counter(name for charge in charges for name in charge.reviewers)
    if not reviewers:
        return [charge.reviewers for charge in charges]
    return [_complete(charge, reviewers, overlap, seed, load) for charge in charges]


def _complete(
    charge: Charge, reviewers: Sequence[str], overlap: int, seed: int, load: Counter[str]
) -> tuple[str, ...]:
    missing = max(overlap - len(charge.reviewers), 0)
    others = [name for name in reviewers if name not in charge.reviewers]
    keys = {
        name: (name in charge.acquainted, load[name], key_of(seed, charge.item_id, name))
        for name in others
    }
    chosen = sorted(others, key=keys.__getitem__)[:missing]
    load.update(chosen)
    return (*charge.reviewers, *chosen)
