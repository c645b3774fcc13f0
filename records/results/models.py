"""The models file: family and size of each model, as the user declares or confirms them."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Literal

from pydantic import Field, field_validator

from ..documents import StrictModel, read_document
from ..errors import InputError
from .grid import read_grid

_SHOWN = 5
"""Names that are listed; the rest is counted."""


class DeclaredModel(StrictModel):
    """One model."""

    family: str
    """Models that differ in size only share a family."""
    size: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    """Parameters, in any unit, or a rank; none when it is not known."""
    guessed: list[Literal["family", "size"]] = []
    """What was read from the model's name. Such an entry counts once it is confirmed."""
    confirmed: bool = False
    """Whether a person has read a guessed entry and says that it is right."""

    @field_validator("family")
    @classmethod
    def _is_plain(cls, family: str) -> str:
        if not family or family != family.strip():
            raise ValueError("a name without white space around it")
        return family


class ModelsFile(StrictModel):
    """``models.yaml``."""

    confirmed: bool = False
    """Whether a person has read every guessed entry."""
    models: dict[str, DeclaredModel] = {}
    """The models, by the name that results have for them."""

    def stands(self, name: str) -> bool:
        """Tell whether an entry may be used: it was not guessed, or a person confirmed it."""
        model = self.models[name]
        return self.confirmed or model.confirmed or not model.guessed

    @property
    def unconfirmed(self) -> list[str]:
        """The models whose entries are guesses that nobody confirmed."""
        return [name for name in self.models if not self.stands(name)]


def read_models_file(path: Path) -> ModelsFile:
    """Read a models file: YAML, or CSV with the columns model, family and size.

    Raises:
        InputError: the file cannot be read or a value does not fit.
    """
    if path.suffix.lower() != ".csv":
        return read_document(path, ModelsFile)
    grid = read_grid(path, needed=("model", "family", "size"))
    models: dict[str, DeclaredModel] = {}
    for line in grid.lines:
        name, family = grid.text(line, "model"), grid.text(line, "family")
        if not name or not family:
            raise InputError(
                f"{grid.where(line)}: no model or no family",
                wanted="both in every line",
                mend="fill it in, or remove the line",
            )
        if name in models:
            raise InputError(
                f"{grid.where(line)}: the model {name!r} again",
                wanted="each model once",
                mend="remove one of the lines",
            )
        models[name] = DeclaredModel(family=family, size=grid.number(line, "size"))
    return ModelsFile(models=models)


def read_models(path: Path) -> dict[str, DeclaredModel]:
    """Read the models of a models file that may be used: declared, or guessed and confirmed.

    Returns:
        The models in the file's order.

    Raises:
        InputError: as ``read_models_file``.
    """
    file = read_models_file(path)
    return {name: model for name, model in file.models.items() if file.stands(name)}


def doubtful_entries(models: Mapping[str, DeclaredModel], names: Collection[str]) -> list[str]:
    """Say which entries may be slips: no result has the name, or a family is spelt in two ways.

    Args:
        models: the models of the file.
        names: the models that have results.
    """
    free = {_folded(name): name for name in names if name not in models}
    absent = [name for name in models if name not in names]
    meant = {name: own for name in absent if (own := _nearest(name, free)) is not None}
    lines = [
        f"names {name!r}, which has no results; did you mean {own!r}?"
        for name, own in meant.items()
    ]
    others = [repr(name) for name in absent if name not in meant]
    if others:
        more = f" and {len(others) - _SHOWN} more" if len(others) > _SHOWN else ""
        lines.append(f"names {', '.join(others[:_SHOWN])}{more} without results")
    spellings: dict[str, set[str]] = {}
    for model in models.values():
        spellings.setdefault(_folded(model.family), set()).add(model.family)
    for spelt in spellings.values():
        if len(spelt) > 1:
            families = " and ".join(map(repr, sorted(spelt)))
            lines.append(f"has the families {families}, which are compared apart: one spelling?")
    return lines


def _folded(name: str) -> str:
    """A name without what spellings differ in."""
    return "".join(filter(str.isalnum, name.casefold())) or name


def _nearest(name: str, free: Mapping[str, str]) -> str | None:
    close = difflib.get_close_matches(_folded(name), free, n=1, cutoff=0.8)
    return free[close[0]] if close else None


def unusable_for_cad(models: Mapping[str, DeclaredModel]) -> dict[str, str]:
    """Say why families cannot be compared by size, wholly or in part, by family."""
    families: dict[str, list[str]] = {}
    for name, model in models.items():
        families.setdefault(model.family, []).append(name)
    reasons = {family: _reason(own, models) for family, own in sorted(families.items())}
    return {family: reason for family, reason in reasons.items() if reason}


def _reason(names: list[str], models: Mapping[str, DeclaredModel]) -> str:
    if len(names) == 1:
        return f"one model ({names[0]}): there is none to compare it with"
    sizes = {name: models[name].size for name in names}
    unknown = [name for name, size in sizes.items() if size is None]
    known = [size for size in sizes.values() if size is not None]
    if not known:
        return f"no size is known ({', '.join(names)})"
    if len(set(known)) == 1:
        without = f"; unknown: {', '.join(unknown)}" if unknown else ""
        return f"one size only, {known[0]:g}{without}"
    equal = {size: [name for name in names if sizes[name] == size] for size in sorted(set(known))}
    parts = [f"in part: no size for {', '.join(unknown)}"] if unknown else []
    parts += [
        f"in part: {', '.join(own)} have one size, {size:g}"
        for size, own in equal.items()
        if len(own) > 1
    ]
    return "; ".join(parts)
