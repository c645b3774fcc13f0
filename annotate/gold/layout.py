"""The layout of a gold file: which cells of a row are values of which attribute."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import Any

from ...prompts.catalogue import Attribute, Catalogue
from ...records.errors import InputError, suggestion
from ...records.items.cells import cell, text_of
from ...records.items.source import Row, Source
from .mapping import GoldMapping

_ATTRIBUTE, _VALUE = "attribute", "value"

Cells = Iterator[tuple[Attribute, Any]]
"""Attributes with what stands for them in a row."""


def gold_layout(
    source: Source, mapping: GoldMapping, catalogue: Catalogue, wanted: Collection[str]
) -> Callable[[Row], Cells]:
    """Find where the values of a gold file are.

    A row has the columns ``attribute`` and ``value``, or a column for each attribute, or only
    ``value`` when one attribute is wanted.

    Args:
        source: The file.
        mapping: What its columns are called.
        catalogue: The criteria.
        wanted: The attributes that are wanted; all when none are named.

    Raises:
        InputError: no column has values of a wanted attribute, or a mapped one is not there.
    """
    named = [known_attribute(catalogue, name) for name in (*mapping.attributes, *wanted)]
    columns = {} if not named and _is_long(source) else _columns(source, mapping, catalogue)
    columns = {name: column for name, column in columns.items() if not wanted or name in wanted}
    if columns:
        pairs = [(catalogue[name], column) for name, column in columns.items()]
        return lambda row: ((attribute, cell(row.cells, c)) for attribute, c in pairs)
    if _is_long(source):
        return lambda row: _of_long_row(row, source, catalogue, wanted)
    if _VALUE in source.columns and len(wanted) == 1:
        (only,) = named[-1:]
        return lambda row: iter([(only, cell(row.cells, _VALUE))])
    raise InputError(
        f"{source.name} has no column of gold values among {', '.join(source.columns)}",
        wanted=f"one named like an attribute, or {_ATTRIBUTE!r} and {_VALUE!r}",
        mend="name the column in a mapping file and pass it with --map",
    )


def known_attribute(catalogue: Catalogue, name: str) -> Attribute:
    """Find an attribute by its id.

    Raises:
        InputError: there is none of this id.
    """
    ids = {attribute.id: attribute for attribute in catalogue}
    if name not in ids:
        raise InputError(
            f"no attribute is called {name!r}",
            wanted="an attribute of the catalogue",
            mend=suggestion(name, ids),
        )
    return ids[name]


def _is_long(source: Source) -> bool:
    return _ATTRIBUTE in source.columns and _VALUE in source.columns


def _columns(source: Source, mapping: GoldMapping, catalogue: Catalogue) -> dict[str, str]:
    """The column of each attribute that has one."""
    mapped = {name: part.column for name, part in mapping.attributes.items() if part.column}
    for name, column in mapped.items():
        if column not in source.columns:
            raise InputError(
                f"{source.name} has no column {column!r}, which is to hold {name!r}",
                wanted="a column of the file",
                mend=suggestion(column, source.columns),
            )
    own = {attribute.id: attribute.id for attribute in catalogue}
    return {name: column for name, column in (own | mapped).items() if column in source.columns}


def _of_long_row(row: Row, source: Source, catalogue: Catalogue, wanted: Collection[str]) -> Cells:
    name = text_of(cell(row.cells, _ATTRIBUTE)).strip()
    try:
        attribute = known_attribute(catalogue, name)
    except InputError as error:
        found = f"{source.name}, {row.place}: {error.found}"
        raise InputError(found, wanted=error.wanted, mend=error.mend) from error
    if not wanted or name in wanted:
        yield attribute, cell(row.cells, _VALUE)
