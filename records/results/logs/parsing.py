"""Records of a log become samples; those that are laid out otherwise become findings."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TypeVar

from .findings import LogFault, LogFinding, expecting
from .json_files import Record

Parsed = TypeVar("Parsed")


def parsed(
    records: Iterable[Record | LogFinding],
    parse: Callable[[Record], Iterable[Parsed]],
    *,
    path: Path,
    format_name: str,
) -> Iterator[Parsed | LogFinding]:
    """Apply ``parse`` to each record; of those that do not fit, the first is described."""
    misfits = 0
    for record in records:
        if isinstance(record, LogFinding):
            yield record
            continue
        try:
            with expecting(path, format_name, line=record.line):
                found = list(parse(record))
        except LogFault as fault:
            misfits += 1
            if misfits == 1:
                yield fault.finding
            continue
        yield from found
    if misfits > 1:
        yield LogFinding(
            "layout",
            str(path),
            f"{misfits - 1} more records that are not laid out as {format_name}",
            wanted=f"the layout of {format_name}",
            mend="the other records are read",
        )
