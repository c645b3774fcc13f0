"""An Argilla server over its HTTP API.

Answers are read as the JSON that they are: Argilla's own client drops discarded responses and
times, and cannot read every record.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlsplit

import httpx2

from ....records.errors import EndpointError, InputError
from ..server.access import Access

RECORDS_AT_ONCE = 1000
"""The most that a page of records may hold."""
_NAMED_AT_ONCE = 250
_SECONDS = httpx2.Timeout(300, connect=15)
_REPEATABLE = {"GET", "PUT", "PATCH", "DELETE"}


class Argilla:
    """A server as its owner sees it; a context manager."""

    def __init__(self, access: Access) -> None:
        """Prepare a connection; nothing is sent yet.

        Raises:
            InputError: the address is none, or the key has signs that no key has.
        """
        _check(access)
        self.access = access
        self._client = self._connect()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._client.close()

    def get(self, path: str, **query: Any) -> Any:
        """Read something."""
        return self._ask("GET", path, params=query)

    def post(self, path: str, data: Any, *, repeatable: bool = False, **query: Any) -> Any:
        """Make something, or search; a search is ``repeatable``."""
        return self._ask("POST", path, data, params=query, repeatable=repeatable)

    def put(self, path: str, data: Any = None) -> Any:
        """Put something in its place."""
        return self._ask("PUT", path, data)

    def patch(self, path: str, data: Any) -> Any:
        """Change part of something."""
        return self._ask("PATCH", path, data)

    def delete(self, path: str) -> Any:
        """Remove something."""
        return self._ask("DELETE", path)

    def workspace_id(self) -> str:
        """The id of the workspace that the access names.

        Raises:
            InputError: the server has no such workspace.
        """
        found = {w["name"]: str(w["id"]) for w in self.get("me/workspaces")["items"]}
        name = self.access.workspace
        if name not in found:
            raise InputError(
                f"the Argilla server at {self.access.api_url} has no workspace {name!r}",
                wanted=f"one of {', '.join(map(repr, sorted(found)))}"
                if found
                else "a workspace to work in",
                mend="make it in Argilla, or set ARGILLA_WORKSPACE to another",
            )
        return found[name]

    def datasets(self) -> list[dict[str, Any]]:
        """The datasets of the workspace."""
        workspace = self.workspace_id()
        listed = self.get("me/datasets")["items"]
        return [dataset for dataset in listed if dataset["workspace_id"] == workspace]

    def records(self, dataset: str, include: Sequence[str] = ()) -> Iterator[dict[str, Any]]:
        """The records of a dataset in the order in which they came, page by page.

        Args:
            dataset: Its id.
            include: ``responses``, ``suggestions``.
        """
        query: dict[str, Any] = {"limit": RECORDS_AT_ONCE, "include": list(include)}
        offset = 0
        while page := self.get(f"datasets/{dataset}/records", offset=offset, **query)["items"]:
            yield from page
            offset += len(page)
            if len(page) < RECORDS_AT_ONCE:
                return

    def named_records(
        self, dataset: str, external_ids: Sequence[str], include: Sequence[str] = ()
    ) -> Iterator[dict[str, Any]]:
        """The records of a dataset with some external ids.

        Args:
            dataset: Its id.
            external_ids: Their ids; one that no record has is passed over.
            include: ``responses``, ``suggestions``.
        """
        scope = {"entity": "record", "property": "external_id"}
        for start in range(0, len(external_ids), _NAMED_AT_ONCE):
            values = [*external_ids[start : start + _NAMED_AT_ONCE]]
            wanted = {"filters": {"and": [{"type": "terms", "scope": scope, "values": values}]}}
            found = self.post(
                f"datasets/{dataset}/records/search",
                wanted,
                repeatable=True,
                limit=len(values),
                include=[*include],
            )
            yield from (item["record"] for item in found["items"])

    def _ask(
        self,
        method: str,
        path: str,
        data: Any = None,
        *,
        params: Mapping[str, Any] | None = None,
        repeatable: bool = False,
    ) -> Any:
        may_repeat = repeatable or method in _REPEATABLE
        for last in (False, True):
            try:
                answer = self._client.request(method, path, json=data, params=params)
            except httpx2.TransportError as error:
                if last or not (may_repeat or isinstance(error, httpx2.ConnectError)):
                    raise self._silent(error) from error
            else:
                if last or not (may_repeat and answer.is_server_error):
                    break
            # After an error the server closes the connection: the next call would find it shut.
            self._client.close()
            self._client = self._connect()
        return self._read(answer, path)

    def _connect(self) -> httpx2.Client:
        return httpx2.Client(
            base_url=f"{self.access.api_url.rstrip('/')}/api/v1/",
            headers={"X-Argilla-Api-Key": self.access.api_key},
            timeout=_SECONDS,
        )

    def _read(self, answer: httpx2.Response, path: str) -> Any:
        if not answer.is_success:
            raise self._refusal(answer, path)
        try:
            return answer.json() if answer.content else None
        except ValueError as error:
            raise self._stranger() from error

    def _silent(self, error: httpx2.TransportError) -> EndpointError:
        return EndpointError(
            f"no Argilla server answers at {self.access.api_url} ({_words(error)})",
            wanted="one that runs",
            mend="start it with 'benchprism review serve', or check ARGILLA_API_URL; "
            "then run the command again: it goes on where it stopped",
        )

    def _stranger(self) -> EndpointError:
        return EndpointError(
            f"what answers at {self.access.api_url} is no Argilla server",
            wanted="the API of Argilla 2",
            mend="check ARGILLA_API_URL",
        )

    def _refusal(self, answer: httpx2.Response, path: str) -> EndpointError:
        where = f"the Argilla server at {self.access.api_url}"
        if answer.status_code == httpx2.codes.UNAUTHORIZED:
            return EndpointError(
                f"{where} does not know the API key",
                wanted="the key of an owner or admin",
                mend="check ARGILLA_API_KEY",
            )
        if answer.status_code == httpx2.codes.FORBIDDEN:
            return EndpointError(
                f"{where} does not let this user do that ({path})",
                wanted="the key of an owner or admin",
                mend="check ARGILLA_API_KEY",
            )
        if not answer.headers.get("content-type", "").startswith("application/json"):
            return self._stranger()
        return EndpointError(
            f"{where} refuses {path!r} (HTTP {answer.status_code}: {_detail(answer)})",
            wanted="it to accept that",
            mend="look into the server's log",
        )


def _check(access: Access) -> None:
    where = urlsplit(access.api_url)
    if where.scheme not in {"http", "https"} or not where.hostname:
        raise InputError(
            f"the address {access.api_url!r} of the Argilla server is none",
            wanted="one like http://127.0.0.1:6900",
            mend="check ARGILLA_API_URL",
        )
    if not access.api_key.isascii() or not access.api_key.isprintable():
        raise InputError(
            "the API key has signs that no key has",
            wanted="letters, digits, '-' and '_'",
            mend="check ARGILLA_API_KEY",
        )


def _detail(answer: httpx2.Response) -> str:
    """What the server says of a refusal, shortened; it may quote what it was sent."""
    try:
        told = answer.json()
    except ValueError:
        told = answer.reason_phrase
    detail = told.get("detail", told) if isinstance(told, dict) else told
    if isinstance(detail, dict):
        params = detail.get("params")
        detail = params.get("detail", detail) if isinstance(params, dict) else detail
    return _words(detail)


def _words(said: object) -> str:
    text = " ".join(str(said).split()) or type(said).__name__
    return text if len(text) <= 300 else f"{text[:297]}..."
