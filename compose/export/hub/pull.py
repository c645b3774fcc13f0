"""A subset taken up again from the Hub, verified against its lock."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from ....records.documents import dump_document, read_document
from ....records.errors import InputError, enumerated
from ....records.files import replacing_folder
from ....records.items.record import ITEM_SCHEMA, content_hash
from ... import store
from ...composer import EXCLUDED_SCHEMA
from ...language.criteria import Criteria
from ...locking.digest import table_digest
from ...locking.lock import lock_text
from ..folder import COMPOSED, CRITERIA, EXCLUDED, LOCK, MANIFEST, OWN, read_manifest
from ..names import without_names
from ..subset import WITHHELD
from .refusals import hub_errors
from .repository import Hub

_MEND = "pull another state of it with --revision, or have it pushed again"
OwnItems = Callable[[Sequence[str]], pa.Table]
"""Finds items of the project by their ids: those that there are, with ``ITEM_SCHEMA``."""


@dataclass(frozen=True, slots=True, eq=False)
class PulledSubset:
    """A subset as the Hub has it, whole and verified."""

    repo_id: str
    commit: str
    ids_only: bool
    """Its texts are the project's own."""
    criteria: Criteria
    items: pa.Table
    excluded: pa.Table
    lock: Mapping[str, Any]


def pull_subset(hub: Hub, own_items: OwnItems, *, revision: str | None = None) -> PulledSubset:
    """Read a subset out of a repository that ``benchprism export`` made.

    Args:
        hub: the repository.
        own_items: where the texts come from if the Hub has the ids only.
        revision: a branch, tag or commit; the newest when none is given.

    Raises:
        InputError: the repository holds no subset, or one that is not what its lock says; or
            texts are missing that the project does not have.
        EndpointError: the Hub refused, or cannot be reached.
    """
    with hub_errors(hub.repo_id):
        info = hub.api.dataset_info(hub.repo_id, revision=revision)
    commit = str(info.sha)
    known = {sibling.rfilename for sibling in info.siblings or []}
    if MANIFEST not in known:
        raise InputError(
            f"the dataset {hub.repo_id!r} was not made by 'benchprism export'",
            wanted="one that was",
            mend="check the name and --revision; 'benchprism items add' reads any other dataset",
        )
    with TemporaryDirectory() as name:
        folder = Path(name)
        for path in (MANIFEST, LOCK, CRITERIA, COMPOSED, EXCLUDED):
            if path not in known:
                raise _damaged(hub, f"{path} is missing")
            hub.download(path, commit, folder)
        with hub.reading(folder, _MEND):
            _check_files(hub, folder)
            lock = store.read_lock(folder / OWN)
            criteria = read_document(folder / CRITERIA, Criteria)
        return _read(hub, commit, folder, lock, criteria, own_items)


def _damaged(hub: Hub, reason: str) -> InputError:
    return InputError(
        f"the subset in {hub.repo_id!r} is not as it was pushed ({reason})",
        wanted="the subset that its lock describes",
        mend=_MEND,
    )


def _check_files(hub: Hub, folder: Path) -> None:
    written: dict[str, str] = read_manifest(folder)["files"]
    for path in (LOCK, CRITERIA, COMPOSED, EXCLUDED):
        if hashlib.sha256((folder / path).read_bytes()).hexdigest() != written.get(path):
            raise _damaged(hub, f"{path} has another content than {MANIFEST} says")


def _read(
    hub: Hub,
    commit: str,
    folder: Path,
    lock: Mapping[str, Any],
    criteria: Criteria,
    own_items: OwnItems,
) -> PulledSubset:
    try:
        items, excluded = pq.read_table(folder / COMPOSED), pq.read_table(folder / EXCLUDED)
        contents, digests = lock["items"], lock["content"]
        resolved = criteria.extends is None and criteria.name == lock["name"]
        if not resolved or criteria.plain() != lock["criteria"]:
            raise _damaged(hub, f"{CRITERIA} is not what the lock says")
        if excluded.schema.remove_metadata() != EXCLUDED_SCHEMA:
            raise _damaged(hub, f"{EXCLUDED} has other columns")
        if dict(zip(*_columns(items, "item_id", "content_hash"), strict=True)) != contents:
            raise _damaged(hub, f"{COMPOSED} has other items than the lock")
    except (OSError, ValueError, KeyError, TypeError, pa.ArrowException) as error:
        raise _damaged(hub, " ".join(str(error).split())) from error
    ids_only = not {*WITHHELD} & {*items.column_names}
    whole = _with_texts(items, lock, own_items) if ids_only else items
    _check_texts(hub, whole)
    if table_digest(excluded) != digests["excluded"]:
        raise _damaged(hub, f"{EXCLUDED} is not what the lock says")
    if table_digest(whole) != digests["items"]:
        raise _other_items(lock) if ids_only else _damaged(hub, f"{COMPOSED} is not what it says")
    return PulledSubset(hub.repo_id, commit, ids_only, criteria, whole, excluded, lock)


def _columns(table: pa.Table, *names: str) -> list[list[Any]]:
    return [table[name].to_pylist() for name in names]


def _with_texts(items: pa.Table, lock: Mapping[str, Any], own_items: OwnItems) -> pa.Table:
    """Put the project's own texts into a table without any."""
    own = own_items(items["item_id"].to_pylist())
    rows = pc.index_in(items["item_id"], value_set=own["item_id"].combine_chunks())
    rows = rows.combine_chunks()
    same = pc.fill_null(pc.equal(own["content_hash"].take(rows), items["content_hash"]), False)
    if not pc.all(same).as_py():
        raise _missing(items.filter(pc.invert(same)), items.num_rows, lock)
    taken = {name: own[name].take(rows) for name in WITHHELD}
    rest = [name for name in items.column_names if name not in ITEM_SCHEMA.names]
    names = [*ITEM_SCHEMA.names, *rest]
    return pa.table({name: taken[name] if name in taken else items[name] for name in names})


def _missing(missing: pa.Table, all_items: int, lock: Mapping[str, Any]) -> InputError:
    counts = Counter(missing["benchmark"].to_pylist())
    told = ", ".join(f"{number} of {name}" for name, number in sorted(counts.items()))
    return InputError(
        f"the Hub has no texts of this subset, and {missing.num_rows} of its {all_items} items are"
        f" not in the project as they were composed: {told}, first"
        f" {missing['item_id'][0].as_py()!r}",
        wanted="its benchmarks in the project",
        mend=_additions(lock, sorted(counts)),
    )


def _other_items(lock: Mapping[str, Any]) -> InputError:
    return InputError(
        "the project's own items have the same questions as this subset's, but other keys, records"
        " or white space",
        wanted="the items that it was composed of",
        mend=_additions(lock, sorted(lock["sources"])),
    )


def _additions(lock: Mapping[str, Any], benchmarks: Sequence[str]) -> str:
    commands = [f"'benchprism items add {_source(name, lock)}'" for name in benchmarks]
    return f"run {enumerated(commands)}, then pull again"


def _source(benchmark: str, lock: Mapping[str, Any]) -> str:
    told = lock["sources"].get(benchmark, {})
    if told.get("file") is not None:
        return f"{benchmark} --from {told['file']}"
    revision = next(iter(told.get("revisions") or ()), None)
    return benchmark + (f" --revision {revision}" if revision else "")


def _check_texts(hub: Hub, items: pa.Table) -> None:
    columns = _columns(items, "item_id", "content_hash", "question", "context", "choices")
    for item, told, question, context, choices in zip(*columns, strict=True):
        if content_hash(question, context, choices) != told:
            raise _damaged(hub, f"the text of {item!r} is not that of its content hash")


def write_pulled(pulled: PulledSubset, subsets: Path) -> bool:
    """Put a subset into a project's folder of subsets.

    Returns:
        Whether it was written; false if it was there already.

    Raises:
        InputError: another subset of its name is there, or the folder cannot be written.
    """
    folder = subsets / pulled.criteria.name
    if (folder / store.LOCK).is_file():
        there = store.read_lock(folder)
        if lock_text(pulled.lock) in {lock_text(there), lock_text(without_names(there))}:
            return False
        raise InputError(
            f"the project has another subset {folder.name!r}",
            wanted="none of that name, or the same one",
            mend=f"move {folder} away, then pull again; 'benchprism diff' compares the two",
        )
    with replacing_folder(folder) as new:
        store.write_tables(new / store.ITEMS, pulled.items.schema, [pulled.items])
        store.write_tables(new / store.EXCLUDED, pulled.excluded.schema, [pulled.excluded])
        (new / store.LOCK).write_text(lock_text(pulled.lock), encoding="utf-8", newline="\n")
        text = dump_document(pulled.criteria.plain())
        (new / store.CRITERIA).write_text(text, encoding="utf-8", newline="\n")
    return True
