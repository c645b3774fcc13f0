from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import Awaitable, Callable

import pytest
from aiohttp import web

from benchprism.annotate.loopback import chat_completions_server
from benchprism.annotate.traffic.endpoint import Endpoint, EndpointSettings
from benchprism.annotate.traffic.faults import Fault, Response
from benchprism.records.errors import EndpointError

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


def ended(url: str | None, timeout: float = 5.0, **settings: str) -> Response | Fault:
    async def send() -> Response | Fault:
        made = EndpointSettings("m", url, timeout=timeout, **settings)  # type: ignore[arg-type]
        async with Endpoint(made, connections=1) as endpoint:
            return await endpoint.send(b"{}", "/chat/completions")

    return asyncio.run(send())


def answered(handler: Handler, timeout: float = 5.0, **settings: str) -> Response | Fault:
    with chat_completions_server(handler) as url:
        return ended(url, timeout, **settings)


def test_an_answer_comes_whole_and_without_the_key() -> None:
    async def echo(request: web.Request) -> web.Response:
        assert await request.read() == b"{}"
        assert request.headers["Content-Type"] == "application/json"
        return web.json_response({"choices": [], "key": request.headers["Authorization"]})

    end = answered(echo, api_key="sk-secret-key")
    assert isinstance(end, Response)
    assert end.content == {"choices": [], "key": "Bearer ***"}


def test_bytes_that_are_no_text_are_no_crash() -> None:
    async def garbage(request: web.Request) -> web.Response:
        return web.Response(body=b"\xff\xfe{", content_type="application/json")

    end = answered(garbage)
    assert isinstance(end, Fault)
    assert (end.remedy, end.reason) == ("again", "HTTP 200 with a body that is not JSON")


def test_an_answer_that_trickles_is_given_up() -> None:
    async def trickle(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        while True:
            await response.write(b" ")
            await asyncio.sleep(0.01)

    begin = time.monotonic()
    end = answered(trickle, timeout=0.1)
    assert time.monotonic() - begin < 5
    assert isinstance(end, Fault)
    assert (end.remedy, end.error) == ("again", None)


def test_silence_in_mid_answer_is_given_up() -> None:
    async def fall_silent(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        await response.write(b'{"choices": ')
        await asyncio.sleep(30)
        return response

    end = answered(fall_silent, timeout=0.1)
    assert isinstance(end, Fault)
    assert end.remedy == "again"


def test_nobody_there_is_told_from_an_answer_that_fails() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    end = ended(f"http://127.0.0.1:{port}/v1")
    assert isinstance(end, Fault)
    assert isinstance(end.error, EndpointError)


@pytest.mark.parametrize(
    ("url", "address", "limit"),
    [
        (None, "https://api.openai.com/v1", "max_completion_tokens"),
        ("http://127.0.0.1:8000/v1/", "http://127.0.0.1:8000/v1", "max_tokens"),
    ],
)
def test_an_address_is_the_librarys_or_the_users(
    url: str | None, address: str, limit: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    settings = EndpointSettings("m", url)

    async def opened() -> str:
        async with Endpoint(settings, connections=1) as endpoint:
            return endpoint.address

    assert asyncio.run(opened()) == address
    assert settings.limit_parameter == limit


def test_only_what_is_given_is_sent() -> None:
    assert EndpointSettings("m").parameters == {}
    assert EndpointSettings("m", temperature=0.0, seed=0).parameters == {
        "temperature": 0.0, "seed": 0,
    }  # fmt: skip
