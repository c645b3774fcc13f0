"""How push and pull reach the Argilla server: one that is given, or the project's own."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace

from ....records.errors import InputError
from .home import ServerHome, write_private

WORKSPACE = "benchprism"


@dataclass(frozen=True, slots=True)
class Access:
    """Where an Argilla server is, and who may do everything there."""

    api_url: str
    api_key: str
    workspace: str = WORKSPACE


def find_access(home: ServerHome, environment: Mapping[str, str]) -> Access:
    """The server that ``ARGILLA_API_URL`` and ``ARGILLA_API_KEY`` name, else the one of ``home``.

    ``ARGILLA_WORKSPACE`` names the workspace on either.

    Raises:
        InputError: half of it is given, or there is none.
    """
    workspace = environment.get("ARGILLA_WORKSPACE")
    url, key = environment.get("ARGILLA_API_URL"), environment.get("ARGILLA_API_KEY")
    if url and key:
        return Access(url, key, workspace or WORKSPACE)
    if url or key:
        given, missing = ("URL", "KEY") if url else ("KEY", "URL")
        raise InputError(
            f"ARGILLA_API_{given} is given without ARGILLA_API_{missing}",
            wanted="both, or neither for the project's own server",
            mend=f"set ARGILLA_API_{missing} too, or unset ARGILLA_API_{given}",
        )
    try:
        own = Access(**json.loads(home.access.read_text(encoding="utf-8")))
    except FileNotFoundError as error:
        raise InputError(
            f"no Argilla server is known: neither ARGILLA_API_URL nor {home.access} is there",
            wanted="a server to talk to",
            mend="run 'benchprism review serve', or set ARGILLA_API_URL and ARGILLA_API_KEY",
        ) from error
    return replace(own, workspace=workspace or own.workspace)


def write_access(home: ServerHome, access: Access) -> None:
    """Keep the access where ``find_access`` finds it, for this user alone."""
    write_private(home.access, json.dumps(asdict(access), indent=2) + "\n")
