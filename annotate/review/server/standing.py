"""What a review server holds: users, datasets and how far they are."""

from __future__ import annotations

import http.client
import json
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from ....records.errors import EndpointError
from .access import Access

_SECONDS = 10


@dataclass(frozen=True, slots=True)
class DatasetStanding:
    """How far a dataset is."""

    name: str
    workspace: str
    status: str
    records: int
    completed: int


@dataclass(frozen=True, slots=True)
class Standing:
    """What the server says of itself."""

    version: str
    """Argilla's."""
    users: dict[str, str]
    """Username to role."""
    datasets: tuple[DatasetStanding, ...]


def standing(access: Access) -> Standing:
    """Ask a server how it stands.

    Raises:
        EndpointError: it does not answer, or does not know the API key.
    """
    workspaces = {w["id"]: w["name"] for w in _get(access, "me/workspaces")["items"]}
    users = {user["username"]: user["role"] for user in _get(access, "users")["items"]}
    datasets = []
    for dataset in _get(access, "me/datasets")["items"]:
        progress = _get(access, f"datasets/{dataset['id']}/progress")
        datasets.append(
            DatasetStanding(
                dataset["name"],
                workspaces.get(dataset["workspace_id"], ""),
                dataset["status"],
                progress["total"],
                progress["completed"],
            )
        )
    return Standing(_get(access, "version")["version"], users, tuple(datasets))


def _get(access: Access, path: str) -> Any:
    where = urlsplit(access.api_url)
    kinds = {"http": http.client.HTTPConnection, "https": http.client.HTTPSConnection}
    connection = kinds[where.scheme](where.netloc, timeout=_SECONDS)
    try:
        target = f"{where.path.rstrip('/')}/api/v1/{path}"
        connection.request("GET", target, headers={"X-Argilla-Api-Key": access.api_key})
        answer = connection.getresponse()
        body = answer.read()
    except OSError as error:
        raise EndpointError(
            f"the Argilla server at {access.api_url} does not answer ({error})",
            wanted="it to answer",
            mend="look at 'benchprism review serve --status', or wait and try again",
        ) from error
    finally:
        connection.close()
    if answer.status != http.client.OK:
        raise EndpointError(
            f"the Argilla server at {access.api_url} refuses {path!r} (HTTP {answer.status})",
            wanted="an API key of its owner",
            mend="check ARGILLA_API_KEY",
        )
    return json.loads(body)
