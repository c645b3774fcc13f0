"""How items are asked in the evaluation harnesses: the data in ``asking.yaml``."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Literal

from ....records.documents import StrictModel, parse_document
from ..sources import Scoring

Filter = Literal["strict", "flexible"]
"""What of a written answer counts: ``strict`` the number after ``####``, ``flexible`` the last."""


class Asking(StrictModel):
    """How items of one rule are asked."""

    prompt: str
    """With fields in braces, which ``asking.yaml`` lists."""
    stop: list[str] = []
    """Where a written answer ends."""
    tokens: int | None = None
    """How long a written answer may be."""
    filters: list[Filter] = ["flexible"]
    """For the rule ``number``."""
    cleaned: bool = False
    """Whether the options lose the marks that HellaSwag's sources left in them."""
    task: str | None = None
    """The benchmark's own task in lm-evaluation-harness, with ``{part}`` for the item's subset.

    Only where that task's documents are the rows of the preset's dataset.
    """


class _Changes(StrictModel):
    prompt: str | None = None
    stop: list[str] | None = None
    tokens: int | None = None
    filters: list[Filter] | None = None
    cleaned: bool | None = None
    task: str | None = None


class _AskingFile(StrictModel):
    rules: dict[Scoring, Asking]
    presets: dict[str, _Changes]


@cache
def _asking_file() -> _AskingFile:
    text = files(__package__).joinpath("asking.yaml").read_text(encoding="utf-8")
    return parse_document(text, _AskingFile, name="asking.yaml")


def asking(scoring: Scoring, preset: str | None) -> Asking:
    """How a benchmark's items are asked: as is usual for the rule, or in the preset's own way."""
    changes = _asking_file().presets.get(preset or "", _Changes())
    return _asking_file().rules[scoring].model_copy(update=changes.model_dump(exclude_none=True))


def known_askings() -> Mapping[str, _Changes]:
    """The presets that have a way of their own, by name."""
    return _asking_file().presets
