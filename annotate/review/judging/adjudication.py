"""Adjudication: one person decides where others differ.

What the deciding person says is recorded as ``adjudicator:<user>``, and consolidation lets it win.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ....metrics.raters.patterns import Codes
from ....prompts.catalogue import Attribute, Catalogue, Value
from ....records.items.cells import text_of
from ...ledger.current import Current
from ...ledger.panel import KINDS, Kind, kind_of
from ..case import Case, Errand, cases
from ..form import ReviewForm, form_of

SUFFIX = "-conflicts"
"""What is added to a review's name for the dataset of its conflicts."""
_ANONYMOUS: Mapping[Kind, str] = {
    "adjudicator": "decision",
    "human": "person",
    "llm": "model",
    "heuristic": "rule",
}


@dataclass(frozen=True, slots=True)
class Conflict:
    """An attribute of an item on which people differ, with each other or with the annotations."""

    row: int
    """The item's row in the items table."""
    attribute: Attribute
    said: tuple[tuple[Value, tuple[str, ...]], ...]
    """Each value in the catalogue's order, and who gave it."""

    def text(self, *, anonymous: bool = False) -> str:
        """Write down who said what.

        Args:
            anonymous: Say only how many people and models gave a value.
        """
        lines = [
            f"  {_shown(value)}: {_counts(names) if anonymous else ', '.join(map(_name, names))}"
            for value, names in self.said
        ]
        return "\n".join([self.attribute.name, *lines])


def conflicts(
    said: Sequence[Current],
    items: pa.Table,
    values: pa.Table | None = None,
    attributes: Collection[str] = (),
) -> list[Conflict]:
    """Find where people differ and nobody has decided yet, or decisions differ.

    Args:
        said: What everyone says of the items (``current_annotations``).
        items: A table with ``ITEM_SCHEMA``.
        values: The values that items have without people, with ``VALUES_SCHEMA``: a person who
            differs from one is a conflict too.
        attributes: The attributes that are looked at; all when none are named.

    Returns:
        The conflicts, item by item, then in the catalogue's order.
    """
    found = [
        conflict
        for one in said
        if not attributes or one.attribute.id in attributes
        for conflict in _of_attribute(one, items, values)
    ]
    return sorted(found, key=lambda conflict: conflict.row)


def _of_attribute(current: Current, items: pa.Table, values: pa.Table | None) -> Iterator[Conflict]:
    kinds = np.array([*map(kind_of, current.names), ""])[current.annotators]
    low, high = _ends(current, kinds == "human", items.num_rows)
    differing = (high >= 0) & (low < high)
    if values is not None:
        without = _codes(current, items, values)
        differing |= (high >= 0) & (without != _NONE) & (without != low)
    low, high = _ends(current, kinds == "adjudicator", items.num_rows)
    differing = np.where(high >= 0, low < high, differing)
    starts = np.searchsorted(current.rows, np.arange(items.num_rows + 1))
    for row in np.flatnonzero(differing).tolist():
        yield _conflict(current, row, slice(starts[row], starts[row + 1]))


def _ends(current: Current, kept: NDArray[np.bool_], items: int) -> tuple[Codes, Codes]:
    """The lowest and the highest code of each item; the highest is -1 where there is none."""
    low, high = np.full(items, len(current.values)), np.full(items, -1)
    np.minimum.at(low, current.rows[kept], current.codes[kept])
    np.maximum.at(high, current.rows[kept], current.codes[kept])
    return low, high


_NONE, _ANOTHER = -1, -2


def _codes(current: Current, items: pa.Table, values: pa.Table) -> Codes:
    """The value of each item among those that were said, ``_ANOTHER``, or ``_NONE``."""
    own = values.filter(pc.equal(values["attribute"], current.attribute.id))
    place = {json.dumps(value): code for code, value in enumerate(current.values)}
    rows = pc.index_in(own["item_id"], value_set=items["item_id"].combine_chunks())
    codes: NDArray[np.int64] = np.full(items.num_rows, _NONE)
    codes[rows.to_numpy()] = [place.get(text, _ANOTHER) for text in own["value"].to_pylist()]
    return codes


def _conflict(current: Current, row: int, part: slice) -> Conflict:
    by_code: dict[int, list[str]] = {}
    for code, annotator in zip(current.codes[part], current.annotators[part], strict=True):
        by_code.setdefault(int(code), []).append(current.names[annotator])
    order = sorted(by_code, key=lambda code: _place(current.attribute, current.values[code]))
    said = tuple(
        (current.values[code], tuple(sorted(by_code[code], key=_people_first))) for code in order
    )
    return Conflict(row, current.attribute, said)


def _place(attribute: Attribute, value: Value) -> list[int]:
    """Where a value stands in the catalogue's order; of several labels, where each of them does."""
    known = [*attribute.values]
    return [known.index(one) for one in (value if isinstance(value, list) else [value])]


def _shown(value: Value) -> str:
    return (", ".join(value) or "no label") if isinstance(value, list) else text_of(value)


def _people_first(annotator: str) -> tuple[int, str]:
    return KINDS.index(kind_of(annotator)), annotator


def _name(annotator: str) -> str:
    decided = " (decided)" if kind_of(annotator) == "adjudicator" else ""
    return annotator.removeprefix("human:").removeprefix("adjudicator:") + decided


def _counts(names: Sequence[str]) -> str:
    counts = [
        (sum(kind_of(name) == kind for name in names), noun) for kind, noun in _ANONYMOUS.items()
    ]
    return ", ".join(
        f"{number} {noun if number == 1 else 'people' if noun == 'person' else f'{noun}s'}"
        for number, noun in counts
        if number
    )


def adjudication_form(catalogue: Catalogue, found: Sequence[Conflict]) -> ReviewForm:
    """Ask the attributes that are in conflict anywhere; of an item all others are left open."""
    names = {conflict.attribute.id for conflict in found}
    form = form_of(catalogue, names)
    return replace(form, questions=tuple(replace(q, required=False) for q in form))


def adjudication_cases(
    found: Sequence[Conflict],
    items: pa.Table,
    values: pa.Table,
    said: Sequence[Current],
    *,
    lead: str = "",
    anonymous: bool = False,
    suggest: bool = False,
) -> list[Case]:
    """Make the cases of conflicts, an item each.

    Args:
        found: The conflicts.
        items: The table that their rows are of.
        values: The consolidated values, with ``VALUES_SCHEMA``.
        said: What everyone says of the items.
        lead: The user who decides; anyone when empty.
        anonymous: Leave out who said it.
        suggest: Fill in what consolidation makes of it so far.
    """
    by_item: dict[str, list[Conflict]] = {}
    ids = items["item_id"]
    for conflict in found:
        by_item.setdefault(ids[conflict.row].as_py(), []).append(conflict)
    rows = sorted({conflict.row for conflict in found})
    chosen = items.take(pa.array(rows, pa.int64()))
    errands = {item: Errand(("disagreement",), (lead,) if lead else ()) for item in by_item}
    made = cases(chosen, values, said=_of_rows(said, rows), errands=errands)
    return [
        _with_conflicts(case, by_item[case.item_id], anonymous=anonymous, suggest=suggest)
        for case in made
    ]


def _of_rows(said: Sequence[Current], rows: Sequence[int]) -> list[Current]:
    """What is said of some rows, as of a table that has only these."""
    wanted = np.array(rows, dtype=np.int64)
    kept = [one.where(np.isin(one.rows, wanted)) for one in said]
    return [replace(one, rows=np.searchsorted(wanted, one.rows)) for one in kept]


def _with_conflicts(case: Case, own: Sequence[Conflict], *, anonymous: bool, suggest: bool) -> Case:
    names = {conflict.attribute.id for conflict in own}
    shown = {name: one for name, one in case.suggestions.items() if suggest and name in names}
    text = "\n\n".join(conflict.text(anonymous=anonymous) for conflict in own)
    return replace(case, suggestions=shown, said=text)
