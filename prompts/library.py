"""Catalogue files: the shipped one, a user's own, or a user's additions to another."""

from __future__ import annotations

from collections.abc import Collection
from importlib.resources import files
from pathlib import Path

from pydantic import Field, ValidationError, model_validator

from ..records.documents import StrictModel, parse_document, read_document
from ..records.errors import InputError, suggestion
from .catalogue import Attribute, Catalogue, Dimension, each_once

CORE = "core"


class DimensionEntry(StrictModel):
    """A dimension of a catalogue file: a new one, or additions to one of the same id."""

    id: str = Field(pattern=r"^[a-z][a-z0-9_]*$")
    title: str | None = None
    """For people; may be left out where the extended catalogue has the dimension."""
    attributes: list[Attribute] = []
    """New attributes, and attributes that replace those of the same id."""


class CatalogueFile(StrictModel):
    """A catalogue as people write it: complete, or the changes to another (``extends``)."""

    catalogue: str
    """The catalogue's name."""
    version: int
    """Raise it when the meaning of something changes."""
    extends: str | None = None
    """``core``, or the path of a catalogue file, seen from this one."""
    drop: list[str] = []
    """Ids of dimensions and attributes of the extended catalogue that are not wanted."""
    scale: str | None = None
    """How levels are to be read, said once for all attributes."""
    dimensions: list[DimensionEntry] = []

    @model_validator(mode="after")
    def _is_whole_or_extends(self) -> CatalogueFile:
        if self.extends is None and self.drop:
            raise ValueError("'drop' only beside 'extends'")
        if self.extends is None and not self.dimensions:
            raise ValueError("dimensions, or 'extends'")
        each_once([entry.id for entry in self.dimensions])
        each_once([a.id for entry in self.dimensions for a in entry.attributes])
        return self


def load_catalogue(name_or_path: str | Path, *, folder: Path | None = None) -> Catalogue:
    """Load a catalogue of criteria.

    Args:
        name_or_path: ``core`` for the shipped catalogue, or the path of a catalogue file.
        folder: Where a relative path starts; the working folder when not given.

    Raises:
        InputError: the file cannot be read, does not fit, or extends itself.
    """
    return _load(str(name_or_path), folder or Path(), ())


def _load(name: str, folder: Path, opened: tuple[Path, ...]) -> Catalogue:
    if name == CORE:
        text = files(__name__.rpartition(".")[0]).joinpath("core.yaml").read_text(encoding="utf-8")
        return _complete(parse_document(text, CatalogueFile, name="core.yaml"), None, "core.yaml")
    path = (folder / name).resolve()
    if path in opened:
        raise InputError(
            f"{path} extends itself",
            wanted="a chain of catalogues that ends",
            mend="extend 'core' or a catalogue that stands alone",
        )
    if not path.exists():
        raise InputError(
            f"no catalogue {name!r} in {folder.resolve()}",
            wanted=f"{CORE!r} or the path of a catalogue file",
            mend=f"check the path, or use {CORE!r}",
        )
    file = read_document(path, CatalogueFile)
    extended = _load(file.extends, path.parent, (*opened, path)) if file.extends else None
    return _complete(file, extended, str(path))


def _complete(file: CatalogueFile, extended: Catalogue | None, name: str) -> Catalogue:
    """Apply a catalogue file to the catalogue that it extends, if any."""
    dimensions = {d.id: d for d in extended.dimensions} if extended else {}
    dimensions = _drop(dimensions, file.drop, name)
    for entry in file.dimensions:
        dimensions = _add(dimensions, entry, name)
    scale = file.scale if file.scale is not None else (extended.scale if extended else "")
    try:
        return Catalogue(
            catalogue=file.catalogue,
            version=file.version,
            scale=scale,
            dimensions=[d for d in dimensions.values() if d.attributes],
        )
    except ValidationError as error:
        wanted = error.errors()[0]["msg"].removeprefix("Value error, ")
        raise InputError(
            f"{name} makes no catalogue", wanted=wanted, mend="mend its dimensions"
        ) from error


def _drop(dimensions: dict[str, Dimension], drop: list[str], name: str) -> dict[str, Dimension]:
    known = {a.id for d in dimensions.values() for a in d.attributes} | set(dimensions)
    for wanted in drop:
        if wanted not in known:
            raise InputError(
                f"{name} drops the unknown {wanted!r}",
                wanted="an id of the extended catalogue",
                mend=suggestion(wanted, known),
            )
    return {d.id: _without(d, drop) for d in dimensions.values() if d.id not in drop}


def _add(
    dimensions: dict[str, Dimension], entry: DimensionEntry, name: str
) -> dict[str, Dimension]:
    """Add one entry; an attribute with the id of an inherited one takes its place."""
    before = dimensions.get(entry.id)
    title = entry.title or (before.title if before else None)
    if title is None or not (entry.attributes or before):
        raise InputError(
            f"{name}: the new dimension {entry.id!r} has no title or no attributes",
            wanted="both, or the id of a dimension that is extended",
            mend=suggestion(entry.id, dimensions) if dimensions else "add them",
        )
    given = {a.id: a for a in entry.attributes}
    kept = [given.pop(a.id, a) for a in before.attributes] if before else []
    others = {d.id: _without(d, {a.id for a in entry.attributes}) for d in dimensions.values()}
    joined = Dimension.model_construct(
        id=entry.id, title=title, attributes=[*kept, *given.values()]
    )
    return {**others, entry.id: joined}


def _without(dimension: Dimension, ids: Collection[str]) -> Dimension:
    kept = [a for a in dimension.attributes if a.id not in ids]
    return dimension.model_copy(update={"attributes": kept})
