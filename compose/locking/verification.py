"""Verification: whether a stored subset is what its criteria give today."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from ...records.errors import InputError
from ..language.extends import read_criteria
from ..store import CRITERIA, EXCLUDED, ITEMS, LOCK, read_lock
from .digest import table_digest
from .moved import moved


@dataclass(frozen=True, slots=True)
class Verification:
    """How a stored subset differs from the composition of today."""

    moved: tuple[str, ...]
    """What the lock says otherwise, in sentences; empty when the composition is the same."""
    damaged: tuple[str, ...]
    """Files that do not hold what the lock says."""


def verify(folder: Path, now: Mapping[str, Any]) -> Verification:
    """Compare a stored subset with the lock of today's composition.

    Raises:
        InputError: there is a lock that cannot be read.
    """
    if not (folder / LOCK).is_file():
        return Verification((f"no subset {folder.name!r} has been composed yet",), ())
    then = read_lock(folder)
    return Verification(tuple(moved(then, now)), tuple(_damaged(folder, then)))


def _damaged(folder: Path, lock: Mapping[str, Any]) -> Iterator[str]:
    for name, key in ((ITEMS, "items"), (EXCLUDED, "excluded")):
        try:
            held = table_digest(pq.read_table(folder / name))
        except (OSError, pa.ArrowException):
            held = ""
        if held != lock["content"][key]:
            yield f"{name} is {'not what the lock says' if held else 'missing or damaged'}"
    try:
        same = read_criteria(folder / CRITERIA).plain() == lock["criteria"]
    except InputError:
        same = None
    if not same:
        yield f"{CRITERIA} is {'missing or damaged' if same is None else 'not what the lock says'}"
