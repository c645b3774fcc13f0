"""The files of a folder and all its folders: what is no file, or cannot be read, is said."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from .findings import LogFinding


def files_in(folder: Path) -> Iterator[Path | LogFinding]:
    """Find files in the order of their names; hidden ones are left alone.

    Folders that links lead to are searched too, each folder once. A pipe or a device would keep
    its reader waiting, and is left aside.
    """
    errors: list[OSError] = []
    seen = {folder.resolve()}
    for at, folders, names in os.walk(folder, onerror=errors.append, followlinks=True):
        folders[:] = [
            name for name in sorted(folders) if not name.startswith(".") and _is_new(at, name, seen)
        ]
        for name in sorted(names):
            path = Path(at, name)
            if not name.startswith("."):
                yield _no_file(path) if path.exists() and not path.is_file() else path
    yield from (unreadable(folder, error) for error in errors)


def _is_new(at: str, name: str, seen: set[Path]) -> bool:
    real = Path(at, name).resolve()
    is_new = real not in seen
    seen.add(real)
    return is_new


def _no_file(path: Path) -> LogFinding:
    return LogFinding(
        "unknown",
        str(path),
        "a pipe or a device",
        wanted="a file",
        mend="save what it gives in a file, or leave it out",
    )


def unreadable(path: Path, error: OSError) -> LogFinding:
    """Say that a file or a folder cannot be opened."""
    return LogFinding(
        "unreadable",
        str(error.filename or path),
        f"what cannot be read ({error.strerror or error})",
        wanted="a file or a folder that can be read",
        mend="check that it is there and its permissions",
    )
