"""One annotation at a time on a ledger: two at once would ask, and pay, twice."""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ...records.errors import InputError


@contextmanager
def claimed(ledger: Path) -> Iterator[None]:
    """Hold the claim on a ledger; the system gives it back when the process dies.

    Raises:
        InputError: another process holds it, or its folder cannot be written.
    """
    path = ledger.with_name(f".{ledger.name}.lock")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle = path.open("w")
    except OSError as error:
        raise InputError(
            f"{path} cannot be written ({error.strerror})",
            wanted="a project folder that can be written",
            mend="mend its permissions",
        ) from error
    with handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise InputError(
                f"another annotation is writing {ledger}",
                wanted="one at a time",
                mend="wait for it, or end it: what came is saved",
            ) from error
        yield
