"""Items tables on disk: one Parquet file a benchmark, with where its items are from."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypedDict, cast

import pyarrow as pa
import pyarrow.parquet as pq

from ..errors import InputError, suggestion
from ..files import listed, replacing
from .record import ITEM_SCHEMA, Item, items_table

_KEY = b"benchprism"


class Provenance(TypedDict, total=False):
    """Where the items of a benchmark are from."""

    preset: str | None
    dataset: str | None
    """The Hub repository."""
    config: str | None
    split: str | None
    revision: str
    """The dataset's commit, or ``sha256:...`` of the file."""
    licence: str
    """SPDX identifier or words; ``unknown`` where the source states none."""
    gated: bool
    """True where the Hub gives the dataset only to those who accept its terms."""
    domain: str | None
    """The field that benchmarks are compared within."""
    file: str | None
    """The name of the local file."""
    columns: dict[str, Any]
    """The column mapping."""
    limit: int | None
    """How many items were asked for; none for all."""


def write_items(
    path: Path, items: Iterable[Item] | pa.Table, provenance: Provenance | Mapping[str, Any]
) -> None:
    """Write the items of one benchmark, whole or not at all."""
    table = items if isinstance(items, pa.Table) else items_table(items)
    metadata = {_KEY: json.dumps(dict(provenance), ensure_ascii=False).encode()}
    with replacing(path) as temporary:
        pq.write_table(table.replace_schema_metadata(metadata), temporary, compression="zstd")


def read_items(path: Path) -> pa.Table:
    """Read the items of one benchmark, as a table with ``ITEM_SCHEMA``.

    Raises:
        InputError: the file is missing, damaged, or no table of items.
    """
    try:
        table = pq.read_table(path)
    except (OSError, pa.ArrowException) as error:
        raise _unreadable(path, error) from error
    try:
        return table.cast(ITEM_SCHEMA)
    except (ValueError, pa.ArrowException) as error:
        raise InputError(
            f"{path} is not a table of items",
            wanted="a file that 'benchprism items add' wrote",
            mend="move it away, and add its items with 'benchprism items add NAME --from FILE'",
        ) from error


def read_provenance(path: Path) -> Provenance:
    """Read where the items of one benchmark are from; nothing when the file does not tell.

    Raises:
        InputError: the file is missing or damaged.
    """
    try:
        metadata = pq.read_schema(path).metadata or {}
        return cast(Provenance, json.loads(metadata.get(_KEY, b"{}")))
    except (OSError, pa.ArrowException, ValueError) as error:
        raise _unreadable(path, error) from error


def items_files(folder: Path) -> dict[str, Path]:
    """Find the items files of a project, by benchmark, in the order of their names.

    Raises:
        InputError: the folder cannot be read.
    """
    paths = listed(folder, "*.parquet")
    return {path.stem: path for path in sorted(paths, key=lambda path: path.stem)}


def benchmark_files(folder: Path, benchmarks: Sequence[str] | None = None) -> dict[str, Path]:
    """Find the items files that are wanted, in the order of their names.

    Args:
        folder: the project's folder of items.
        benchmarks: the ones that are wanted; all when none are named.

    Raises:
        InputError: there are none, or a wanted one is not there.
    """
    found = items_files(folder)
    if not found:
        raise InputError(
            f"no items in {folder}",
            wanted="at least one benchmark",
            mend="add one with 'benchprism items add mmlu'; 'benchprism items presets' lists more",
        )
    for name in benchmarks or []:
        if name not in found:
            raise InputError(
                f"the benchmark {name!r} is not in the project",
                wanted="one whose items were added",
                mend=suggestion(name, found),
            )
    return {name: found[name] for name in found if not benchmarks or name in benchmarks}


def project_items(folder: Path, benchmarks: Sequence[str] | None = None) -> pa.Table:
    """Read the items of a project's benchmarks into one table, in the order of their names.

    Raises:
        InputError: as ``benchmark_files`` and ``read_items``.
    """
    files = benchmark_files(folder, benchmarks)
    return pa.concat_tables([read_items(path) for path in files.values()])


def _unreadable(path: Path, error: Exception) -> InputError:
    reason = getattr(error, "strerror", None) or "not a whole Parquet file"
    return InputError(
        f"{path} cannot be read ({reason})",
        wanted="a file that 'benchprism items add' wrote",
        mend="add the benchmark again with 'benchprism items add'",
    )
