"""The part of a criteria file that says how many items are drawn, and how evenly."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, model_validator

from ..records.documents import StrictModel
from .conditions import LARGEST, NumberField, Scalar, ShareField


def spell(value: Scalar) -> str:
    """Write a value as text, the way tables of values show it.

    >>> spell(True), spell(2), spell("mmlu")
    ('true', '2', 'mmlu')
    """
    return value if isinstance(value, str) else json.dumps(value)


def _spelled_keys(value: Any) -> Any:
    if not isinstance(value, dict) or not value:
        raise ValueError("a mapping of the field's values, such as {mmlu: 2}")
    return {spell(key): part for key, part in value.items()}


class Quota(StrictModel):
    """How many items with one value; ``mmlu: 20`` means ``{min: 20, max: 20}``."""

    min: int = Field(default=0, ge=0)
    """At least so many."""
    max: int | None = Field(default=None, ge=0)
    """At most so many."""

    @model_validator(mode="before")
    @classmethod
    def _exactly(cls, value: Any) -> Any:
        if isinstance(value, int) and not isinstance(value, bool):
            return {"min": value, "max": value}
        return value

    @model_validator(mode="after")
    def _holds_together(self) -> Quota:
        if self.max is not None and self.min > self.max:
            raise ValueError("a min that is not above the max")
        return self


class Cuts(StrictModel):
    """How a field of numbers is cut into groups."""

    cuts: list[NumberField] = Field(min_length=1)
    """Where a group ends and the next begins, rising; the number itself belongs to the upper."""

    @model_validator(mode="after")
    def _rises(self) -> Cuts:
        if sorted(set(self.cuts)) != self.cuts:
            raise ValueError("cuts that rise")
        return self


@dataclass(frozen=True, slots=True)
class Grouping:
    """A field whose values are groups."""

    field: str
    cuts: tuple[float, ...] = ()


def _field_or_fields(value: Any) -> Any:
    parts = value if isinstance(value, list) else [value]
    named = all(isinstance(p, str) or (isinstance(p, dict) and len(p) == 1) for p in parts)
    if not parts or not named:
        raise ValueError("a field, {FIELD: {cuts: [...]}}, or a list of these")
    return value


_Part = str | dict[str, Cuts]
Fields = Annotated[_Part | list[_Part], BeforeValidator(_field_or_fields)]
Weights = Annotated[
    dict[str, Annotated[NumberField, Field(gt=0)]], BeforeValidator(_spelled_keys)
]
Quotas = Annotated[dict[str, Quota], BeforeValidator(_spelled_keys)]


class Sample(StrictModel):
    """How many of the items that are left are drawn, and how."""

    size: int | None = Field(default=None, gt=0)
    """How many items."""
    share: Annotated[ShareField, Field(gt=0)] | None = None
    """In place of a size: the share of the items that are left."""
    seed: int | None = Field(default=None, ge=-LARGEST, le=LARGEST)
    """The project's seed when not given. The same seed draws the same items."""
    balance: Fields | None = None
    """A field each value of which is drawn as often as the others, as far as there are items; of
    several fields each combination of values."""
    stratify: Fields | None = None
    """A field each value of which keeps its share; of several fields each combination."""
    weights: dict[str, Weights] | None = None
    """By field of ``balance`` or ``stratify``: values that count for more or less than 1."""
    quotas: dict[str, Quotas] | None = None
    """By field: values of which at least or at most so many are drawn."""
    if_short: Literal["refuse", "take_all"] = "refuse"
    """When fewer items are left than wanted: stop and say so, or take all there are."""

    @model_validator(mode="after")
    def _holds_together(self) -> Sample:
        if self.size is not None and self.share is not None:
            raise ValueError("a size or a share, not both")
        if self.balance is not None and self.stratify is not None:
            raise ValueError("'balance' or 'stratify', not both")
        for field in self.weights or {}:
            if field not in {group.field for group in self.groupings}:
                raise ValueError(f"weights for a field of 'balance' or 'stratify', not {field!r}")
        for field, quotas in (self.quotas or {}).items():
            least = sum(quota.min for quota in quotas.values())
            if self.size is not None and least > self.size:
                raise ValueError(f"quotas on {field!r} whose min add up to no more than the size")
        if len(self.crossing) > 1:
            raise ValueError("quotas on at most one field besides that of 'balance' or 'stratify'")
        return self

    @property
    def groupings(self) -> tuple[Grouping, ...]:
        """The fields that are balanced or stratified by.

        Without either, the first field with quotas is stratified by.
        """
        given = self.balance if self.balance is not None else self.stratify
        if given is None:
            return tuple(Grouping(field) for field in [*(self.quotas or {})][:1])
        return tuple(_grouping(part) for part in (given if isinstance(given, list) else [given]))

    @property
    def crossing(self) -> tuple[str, ...]:
        """Fields with quotas that are not those of the groups themselves."""
        return tuple(
            field for field in self.quotas or {} if (Grouping(field),) != self.groupings
        )

    def grouping_places(self) -> Iterator[tuple[Grouping, tuple[str | int, ...]]]:
        """The fields of the groups, each with the keys that lead to it inside ``sample``."""
        key = "balance" if self.balance is not None else "stratify"
        given = self.balance if self.balance is not None else self.stratify
        for position, group in enumerate(self.groupings):
            if given is None:
                yield group, ("quotas", group.field)
            elif isinstance(given, list):
                yield group, (key, position)
            else:
                yield group, (key,)


def _grouping(part: _Part) -> Grouping:
    if isinstance(part, str):
        return Grouping(part)
    [(field, cut)] = part.items()
    return Grouping(field, tuple(cut.cuts))
