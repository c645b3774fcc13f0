"""The endpoint: an OpenAI-compatible server, sent one request at a time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from ...records.errors import InputError
from ..asking.capabilities import Rung
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
    """Seconds that a request may take before it is given up."""
    seed: int | None = None
    """Sent only when given."""
    rung: Rung | None = None
    """The only way in which the reply gets its structure; found out when not given."""
    logprobs: bool = False
    """Whether to ask for the probabilities of tokens, which become confidences."""

    @property
    def parameters(self) -> dict[str, Any]:
        """What changes a reply; limits do not, a longer one may be tried on the same request."""
        given = {"temperature": self.temperature, "seed": self.seed}
        return {name: value for name, value in given.items() if value is not None}

    @property
    def sent_parameters(self) -> dict[str, Any]:
        """What is sent beside the prompt and the limit."""
        return {**self.parameters, "logprobs": True} if self.logprobs else self.parameters

    @property
    def limit_parameter(self) -> str:
        """The name under which a reply's length is limited, as far as the address tells."""
        return "max_completion_tokens" if self.base_url is None else "max_tokens"

    @property
    def unknown_parameters(self) -> tuple[str, ...]:
        """What the endpoint is known not to take, as far as the address tells: OpenAI's strict
        schemas bound no text."""
        return ("maxLength",) if self.base_url is None else ()


class Endpoint:
    """An open connection to an endpoint; an asynchronous context manager.

    The openai library says where requests go and with which headers. They are sent by aiohttp: the
    library's own transport takes more time than everything else that is done for an item.
    """

    def __init__(self, settings: EndpointSettings, *, connections: int) -> None:
        """Prepare the connection, inside a running event loop; nothing is sent.

        Raises:
            InputError: the address is no URL, or the key cannot stand in a header.
        """
        import httpx2
        import openai

        self.settings = settings
        self._key = settings.api_key
        unused = httpx2.AsyncClient(transport=httpx2.AsyncBaseTransport(), trust_env=False)
        client = openai.AsyncOpenAI(
            base_url=settings.base_url, api_key=settings.api_key, http_client=unused
        )
        self.address = _address(client.base_url, settings.base_url)
        """The endpoint's address."""
        headers = _sendable(client.default_headers, settings.api_key)
        self._open(headers, connections)

    def _open(self, headers: Mapping[str, str], connections: int) -> None:
        import aiohttp
        from yarl import URL

        from .connections import Connections

        self._urls = {path: URL(self.address + path) for path in _PATHS}
        self._silent = (aiohttp.ClientError, TimeoutError, OSError)
        self._unreached = (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError)
        self._connections = Connections(connections)
        self._session = aiohttp.ClientSession(
            connector=self._connections,
            cookie_jar=aiohttp.DummyCookieJar(),
            headers=headers,
            timeout=aiohttp.ClientTimeout(self.settings.timeout, sock_connect=_CONNECT_SECONDS),
            trust_env=not on_this_machine(self.settings.base_url),
        )

    async def __aenter__(self) -> Endpoint:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._session.close()

    async def send(self, body: bytes, path: str) -> Response | Fault:
        """Send one request, once."""
        try:
            async with self._session.post(self._urls[path], data=body) as answer:
                text = await answer.read()
        except self._silent as error:
            reached = not isinstance(error, self._unreached)
            return fault_of_silence(error, endpoint=self.address, reached=reached)
        response = Response(answer.status, answer.headers, self._without_key(text))
        fault = fault_of(response, endpoint=self.address, model=self.settings.model)
        identity = _identity(response)
        if fault is None and identity and self._connections.repeats(identity, text):
            return Fault("again", "an earlier answer of the endpoint came once more")
        return fault or response

    def _without_key(self, body: bytes) -> str:
        """Keep the key out of the ledger, whatever the endpoint sends back."""
        text = body.decode("utf-8", "replace")
        return text.replace(self._key, "***") if len(self._key) >= _SECRET_LENGTH else text


def _identity(response: Response) -> str:
    """The id of an answer; empty when it has none."""
    content = response.content
    return str(content.get("id") or "") if isinstance(content, dict) else ""


_PATHS = ("/chat/completions", "/decisions")
_SECRET_LENGTH = 8
_CONNECT_SECONDS = 10.0


def on_this_machine(base_url: str | None) -> bool:
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
    if base_url.userinfo:
        raise InputError(
            f"the base_url of {base_url.host} has a user or a password in it",
            wanted="an address alone",
            mend="take them out of base_url; the key belongs into OPENAI_API_KEY",
        )
    return str(base_url).rstrip("/")


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
