"""The criteria file: where items come from, which are wanted, and how many are drawn.

Steps are taken in the order of the fields below, whatever their order in the file::

    name: reasoning
    from: [mmlu, gsm8k]
    where:
      reasoning_depth: {min: 2}
    deduplicate: exact
    sample: {size: 200, balance: benchmark, seed: 0}
    expect:
      - {count: items, per: benchmark, min: 50}
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable
from functools import partial
from typing import Annotated, Any, Literal, get_args

from pydantic import BeforeValidator, ConfigDict, Field, field_validator, model_validator

from ...records.documents import StrictModel
from .conditions import LARGEST, NumberField, Preference, ShareField, Where, or_shorter
from .drawing import Sample

_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
SUBSET = "subset:"
"""How an earlier composition is named under ``from``."""


def subset_name(value: Any) -> Any:
    """Check a name that becomes a folder: lower-case letters, digits, ``_`` and ``-``."""
    if not isinstance(value, str) or not _NAME.fullmatch(value):
        raise ValueError(
            "a name of lower-case letters, digits, _ and -, at most 64, that starts with a"
            " letter or digit"
        )
    return value


Match = Literal["exact", "shuffled", "near"]


class Deduplicate(StrictModel):
    """Which copies are left out; ``deduplicate: exact`` means ``{match: exact}``."""

    model_config = ConfigDict(json_schema_extra=partial(or_shorter, {"enum": [*get_args(Match)]}))

    match: Match = "exact"
    """``exact``: the same question, context and choices but for white space and forms of
    characters. ``shuffled``: the choices in any order. ``near``: as alike as ``similarity``."""
    similarity: Annotated[ShareField, Field(gt=0)] = 0.8
    """Of near copies: the Jaccard index of their pairs of neighbouring words, at least."""
    within: Literal["all", "benchmark"] = "all"
    """Whether an item of another benchmark can be the copy."""
    keep: Literal["first"] | list[str] = "first"
    """Which of several copies stays: the first in the order of the sources, or one of the
    benchmarks named first here."""

    @model_validator(mode="before")
    @classmethod
    def _shorthand(cls, value: Any) -> Any:
        return {"match": value} if isinstance(value, str) else value


class TradeOff(StrictModel):
    """How much each property counts when the share of items is chosen."""

    consistency: NumberField = 1
    """Kendall's tau of the ranking of models on the chosen items with that on all items."""
    stability: NumberField = 1
    """Mean tau between rankings on resamples of the chosen items."""
    discriminability: NumberField = 1
    """DS on the chosen items."""
    shares: list[Annotated[ShareField, Field(gt=0)]] = Field(
        default=[0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0], min_length=1
    )
    """The shares to choose among."""

    @model_validator(mode="after")
    def _weighs_something(self) -> TradeOff:
        weights = (self.consistency, self.stability, self.discriminability)
        if min(weights) < 0 or not sum(weights):
            raise ValueError("weights of 0 or more, and one above 0")
        return self


class Select(StrictModel):
    """Choice by what models scored, as in the Benchmark^2 paper (arXiv 2601.03986)."""

    cad_above: ShareField | None = 0.15
    """Items whose own CAD is not above this are left out; ``null`` for none."""
    by: Literal["discrimination", "variance"] = "discrimination"
    """What the remaining items of each benchmark are ordered by, the most first."""
    share: Annotated[ShareField, Field(gt=0)] = 0.35
    """The share of each benchmark's items, of those before this step, that stays."""
    tradeoff: TradeOff | None = None
    """In place of ``share``: choose it, for all benchmarks together, where the weighted mean of
    consistency, stability and discriminability is largest."""
    held_in: Literal["half", "all"] | list[str] = "half"
    """The model families whose scores decide. What they chose is to be judged on the others:
    ``half`` picks them by seed; with ``all`` there is no one left to judge."""
    seed: int | None = Field(default=None, ge=-LARGEST, le=LARGEST)
    """The project's seed when not given. Picks the families of ``half``, and settles ties."""

    @model_validator(mode="after")
    def _says_the_share_once(self) -> Select:
        if self.tradeoff is not None and "share" in self.model_fields_set:
            raise ValueError("'share' or 'tradeoff', not both")
        return self


class Expectation(StrictModel):
    """Something that has to be true of the subset: one of ``count``, ``mean`` and ``share``."""

    count: Where | Literal["items"] | None = None
    """``items``, or conditions: the number of chosen items that meet them."""
    mean: str | None = None
    """A field of numbers: its mean over the chosen items that have a value."""
    share: Where | None = None
    """Conditions: the share of the chosen items that meet them."""
    per: str | None = None
    """A field: the expectation has to be true for each value that the candidates have."""
    min: NumberField | None = None
    """At least so much."""
    max: NumberField | None = None
    """At most so much."""

    @model_validator(mode="after")
    def _is_one_thing(self) -> Expectation:
        if (self.count is not None) + (self.mean is not None) + (self.share is not None) != 1:
            raise ValueError("one of 'count', 'mean' and 'share'")
        if self.min is None and self.max is None:
            raise ValueError("a min, a max or both")
        if self.min is not None and self.max is not None and self.min > self.max:
            raise ValueError("a min that is not above the max")
        return self


class Criteria(StrictModel):
    """A criteria file."""

    name: Annotated[str, BeforeValidator(subset_name)] = Field(
        json_schema_extra={"pattern": f"^{_NAME.pattern}$"}
    )
    """The subset's name, and its folder's."""
    description: str = ""
    """For people: what the subset is for."""
    extends: str | None = None
    """The path of another criteria file, seen from this one, whose keys hold unless given here.
    Conditions of both have to hold."""
    from_: Literal["all"] | list[str] = Field(default="all", alias="from")
    """What items are taken from: benchmarks, parts of benchmarks (``mmlu/virology``), earlier
    compositions (``subset:NAME``), or ``all`` benchmarks."""
    faults: Literal["drop", "keep"] = "drop"
    """Whether items with a fault of their own (no key, a key outside the choices) are left out."""
    human_only: bool = False
    """Whether only values that people gave count; others are missing to every condition."""
    min_confidence: ShareField | None = None
    """The least confidence that a value needs to count; others are missing to every condition."""
    require_calibrated: bool = False
    """Whether annotated attributes may decide under ``where`` only where people found them usable
    (``benchprism review calibrate``). Values that people gave need no such proof."""
    where: Where | None = None
    """The conditions; every item when not given."""
    deduplicate: Deduplicate | None = None
    """Which copies are left out; none when not given."""
    select: Select | None = None
    """The choice by what models scored; none when not given."""
    prefer: Annotated[list[Preference], Field(min_length=1)] | None = None
    """What is drawn first, the most important first; the seed decides among equals."""
    sample: Sample | None = None
    """The draw; every item that is left when not given."""
    expect: Annotated[list[Expectation], Field(min_length=1)] | None = None
    """What has to be true of the subset; nothing is written when it is not."""

    @field_validator("from_", mode="before")
    @classmethod
    def _sources(cls, value: Any) -> Any:
        if value == "all":
            return value
        if not isinstance(value, list) or not value or not all(isinstance(b, str) for b in value):
            raise ValueError("'all' or a list of benchmarks, such as [mmlu, gsm8k]")
        twice = [name for name in value if value.count(name) > 1]
        if twice:
            raise ValueError(f"each benchmark once, and {twice[0]!r} stands twice")
        return value

    @model_validator(mode="after")
    def _is_whole(self) -> Criteria:
        if self.extends is not None:
            return self
        if self.sample is not None and self.sample.size is None and self.sample.share is None:
            raise ValueError("a 'size' or a 'share' in the sample")
        if self.prefer and self.sample is None:
            raise ValueError("a 'sample' for 'prefer' to order")
        return self

    def resolved(self, benchmarks: Iterable[str], seed: int) -> Criteria:
        """Write out what was left to the project: the benchmarks of ``all`` and the seed."""
        changes: dict[str, Any] = {"from_": sorted(benchmarks)} if self.from_ == "all" else {}
        for key in ("select", "sample"):
            part = getattr(self, key)
            if part is not None and part.seed is None:
                changes[key] = part.model_copy(update={"seed": seed})
        return self.model_copy(update=changes)

    def plain(self) -> dict[str, Any]:
        """The criteria as plain data with the file's keys; reading it gives equal criteria."""
        data: dict[str, Any] = {"name": self.name}
        if self.description:
            data["description"] = self.description
        data |= {"from": self.from_, "faults": self.faults}
        data |= self.model_dump(
            by_alias=True,
            exclude_defaults=True,
            include={
                "human_only",
                "min_confidence",
                "require_calibrated",
                "where",
                "prefer",
                "expect",
            },
        )
        if self.deduplicate is not None:
            data["deduplicate"] = self.deduplicate.model_dump()
        if self.select is not None:
            unused = "share" if self.select.tradeoff is not None else "tradeoff"
            data["select"] = self.select.model_dump(exclude={unused})
        if self.sample is not None:
            data["sample"] = self.sample.model_dump(exclude_none=True)
        return data

    @property
    def hash(self) -> str:
        """Identify the criteria by their content: 16 hexadecimal digits."""
        text = json.dumps(self.plain(), ensure_ascii=False, sort_keys=True)
        return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()
