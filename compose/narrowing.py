"""Narrowing: what copies and models' scores leave of the items that the rules leave."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from .duplicates.copies import Duplicates, find_duplicates
from .pool import Pool
from .sampling.draw import Draw, Shortage, draw
from .sampling.preferences import preference_keys
from .screening import Exclusion, Screening
from .selection import Selection, select


@dataclass(frozen=True, slots=True, eq=False)
class Narrowing:
    """The items left to draw from, and what each step on the way left out."""

    screening: Screening
    rows: NDArray[np.int64]
    """Rows of the pool that are left, in the order of their sources."""
    duplicates: Duplicates | None
    selection: Selection | None

    @property
    def pool(self) -> Pool:
        """The candidates, with the columns that the selection made."""
        pool = self.screening.pool
        table = pool.table
        for name, column in (self.selection.columns if self.selection else {}).items():
            table = table.append_column(name, column)
        return replace(pool, table=table)

    def exclusions(self) -> Iterator[Exclusion]:
        """What each step leaves out, and why, beginning with the rules."""
        yield from self.screening.exclusions()
        if self.duplicates is not None:
            yield self.duplicates.exclusion(self.screening.pool)
        if self.selection is not None:
            yield from self.selection.exclusions


def narrow(screening: Screening) -> Narrowing:
    """Leave out copies, then choose by models' scores, as far as the criteria ask for it.

    Raises:
        CriteriaError: a selection has not got the results that it needs.
    """
    criteria, pool, rows = screening.criteria, screening.pool, screening.survivors
    duplicates = selection = None
    if criteria.deduplicate is not None:
        duplicates = find_duplicates(pool, rows, criteria.deduplicate)
        rows = duplicates.left
    if criteria.select is not None:
        selection = select(pool, rows, criteria.select, screening.evidence)
        rows = selection.left
    return Narrowing(screening, rows, duplicates, selection)


def drawn(narrowing: Narrowing) -> Draw | Shortage | None:
    """Draw from the items that are left; none when the criteria draw nothing."""
    criteria, demands = narrowing.screening.criteria, narrowing.screening.demands
    sample = criteria.sample
    if sample is None:
        return None
    fields = {"item_id", *sample.crossing, *(group.field for group in sample.groupings)}
    fields |= {name for field in tuple(fields) for name in demands.on(field).columns(field)}
    left = pa.array(narrowing.rows)
    table = narrowing.pool.table
    keys = []
    if criteria.prefer:
        keys = preference_keys(criteria, table.take(left), demands)
    return draw(table.select(sorted(fields)).take(left), sample, keys, demands)
