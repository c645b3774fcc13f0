"""A project's id: by it a server's datasets say whose they are."""

from __future__ import annotations

import secrets
from pathlib import Path

from ...records.errors import InputError
from ...records.files import reason, write_text

PROJECT_ID = "project-id"
"""In the project's folder ``review``."""


def project_id(folder: Path, *, make: bool = False) -> str:
    """Read the id of a project; empty when it has none.

    Args:
        folder: The project's folder ``review``.
        make: Give it one if it has none.

    Raises:
        InputError: the id cannot be read or written.
    """
    path = folder / PROJECT_ID
    try:
        found = path.read_text(encoding="ascii").strip()
    except FileNotFoundError:
        found = ""
    except (OSError, ValueError) as error:
        told = reason(error) if isinstance(error, OSError) else "not ASCII"
        raise InputError(
            f"{path} cannot be read ({told})",
            wanted="the project's id",
            mend="mend the file, or remove it to get another id",
        ) from error
    if make and not found:
        found = secrets.token_hex(8)
        write_text(path, f"{found}\n")
    return found
