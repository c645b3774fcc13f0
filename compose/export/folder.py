"""The exported folder, which is a Hub dataset repository: written whole or not at all."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ...records.documents import dump_document
from ...records.errors import InputError
from ...records.files import replacing_folder, restore_folder
from ..locking.lock import lock_text
from ..store import write_tables
from .card import CARD, card, merged_card
from .harness.writer import write_harnesses
from .spreadsheet import write_sheet
from .subset import ExportedSubset, data_file
from .tables import write_table

OWN = "benchprism"
"""The folder in which an export carries what it rests on."""
LOCK, CRITERIA, ATTRIBUTES = f"{OWN}/lock.json", f"{OWN}/criteria.yaml", f"{OWN}/attributes.json"
COMPOSED, EXCLUDED = f"{OWN}/items.parquet", f"{OWN}/excluded.parquet"
"""The subset's own tables, by which it can be taken up again."""
MANIFEST = f"{OWN}/export.json"
"""Names every file that benchprism wrote, with its SHA-256; of the card as it wrote it, before it
was merged with one that was there."""
SHEET = "items.csv"
FORMAT = 1


def export_subset(export: ExportedSubset, folder: Path, *, sheet: bool = False) -> None:
    """Write an export to a folder; of one that is there, only its own files are replaced.

    Args:
        export: what is to be written.
        folder: a new folder, an empty one, or one of an earlier export.
        sheet: whether to write a CSV for people too.

    Raises:
        InputError: the folder is not benchprism's, or cannot be written; it is as it was.
    """
    restore_folder(folder)
    earlier = _own_files(folder)
    with replacing_folder(folder, own=earlier) as new:
        _write(new, export, sheet=sheet)
        _write_text(new / MANIFEST, _json(_manifest(new, export)))
        if _edited(folder / CARD, earlier):
            _write_text(new / CARD, merged_card(read_card(folder), card(export)))


def read_card(folder: Path) -> str:
    """Read a folder's card as it is, with its own line ends.

    Raises:
        InputError: it is not UTF-8.
    """
    data = (folder / CARD).read_bytes()
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(
            f"{folder / CARD} is not UTF-8 (byte {error.start + 1})",
            wanted="a card in UTF-8",
            mend="save it as UTF-8, or remove it",
        ) from error


def _edited(path: Path, earlier: Mapping[str, str]) -> bool:
    """Whether a file is there and not as an earlier export wrote it."""
    return path.is_file() and _digest(path) != earlier.get(path.name)


def _write(folder: Path, export: ExportedSubset, *, sheet: bool) -> None:
    for config in export.configs:
        write_table(folder / data_file(config), export.table(config))
    if sheet:
        write_sheet(folder / SHEET, export.items)
    (folder / OWN).mkdir()
    write_tables(folder / EXCLUDED, export.excluded.schema, [export.excluded])
    write_tables(folder / COMPOSED, export.composed.schema, [export.composed])
    _write_text(folder / LOCK, lock_text(export.lock))
    _write_text(folder / CRITERIA, dump_document(export.criteria))
    if export.catalogue is not None:
        _write_text(folder / ATTRIBUTES, _json(export.catalogue.model_dump(by_alias=True)))
    _write_text(folder / CARD, card(export))
    write_harnesses(folder, export)


def _write_text(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", newline="\n")


def _json(data: Any) -> str:
    return json.dumps(data, ensure_ascii=False, indent=1) + "\n"


def _manifest(folder: Path, export: ExportedSubset) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "name": export.name,
        "ids_only": export.ids_only,
        "items": export.items.num_rows,
        "files": dict(_digests(folder)),
    }


def _digests(folder: Path) -> Iterator[tuple[str, str]]:
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        yield path.relative_to(folder).as_posix(), _digest(path)


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def read_manifest(folder: Path) -> dict[str, Any]:
    """Read which files of a folder are benchprism's.

    Raises:
        InputError: the folder was not made by ``benchprism export``.
    """
    try:
        found: dict[str, Any] = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        if found["format"] != FORMAT or not isinstance(found["files"], dict):
            raise ValueError("another format")
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(
            f"{folder} was not made by 'benchprism export'",
            wanted="a new folder, or one of an earlier export",
            mend="name another one with --out, or move this one away",
        ) from error
    return found


def _own_files(folder: Path) -> dict[str, str]:
    """The files of an earlier export in this place, each with its SHA-256."""
    if not folder.exists() or (folder.is_dir() and not any(folder.iterdir())):
        return {}
    return {**read_manifest(folder)["files"], MANIFEST: ""}
