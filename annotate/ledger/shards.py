"""Shards: the items divided among processes that know nothing of each other.

An item's shard follows from its id alone, so that every machine divides alike, today and after more
items have come. Each shard writes a ledger of its own; merging them gives what one process would
have written.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass

import pyarrow as pa

from ...records.errors import InputError

_SHARD = re.compile(r"([1-9][0-9]{0,5})/([1-9][0-9]{0,5})")


@dataclass(frozen=True, slots=True)
class Shard:
    """One of several shards, counted from one."""

    number: int
    of: int

    @property
    def name(self) -> str:
        """A name for files."""
        return f"{self.number}-of-{self.of}"

    def holds(self, item_id: str) -> bool:
        """Tell whether an item is in this shard.

        >>> [Shard(number, 3).holds("mmlu/anatomy/test/7") for number in (1, 2, 3)]
        [True, False, False]
        """
        name = hashlib.blake2b(item_id.encode(), digest_size=8).digest()
        return int.from_bytes(name) % self.of == self.number - 1

    def items(self, items: pa.Table) -> pa.Table:
        """The items of this shard, in their order."""
        return items.filter(pa.array(map(self.holds, items["item_id"].to_pylist()), pa.bool_()))


def shard_of(text: str) -> Shard:
    """Read a shard such as ``2/8``.

    Raises:
        InputError: it is none.
    """
    found = _SHARD.fullmatch(text)
    shard = Shard(int(found[1]), int(found[2])) if found else None
    if shard is None or shard.number > shard.of:
        raise InputError(
            f"the shard {text!r}",
            wanted="a number and how many there are, from '1/8' to '8/8'",
            mend="count from one",
        )
    return shard
