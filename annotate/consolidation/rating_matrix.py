"""Ratings as numbers: items in rows, annotators in columns, one attribute at a time."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import cast

import numpy as np
from numpy.typing import NDArray

from ...metrics.raters.patterns import Codes, Floats
from ...prompts.catalogue import Attribute, Value
from ..ledger.current import Current


@dataclass(frozen=True, slots=True, eq=False)
class RatingMatrix:
    """What annotators say of one attribute."""

    attribute: Attribute
    annotators: tuple[str, ...]
    """(R,): one a column, sorted."""
    values: tuple[Value, ...]
    """Every value that may be given, in order: levels, labels in the catalogue's order, false and
    true. For several labels at once, every set of them that was given."""
    codes: Codes
    """(N, R): position of the value among ``values``, -1 where there is none."""
    confidences: Floats
    """(N, R): how likely the annotator's own measure makes the value; NaN where it has none."""
    doubts: Floats
    """(N, R): 1 where the annotator said that it hesitated, 0 where not; NaN where it never says so
    of anything."""

    @property
    def rated(self) -> NDArray[np.bool_]:
        """(N, R): where there is a value."""
        return self.codes >= 0

    def of(self, annotators: Sequence[str]) -> RatingMatrix:
        """Keep the columns of some annotators, in the order in which they are named."""
        known = [name for name in annotators if name in self.annotators]
        columns = [self.annotators.index(name) for name in known]
        return replace(
            self,
            annotators=tuple(known),
            codes=self.codes[:, columns],
            confidences=self.confidences[:, columns],
            doubts=self.doubts[:, columns],
        )

    def label_sets(self) -> Codes:
        """Several labels at once as (N, R, L): 1 for a label that was given, 0 for one that was
        not, -1 in all of them where there is no rating."""
        labels = list(self.attribute.values)
        sets = np.full((len(self.values) + 1, len(labels)), -1, dtype=np.int64)
        for row, given in enumerate(self.values):
            sets[row] = [label in cast(list[str], given) for label in labels]
        return sets[self.codes]


def rating_matrix(current: Current, items: int) -> RatingMatrix:
    """Arrange what annotators say of one attribute.

    Args:
        current: What they say.
        items: N, how many items there are.
    """
    present = sorted({current.names[place] for place in np.unique(current.annotators)})
    column_of = np.array([_place(present, name) for name in current.names], dtype=np.int64)
    values = possible_values(current.attribute, current.values)
    code_of = coded(current.values, values)
    cells = current.rows, column_of[current.annotators]
    shape = items, len(present)
    codes = np.full(shape, -1, dtype=np.int64)
    confidences, doubts = np.full(shape, np.nan), np.full(shape, np.nan)
    codes[cells] = code_of[current.codes]
    confidences[cells] = current.confidences
    doubts[cells] = current.doubts
    return RatingMatrix(current.attribute, tuple(present), values, codes, confidences, doubts)


def possible_values(attribute: Attribute, given: Sequence[Value]) -> tuple[Value, ...]:
    """List the values of an attribute in order; of several labels at once, the sets given."""
    if attribute.type == "boolean":
        return (False, True)
    if attribute.type == "labels":
        return tuple(json.loads(text) for text in sorted({json.dumps(value) for value in given}))
    return tuple(attribute.values)


def coded(given: Sequence[Value], values: Sequence[Value]) -> Codes:
    """Positions of values among the possible ones."""
    place = {json.dumps(value): code for code, value in enumerate(values)}
    return np.array([place[json.dumps(value)] for value in given], dtype=np.int64)


def _place(names: Sequence[str], name: str) -> int:
    return names.index(name) if name in names else -1
