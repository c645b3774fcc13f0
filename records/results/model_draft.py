"""A draft of the models file: what is declared stays, what results add is guessed and marked."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from ..documents import dump_document, parse_document
from ..errors import InputError
from ..files import write_text
from .model_names import guess_models
from .models import DeclaredModel, ModelsFile, read_models_file

_HEAD = """\
# Family and size (billions of parameters, or a rank) of each model, by its name in the results.
# What is 'guessed' was read from the name. Mend it, then confirm it: 'confirmed: true' in a model's
# entry, or here for the whole file. Until then the entry is not used.
confirmed: false
models:
"""


_EMPTY = re.compile(r"^models:[ \t]*\{\}[ \t]*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Draft:
    """The models of a project's results."""

    file: ModelsFile
    """What is declared, and the guesses after it."""
    new: tuple[str, ...]
    """The models that the models file does not have yet."""
    without_results: tuple[str, ...]
    """The models of the file that have no results."""


def draft_models(path: Path, names: Iterable[str]) -> Draft:
    """Draft a models file.

    Args:
        path: the models file; it need not be there.
        names: the models that have results.

    Raises:
        InputError: the file that is there cannot be read.
    """
    declared = read_models_file(path) if path.is_file() else ModelsFile()
    found = sorted(names)
    new = guess_models(name for name in found if name not in declared.models)
    file = ModelsFile(confirmed=declared.confirmed, models={**declared.models, **new})
    absent = tuple(name for name in declared.models if name not in found)
    return Draft(file, tuple(new), absent)


def write_draft(path: Path, draft: Draft) -> None:
    """Add a draft's guesses at the end of the models file, whose text stays as it is.

    Raises:
        InputError: the file is no YAML file that ends with its models.
    """
    new = {name: draft.file.models[name] for name in draft.new}
    if not new:
        return
    if draft.file.confirmed:
        raise InputError(
            f"{path} is confirmed as a whole",
            wanted="a file to which guesses can be added",
            mend="confirm its entries one by one, and remove the file's own 'confirmed: true'",
        )
    text = path.read_text(encoding="utf-8-sig") if path.is_file() else _HEAD
    text = _EMPTY.sub("models:", text)
    text = f"{text.rstrip()}\n{_entries(new)}"
    if path.suffix.lower() == ".csv" or not _says(text, draft.file, path):
        raise InputError(
            f"{path} has no place for {len(new)} more models",
            wanted="a YAML file that ends with its models",
            mend="add the models by hand",
        )
    write_text(path, text)


def _entries(models: Mapping[str, DeclaredModel]) -> str:
    """The entries as lines of YAML, indented below their key."""
    plain = {name: model.model_dump(exclude_defaults=True) for name, model in models.items()}
    return "".join(
        f"  {line}\n"
        for name, entry in plain.items()
        for line in dump_document({name: entry}).splitlines()
    )


def _says(text: str, wanted: ModelsFile, path: Path) -> bool:
    try:
        return parse_document(text, ModelsFile, name=str(path)) == wanted
    except InputError:
        return False
