"""A real HTTP server on which everything goes wrong that goes wrong with endpoints, in a mixture.

Which fault a request meets follows from its item and from how often that item was asked, so that a
run can be repeated. The server keeps the account that a provider would keep: what it delivered.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from email.utils import formatdate
from typing import Any

from benchprism.prompts.messages import read_item_message

Headers = dict[str, str]

LIMITED: list[Headers] = [
    {"Retry-After": "0"}, {"Retry-After": "0.01"}, {"retry-after-ms": "5"}, {"Retry-After": ""}, {},
]  # fmt: skip
"""What a refusal for asking too much says about how long to wait; an empty one is made a date."""

PER_THOUSAND = {
    "limited": 20,
    "broken_500": 20,
    "broken_html": 10,
    "busy_503": 5,
    "reset_before": 10,
    "reset_amid": 10,
    "cut_body": 10,
    "error_in_200": 10,
    "filtered_400": 10,
    "long_400": 5,
    "truncated": 20,
    "refused": 10,
    "refused_text": 10,
    "filtered": 5,
    "empty": 5,
    "no_choices": 5,
    "prose": 10,
    "bad_json": 10,
    "bad_value": 10,
    "fenced": 20,
    "slow": 20,
    "twice": 20,
}

ENDS = {
    "limited": "error",
    "broken_500": "error",
    "broken_html": "error",
    "busy_503": "error",
    "reset_before": "error",
    "reset_amid": "error",
    "hang": "error",
    "cut_body": "error",
    "error_in_200": "error",
    "filtered_400": "filtered",
    "long_400": "too_long",
    "truncated": "truncated",
    "refused": "refused",
    "refused_text": "refused",
    "filtered": "filtered",
    "empty": "empty",
    "no_choices": "empty",
    "prose": "invalid",
    "bad_json": "invalid",
    "bad_value": "invalid",
    "fenced": "ok",
    "slow": "ok",
    "twice": "ok",
    "well": "ok",
}
"""How an item ends whose last request met this."""

DELIVERED = {name for name, end in ENDS.items() if end != "error"} - {"filtered_400", "long_400"}
"""What comes as a whole answer, with its tokens."""


@dataclass(frozen=True)
class Delivery:
    """An answer that was written to a client as a whole."""

    question: str
    prompt_tokens: int
    cached_tokens: int
    completion_tokens: int


@dataclass
class UnreliableServer:
    """The server, and its account."""

    values: dict[str, Any]
    """The values of a good reply."""
    base_url: str = ""
    acts: dict[str, list[str]] = field(default_factory=dict)
    """By item, what its requests met."""
    deliveries: dict[str, Delivery] = field(default_factory=dict)
    """By the id of the answer."""
    most_at_once: int = 0
    asked: set[str] = field(default_factory=set)
    """Items asked about since ``kill_after`` was called."""
    _at_once: int = 0
    _left: int | None = None
    _kill: Callable[[], None] = lambda: None

    def kill_after(self, deliveries: int | None, kill: Callable[[], None]) -> None:
        """Call ``kill`` as soon as so many more answers have been delivered."""
        self.asked = set()
        self._left, self._kill = deliveries, kill

    def act_on(self, question: str) -> str:
        """Decide what the next request about an item meets."""
        before = self.acts.setdefault(question, [])
        place = _number(question, len(before)) % 1000
        act = "well"
        for name, share in PER_THOUSAND.items():
            if place < share:
                act = name
                break
            place -= share
        if "truncated" in before:
            act = "truncated" if _number(question) % 2 else "well"
        if question in HANGING and not before:
            act = "hang"
        before.append(act)
        return act

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer the requests of one connection."""
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
                length = int(head.partition("content-length:")[2].partition("\r\n")[0])
                request = json.loads(await reader.readexactly(length))
                self._at_once += 1
                self.most_at_once = max(self.most_at_once, self._at_once)
                try:
                    await self._answer(head, request, reader, writer)
                finally:
                    self._at_once -= 1
        writer.close()

    async def _answer(
        self,
        head: str,
        request: dict[str, Any],
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> None:
        if head.startswith("post /v1/decisions"):
            writer.write(_response(404, b"Not Found"))
            return
        item = read_item_message(request["messages"][-1]["content"])
        assert item is not None
        question = item.body.removeprefix("Question:\n").split("\n")[0]
        self.asked.add(question)
        act = self.act_on(question)
        if act in DELIVERED:
            await self._deliver(act, question, writer)
        elif act == "hang":
            await reader.read(1)
        elif act.startswith("reset"):
            writer.write(_response(200, b"x" * 100)[: 80 if act == "reset_amid" else 0])
            await writer.drain()
            writer.transport.abort()
        else:
            writer.write(_fault(act, _number(question)))

    async def _deliver(self, act: str, question: str, writer: asyncio.StreamWriter) -> None:
        number = _number(question, "tokens", len(self.acts[question]))
        made = Delivery(question, 100 + number % 50, number % 90, 10 + number % 7)
        if act == "slow":
            await asyncio.sleep(0.02)
        name = f"answer-{len(self.deliveries)}"
        body = json.dumps(_completion(act, name, question, made, self.values)).encode()
        writer.write(_response(200, body) * (2 if act == "twice" else 1))
        self.deliveries[name] = made
        if self._left is not None:
            self._left -= 1
            if self._left == 0:
                self._kill()


HANGING = {"What is 100 plus 100?", "What is 200 plus 200?"}
"""Items whose first request is never answered."""


@contextmanager
def unreliable_server(values: dict[str, Any]) -> Iterator[UnreliableServer]:
    """Serve while the block runs."""
    made = UnreliableServer(values)
    port: Future[int] = Future()
    loop, stop = asyncio.new_event_loop(), asyncio.Event()

    async def forever() -> None:
        server = await asyncio.start_server(made.serve, "127.0.0.1", limit=2**20, backlog=512)
        port.set_result(server.sockets[0].getsockname()[1])
        await stop.wait()
        server.close()

    def run() -> None:
        with asyncio.Runner(loop_factory=lambda: loop) as runner:
            runner.run(forever())

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    made.base_url = f"http://127.0.0.1:{port.result()}/v1"
    try:
        yield made
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join()


def expected_ends(server: UnreliableServer) -> Counter[str]:
    """How often items end each way, by the last that each of them met."""
    return Counter(ENDS[acts[-1]] for acts in server.acts.values())


def _number(*parts: object) -> int:
    return int.from_bytes(hashlib.blake2b(repr(parts).encode(), digest_size=6).digest())


def _response(status: int, body: bytes, headers: Headers | None = None) -> bytes:
    given = {
        "Content-Type": "application/json",
        "Content-Length": str(len(body)),
        **(headers or {}),
    }
    lines = [f"HTTP/1.1 {status} Said", *(f"{name}: {value}" for name, value in given.items())]
    return "\r\n".join([*lines, "", ""]).encode() + body


def _fault(act: str, number: int) -> bytes:
    def error(status: int, message: str, headers: Headers | None = None, **more: str) -> bytes:
        body = json.dumps({"error": {"message": message, **more}}).encode()
        return _response(status, body, headers)

    match act:
        case "limited":
            headers = dict(LIMITED[number % len(LIMITED)])
            if headers.get("Retry-After") == "":
                headers["Retry-After"] = formatdate(usegmt=True)
            return error(429, "slow down", headers, code="rate_limit_exceeded")
        case "busy_503":
            return error(503, "busy", {"Retry-After": "0.01"})
        case "broken_500":
            return error(500, "oops")
        case "broken_html":
            return _response(502, b"<html>bad gateway</html>")
        case "cut_body":
            return _response(200, b'{"id": "c", "choi')
        case "error_in_200":
            return error(200, "overloaded")
        case "filtered_400":
            return error(400, "no", code="content_filter")
        case "long_400":
            return error(400, "no", code="context_length_exceeded")
    raise AssertionError(act)


def _completion(
    act: str, name: str, question: str, made: Delivery, values: dict[str, Any]
) -> dict[str, Any]:
    reply = {"note": question, "values": values, "doubt": []}
    text = json.dumps(reply)
    bad = json.dumps({**reply, "values": dict.fromkeys(values, 99)})
    content = {
        "refused": None,
        "refused_text": "I'm sorry, but I can't assist with that.",
        "empty": "",
        "truncated": text[: len(text) // 2],
        "prose": "It is clear.",
        "bad_json": text[:-3],
        "bad_value": bad,
        "fenced": f"```json\n{text}\n```",
    }.get(act, text)
    message = {"role": "assistant", "content": content}
    if act == "refused":
        message["refusal"] = "I can't."
    finish = {"truncated": "length", "filtered": "content_filter"}.get(act, "stop")
    return {
        "id": name,
        "choices": [] if act == "no_choices" else [{"finish_reason": finish, "message": message}],
        "usage": {
            "prompt_tokens": made.prompt_tokens,
            "completion_tokens": made.completion_tokens,
            "prompt_tokens_details": {"cached_tokens": made.cached_tokens},
        },
    }
