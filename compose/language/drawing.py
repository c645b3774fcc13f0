"""The part of a criteria file that says how many items are drawn, and how evenly."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, ConfigDict, Field, model_serializer, model_validator

from ...records.documents import StrictModel
from .conditions import LARGEST, NumberField, Scalar, ShareField, or_shorter


def value_text(value: Scalar) -> str:
    """Write a value as text, the way tables of values show it.

    >>> value_text(True), value_text(2), value_text("mmlu")
    ('true', '2', 'mmlu')
    """
    return value if isinstance(value, str) else json.dumps(value)


def _spelled_keys(value: Any) -> Any:
    if not isinstance(value, dict) or not value:
        raise ValueError("a mapping of the field's values, such as {mmlu: 2}")
    return {value_text(key): part for key, part in value.items()}


class Quota(StrictModel):
    """How many items with one value; ``mmlu: 20`` means ``{min: 20, max: 20}``."""

    model_config = ConfigDict(json_schema_extra=partial(or_shorter, {"type": "integer"}))

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


class Grouping(StrictModel):
    """A field whose values are groups; ``benchmark`` means ``{field: benchmark}``."""

    model_config = ConfigDict(json_schema_extra=partial(or_shorter, {"type": "string"}))

    field: str
    """The field."""
    cuts: tuple[NumberField, ...] = Field(default=(), strict=False)
    """For a field of numbers: where a group ends and the next begins, rising. The number itself
    belongs to the upper group."""

    @model_validator(mode="before")
    @classmethod
    def _shorthand(cls, value: Any) -> Any:
        return {"field": value} if isinstance(value, str) else value

    @model_validator(mode="after")
    def _rises(self) -> Grouping:
        if sorted({*self.cuts}) != [*self.cuts]:
            raise ValueError("cuts that rise")
        return self

    @model_serializer
    def _shortly(self) -> str | dict[str, Any]:
        return {"field": self.field, "cuts": [*self.cuts]} if self.cuts else self.field


def _listed(value: Any) -> Any:
    parts = value if isinstance(value, list) else [value]
    if not parts or not all(isinstance(part, str | dict) for part in parts):
        raise ValueError("a field, {field: FIELD, cuts: [...]}, or a list of these")
    return parts


def _or_one(schema: dict[str, Any]) -> None:
    array = {**schema}
    schema.clear()
    schema["anyOf"] = [array["items"], array]


Fields = Annotated[list[Grouping], BeforeValidator(_listed), Field(json_schema_extra=_or_one)]
Weights = Annotated[dict[str, Annotated[NumberField, Field(gt=0)]], BeforeValidator(_spelled_keys)]
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
    def groupings(self) -> list[Grouping]:
        """The fields that are balanced or stratified by.

        Without either, the first field with quotas is stratified by.
        """
        given = self.balance if self.balance is not None else self.stratify
        if given is None:
            return [Grouping(field=field) for field in [*(self.quotas or {})][:1]]
        return given

    @property
    def crossing(self) -> list[str]:
        """Fields with quotas that are not those of the groups themselves."""
        return [field for field in self.quotas or {} if [Grouping(field=field)] != self.groupings]

    def grouping_places(self) -> Iterator[tuple[Grouping, tuple[str | int, ...]]]:
        """The fields of the groups, each with the keys that lead to it inside ``sample``."""
        for position, grouping in enumerate(self.groupings):
            if self.balance is None and self.stratify is None:
                yield grouping, ("quotas", grouping.field)
            else:
                yield grouping, ("stratify" if self.balance is None else "balance", position)
