"""Conditions: what an item's fields have to hold, as people write it.

A condition is a mapping, never an expression to be parsed::

    all:
      - reasoning_depth: {min: 2, min_confidence: 0.7}
      - any:
          - knowledge_domain: {in: [mathematics, computing_and_engineering]}
          - reasoning_kinds: {contains: deductive}
      - not: {answerability: wrong_key}
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import Annotated, Any

from pydantic import (
    BeforeValidator,
    ConfigDict,
    Field,
    PlainValidator,
    ValidationError,
    WithJsonSchema,
    model_validator,
)

from ...records.documents import StrictModel

Number = int | float
Scalar = bool | int | float | str
LARGEST = 2**53
_SCALAR_SCHEMA = {"type": ["boolean", "number", "string"]}
_EXAMPLE = "a condition such as {min: 2}, {in: [a, b]} or {missing: true}"


def _number(value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= LARGEST:
        raise ValueError("a number")
    return value


def _share(value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise ValueError("a number from 0 to 1")
    return value


def _scalar(value: Any) -> Any:
    if isinstance(value, bool | str):
        return value
    try:
        return _number(value)
    except ValueError:
        raise ValueError("a number, text, true or false") from None


def _given(value: Any) -> Any:
    if value is None:
        raise ValueError("a mapping of conditions")
    return value


NumberField = Annotated[Number, PlainValidator(_number), WithJsonSchema({"type": "number"})]
ShareField = Annotated[
    Number, PlainValidator(_share), WithJsonSchema({"type": "number", "minimum": 0, "maximum": 1})
]
ScalarField = Annotated[Scalar, PlainValidator(_scalar), WithJsonSchema(_SCALAR_SCHEMA)]


def or_shorter(shorter: dict[str, Any], schema: dict[str, Any]) -> None:
    """Let the JSON Schema of a mapping allow what stands for it in short."""
    mapping = {**schema}
    schema.clear()
    schema["anyOf"] = [shorter, mapping]


class Condition(StrictModel):
    """What one field has to hold; several keys must all hold. ``field: 2`` means ``{is: 2}``."""

    model_config = ConfigDict(json_schema_extra=partial(or_shorter, _SCALAR_SCHEMA))

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
    human_only: bool | None = None
    """Whether only values that people gave count, others being missing here; the criteria's own
    ``human_only`` when not given."""
    min_confidence: ShareField | None = None
    """The least confidence that a value needs to count, others being missing here; the criteria's
    own ``min_confidence`` when not given."""

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
        """Go through the tests that are given, with what they compare with.

        A condition that only says which values count asks for one of them.
        """
        found = False
        for name, field in type(self).model_fields.items():
            value = getattr(self, name)
            if value is not None and name not in {"human_only", "min_confidence"}:
                found = True
                yield field.alias or name, value
        if not found:
            yield "missing", False


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
            if key not in cls.words() and _nests(part):
                raise ValidationError.from_exception_data(
                    cls.__name__, [{"type": "extra_forbidden", "loc": (key,), "input": part}]
                )
        return value

    @classmethod
    def words(cls) -> set[str]:
        """The keys that are words of the language and can name no field."""
        return {field.alias or name for name, field in cls.model_fields.items()}

    @property
    def fields(self) -> dict[str, Condition]:
        """The conditions on fields, by field, in the file's order."""
        return self.__pydantic_extra__


def _nests(part: Any) -> bool:
    """Tell whether a value holds conditions of its own, as only all, any and not may."""
    inner: Iterable[Any] = part.values() if isinstance(part, dict) else part
    return isinstance(part, dict | list) and any(isinstance(value, dict) for value in inner)


class Preference(Where):
    """What is drawn first: items that meet conditions, or those with the most or least of a field.

    Exactly one of ``highest``, ``lowest`` and conditions.
    """

    highest: str | None = None
    """Items with more of this number come first; those without one come last."""
    lowest: str | None = None
    """Items with less of this number come first; those without one come last."""

    @model_validator(mode="after")
    def _is_one_thing(self) -> Preference:
        conditions = bool(self.all_ or self.any_ or self.not_ or self.fields)
        if conditions + (self.highest is not None) + (self.lowest is not None) != 1:
            raise ValueError("conditions, or 'highest' or 'lowest' with a field")
        return self
