from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from benchprism.annotate.ledger.outcome import Reply, Usage
from benchprism.annotate.ledger.store import Entry, Ledger
from benchprism.annotate.ledger.writer import Writer
from benchprism.records.errors import InputError

REPLY = Reply(
    request_key="k",
    item_id="bench/0",
    content_hash="c",
    annotator="llm:a",
    model="m",
    prompt_hash="p",
    catalogue_hash="h",
    status="ok",
    reason="",
    body="{}",
    usage=Usage(),
    price=None,
    time="2026-11-29T10:00:00.000001+00:00",
    seconds=0.5,
    attempts=1,
)


class CountingLedger(Ledger):
    """A ledger that notes how many replies each commit has."""

    commits: list[int]

    def __enter__(self) -> CountingLedger:
        self.commits = []
        return self

    def add(self, entries: list[Entry]) -> None:  # type: ignore[override]
        self.commits.append(len(entries))
        super().add(entries)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "ledger.sqlite"


def entry(number: int) -> list[Entry]:
    return [(replace(REPLY, request_key=f"k{number}", item_id=f"bench/{number}"), [])]


def stored(path: Path) -> int:
    with Ledger(path) as other:
        return len([*other.query("SELECT 1 FROM reply")])


def test_what_comes_together_is_one_commit_and_safe_when_it_returns(path: Path) -> None:
    async def scene(ledger: CountingLedger) -> None:
        writer = Writer(ledger)

        async def one(number: int) -> int:
            await writer.save(entry(number))
            return stored(path)

        assert min(await asyncio.gather(*(one(number) for number in range(20)))) == 20
        assert await one(20) == 21

    with CountingLedger(path, write=True) as ledger:
        asyncio.run(scene(ledger))
        assert ledger.commits == [20, 1]


def test_a_commit_does_not_wait_for_all_that_is_in_flight(path: Path) -> None:
    async def scene(writer: Writer) -> None:
        await asyncio.gather(*(writer.save(entry(number)) for number in range(150)))

    with CountingLedger(path, write=True) as ledger:
        asyncio.run(scene(Writer(ledger)))
        assert ledger.commits == [64, 64, 22]
    assert stored(path) == 150


def test_a_ledger_that_cannot_be_written_is_told_to_everyone_who_waits(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(entries: object) -> None:
        raise InputError("the disk is full", wanted="room", mend="make some")

    async def scene(writer: Writer) -> list[BaseException | None]:
        saves = (writer.save(entry(number)) for number in range(3))
        return await asyncio.gather(*saves, return_exceptions=True)

    with Ledger(path, write=True) as ledger:
        monkeypatch.setattr(ledger, "add", full)
        assert [type(end) for end in asyncio.run(scene(Writer(ledger)))] == [InputError] * 3


@pytest.mark.parametrize("then", ["wait", "flush"])
def test_what_a_cancelled_worker_brought_is_saved_nevertheless(path: Path, then: str) -> None:
    async def scene(writer: Writer) -> None:
        worker = asyncio.create_task(writer.save(entry(0)))
        await asyncio.sleep(0)
        worker.cancel()
        finish: dict[str, Callable[[], object]] = {"wait": lambda: None, "flush": writer.flush}
        finish[then]()
        await writer.save(entry(1))

    with Ledger(path, write=True) as ledger:
        asyncio.run(scene(Writer(ledger)))
    assert stored(path) == 2
