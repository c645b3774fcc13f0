"""How large files go to a Hub: by Xet where it has that, else as its LFS takes them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus

from .refusals import hub_errors
from .repository import Hub

_SECONDS = 30
"""How long the Hub may take to answer."""


@contextmanager
def transfer(hub: Hub) -> Iterator[None]:
    """Let the library send files in a way that the Hub has.

    The library takes Xet for granted, and waits for minutes where a Hub of one's own has none.

    Raises:
        EndpointError: the Hub cannot be reached.
    """
    from huggingface_hub import constants

    disabled = constants.HF_HUB_DISABLE_XET
    constants.HF_HUB_DISABLE_XET = disabled or not _has_xet(hub)
    try:
        yield
    finally:
        constants.HF_HUB_DISABLE_XET = disabled


def _has_xet(hub: Hub) -> bool:
    """Whether the Hub knows of tokens for Xet, and gives or refuses one."""
    from huggingface_hub import get_session

    url = f"{hub.api.endpoint}/api/datasets/{hub.repo_id}/xet-write-token/main"
    headers = {"authorization": f"Bearer {hub.api.token}"}
    with hub_errors(hub.repo_id):
        answer = get_session().get(url, headers=headers, timeout=_SECONDS)
    if answer.status_code == HTTPStatus.OK:
        return "casUrl" in answer.text or "X-Xet-Cas-Url" in answer.headers
    return int(answer.status_code) != HTTPStatus.NOT_FOUND
