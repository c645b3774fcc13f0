"""Which server runs on a home, and how to end it."""

from __future__ import annotations

import json
import os
import signal
import time
from contextlib import suppress
from dataclasses import asdict, dataclass

from ....records.errors import EndpointError
from .claim import is_claimed
from .home import ServerHome, write_private

_SECONDS_TO_STOP = 60.0
_BETWEEN_LOOKS = 0.1


@dataclass(frozen=True, slots=True)
class Running:
    """A server that serves."""

    pid: int
    url: str
    started: str
    """When it was ready, in UTC."""


def is_taken(home: ServerHome) -> bool:
    """Tell whether a server runs on the home, ready or not."""
    return is_claimed(home.claim)


def running(home: ServerHome) -> Running | None:
    """The server that runs on the home; none when there is none, or none that is ready."""
    if not is_taken(home):
        return None
    try:
        return Running(**json.loads(home.note.read_text(encoding="utf-8")))
    except FileNotFoundError:
        return None


def write_note(home: ServerHome, server: Running) -> None:
    """Say which server is ready."""
    write_private(home.note, json.dumps(asdict(server)) + "\n")


def stop(home: ServerHome) -> Running | None:
    """End the server that runs on the home, and wait until it has ended.

    Returns:
        The server that was ended; none when none was ready.

    Raises:
        EndpointError: it does not end.
    """
    server = running(home)
    if server is None:
        return None
    with suppress(ProcessLookupError):
        os.kill(server.pid, signal.SIGTERM)
    deadline = time.monotonic() + _SECONDS_TO_STOP
    while is_taken(home):
        if time.monotonic() > deadline:
            raise EndpointError(
                f"the review server (process {server.pid}) has not ended in "
                f"{_SECONDS_TO_STOP:.0f} seconds",
                wanted="it to end",
                mend=f"see {home.log}; 'kill -9 {server.pid}' loses no submitted response",
            )
        time.sleep(_BETWEEN_LOOKS)
    return server
