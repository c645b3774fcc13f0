"""A connection that carries one answer too many gives no item the answer of another."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Awaitable, Callable
from contextlib import suppress
from itertools import count

import pytest

from benchprism.annotate.traffic.endpoint import Endpoint, EndpointSettings
from benchprism.annotate.traffic.faults import Fault, Response

Answer = Callable[[str, asyncio.StreamWriter], Awaitable[None]]


def whole(question: str, name: str | None) -> bytes:
    answer = {"choices": [{"message": {"content": question}}], **({"id": name} if name else {})}
    body = json.dumps(answer).encode()
    head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(body)}"
    return f"{head}\r\n\r\n".encode() + body


class Server:
    """Answers on raw connections, as it is told to."""

    def __init__(self, answer: Answer) -> None:
        self.connections = self.requests = 0
        self._answer = answer
        self._served: list[asyncio.Task[None] | None] = []

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self._served.append(asyncio.current_task())
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
                length = int(head.partition("content-length:")[2].partition("\r\n")[0])
                question = json.loads(await reader.readexactly(length))["question"]
                self.requests += 1
                await self._answer(question, writer)
        writer.close()
        with suppress(ConnectionError):
            await writer.wait_closed()

    def run(self, client: Callable[[Endpoint], Awaitable[None]], connections: int = 1) -> None:
        async def story() -> None:
            made = await asyncio.start_server(self.serve, "127.0.0.1")
            url = f"http://127.0.0.1:{made.sockets[0].getsockname()[1]}/v1"
            async with Endpoint(EndpointSettings("m", url), connections=connections) as endpoint:
                await client(endpoint)
            made.close()
            await asyncio.gather(*(task for task in self._served if task is not None))

        asyncio.run(story())


async def ask(endpoint: Endpoint, question: object) -> str | Fault:
    body = json.dumps({"question": str(question)}).encode()
    end = await endpoint.send(body, "/chat/completions")
    return end if isinstance(end, Fault) else content(end)


def content(end: Response) -> str:
    return str(end.content["choices"][0]["message"]["content"])


@pytest.mark.parametrize("with_id", [True, False])
def test_a_connection_on_which_something_came_unasked_is_not_used(with_id: bool) -> None:
    written = asyncio.Event()

    async def answer(question: str, writer: asyncio.StreamWriter) -> None:
        text = whole(question, f"c{question}" if with_id else None)
        writer.write(text)
        await writer.drain()
        if question == "1":
            asyncio.get_running_loop().call_soon(write_again, writer, text)

    def write_again(writer: asyncio.StreamWriter, text: bytes) -> None:
        writer.write(text)
        written.set()

    async def client(endpoint: Endpoint) -> None:
        assert await ask(endpoint, 1) == "1"
        await written.wait()
        assert [await ask(endpoint, question) for question in (2, 3)] == ["2", "3"]

    server = Server(answer)
    server.run(client)
    assert server.requests == 3
    assert server.connections >= 2


def test_an_answer_that_came_before_is_none_and_ends_its_connection() -> None:
    given: list[bytes] = []

    async def answer(question: str, writer: asyncio.StreamWriter) -> None:
        text = whole(question, f"c{len(given)}")
        late = given[0] if len(given) == 2 else b""  # the first answer once more, before the third
        given.append(text)
        writer.write(late + text)

    async def client(endpoint: Endpoint) -> None:
        assert [await ask(endpoint, question) for question in (1, 2)] == ["1", "2"]
        third = await ask(endpoint, 3)
        assert isinstance(third, Fault)
        assert (third.remedy, third.code) == ("again", 0)  # a budget counts it in full
        assert third.reason == "an earlier answer of the endpoint came once more"
        assert [await ask(endpoint, question) for question in (3, 4)] == ["3", "4"]

    server = Server(answer)
    server.run(client)
    assert (server.requests, server.connections) == (5, 2)


def test_what_was_not_asked_for_ends_the_reuse_of_connections() -> None:
    ready = asyncio.Event()

    async def answer(question: str, writer: asyncio.StreamWriter) -> None:
        writer.write(whole(question, f"c{question}"))
        if question == "1":
            await ready.wait()
            writer.write(whole(question, f"again-{question}"))

    async def client(endpoint: Endpoint) -> None:
        assert await ask(endpoint, 1) == "1"
        ready.set()
        for _ in range(10):  # let it come
            await asyncio.sleep(0)
        assert [await ask(endpoint, question) for question in range(2, 6)] == list("2345")

    server = Server(answer)
    server.run(client)
    assert server.connections == 5


@pytest.mark.parametrize("connections", [1, 4])
def test_an_endpoint_that_always_says_the_same_is_believed(connections: int) -> None:
    async def answer(_: str, writer: asyncio.StreamWriter) -> None:
        writer.write(whole("the same", "c"))

    ends: list[str | Fault] = []

    async def client(endpoint: Endpoint) -> None:
        async def work() -> None:
            ends.extend([await ask(endpoint, question) for question in range(50)])

        await asyncio.gather(*(work() for _ in range(connections)))

    Server(answer).run(client, connections)
    asked_again = [end for end in ends if isinstance(end, Fault)]
    assert len(asked_again) <= 1
    assert ends.count("the same") == len(ends) - len(asked_again)


def test_ids_that_several_answers_have_tell_nothing() -> None:
    async def answer(question: str, writer: asyncio.StreamWriter) -> None:
        writer.write(whole(str(int(question) % 3), "c"))

    async def client(endpoint: Endpoint) -> None:
        answers = [await ask(endpoint, question) for question in range(60)]
        assert answers == [str(question % 3) for question in range(60)]

    server = Server(answer)
    server.run(client)
    assert (server.requests, server.connections) == (60, 1)


@pytest.mark.parametrize("delays", [(0.0,), (0.0001, 0.001), (0.001, 0.005)])
def test_no_late_duplicate_lands_on_another_item(delays: tuple[float, ...]) -> None:
    chance, names = random.Random(0), count()
    duplicates = 0

    async def answer(question: str, writer: asyncio.StreamWriter) -> None:
        nonlocal duplicates
        text = whole(question, f"c{next(names)}")
        writer.write(text)
        await asyncio.sleep(0)
        if chance.random() < 0.1:
            duplicates += 1
            late = asyncio.get_running_loop().call_later
            late(chance.choice(delays), write_again, writer, text)

    def write_again(writer: asyncio.StreamWriter, text: bytes) -> None:
        if not writer.is_closing():
            writer.write(text)

    answers: dict[int, str] = {}

    async def client(endpoint: Endpoint) -> None:
        questions = iter(range(1500))

        async def work() -> None:
            for question in questions:
                end = await ask(endpoint, question)
                while isinstance(end, Fault):
                    end = await ask(endpoint, question)
                answers[question] = end

        await asyncio.gather(*(work() for _ in range(8)))

    Server(answer).run(client, 8)
    assert duplicates > 100
    assert answers == {question: str(question) for question in range(1500)}
