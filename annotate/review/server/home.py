"""The folder of a review server: its database, its secrets, its log."""

from __future__ import annotations

import os
import secrets
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

from ....records.errors import InputError

FOLDER = "review-server"
"""The home of a project's own server, in the project folder."""


@dataclass(frozen=True, slots=True)
class ServerHome:
    """Where a server keeps what it has to keep. Only its user may read it."""

    folder: Path
    """An absolute path."""

    @property
    def claim(self) -> Path:
        """Held by the server that runs on this folder."""
        return self.folder / ".lock"

    @property
    def note(self) -> Path:
        """Which process serves, and where; true while the claim is held."""
        return self.folder / "server.json"

    @property
    def access(self) -> Path:
        """How the commands of this project reach the server."""
        return self.folder / "access.json"

    @property
    def log(self) -> Path:
        """What Argilla printed since its last start."""
        return self.folder / "server.log"

    @property
    def temporary(self) -> Path:
        """Emptied at every start."""
        return self.folder / "tmp"

    def make(self) -> None:
        """Make the folder, and keep what is in it out of version control.

        Raises:
            InputError: it cannot be made.
        """
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            (self.folder / ".gitignore").write_text("*\n", encoding="utf-8")
        except OSError as error:
            raise InputError(
                f"{self.folder} cannot be written ({error.strerror})",
                wanted="a folder for the review server",
                mend="mend its permissions, or name another one with --home",
            ) from error

    def empty_temporary(self) -> None:
        """Throw away what an earlier run left in the temporary folder."""
        shutil.rmtree(self.temporary, ignore_errors=True)
        self.temporary.mkdir(mode=0o700)

    def auth_secret(self) -> str:
        """The key that signs log-ins: made once, so that a restart logs nobody out."""
        path = self.folder / "auth_secret"
        if not path.exists():
            write_private(path, secrets.token_hex(32))
        return path.read_text(encoding="ascii").strip()


def write_private(path: Path, text: str) -> None:
    """Write a file that only its user may read, whole or not at all."""
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        Path(name).replace(path)
    finally:
        Path(name).unlink(missing_ok=True)
