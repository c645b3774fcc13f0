"""The criteria file: where items come from, which are wanted, and how many are drawn.

A condition is a mapping, never an expression to be parsed::

    name: reasoning
    from: [mmlu, gsm8k]
    where:
      all:
        - reasoning_depth: {min: 2}
        - any:
            - knowledge_domain: {in: [mathematics, computing_and_engineering]}
            - reasoning_kinds: {contains: deductive}
        - not: {answerability: wrong_key}
    sample: {size: 200, balance: benchmark, seed: 0}
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    BeforeValidator,
    ConfigDict,
    Field,
    PlainValidator,
    ValidationError,
    WithJsonSchema,
    field_validator,
    model_validator,
)

from ..records.documents import StrictModel, read_document

Number = int | float
Scalar = bool | int | float | str
_LARGEST = 2**53
_SCALAR_SCHEMA = {"type": ["boolean", "number", "string"]}
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")


def _number(value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= _LARGEST:
        raise ValueError("a number")
    return value


def _scalar(value: Any) -> Any:
    if isinstance(value, bool | str):
        return value
    try:
        return _number(value)
    except ValueError:
        raise ValueError("a number, text, true or false") from None


def subset_name(value: Any) -> Any:
    """Check a name that becomes a folder: lower-case letters, digits, ``_`` and ``-``."""
    if not isinstance(value, str) or not _NAME.fullmatch(value):
        raise ValueError(
            "a name of lower-case letters, digits, _ and -, at most 64, that starts with a"
            " letter or digit"
        )
    return value


def _given(value: Any) -> Any:
    if value is None:
        raise ValueError("a mapping of conditions")
    return value


NumberField = Annotated[Number, PlainValidator(_number), WithJsonSchema({"type": "number"})]
ScalarField = Annotated[Scalar, PlainValidator(_scalar), WithJsonSchema(_SCALAR_SCHEMA)]
_WORDS = {"all", "any", "not"}
_EXAMPLE = "a condition such as {min: 2}, {in: [a, b]} or {missing: true}"


def _or_a_single_value(schema: dict[str, Any]) -> None:
    mapping = {**schema}
    schema.clear()
    schema["anyOf"] = [_SCALAR_SCHEMA, mapping]


class Condition(StrictModel):
    """What one field has to hold; several keys must all hold. ``field: 2`` means ``{is: 2}``."""

    model_config = ConfigDict(json_schema_extra=_or_a_single_value)

    min: NumberField | None = None
    """The smallest number that is accepted."""
    max: NumberField | None = None
    """The largest number that is accepted."""
    is_: ScalarField | None = Field(default=None, alias="is")
    """The only value that is accepted."""
    in_: list[ScalarField] | None = Field(default=None, alias="in", min_length=1)
    """The values that are accepted."""
    contains: str | None = None
    """A label that has to be among the field's labels, or a piece of text (case matters)."""
    contains_any: list[str] | None = Field(default=None, min_length=1)
    """Labels (or pieces of text) of which one at least has to be there."""
    missing: bool | None = None
    """``true`` accepts only items without a value, ``false`` only items with one."""

    @model_validator(mode="before")
    @classmethod
    def _shorthand(cls, value: Any) -> Any:
        if isinstance(value, bool | int | float | str):
            return {"is": value}
        if isinstance(value, list):
            raise ValueError("a condition; for one of several values write {in: [...]}")
        if not isinstance(value, dict) or not value or None in value.values():
            raise ValueError(_EXAMPLE)
        return value

    @model_validator(mode="after")
    def _holds_together(self) -> Condition:
        if self.min is not None and self.max is not None and self.min > self.max:
            raise ValueError("a min that is not above the max")
        if self.missing and len([*self.tests()]) > 1:
            raise ValueError("'missing: true' alone, since a missing value meets nothing else")
        return self

    def tests(self) -> Iterator[tuple[str, Any]]:
        """Go through the keys that are given, with their values."""
        for name, field in type(self).model_fields.items():
            value = getattr(self, name)
            if value is not None:
                yield field.alias or name, value


class Where(StrictModel):
    """Conditions that must all hold: ``all``, ``any``, ``not``, and conditions on fields.

    A missing value meets no condition, and no ``not`` of one: only ``{missing: true}`` accepts it.
    """

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, Condition] = Field(init=False)

    all_: list[Where] = Field(default=[], alias="all", min_length=1)
    """Each of these has to hold."""
    any_: list[Where] = Field(default=[], alias="any", min_length=1)
    """One of these at least has to hold."""
    not_: Annotated[Where | None, BeforeValidator(_given)] = Field(default=None, alias="not")
    """This has to be false."""

    @model_validator(mode="before")
    @classmethod
    def _has_conditions(cls, value: Any) -> Any:
        if not isinstance(value, dict) or not value:
            raise ValueError("a mapping of conditions, such as reasoning_depth: {min: 2}")
        for key, part in value.items():
            if key not in _WORDS and _nests(part):
                raise ValidationError.from_exception_data(
                    cls.__name__, [{"type": "extra_forbidden", "loc": (key,), "input": part}]
                )
        return value

    @property
    def fields(self) -> dict[str, Condition]:
        """The conditions on fields, by field, in the file's order."""
        return self.__pydantic_extra__


def _nests(part: Any) -> bool:
    """Tell whether a value holds conditions of its own, as only all, any and not may."""
    inner: Iterable[Any] = part.values() if isinstance(part, dict) else part
    return isinstance(part, dict | list) and any(isinstance(value, dict) for value in inner)


class Sample(StrictModel):
    """How many of the items that meet the conditions are drawn, and how."""

    size: int = Field(gt=0)
    """How many items."""
    seed: int | None = Field(default=None, ge=-_LARGEST, le=_LARGEST)
    """The project's seed when not given. The same seed draws the same items."""
    balance: str | None = None
    """A field each value of which is drawn as often as the others, as far as there are items."""
    if_short: Literal["refuse", "take_all"] = "refuse"
    """When fewer items are left than ``size``: stop and say so, or take all there are."""


class Criteria(StrictModel):
    """A criteria file."""

    name: Annotated[str, BeforeValidator(subset_name)] = Field(
        json_schema_extra={"pattern": f"^{_NAME.pattern}$"}
    )
    """The subset's name, and its folder's."""
    description: str = ""
    """For people: what the subset is for."""
    from_: Literal["all"] | list[str] = Field(default="all", alias="from")
    """The benchmarks that items are taken from, or ``all``."""
    faults: Literal["drop", "keep"] = "drop"
    """Whether items with a fault of their own (no key, a key outside the choices) are left out."""
    where: Where | None = None
    """The conditions; every item when not given."""
    sample: Sample | None = None
    """The draw; every item that meets the conditions when not given."""

    @field_validator("from_", mode="before")
    @classmethod
    def _benchmarks(cls, value: Any) -> Any:
        if value == "all":
            return value
        if not isinstance(value, list) or not value or not all(isinstance(b, str) for b in value):
            raise ValueError("'all' or a list of benchmarks, such as [mmlu, gsm8k]")
        twice = [name for name in value if value.count(name) > 1]
        if twice:
            raise ValueError(f"each benchmark once, and {twice[0]!r} stands twice")
        return value

    def resolved(self, benchmarks: Iterable[str], seed: int) -> Criteria:
        """Write out what was left to the project: the benchmarks of ``all`` and the seed."""
        from_ = sorted(benchmarks) if self.from_ == "all" else self.from_
        sample = self.sample
        if sample is not None and sample.seed is None:
            sample = sample.model_copy(update={"seed": seed})
        return self.model_copy(update={"from_": from_, "sample": sample})

    def plain(self) -> dict[str, Any]:
        """The criteria as plain data with the file's keys; reading it gives equal criteria."""
        data: dict[str, Any] = {"name": self.name}
        if self.description:
            data["description"] = self.description
        data |= {"from": self.from_, "faults": self.faults}
        if self.where is not None:
            data["where"] = self.where.model_dump(by_alias=True, exclude_defaults=True)
        if self.sample is not None:
            data["sample"] = self.sample.model_dump(exclude_none=True)
        return data

    @property
    def hash(self) -> str:
        """Identify the criteria by their content: 16 hexadecimal digits."""
        text = json.dumps(self.plain(), ensure_ascii=False, sort_keys=True)
        return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


def read_criteria(path: Path) -> Criteria:
    """Read a criteria file.

    Raises:
        InputError: it is missing or does not fit; the sentence names line and column.
    """
    return read_document(path, Criteria)
