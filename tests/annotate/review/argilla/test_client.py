"""What becomes of a request when the connection, or what answers, fails."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from benchprism.annotate.review.argilla.client import Argilla
from benchprism.annotate.review.server import Access
from benchprism.records.errors import EndpointError, InputError

Failing = Callable[..., AbstractContextManager[tuple[Argilla, list[str]]]]


@pytest.fixture
def failing() -> Failing:
    """Something that answers requests by a script: a status with a type and a body, or nothing."""

    @contextmanager
    def start(*script: tuple[int, str, bytes] | None) -> Iterator[tuple[Argilla, list[str]]]:
        asked: list[str] = []

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def answer(self) -> None:
                self.rfile.read(int(self.headers.get("Content-Length") or 0))
                act = script[min(len(asked), len(script) - 1)]
                asked.append(self.command)
                self.close_connection = True
                if act is None:
                    return
                status, kind, body = act
                self.send_response(status)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            do_GET = do_POST = do_PUT = answer  # noqa: N815

            def log_message(self, format: str, *arguments: Any) -> None:  # noqa: A002
                """Print nothing."""

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            with Argilla(Access(f"http://127.0.0.1:{server.server_port}/", "key")) as argilla:
                yield argilla, asked
        finally:
            server.shutdown()
            thread.join()
            server.server_close()

    return start


FINE = (200, "application/json", b'{"items": []}')
BROKEN = (500, "application/json", b'{"detail": "it broke"}')


@pytest.mark.parametrize("failure", [None, BROKEN])
def test_what_may_be_repeated_is_repeated_once(failing: Failing, failure: Any) -> None:
    with failing(failure, FINE) as (argilla, asked):
        assert argilla.get("me/datasets") == {"items": []}
        assert asked == ["GET", "GET"]
    with failing(failure, FINE) as (argilla, asked):
        assert argilla.put("datasets/1/records/bulk", {}) == {"items": []}
    with failing(failure, FINE) as (argilla, asked):
        assert argilla.post("search", {}, repeatable=True) == {"items": []}
    with failing(failure, failure, FINE) as (argilla, asked):
        with pytest.raises(EndpointError):
            argilla.get("me/datasets")
        assert asked == ["GET", "GET"]


@pytest.mark.parametrize("failure", [None, BROKEN])
def test_nothing_is_made_twice(failing: Failing, failure: Any) -> None:
    with failing(failure, FINE) as (argilla, asked):
        with pytest.raises(EndpointError):
            argilla.post("datasets", {})
        assert asked == ["POST"]


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        ((500, "application/json", b'{"detail": "it broke"}'), "HTTP 500: it broke"),
        (
            (422, "application/json", b'{"detail": {"params": {"detail": "no such"}}}'),
            "HTTP 422: no such",
        ),
        ((422, "application/json", b'"' + b"x" * 900 + b'"'), "xxx..."),
        ((401, "application/json", b"{}"), "does not know the API key"),
        ((403, "application/json", b"{}"), "does not let this user do that (me/datasets)"),
        ((404, "text/html", b"<html>"), "is no Argilla server"),
        ((200, "text/html", b"<html>"), "is no Argilla server"),
    ],
)
def test_a_refusal_is_one_sentence(failing: Failing, answer: Any, told: str) -> None:
    with failing(answer) as (argilla, _):
        with pytest.raises(EndpointError) as refused:
            argilla.get("me/datasets")
        assert told in str(refused.value)
        assert len(str(refused.value)) < 500


@pytest.mark.parametrize(
    ("url", "key"),
    [("somewhere", "key"), ("ftp://host", "key"), ("http://", "key"), ("http://host", "k\n")],
)
def test_an_address_that_is_none_is_told(url: str, key: str) -> None:
    with pytest.raises(InputError, match="ARGILLA_API"):
        Argilla(Access(url, key))
