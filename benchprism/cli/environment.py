"""The environment that a command sees: the process's own, over the project's .env file."""

from __future__ import annotations

import os
from pathlib import Path

from benchprism.records.errors import InputError


def environment(root: Path) -> dict[str, str]:
    """Read the environment of a project.

    Raises:
        InputError: the .env file is not UTF-8 text.
    """
    from dotenv import dotenv_values

    try:
        written = dotenv_values(root / ".env")
    except UnicodeDecodeError as error:
        raise InputError(
            f"{root / '.env'} cannot be read (not UTF-8 text)",
            wanted="lines like OPENAI_API_KEY=...",
            mend="save it as UTF-8",
        ) from error
    return {**{key: value for key, value in written.items() if value is not None}, **os.environ}
