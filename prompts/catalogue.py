"""The catalogue of criteria: dimensions, attributes, and the values an attribute may take."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, Literal

from pydantic import Field, model_validator

from ..records.documents import StrictModel

AttributeType = Literal["level", "label", "labels", "boolean"]
Value = int | str | bool | list[str]
"""A level, a label, a truth value, or several labels (in the catalogue's order)."""
NONE_LABEL = "none"
"""Among several labels, the one that says that no other applies; it stands alone."""


def each_once(ids: Sequence[str]) -> None:
    """Refuse a list in which an id stands twice.

    Raises:
        ValueError: it names the id; pydantic adds the place.
    """
    twice = next((name for name in ids if ids.count(name) > 1), None)
    if twice is not None:
        raise ValueError(f"each id once, and {twice!r} stands twice")


class Attribute(StrictModel):
    """One thing that an annotator says about an item."""

    id: str = Field(pattern=r"^[a-z][a-z0-9_]*$")
    title: str = ""
    """For people; made from the id when it is not given."""
    aspect: str = ""
    """The group inside the dimension; may be empty."""
    type: AttributeType
    question: str
    not_: str = Field(default="", alias="not")
    """What the attribute does not mean."""
    levels: dict[int, str] = {}
    """For a level: every level with its definition, from 0 up without gaps."""
    labels: dict[str, str] | list[str] = {}
    """For a label or labels: every value, with its definition where one is needed."""
    applies_to: Literal["multiple_choice", "generative"] | None = None
    """The only kind of item that it is asked of; none means every kind."""

    @model_validator(mode="after")
    def _values_fit_the_type(self) -> Attribute:
        if self.type == "level" and sorted(self.levels) != list(range(len(self.levels))):
            raise ValueError("levels numbered from 0 without gaps")
        if (self.type == "level") != bool(self.levels):
            raise ValueError("levels for the type 'level', and for no other")
        if (self.type in {"label", "labels"}) != bool(self.labels):
            raise ValueError("labels for the types 'label' and 'labels', and for no other")
        if len(self.values) != len(self.labels or self.levels or self.values):
            raise ValueError("each label once")
        return self

    @property
    def name(self) -> str:
        """The title, or the id in words."""
        return self.title or self.id.replace("_", " ").capitalize()

    @cached_property
    def values(self) -> Mapping[int | str | bool, str]:
        """Every single value that may be given, with its definition."""
        pairs: Iterable[tuple[int | str | bool, str]]
        if self.type == "boolean":
            pairs = ((True, "yes"), (False, "no"))
        elif self.type == "level":
            pairs = self.levels.items()
        elif isinstance(self.labels, dict):
            pairs = self.labels.items()
        else:
            pairs = ((label, "") for label in self.labels)
        return dict(pairs)

    def asks(self, kind: str) -> bool:
        """Tell whether the attribute is asked of items of this kind."""
        return self.applies_to in {None, kind}

    def means_the_same_as(self, other: Attribute) -> bool:
        """Tell whether values given under ``other`` are values of this attribute too.

        Title and aspect only arrange attributes for people; everything else is its meaning.
        """
        arrangement = {"title": "", "aspect": ""}
        return self.model_copy(update=arrangement) == other.model_copy(update=arrangement)


class Dimension(StrictModel):
    """A group of attributes."""

    id: str = Field(pattern=r"^[a-z][a-z0-9_]*$")
    title: str
    """For people."""
    attributes: list[Attribute] = Field(min_length=1)


class Catalogue(StrictModel):
    """Everything that is asked about an item."""

    catalogue: str
    """The catalogue's name."""
    version: int
    scale: str = ""
    """How levels are to be read, said once for all attributes."""
    dimensions: list[Dimension] = Field(min_length=1)

    @model_validator(mode="after")
    def _ids_are_unique(self) -> Catalogue:
        each_once([d.id for d in self.dimensions])
        each_once([a.id for a in self])
        return self

    def __iter__(self) -> Iterator[Attribute]:  # type: ignore[override]
        """All attributes, dimension by dimension."""
        return (attribute for dimension in self.dimensions for attribute in dimension.attributes)

    def __getitem__(self, attribute: str) -> Attribute:
        return {a.id: a for a in self}[attribute]

    @property
    def hash(self) -> str:
        """Identify the catalogue by its content: 16 hexadecimal digits."""
        content: dict[str, Any] = self.model_dump(by_alias=True)
        text = json.dumps(content, ensure_ascii=False, sort_keys=True)
        return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()
