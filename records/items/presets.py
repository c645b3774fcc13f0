"""Presets: benchmarks whose place on the Hub and whose columns are known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files

from pydantic import Field

from ..documents import StrictModel, parse_document
from ..errors import InputError, suggestion
from .mapping import ColumnMapping


class Preset(StrictModel):
    """One known benchmark."""

    title: str
    dataset: str
    """The repository on the Hugging Face Hub."""
    config: str | list[str] | None = None
    """Its configuration; of several, each is a subset."""
    split: str
    """The split that is evaluated, by default."""
    domain: str
    """The field that it is compared within."""
    licence: str
    """SPDX identifier or words of its source; ``unknown`` where that states none."""
    layouts: list[ColumnMapping] = Field(min_length=1)
    """What the columns mean, on the Hub and in common copies."""


class _PresetFile(StrictModel):
    presets: dict[str, Preset]


@cache
def presets() -> Mapping[str, Preset]:
    """Read the shipped presets, by name."""
    text = files(__package__).joinpath("presets.yaml").read_text(encoding="utf-8")
    return parse_document(text, _PresetFile, name="presets.yaml").presets


def find_preset(name: str) -> Preset:
    """Find a preset by its name.

    Raises:
        InputError: there is none; the sentence names the one that was probably meant.
    """
    if name in presets():
        return presets()[name]
    raise InputError(
        f"the unknown preset {name!r}",
        wanted="a known benchmark, or --from FILE for one of your own",
        mend=suggestion(name, presets()),
    )


def choose_layout(
    layouts: Sequence[ColumnMapping], columns: Sequence[str], *, source: str
) -> ColumnMapping:
    """Choose the first layout whose columns are all there.

    Raises:
        InputError: none fits; the sentence names what the closest one lacks.
    """
    missing = [layout.missing_columns(columns) for layout in layouts]
    closest = min(range(len(layouts)), key=lambda position: len(missing[position]))
    if not missing[closest]:
        return layouts[closest]
    lacking = missing[closest][0]
    raise InputError(
        f"{source} has no column {lacking!r}; its columns are {', '.join(columns)}",
        wanted="the columns of the preset",
        mend="check that the file is of this benchmark, or say which column it is with --map",
    )
