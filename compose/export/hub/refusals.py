"""What the Hub's refusals mean for one repository, and what to do about each."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus
from typing import TYPE_CHECKING

from ....records.errors import BenchprismError, EndpointError, InputError

if TYPE_CHECKING:
    import httpx2

TOKENS = "https://huggingface.co/settings/tokens"
_SENTENCES = {
    HTTPStatus.UNAUTHORIZED: (
        "the Hub does not accept the token",
        "a token that is valid",
        f"make one with write access at {TOKENS} and set HF_TOKEN",
    ),
    HTTPStatus.FORBIDDEN: (
        "the token or its account may not do this in {repo_id!r}",
        "write access to it",
        f"give the token that access at {TOKENS}, have an administrator of the organisation give"
        " you a role that writes, or offer the change with --create-pr",
    ),
    HTTPStatus.NOT_FOUND: (
        "the dataset {repo_id!r} does not exist, or is private",
        "a dataset that the token may see",
        "check the name, and whose token HF_TOKEN is",
    ),
    HTTPStatus.CONFLICT: (
        "another operation on {repo_id!r} is under way, or it was made by another one just now",
        "one at a time",
        "run the same command again in a minute",
    ),
    HTTPStatus.PRECONDITION_FAILED: (
        "{repo_id!r} has changed on the Hub since it was compared",
        "a push onto the state that was compared",
        "look at the change with --dry-run, then run the same command again",
    ),
    HTTPStatus.TOO_MANY_REQUESTS: (
        "the Hub takes no more requests of this account for now",
        "fewer requests",
        "run the same command again {later}",
    ),
}
_BAD = HTTPStatus.BAD_REQUEST
_RESET = re.compile(r"\bt=(\d+)")


@contextmanager
def hub_errors(repo_id: str) -> Iterator[None]:
    """Turn what the Hub or the network refuses into one sentence.

    Raises:
        EndpointError: the Hub refused, or cannot be reached.
        InputError: the Hub does not accept what was sent.
    """
    import httpx2

    try:
        yield
    except BenchprismError:
        raise
    except (OSError, ValueError, RuntimeError, httpx2.HTTPError) as error:
        raise _meaning(repo_id, error) from error


def _meaning(repo_id: str, error: BaseException) -> BenchprismError:
    from huggingface_hub.errors import (
        GatedRepoError,
        HfHubHTTPError,
        HFValidationError,
        OfflineModeIsEnabled,
        RepositoryNotFoundError,
        RevisionNotFoundError,
    )

    causes = [*_causes(error)]
    for cause in causes:
        if isinstance(cause, HFValidationError):
            return bad_name(repo_id)
        if isinstance(cause, OfflineModeIsEnabled):
            return EndpointError(
                "HF_HUB_OFFLINE forbids to ask the Hub",
                wanted="the Hub",
                mend="unset HF_HUB_OFFLINE",
            )
        if isinstance(cause, RevisionNotFoundError):
            return InputError(
                f"the dataset {repo_id!r} has no such revision",
                wanted="a branch, a tag or a commit of it",
                mend="change --revision, or leave it out for the newest",
            )
        if isinstance(cause, GatedRepoError):
            return EndpointError(
                f"the dataset {repo_id!r} is gated",
                wanted="an account that was granted access",
                mend=f"accept its terms on https://huggingface.co/datasets/{repo_id}",
            )
        if isinstance(cause, RepositoryNotFoundError) and not _denies_token(cause.response):
            return _refused(repo_id, cause.response, HTTPStatus.NOT_FOUND)
        if isinstance(cause, HfHubHTTPError) and cause.response.status_code == _BAD:
            return _untaken(error)
        if isinstance(cause, HfHubHTTPError):
            return _refused(repo_id, cause.response, cause.response.status_code)
    return _unsent(repo_id, causes)


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def _denies_token(response: httpx2.Response) -> bool:
    """Whether a 401 is of the token: the library takes every one for a missing repository."""
    code = response.headers.get("X-Error-Code")
    return response.status_code == HTTPStatus.UNAUTHORIZED and code is None


def _refused(repo_id: str, response: httpx2.Response, status: int) -> BenchprismError:
    known = _SENTENCES.get(HTTPStatus(status)) if status in {*HTTPStatus} else None
    if known is not None:
        found, wanted, mend = (
            text.format(repo_id=repo_id, later=_later(response)) for text in known
        )
        return EndpointError(f"{found} ({status})", wanted=wanted, mend=mend)
    said = " ".join((response.headers.get("X-Error-Message") or "").split())[:300]
    because = f": {said}" if said else ""
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return EndpointError(
            f"the Hub cannot serve at the moment ({status}{because})",
            wanted="a Hub that answers",
            mend="run the same command again later; https://status.huggingface.co tells how it is",
        )
    return EndpointError(
        f"the Hub refused the request ({status}{because})",
        wanted="a request that it accepts",
        mend="mend what it names, then run the same command again",
    )


def _later(response: httpx2.Response) -> str:
    """When to come back, as the answer's headers say it."""
    told = (response.headers.get("Retry-After") or "").strip()
    reset = _RESET.search(response.headers.get("RateLimit") or "")
    seconds = told if told.isdigit() else reset[1] if reset is not None and not told else None
    if seconds is not None:
        return f"in {seconds} seconds"
    return f"after {told}" if told else "in some minutes"


def _unsent(repo_id: str, causes: list[BaseException]) -> BenchprismError:
    """The network failed, or a library would not send what it was given."""
    import httpx2

    if any(isinstance(cause, (httpx2.TransportError, OSError)) for cause in causes):
        return EndpointError(
            f"the connection to the Hub was lost, or not made, for {repo_id!r}",
            wanted="a network that reaches it",
            mend="run the same command again: a commit is on the Hub whole or not at all, and what"
            " is there is not sent twice",
        )
    return _untaken(causes[0])


def _untaken(error: BaseException) -> InputError:
    reason = " ".join(str(error).split())[:300].rstrip(".")
    return InputError(
        f"the Hub does not take what was to be sent ({reason})",
        wanted="a card and files that it accepts",
        mend="mend what it names, then run the same command again",
    )


def bad_name(repo_id: str) -> InputError:
    """The error for a name that is no repository's."""
    return InputError(
        f"{repo_id!r} is not a repository's name",
        wanted="ORG/NAME: a user or an organisation, and letters, digits, '-', '_' and '.'",
        mend="mend the name",
    )
