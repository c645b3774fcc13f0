"""The models file: family and size of each model, as the user declares them."""

from __future__ import annotations

from pathlib import Path

from ..documents import StrictModel, read_document
from ..errors import InputError
from .grid import read_grid


class DeclaredModel(StrictModel):
    """One model."""

    family: str
    """Models that differ in size only share a family."""
    size: float | None = None
    """Parameters, in any unit, or a rank; none when it is not known."""


class ModelsFile(StrictModel):
    """``models.yaml``."""

    models: dict[str, DeclaredModel] = {}
    """The models, by the name that results have for them."""


def read_models(path: Path) -> dict[str, DeclaredModel]:
    """Read a models file: YAML, or CSV with the columns model, family and size.

    Returns:
        The models in the file's order.

    Raises:
        InputError: the file cannot be read or a value does not fit.
    """
    if path.suffix.lower() != ".csv":
        return read_document(path, ModelsFile).models
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
    return models
