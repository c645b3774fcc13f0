"""How a file of gold labels is read: where its parts are, and what its values are called here."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from ...prompts.catalogue import Value
from ...records.documents import StrictModel, parse_document, read_document
from ...records.errors import InputError

SHIPPED = ("mmlu_redux",)


class GoldColumn(StrictModel):
    """Where the gold values of one attribute are."""

    column: str | None = None
    """Their column; the one named like the attribute when not given."""
    values: dict[str, Value | None] = {}
    """Their value to the attribute's value, or to ``null`` where it says nothing of the attribute.
    Case does not matter, nor whether words stand apart by spaces or underscores."""


class GoldMapping(StrictModel):
    """How a file of gold labels is read."""

    id: str | None = None
    """The column of the item's id; ``item_id`` or ``id`` when not given."""
    question: str | None = None
    """The column of the question, in a file without ids: items are then found by their text."""
    context: str | None = None
    """The column of the passage that belongs to the question."""
    choices: str | None = None
    """The column of the options: a list."""
    attributes: dict[str, GoldColumn] = {}
    """The attributes that it has gold values of."""


def gold_mapping(name_or_path: str | None) -> GoldMapping:
    """Load a mapping by the name of a shipped one, or from a file; without a name, none is needed.

    Raises:
        InputError: there is no such mapping, or it does not fit.
    """
    if name_or_path is None:
        return GoldMapping()
    if name_or_path in SHIPPED:
        name = f"{name_or_path}.yaml"
        text = files(__name__.rpartition(".")[0]).joinpath(name).read_text(encoding="utf-8")
        return parse_document(text, GoldMapping, name=name)
    path = Path(name_or_path)
    if not path.exists():
        raise InputError(
            f"no mapping {name_or_path!r}",
            wanted=f"{', '.join(map(repr, SHIPPED))} or the path of a mapping file",
            mend="check the path; 'benchprism schema gold' prints what such a file may hold",
        )
    return read_document(path, GoldMapping)


def folded(value: object) -> str:
    """A foreign value without what does not matter.

    >>> folded("Wrong_Groundtruth")
    'wrong groundtruth'
    """
    return " ".join(str(value).casefold().replace("_", " ").split())
