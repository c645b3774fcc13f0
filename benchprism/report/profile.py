"""The profile of a benchmark: how its items spread over the values of each attribute."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from benchprism.metrics.proportions import Proportion, wilson_interval
from benchprism.prompts.catalogue import Attribute, Catalogue


@dataclass(frozen=True, slots=True)
class ValueShare:
    """How many items have one value of an attribute."""

    value: int | str | bool
    count: int
    share: Proportion
    """Share of the items that have a value, with the interval for a sample of items."""


@dataclass(frozen=True, slots=True)
class AttributeProfile:
    """The items of one benchmark over the values of one attribute."""

    attribute: Attribute
    items: int
    """Items that have a value."""
    missing: int
    """Items that are asked for one and have none."""
    missing_here: int
    """Those of them that have a value of another attribute."""
    shares: tuple[ValueShare, ...]
    """Every value of the catalogue in its order; for several labels the shares may sum to more
    than 1."""
    evenness: float
    """0 when all items are alike, 1 when all values are equally common; NaN without items."""


@dataclass(frozen=True, slots=True)
class BenchmarkProfile:
    """What the items of one benchmark are made of."""

    benchmark: str
    items: int
    annotated: int
    """Items with a value of at least one attribute."""
    attributes: tuple[AttributeProfile, ...]

    def __getitem__(self, attribute: str) -> AttributeProfile:
        return next(a for a in self.attributes if a.attribute.id == attribute)

    @property
    def evenness(self) -> float:
        """Mean evenness over the attributes that have values; NaN when none has."""
        known = [a.evenness for a in self.attributes if not math.isnan(a.evenness)]
        return sum(known) / len(known) if known else math.nan


def profiles(table: pa.Table, catalogue: Catalogue) -> tuple[BenchmarkProfile, ...]:
    """Profile each benchmark of an attribute table, in the order in which they first occur."""
    names = table["benchmark"].unique().to_pylist()
    return tuple(
        profile(name, table.filter(pc.equal(table["benchmark"], name)), catalogue) for name in names
    )


def profile(name: str, table: pa.Table, catalogue: Catalogue) -> BenchmarkProfile:
    """Profile the items of one attribute table, whatever benchmarks they come from."""
    annotated = annotated_rows(table, catalogue)
    attributes = tuple(attribute_profile(table, a, annotated) for a in catalogue)
    return BenchmarkProfile(name, table.num_rows, int(annotated.sum()), attributes)


def annotated_rows(table: pa.Table, catalogue: Catalogue) -> NDArray[np.bool_]:
    """Mark the items that have a value of at least one attribute."""
    known = np.zeros(table.num_rows, dtype=bool)
    for attribute in catalogue:
        known |= pc.is_valid(table[attribute.id]).to_numpy()
    return known


def attribute_profile(
    table: pa.Table, attribute: Attribute, annotated: NDArray[np.bool_]
) -> AttributeProfile:
    """Describe the items of a table by one attribute; ``annotated`` as ``annotated_rows``."""
    shares = attribute_shares(table, attribute)
    asked = np.array([attribute.asks(kind) for kind in table["kind"].to_pylist()], dtype=bool)
    missing = asked & pc.is_null(table[attribute.id]).to_numpy()
    return AttributeProfile(
        attribute,
        table.num_rows - table[attribute.id].null_count,
        int(missing.sum()),
        int((missing & annotated).sum()),
        shares,
        _evenness(attribute, shares),
    )


def attribute_shares(table: pa.Table, attribute: Attribute) -> tuple[ValueShare, ...]:
    """Count every value of one attribute among the items of a table that have one."""
    known = [value for value in table[attribute.id].to_pylist() if value is not None]
    counts = Counter(label for value in known for label in _singles(value))
    return tuple(
        ValueShare(value, counts[value], wilson_interval(counts[value], len(known)))
        for value in attribute.values
    )


def _singles(value: int | str | bool | list[str]) -> list[int | str | bool]:
    return list(dict.fromkeys(value)) if isinstance(value, list) else [value]


def _evenness(attribute: Attribute, shares: tuple[ValueShare, ...]) -> float:
    """Entropy over the greatest that is possible; for labels the mean over yes or no of each."""
    parts = [share.share.share for share in shares]
    if any(math.isnan(part) for part in parts):
        return math.nan
    if attribute.type == "labels":
        return sum(_entropy([part, 1 - part]) / math.log(2) for part in parts) / len(parts)
    return _entropy(parts) / math.log(len(parts)) if len(parts) > 1 else 0.0


def _entropy(parts: list[float]) -> float:
    return -sum(part * math.log(part) for part in parts if part > 0) or 0.0
