"""A run that dies at any moment loses nothing that was saved, and asks for nothing twice."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from aiohttp import web

from benchprism.annotate.asking.annotator import Annotator, run_annotator
from benchprism.annotate.consolidation.consolidate import consolidated_values
from benchprism.annotate.ledger.store import Ledger
from benchprism.annotate.loopback import chat_completions_server
from benchprism.annotate.replay import ReplayServer, read_recordings
from benchprism.prompts.catalogue import Catalogue
from benchprism.prompts.messages import read_item_message
from benchprism.records.items.store import write_items

COMMAND = Path(sys.executable).with_name("benchprism")
CONCURRENCY = 8
ITEMS = 200


class HoldingServer(ReplayServer):
    """A replay that answers a given number of requests, and then holds all that come."""

    def __init__(self, recordings: Path) -> None:
        super().__init__(read_recordings(recordings))
        self.answers_left = 0
        self.holding = threading.Event()
        self.released = threading.Event()
        self.asked: list[str] = []
        """Content hashes of the items asked for since the last ``allow``."""

    def allow(self, answers: int) -> None:
        """Answer so many requests from now on, then hold."""
        self.answers_left = answers
        self.asked = []
        self.holding.clear()
        self.released.clear()

    async def answer(self, request: web.Request) -> web.Response:
        body = await request.json()
        item = read_item_message(body["messages"][-1]["content"])
        assert item is not None
        self.asked.append(item.content_hash)
        self.answers_left -= 1
        if self.answers_left < 0:
            self.holding.set()
            while not self.released.is_set():
                await asyncio.sleep(0.001)
        return await super().answer(request)


@pytest.fixture
def server(recordings_file: Path) -> Iterator[HoldingServer]:
    server = HoldingServer(recordings_file)
    with chat_completions_server(server.answer) as server.base_url:
        yield server


@pytest.fixture(scope="module")
def items(recorded_items: pa.Table) -> pa.Table:
    table = recorded_items[:ITEMS]
    assert table.num_rows == ITEMS
    return table


@pytest.fixture
def project(tmp_path: Path, items: pa.Table, server: HoldingServer) -> Path:
    (tmp_path / "benchprism.yaml").write_text(
        "project: resume\n"
        "annotators:\n"
        "  reader:\n"
        "    model: replay:reader-a\n"
        f"    base_url: {server.base_url}\n"
        f"    concurrency: {CONCURRENCY}\n",
        encoding="utf-8",
    )
    for name in pc.unique(items["benchmark"]).to_pylist():
        part = items.filter(pc.equal(items["benchmark"], name))
        write_items(tmp_path / "items" / f"{name}.parquet", part, {})
    return tmp_path


@contextmanager
def annotating(project: Path, *before: str) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [*before, COMMAND, "annotate", "-p", project],
        stderr=subprocess.PIPE, text=True, encoding="utf-8",
    )  # fmt: skip
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def known(project: Path) -> set[str]:
    with Ledger(project / "ledger.sqlite") as ledger:
        return {str(row[0]) for row in ledger.query("SELECT content_hash FROM reply")}


def test_killed_at_any_moment_it_asks_only_for_what_is_missing(
    project: Path, items: pa.Table, server: HoldingServer, core: Catalogue, tmp_path: Path,
    make_reader: Callable[[str], Annotator],
) -> None:  # fmt: skip
    asked_in_all = 0
    kills = (0, 1, 60, 61)
    for answers in kills:
        before = known(project)
        server.allow(answers)
        with annotating(project) as process:
            assert server.holding.wait(60), process.poll()
            process.send_signal(signal.SIGKILL)
            assert process.wait(60) == -signal.SIGKILL
        server.released.set()
        saved = known(project) - before
        assert not before & set(server.asked)
        assert answers - CONCURRENCY <= len(saved) <= answers
        asked_in_all += len(server.asked)

    missing = set(items["content_hash"].to_pylist()) - known(project)
    server.allow(ITEMS)
    with annotating(project) as process:
        assert process.wait(120) == 0
    assert sorted(server.asked) == sorted(missing)
    asked_in_all += len(server.asked)
    assert asked_in_all <= ITEMS + CONCURRENCY * len(kills)

    server.allow(ITEMS)
    unkilled = tmp_path / "unkilled.sqlite"
    run_annotator(make_reader(server.base_url), items, core, unkilled)
    killed = project / "ledger.sqlite"
    assert values(killed, core, items) == values(unkilled, core, items)
    with Ledger(killed) as ledger:
        assert [*ledger.query("PRAGMA integrity_check")] == [("ok",)]
        assert [*ledger.query("SELECT count(*), count(DISTINCT item_id) FROM reply")] == [
            (200, 200)
        ]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_interrupted_it_finishes_what_is_in_flight_and_says_how_to_go_on(
    project: Path, server: HoldingServer, number: signal.Signals
) -> None:
    server.allow(20)
    with annotating(project) as process:
        assert server.holding.wait(60)
        process.send_signal(number)
        assert process.stderr is not None
        heard = next(line for line in process.stderr if "Finishing what is in flight" in line)
        assert heard
        server.released.set()
        rest = process.stderr.read()
        assert process.wait(60) == 130
    assert f"To go on: benchprism annotate -p {project}" in rest
    assert len(known(project)) == len(server.asked)
    assert 20 < len(server.asked) <= 20 + CONCURRENCY


def test_what_it_was_told_to_ignore_ends_nothing(project: Path, server: HoldingServer) -> None:
    server.allow(20)
    with annotating(project, "nohup") as process:
        assert server.holding.wait(60)
        process.send_signal(signal.SIGHUP)
        server.allow(ITEMS)
        server.released.set()
        assert process.wait(120) == 0
    assert len(known(project)) == ITEMS


def test_interrupted_twice_it_ends_at_once(project: Path, server: HoldingServer) -> None:
    server.allow(20)
    with annotating(project) as process:
        assert server.holding.wait(60)
        assert process.stderr is not None
        process.send_signal(signal.SIGINT)
        assert any("interrupt again" in line for line in process.stderr)
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 130
    assert 20 - CONCURRENCY <= len(known(project)) <= 20


@pytest.fixture
def make_reader(annotator_at: Callable[..., Annotator]) -> Callable[[str], Annotator]:
    return lambda url: annotator_at(url, name="llm:reader", model="replay:reader-a")


def values(ledger: Path, catalogue: Catalogue, items: pa.Table) -> pa.Table:
    table = consolidated_values(ledger, catalogue, items)
    assert table.num_rows > 4000
    return table
