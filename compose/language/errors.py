"""Criteria that do not fit the items: errors that know their place in the criteria file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from ...records.documents import place as place_in_file
from ...records.errors import InputError
from .extends import Place, origin


class CriteriaError(InputError):
    """Criteria that do not fit the items; ``place`` leads to the fault inside the file."""

    def __init__(self, found: str, *, wanted: str, mend: str, place: Place = ()) -> None:
        super().__init__(found, wanted=wanted, mend=mend)
        self.place = place


class Infeasible(CriteriaError):
    """Criteria that fit the items but leave too few of them."""

    relaxations: Sequence[Relaxation] = ()
    """What single changes would leave."""


@dataclass(frozen=True, slots=True)
class Relaxation:
    """One change of the criteria, and what it would leave."""

    change: str
    """Such as ``reasoning_depth >= 1`` in place of a stricter rule, or ``without ...``."""
    left: int
    """Items that would be left to draw from."""
    by_benchmark: dict[str, int]
    enough: bool
    """Whether the sample could then be drawn."""
    short: str = ""
    """What a quota would still lack, such as ``13 items with depth 3 are left to draw from``."""


@contextmanager
def located(path: Path) -> Iterator[None]:
    """Add file, line and column to a ``CriteriaError`` of criteria that were read from ``path``."""
    try:
        yield
    except CriteriaError as error:
        if not error.place:
            raise
        found = f"{where(path, error.place)}: {error.found}"
        raise InputError(found, wanted=error.wanted, mend=error.mend) from error


def where(path: Path, place: Place) -> str:
    """Name file, line and column of something in criteria that were read from ``path``."""
    file, inner = origin(path, place)
    return place_in_file(file, inner)
