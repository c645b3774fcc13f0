"""What lies in a dataset repository of the Hub before a push."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from io import SEEK_END
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, TYPE_CHECKING, Any

from ....records.errors import InputError
from ..card import CARD
from ..folder import LOCK, MANIFEST, read_card, read_manifest
from .refusals import hub_errors
from .repository import Hub

if TYPE_CHECKING:
    from huggingface_hub import DatasetInfo


_MEND = "mend that file in the repository, or remove it there"


@dataclass(frozen=True, slots=True)
class FileState:
    """What a file holds, on the Hub or here."""

    size: int
    digests: frozenset[str]
    """The SHA-1 of its Git object and the SHA-256 of its content; on the Hub the first only, unless
    it is stored apart from Git."""

    def is_same(self, other: FileState) -> bool:
        """Tell whether the contents are equal."""
        return not self.digests.isdisjoint(other.digests)


def file_state(source: IO[bytes]) -> FileState:
    """Find out what an open file holds."""
    size = source.seek(0, SEEK_END)
    source.seek(0)
    git = hashlib.sha1(b"blob %d\0" % size, usedforsecurity=False)
    plain = hashlib.sha256()
    while part := source.read(2**20):
        git.update(part)
        plain.update(part)
    return FileState(size, frozenset({git.hexdigest(), plain.hexdigest()}))


@dataclass(frozen=True, slots=True)
class Remote:
    """A repository at one commit; without a commit there is none yet."""

    commit: str | None = None
    private: bool = True
    files: Mapping[str, FileState] = field(default_factory=dict)
    own: frozenset[str] = frozenset()
    """Those that an earlier push of benchprism put there."""
    card: str | None = None
    is_edited: bool = False
    """The card is not as an earlier push wrote it."""
    contents: Mapping[str, str] = field(default_factory=dict)
    """Content hash of each item, by item id."""


def read_remote(hub: Hub) -> Remote:
    """Read what a push has to know of the repository.

    Raises:
        InputError: benchprism's own files there are damaged.
        EndpointError: the Hub refused, or cannot be reached.
    """
    from huggingface_hub.errors import GatedRepoError, RepositoryNotFoundError

    with hub_errors(hub.repo_id):
        try:
            info = hub.api.dataset_info(hub.repo_id, files_metadata=True)
        except GatedRepoError:
            raise
        except RepositoryNotFoundError:
            return Remote()
    with TemporaryDirectory() as name, hub.reading(Path(name), _MEND):
        return _remote(hub, info, Path(name))


def _remote(hub: Hub, info: DatasetInfo, folder: Path) -> Remote:
    files = {
        sibling.rfilename: FileState(
            size=sibling.size or 0,
            digests=frozenset(
                filter(None, (sibling.blob_id, sibling.lfs.sha256 if sibling.lfs else None))
            ),
        )
        for sibling in info.siblings or []
    }
    commit = str(info.sha)
    for path in {CARD, MANIFEST, LOCK} & {*files}:
        hub.download(path, commit, folder)
    written: dict[str, str] = read_manifest(folder)["files"] if MANIFEST in files else {}
    card = read_card(folder) if CARD in files else None
    return Remote(
        commit=commit,
        private=bool(info.private),
        files=files,
        own=frozenset({*written, MANIFEST} if written else ()),
        card=card,
        is_edited=card is not None and _digest(folder / CARD) != written.get(CARD),
        contents=_contents(folder / LOCK) if LOCK in written else {},
    )


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _contents(path: Path) -> dict[str, str]:
    try:
        lock: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return {str(item): str(content) for item, content in lock["items"].items()}
    except (OSError, ValueError, KeyError, AttributeError, TypeError) as error:
        raise InputError(
            f"{path} cannot be read", wanted="the lock of a composed subset, or none", mend=_MEND
        ) from error
