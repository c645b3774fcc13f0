"""The endpoint: an OpenAI-compatible server, asked for one chat completion at a time."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from ..prompts.messages import Prompt
from ..records.errors import InputError
from .faults import Fault, Response, fault_of, fault_of_silence

if TYPE_CHECKING:
    import httpx2


@dataclass(frozen=True, slots=True)
class EndpointSettings:
    """Which model is asked where, and how."""

    model: str
    base_url: str | None = None
    """None for the openai library's default."""
    api_key: str = field(default="none", repr=False)
    temperature: float | None = None
    """Sent only when given."""
    max_output_tokens: int = 2000
    timeout: float = 120.0
    """Seconds without a byte before a request is given up."""

    @property
    def parameters(self) -> dict[str, Any]:
        """What changes a reply; limits do not, a longer one may be tried on the same request."""
        return {} if self.temperature is None else {"temperature": self.temperature}


class Endpoint:
    """An open connection to an endpoint; an asynchronous context manager."""

    def __init__(self, settings: EndpointSettings, *, connections: int) -> None:
        """Prepare the client; nothing is sent.

        Raises:
            InputError: the address is no URL, or the key cannot stand in a header.
        """
        import httpx2
        import openai

        self.settings = settings
        self._key = settings.api_key
        limits = httpx2.Limits(max_connections=connections, max_keepalive_connections=connections)
        self._http = openai.DefaultAioHttpClient(
            limits=limits,
            timeout=httpx2.Timeout(settings.timeout, connect=_CONNECT_SECONDS, pool=None),
            trust_env=not _on_this_machine(settings.base_url),
        )
        client = openai.AsyncOpenAI(
            base_url=settings.base_url,
            api_key=settings.api_key,
            max_retries=0,
            http_client=self._http,
        )
        self._url = _address(client.base_url, settings.base_url)
        self._headers = _sendable(client.default_headers, settings.api_key)
        self._official = settings.base_url is None

    async def __aenter__(self) -> Endpoint:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._http.aclose()

    @property
    def address(self) -> str:
        """The endpoint's address, for people."""
        return self._url.removesuffix("/chat/completions")

    def form(self, prompt: Prompt) -> RequestForm:
        """Prepare the requests of one prompt; only the item's message differs between them."""
        body = {
            "model": self.settings.model,
            "messages": [
                {"role": "system", "content": prompt.system},
                {"role": "user", "content": _PLACE},
            ],
            "max_completion_tokens" if self._official else "max_tokens": (
                self.settings.max_output_tokens
            ),
            "response_format": {
                "type": "json_schema",
                "json_schema": {"name": "annotation", "strict": True, "schema": prompt.schema},
            },
            **self.settings.parameters,
        }
        before, after = json.dumps(body).split(json.dumps(_PLACE))
        return RequestForm(before, after)

    async def send(self, body: bytes) -> Response | Fault:
        """Send one request, once.

        The request goes through the client's own transport: the library's request objects cost as
        much again as everything else that is done for an item.
        """
        import aiohttp
        import httpx2

        try:
            answer = await self._http.post(self._url, content=body, headers=self._headers)
        except (httpx2.HTTPError, aiohttp.ClientError, TimeoutError, OSError) as error:
            cause = error.__cause__ if isinstance(error.__cause__, Exception) else error
            unreached = (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError)
            return fault_of_silence(
                cause, endpoint=self.address, reached=not isinstance(cause, unreached)
            )
        response = Response(answer.status_code, answer.headers, self._without_key(answer))
        fault = fault_of(response, endpoint=self.address, model=self.settings.model)
        return fault or response

    def _without_key(self, answer: httpx2.Response) -> str:
        """Keep the key out of the ledger, whatever the endpoint sends back."""
        text = answer.content.decode("utf-8", "replace")
        return text.replace(self._key, "***") if len(self._key) >= _SECRET_LENGTH else text


@dataclass(frozen=True, slots=True)
class RequestForm:
    """The body of a request, with a place for the item's message."""

    before: str
    after: str

    def body(self, message: str) -> bytes:
        """Fill the message in."""
        return f"{self.before}{json.dumps(message)}{self.after}".encode()


_PLACE = "\x00the item's message\x00"
_SECRET_LENGTH = 8
_CONNECT_SECONDS = 10.0


def _on_this_machine(base_url: str | None) -> bool:
    """Tell whether an address needs no proxy; the environment's would not find it."""
    try:
        host = urlsplit(base_url or "").hostname
    except ValueError:
        return False
    return host in {"localhost", "127.0.0.1", "::1"}


def _address(base_url: httpx2.URL, given: str | None) -> str:
    if base_url.scheme not in {"http", "https"} or not base_url.host:
        raise InputError(
            f"the base_url {given!r} is no address of an endpoint",
            wanted="a URL such as 'http://localhost:8000/v1'",
            mend="mend base_url in benchprism.yaml",
        )
    return f"{str(base_url).rstrip('/')}/chat/completions"


def _sendable(given: Mapping[str, object], key: str) -> dict[str, str]:
    """Choose the headers of a request, and check that they can be sent.

    The library's headers about itself and its platform tell an endpoint nothing that it needs.
    """
    sent = {k: v for k, v in given.items() if isinstance(v, str) and not k.startswith("X-Stain")}
    sent |= {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
    if not all(value.isascii() and value.isprintable() for value in sent.values()):
        raise InputError(
            "the API key has characters that no key has",
            wanted="printable ASCII",
            mend="copy it again into OPENAI_API_KEY",
        )
    return sent
