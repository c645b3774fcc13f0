"""Licences of benchmarks: what each permits, and which of several is the strictest."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache
from importlib.resources import files
from typing import Literal

from ...records.documents import StrictModel, parse_document

Redistribution = Literal["yes", "non_commercial", "no", "unknown"]


class Licence(StrictModel):
    """One licence."""

    hub: str
    """Its identifier in the cards of the Hub."""
    title: str
    redistribution: Redistribution
    """Whether items may be passed on, as a part of a new set."""
    attribution: bool = False
    """Whether the source has to be named."""
    share_alike: bool = False
    """Whether what is made of it stays under the same licence."""
    names: list[str] = []
    """Further ways to write it."""
    url: str | None = None


class _LicenceFile(StrictModel):
    licences: list[Licence]


@cache
def licences() -> Sequence[Licence]:
    """The known licences, from the freest to the strictest."""
    text = files(__package__).joinpath("licences.yaml").read_text(encoding="utf-8")
    return parse_document(text, _LicenceFile, name="licences.yaml").licences


def find_licence(stated: str) -> Licence:
    """Find the licence that is meant by an identifier or by words.

    Words that name no known licence make one of their own: ``other``, of which it is not known
    what it permits.

    >>> find_licence("CC-BY-SA-4.0").hub, find_licence("cc by sa 4.0").hub, find_licence("").hub
    ('cc-by-sa-4.0', 'cc-by-sa-4.0', 'unknown')
    >>> find_licence("ask the authors").redistribution
    'unknown'
    """
    wanted = _folded(stated) or "unknown"
    for licence in licences():
        names = licence.names if licence.hub == "other" else [licence.hub, *licence.names]
        if wanted in map(_folded, [*names, licence.title]):
            return licence
    return Licence(hub="other", title=stated, redistribution="unknown")


def strictest(found: Iterable[Licence]) -> Licence:
    """The licence that permits the least; one in words of its own counts as unknown.

    >>> strictest(find_licence(name) for name in ("MIT", "CC-BY-SA-4.0", "Apache-2.0")).hub
    'cc-by-sa-4.0'
    """
    return max(found, key=_rank)


def _rank(licence: Licence) -> float:
    if licence in licences():
        return licences().index(licence)
    unknown = next(n for n, one in enumerate(licences()) if one.hub == "unknown")
    return unknown + 0.5


def _folded(text: str) -> str:
    return re.sub(r"[\W_]+", "", text.lower())
