"""The subset's folder: items, exclusions, lock and criteria, replaced together or not at all."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from ..records.documents import dump_document
from ..records.errors import InputError, suggestion
from ..records.files import listed, replacing_folder, restore_folder
from ..records.items.record import ITEM_SCHEMA
from .composer import BATCH, EXCLUDED_SCHEMA, Composition
from .language.criteria import Criteria
from .language.extends import read_criteria
from .locking.lock import LOCK_FORMAT, lock_text

ITEMS, EXCLUDED, LOCK, CRITERIA = "items.parquet", "excluded.parquet", "lock.json", "criteria.yaml"
_LOCKED = {"sources": dict, "items": dict, "steps": list}


@dataclass(frozen=True, slots=True, eq=False)
class Subset:
    """A composed subset, as read from its folder."""

    folder: Path
    criteria: Criteria
    """Resolved."""
    items: pa.Table
    """The attribute table of the chosen items, as it was when they were chosen."""
    excluded: pa.Table
    """``composer.EXCLUDED_SCHEMA``."""
    lock: dict[str, Any]

    @property
    def name(self) -> str:
        """The subset's name."""
        return self.criteria.name

    @property
    def contents(self) -> dict[str, str]:
        """Content hash of each of its items, by item id."""
        contents: dict[str, str] = self.lock["items"]
        return contents


def write_subset(folder: Path, composition: Composition, lock: Mapping[str, Any]) -> None:
    """Write a composition to ``folder``; other files that lie there are kept.

    Raises:
        InputError: the folder cannot be written; what was there is as it was.
    """
    with replacing_folder(folder) as new:
        write_tables(new / ITEMS, composition.pool.table.schema, composition.batches())
        write_tables(new / EXCLUDED, EXCLUDED_SCHEMA, [composition.excluded])
        (new / LOCK).write_text(lock_text(lock), encoding="utf-8", newline="\n")
        text = dump_document(composition.criteria.plain())
        (new / CRITERIA).write_text(text, encoding="utf-8", newline="\n")


def write_tables(path: Path, schema: pa.Schema, parts: Iterable[pa.Table]) -> None:
    """Write the parts of a table so that equal tables are equal bytes."""
    plain = pa.schema([f.with_type(_plain_type(f.type)).remove_metadata() for f in schema])
    with pq.ParquetWriter(
        path, plain, version="2.6", compression="zstd", compression_level=3
    ) as writer:
        for part in parts:
            writer.write_table(part.replace_schema_metadata(None), row_group_size=BATCH)


def _plain_type(type_: pa.DataType) -> pa.DataType:
    """The type with pyarrow's own name for what lists hold; a table that was read has another."""
    return pa.list_(_plain_type(type_.value_type)) if pa.types.is_list(type_) else type_


def subset_folders(folder: Path) -> list[Path]:
    """Find the subsets' folders in a project's folder of subsets, in the order of their names."""
    return [subset for subset in listed(folder, "[!.]*") if (subset / LOCK).exists()]


def read_subset(folder: Path) -> Subset:
    """Read a subset's folder.

    Raises:
        InputError: there is no such subset, or a file of it is missing or damaged.
    """
    restore_folder(folder)
    if not (folder / LOCK).is_file():
        others = [other.name for other in subset_folders(folder.parent)]
        raise InputError(
            f"no subset {folder.name!r} in {folder.parent}",
            wanted="a composed subset",
            mend=suggestion(folder.name, others)
            if others
            else "compose one with 'benchprism compose criteria/NAME.yaml'",
        )
    lock = read_lock(folder)
    try:
        return Subset(
            folder=folder,
            criteria=read_criteria(folder / CRITERIA),
            items=_read_table(folder / ITEMS, ITEM_SCHEMA),
            excluded=_read_table(folder / EXCLUDED, EXCLUDED_SCHEMA),
            lock=lock,
        )
    except (OSError, ValueError) as error:
        raise InputError(
            f"the subset in {folder} cannot be read ({str(error).splitlines()[0]})",
            wanted=f"{ITEMS}, {EXCLUDED}, {LOCK} and {CRITERIA} as composed",
            mend="compose it again",
        ) from error


def _read_table(path: Path, schema: pa.Schema) -> pa.Table:
    """Read a table that has the columns of a schema, among others."""
    table = pq.read_table(path)
    found = dict(zip(table.schema.names, table.schema.types, strict=True))
    for field in schema:
        if found.get(field.name) != field.type:
            raise ValueError(f"{path.name} has no column {field.name!r} of type {field.type}")
    return table


def read_lock(folder: Path) -> dict[str, Any]:
    """Read the lock of a subset's folder.

    Raises:
        InputError: it is missing or damaged, or was written by another version of benchprism.
    """
    try:
        lock: dict[str, Any] = json.loads((folder / LOCK).read_text(encoding="utf-8"))
        if not isinstance(lock, dict):
            raise ValueError("not an object")
    except (OSError, ValueError) as error:
        raise InputError(
            f"{folder / LOCK} cannot be read",
            wanted="the lock of a composed subset",
            mend="compose it again",
        ) from error
    require_format(lock, folder)
    for key, type_ in _LOCKED.items():
        if not isinstance(lock.get(key), type_):
            raise InputError(
                f"{folder / LOCK} has no {key!r}",
                wanted="the lock of a composed subset",
                mend="compose it again",
            )
    return lock


def require_format(lock: Mapping[str, Any], folder: Path) -> None:
    """Refuse a lock that was written by another version of benchprism.

    Raises:
        InputError: it was.
    """
    if lock.get("format") != LOCK_FORMAT:
        raise InputError(
            f"{folder / LOCK} has the format {lock.get('format')!r}",
            wanted=f"the format {LOCK_FORMAT}",
            mend="compose it again",
        )
