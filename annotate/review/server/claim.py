"""Claims on a folder or a file to be made: held by one process, given back when it dies."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from ....records.errors import InputError

_LOOKS = 10
_BETWEEN_LOOKS = 0.02


@contextmanager
def claimed(path: Path) -> Iterator[int | None]:
    """Try to hold the claim of a lock file.

    Yields:
        The lock's file descriptor, which a child process may inherit to hold the claim with this
        one; none when someone else holds it.
    """
    with _opened(path) as handle:
        yield handle.fileno() if _take(handle) else None


@contextmanager
def claimed_in_turn(path: Path, *, on_wait: Callable[[], object]) -> Iterator[None]:
    """Hold the claim of a lock file, waiting for whoever holds it; say so by ``on_wait``."""
    with _opened(path) as handle:
        if not _take(handle):
            on_wait()
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def is_claimed(path: Path) -> bool:
    """Tell whether a process holds the claim of a lock file."""
    try:
        handle = path.open("rb")
    except FileNotFoundError:
        return False
    with handle:
        return not _lock(handle, fcntl.LOCK_SH)


def _take(handle: IO[bytes]) -> bool:
    """Lock for this process alone; a look by ``is_claimed`` may be in the way for a moment."""
    for _ in range(_LOOKS):
        if _lock(handle, fcntl.LOCK_EX):
            return True
        time.sleep(_BETWEEN_LOOKS)
    return False


def _lock(handle: IO[bytes], kind: int) -> bool:
    try:
        fcntl.flock(handle, kind | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _opened(path: Path) -> IO[bytes]:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        return os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT, 0o600), "r+b")
    except OSError as error:
        raise InputError(
            f"{path} cannot be written ({error.strerror})",
            wanted="a folder that can be written",
            mend="choose another folder or mend its permissions",
        ) from error
