"""Argilla's job queue without a Redis: an imitation in a thread, behind a socket of the user's own.

A job is a pickled call, so whoever can write to the queue runs code here. A socket in a folder that
only this user can enter keeps the other users of the machine out; a port would not.
"""

from __future__ import annotations

import itertools
import socket
import threading
from pathlib import Path

from fakeredis import TcpFakeServer


class _SocketServer(TcpFakeServer):
    address_family = socket.AF_UNIX

    def __init__(self, path: Path) -> None:
        self._clients_so_far = itertools.count()
        super().__init__(str(path), server_type="redis")
        self.daemon_threads = True

    def get_request(self) -> tuple[socket.socket, tuple[str, int]]:
        """A connection, with a name that tells it from others: a socket file gives none."""
        connection, _ = self.socket.accept()
        return connection, ("client", next(self._clients_so_far))


def serve_queue(path: Path) -> None:
    """Serve a queue at a socket file until the process ends."""
    server = _SocketServer(path)
    threading.Thread(target=server.serve_forever, name="queue", daemon=True).start()
