"""How one value is made of what several annotators said: ``consolidation`` in the project file."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, ValidationInfo, field_validator

from ...prompts.catalogue import AttributeType
from ...records.documents import StrictModel

Method = Literal["majority", "median", "dawid_skene"]
Fallback = Literal["majority", "median", "missing"]
Ties = Literal["lowest", "highest", "missing"]


class Policy(StrictModel):
    """How values of one type are consolidated."""

    method: Method = "majority"
    """What makes one value of those that language models gave."""
    fallback: Fallback = "missing"
    """What decides where Dawid-Skene is undefined, as it is with fewer than three annotators."""
    ties: Ties = "lowest"
    """Between values that come out equal: the lower level, ``false``, or the label that stands
    first in the catalogue (``lowest``); the other way round (``highest``); no value (``missing``).
    Among several labels, one that half of the annotators gave stays out, comes in, or leaves the
    item without a value."""
    min_annotators: int = Field(default=1, ge=1)
    """How many language models, repeats counted, must have given a value; with fewer the item has
    none."""

    @field_validator("fallback")
    @classmethod
    def _fallback_is_needed(cls, fallback: Fallback, given: ValidationInfo) -> Fallback:
        if given.data.get("method") != "dawid_skene":
            raise ValueError("'fallback' only beside 'method: dawid_skene'")
        return fallback

    @property
    def for_others(self) -> Self:
        """The policy for people and rules: the type's default method, ties broken as set here."""
        return type(self)(ties=self.ties)


class LevelPolicy(Policy):
    """How levels are consolidated."""

    method: Literal["median", "majority", "dawid_skene"] = "median"
    """``median``: the level in the middle. ``majority``: the most frequent one. ``dawid_skene``:
    the likeliest one, given how often each language model errs."""


class ChoicePolicy(Policy):
    """How single labels, or truth values, are consolidated."""

    method: Literal["majority", "dawid_skene"] = "majority"
    """``majority``: the most frequent value. ``dawid_skene``: the likeliest one, given how often
    each language model errs."""
    fallback: Literal["majority", "missing"] = "missing"
    """What decides where Dawid-Skene is undefined, as it is with fewer than three annotators."""


class LabelsPolicy(Policy):
    """How several labels at once are consolidated."""

    method: Literal["majority"] = "majority"
    """``majority``: each label that more than half of the annotators gave."""
    fallback: Literal["missing"] = "missing"
    """Never needed: Dawid-Skene takes single values."""


class ConsolidationSettings(StrictModel):
    """How one value is made of several, by the type of the attribute."""

    level: LevelPolicy = LevelPolicy()
    """For levels."""
    label: ChoicePolicy = ChoicePolicy()
    """For one label among several."""
    labels: LabelsPolicy = LabelsPolicy()
    """For several labels at once."""
    boolean: ChoicePolicy = ChoicePolicy()
    """For truth values."""

    def of(self, type_: AttributeType) -> Policy:
        """The policy for one type of attribute."""
        policies: dict[AttributeType, Policy] = {
            "level": self.level,
            "label": self.label,
            "labels": self.labels,
            "boolean": self.boolean,
        }
        return policies[type_]

    @property
    def pools_items(self) -> bool:
        """Whether what is said of other items has a part in the value of an item."""
        methods = {self.level.method, self.label.method, self.boolean.method}
        return "dawid_skene" in methods
