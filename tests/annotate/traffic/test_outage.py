"""An endpoint that answers nobody for a while: everyone waits, and no item is given up for it."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from aiohttp import web

from benchprism.annotate.asking.annotator import Annotator, run_annotator
from benchprism.annotate.asking.recorder import Signs
from benchprism.annotate.ledger.store import Ledger
from benchprism.annotate.traffic.silence import duration
from benchprism.prompts.catalogue import Catalogue
from benchprism.prompts.messages import read_item_message
from benchprism.records.errors import EndpointError

from ..conftest import FaultServer

MakeItems = Callable[..., pa.Table]
MakeAnnotator = Callable[..., Annotator]


@dataclass
class Switched:
    """A server that answers so many requests, and then none until it is switched on again."""

    answers: int
    how: str
    """What happens to requests while it is down: a status, ``hang`` or ``refuse``."""
    port: int = 0
    down: bool = False
    asked: Counter[str] = field(default_factory=Counter)
    poisoned: frozenset[str] = frozenset()
    """Items at which it always fails."""
    unanswered: int = 0
    at_once: int = 0
    most_at_once: int = 0
    failing: Callable[[], None] = lambda: None
    """Called with each request that is not answered."""
    _loop: asyncio.AbstractEventLoop | None = None
    _site: web.BaseSite | None = None
    _runner: web.AppRunner | None = None

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    async def answer(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        item = read_item_message(body["messages"][-1]["content"])
        assert item is not None
        question = item.body.split("Question:\n")[1].split("\n")[0]
        self.asked[question] += 1
        if question in self.poisoned:
            return web.json_response({"error": {"message": "it crashed"}}, status=500)
        self.down = self.down or self.answers == 0
        if not self.down:
            self.answers -= 1
            return completion(FaultServer.reply_to(body))
        return await self._fail(request)

    async def _fail(self, request: web.Request) -> web.StreamResponse:
        self.unanswered += 1
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        self.failing()
        try:
            if self.how == "hang":
                await asyncio.sleep(0.3)
            if self.how == "refuse":
                await self.close()
                assert request.transport is not None
                request.transport.abort()
            status = int(self.how) if self.how.isdigit() else 500
            return web.json_response({"error": {"message": "down"}}, status=status)
        finally:
            self.at_once -= 1

    async def close(self) -> None:
        site, self._site = self._site, None
        if site is not None:
            await site.stop()

    async def open(self) -> None:
        assert self._runner is not None
        self._site = web.TCPSite(self._runner, "127.0.0.1", self.port, reuse_address=True)
        await self._site.start()
        self.port = self._runner.addresses[0][1]

    def switch_on(self) -> None:
        """Answer again, for good."""
        self.answers, self.down = 10_000, False
        if self._site is None:
            assert self._loop is not None
            asyncio.run_coroutine_threadsafe(self.open(), self._loop).result(5)


def completion(content: str) -> web.Response:
    choice = {"finish_reason": "stop", "message": {"role": "assistant", "content": content}}
    usage = {"prompt_tokens": 7, "completion_tokens": 3}
    return web.json_response({"choices": [choice], "usage": usage})


@contextmanager
def switched(**options: Any) -> Iterator[Switched]:
    """Serve while the block runs; the port stays the same when it comes back."""
    server, loop = Switched(**options), asyncio.new_event_loop()
    server._loop = loop
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()

    async def begin() -> None:
        app = web.Application()
        app.router.add_post("/v1/chat/completions", server.answer)
        server._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await server._runner.setup()
        await server.open()

    async def end() -> None:
        assert server._runner is not None
        await server._runner.cleanup()

    asyncio.run_coroutine_threadsafe(begin(), loop).result(5)
    try:
        yield server
    finally:
        asyncio.run_coroutine_threadsafe(end(), loop).result(5)
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


@pytest.fixture
def ledger(tmp_path: Path) -> Path:
    return tmp_path / "ledger.sqlite"


def statuses(ledger: Path) -> Counter[str]:
    with Ledger(ledger) as opened:
        return Counter(str(status) for (status,) in opened.query("SELECT status FROM reply"))


@pytest.mark.parametrize("concurrency", [1, 2, 8])
@pytest.mark.parametrize("how", ["refuse", "500", "503", "hang"])
def test_an_outage_is_waited_out_and_costs_no_item(
    how: str, concurrency: int, make_items: MakeItems, annotator_at: MakeAnnotator,
    core: Catalogue, ledger: Path,
) -> None:  # fmt: skip
    told: list[str] = []
    with switched(answers=10, how=how) as server:

        def tell(sentence: str) -> None:
            told.append(sentence)
            if len(told) == 1:
                server.switch_on()

        annotator = annotator_at(server.base_url, concurrency=concurrency, timeout=0.2)
        summary = run_annotator(
            annotator, make_items(40), core, ledger, signs=Signs(outage=tell)
        )  # fmt: skip
    assert summary.statuses == statuses(ledger) == Counter(ok=40)
    assert re.match(r"The endpoint has not answered for \d s \(", told[0])
    assert "trying again every 0 s, for another 30 min" in told[0]
    assert told[-1].startswith("The endpoint answers again, after")


@pytest.mark.parametrize("answers", [0, 10])
@pytest.mark.parametrize("how", ["refuse", "500", "hang"])
def test_patience_ends_and_the_same_command_goes_on(
    how: str, answers: int, make_items: MakeItems, annotator_at: MakeAnnotator, core: Catalogue,
    ledger: Path,
) -> None:  # fmt: skip
    items = make_items(40)
    with switched(answers=answers, how=how) as server:
        annotator = annotator_at(server.base_url, timeout=0.2, patience={"outage": 0.3})
        with pytest.raises(EndpointError) as error:
            run_annotator(annotator, items, core, ledger)
        assert error.value.exit_code == 2
        assert statuses(ledger) == Counter(ok=answers)
        if answers:
            assert "has not answered for" in error.value.found
            assert "run the same command again" in error.value.mend
        server.switch_on()
        rest = run_annotator(annotator, items, core, ledger)
    assert rest.statuses == Counter(ok=40 - answers)


def test_one_request_at_a_time_tries_whether_it_is_back(
    make_items: MakeItems, annotator_at: MakeAnnotator, core: Catalogue, ledger: Path
) -> None:
    with switched(answers=10, how="500") as server:

        def failing() -> None:
            if server.unanswered == 10:  # no more were in flight when it began
                server.most_at_once = server.at_once
            if server.unanswered == 30:
                server.switch_on()

        server.failing = failing
        annotator = annotator_at(server.base_url, concurrency=8)
        summary = run_annotator(annotator, make_items(60), core, ledger)
    assert summary.statuses == Counter(ok=60)
    assert server.most_at_once == 1
    assert server.unanswered == 30


@pytest.mark.parametrize("concurrency", [1, 2, 8])
def test_an_item_at_which_the_endpoint_fails_is_no_outage(
    concurrency: int, make_items: MakeItems, annotator_at: MakeAnnotator, core: Catalogue,
    ledger: Path,
) -> None:  # fmt: skip
    bad = frozenset(f"What is {n} plus {n}?" for n in (0, 7, 8, 9, 10, 29))
    told: list[str] = []
    with switched(answers=10_000, how="500", poisoned=bad) as server:
        annotator = annotator_at(server.base_url, concurrency=concurrency)
        summary = run_annotator(
            annotator, make_items(30), core, ledger, signs=Signs(outage=told.append)
        )
    assert summary.statuses == Counter(ok=24, error=6)
    asked = [server.asked[question] for question in bad]
    assert min(asked) >= 3
    assert max(asked) <= 12


def test_the_only_item_that_is_left_may_fail(
    make_items: MakeItems, annotator_at: MakeAnnotator, core: Catalogue, ledger: Path
) -> None:
    bad = frozenset({"What is 0 plus 0?", "What is 1 plus 1?"})
    with switched(answers=10_000, how="500", poisoned=bad) as server:
        summary = run_annotator(annotator_at(server.base_url), make_items(2), core, ledger)
    assert summary.statuses == Counter(error=2)


def test_an_interruption_ends_a_pause_at_once(
    make_items: MakeItems, annotator_at: MakeAnnotator, core: Catalogue, ledger: Path
) -> None:
    with switched(answers=10, how="500") as server:

        def failing() -> None:
            if server.unanswered == 3:
                asyncio.get_running_loop().call_later(0.2, os.kill, os.getpid(), signal.SIGINT)

        server.failing = failing
        patience = {"first_wait": 60.0, "longest_wait": 60.0}
        annotator = annotator_at(server.base_url, concurrency=8, patience=patience)
        begun = time.monotonic()
        summary = run_annotator(annotator, make_items(40), core, ledger)
        assert time.monotonic() - begun < 20
        assert summary.interrupted
        assert statuses(ledger) == Counter(ok=10)
        server.switch_on()
        rest = run_annotator(replace(annotator), make_items(40), core, ledger)
    assert rest.statuses == Counter(ok=30)


@pytest.mark.parametrize(
    ("seconds", "said"), [(0.2, "0 s"), (99, "99 s"), (180, "3 min"), (7300, "2 h")]
)
def test_durations_are_said_shortly(seconds: float, said: str) -> None:
    assert duration(seconds) == said
