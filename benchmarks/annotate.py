"""Items annotated a second against bare requests of the stock openai client, side by side.

One server process answers each request at once with a reply that was made before; it does nothing
else, so that the client is what is measured. Against it, at 128 connections, in turns:

* ``annotate``: the whole of ``run_annotator``: rendering, HTTP, validation, ledger;
* ``openai``: ``AsyncOpenAI`` with its default transport sending messages that were rendered before,
  without a schema, and reading nothing from the answers.

Rates are of the clock, CPU is of the client's process. ``--memory`` prints in place of that how
much memory a run takes over 5,000 and over 50,000 items, each in a process of its own (Linux).

Run: python benchmarks/annotate.py [--memory]
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import statistics
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from multiprocessing.connection import Connection
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from benchprism.annotate.asking.annotator import Annotator, run_annotator
from benchprism.annotate.traffic.endpoint import EndpointSettings
from benchprism.prompts.catalogue import Attribute, Value
from benchprism.prompts.library import load_catalogue
from benchprism.prompts.messages import Message, make_prompt
from benchprism.records.items.record import (
    Item,
    choice_set_hash,
    content_hash,
    item_from_row,
    items_table,
)

CONNECTIONS = 128
ROUNDS = 9
ITEMS, BARE_REQUESTS = 5_000, 800
SMALL, LARGE, WARM_UP = 5_000, 50_000, 500
PROCESSES = multiprocessing.get_context("spawn")
CATALOGUE = load_catalogue("core")


@dataclass(frozen=True)
class Measured:
    """What one side did."""

    rate: float
    """A second of the clock."""
    cpu: float
    """Seconds of the client's CPU, each."""


class InstantAnswers(asyncio.Protocol):
    """Answers whatever is posted, as soon as it is there, with the same bytes."""

    def __init__(self, answer: bytes) -> None:
        self._answer, self._buffer = answer, bytearray()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the way back."""
        assert isinstance(transport, asyncio.WriteTransport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        """Answer each request that is whole."""
        self._buffer += data
        while (end := self._buffer.find(b"\r\n\r\n")) >= 0:
            head = bytes(self._buffer[:end]).lower()
            length = int(head.partition(b"content-length:")[2].partition(b"\r\n")[0])
            if len(self._buffer) < end + 4 + length:
                return
            del self._buffer[: end + 4 + length]
            self._transport.write(self._answer)


def first_value(attribute: Attribute) -> Value:
    """A value that the attribute may take."""
    value = next(iter(attribute.values))
    return [str(value)] if attribute.type == "labels" else value


def answer() -> bytes:
    """An HTTP response with a reply that is valid for every multiple-choice item."""
    asked = make_prompt(CATALOGUE, "multiple_choice").attributes
    reply = {
        "note": "Decided by the wording of the question and the options as given.",
        "values": {attribute.id: first_value(attribute) for attribute in asked},
        "doubt": [],
    }
    message = {"role": "assistant", "content": json.dumps(reply), "refusal": None}
    completion = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "instant",
        "choices": [{"index": 0, "finish_reason": "stop", "message": message, "logprobs": None}],
        "usage": {"prompt_tokens": 3000, "completion_tokens": 200, "total_tokens": 3200},
    }
    body = json.dumps(completion).encode()
    head = (
        f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


def serve(port: Connection) -> None:
    """Answer until the process is ended; say where."""

    async def forever() -> None:
        ready, loop = answer(), asyncio.get_running_loop()
        server = await loop.create_server(lambda: InstantAnswers(ready), "127.0.0.1", backlog=1024)
        port.send(server.sockets[0].getsockname()[1])
        await server.serve_forever()

    asyncio.run(forever())


@contextmanager
def serving() -> Iterator[str]:
    """Serve in another process while the block runs."""
    ours, theirs = PROCESSES.Pipe()
    process = PROCESSES.Process(target=serve, args=(theirs,), daemon=True)
    process.start()
    try:
        yield f"http://127.0.0.1:{ours.recv()}/v1"
    finally:
        process.kill()
        process.join()


def made_items(number: int) -> pa.Table:
    """Multiple-choice items of ordinary length."""
    return items_table(made_item(row) for row in range(number))


def made_item(row: int) -> Item:
    """An item that no other is equal to."""
    question = (
        f"A train of {row} wagons leaves the station at noon and travels east at a steady sixty "
        "kilometres an hour. A second train leaves an hour later on a parallel track at eighty. "
        "How long after its departure does the second train draw level with the first?"
    )
    choices = tuple(f"{hours} hours and {row % 60} minutes" for hours in range(1, 5))
    return Item(
        item_id=f"made/test/{row}",
        benchmark="made",
        subset="",
        split="test",
        row=row,
        revision="1",
        question=question,
        context="",
        choices=choices,
        answer_index=2,
        answer_text=choices[2],
        accepted_answers=(),
        kind="multiple_choice",
        faults=(),
        source="{}",
        content_hash=content_hash(question, "", choices),
        choice_set_hash=choice_set_hash(question, "", choices),
    )


def annotate(base_url: str, items: pa.Table) -> None:
    """Annotate all items into a ledger that is thrown away."""
    annotator = Annotator("llm:m", EndpointSettings("m", base_url), concurrency=CONNECTIONS)
    with tempfile.TemporaryDirectory() as folder:
        summary = run_annotator(annotator, items, CATALOGUE, Path(folder) / "ledger.sqlite")
    assert summary.statuses == {"ok": items.num_rows}, summary


def bare_requests(base_url: str, messages: list[list[Message]]) -> None:
    """Send all messages with the stock client."""
    import openai

    async def send() -> None:
        left = iter(messages)

        async def worker(client: openai.AsyncOpenAI) -> None:
            for message in left:
                await client.chat.completions.create(model="m", messages=message)  # type: ignore[arg-type]

        async with openai.AsyncOpenAI(base_url=base_url, api_key="none") as client:
            await asyncio.gather(*(worker(client) for _ in range(CONNECTIONS)))

    asyncio.run(send())


def measured(work: Callable[[], object], number: int) -> Measured:
    """Time some work that is done so many times over."""
    cpu, clock = time.process_time(), time.perf_counter()
    work()
    return Measured(number / (time.perf_counter() - clock), (time.process_time() - cpu) / number)


def compare() -> None:
    """Print a line a round, then the medians."""
    items = made_items(ITEMS)
    prompt = make_prompt(CATALOGUE, "multiple_choice")
    rows = islice(items.to_pylist(), BARE_REQUESTS)
    messages = [prompt.messages(item_from_row(row)) for row in rows]
    rounds = []
    with serving() as base_url:
        annotate(base_url, items[:WARM_UP])
        bare_requests(base_url, messages[:WARM_UP])
        for turn in range(ROUNDS):
            ours = measured(lambda: annotate(base_url, items), ITEMS)
            theirs = measured(lambda: bare_requests(base_url, messages), BARE_REQUESTS)
            rounds.append((ours, theirs))
            print(f"round {turn + 1}: {line(ours, theirs, ours.rate / theirs.rate)}", flush=True)
    times = statistics.median(ours.rate / theirs.rate for ours, theirs in rounds)
    ours, theirs = (middle(side) for side in zip(*rounds, strict=True))
    print(f"medians: {line(ours, theirs, times)}")


def middle(each: Iterable[Measured]) -> Measured:
    """The medians."""
    rates, cpus = zip(*((one.rate, one.cpu) for one in each), strict=True)
    return Measured(statistics.median(rates), statistics.median(cpus))


def line(ours: Measured, theirs: Measured, times: float) -> str:
    """Say how both sides did."""
    return (
        f"annotate {ours.rate:5.0f} items/s at {ours.cpu * 1e3:.2f} ms CPU, "
        f"openai {theirs.rate:4.0f} requests/s at {theirs.cpu * 1e3:.2f} ms CPU: "
        f"{times:.1f} times"
    )


def annotated_in_own_process(base_url: str, path: Path, told: Connection) -> None:
    """Annotate the items of a file; tell the memory before, and the most on the way, in MiB."""
    items = pq.read_table(path)
    annotate(base_url, items[:WARM_UP])
    Path("/proc/self/clear_refs").write_text("5")  # Linux then counts the peak anew
    before = memory("VmRSS")
    annotate(base_url, items)
    told.send((before, memory("VmHWM")))


def memory(name: str) -> float:
    """A line of what Linux says of this process, in MiB."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition(f"{name}:")[2].split()[0]) / 1024


def compare_memory() -> None:
    """Print how much memory a run takes, for few and for many items."""
    with serving() as base_url, tempfile.TemporaryDirectory() as folder:
        for number in (SMALL, LARGE):
            items, path = made_items(number), Path(folder) / f"{number}.parquet"
            pq.write_table(items, path)
            ours, theirs = PROCESSES.Pipe()
            arguments = (base_url, path, theirs)
            process = PROCESSES.Process(target=annotated_in_own_process, args=arguments)
            process.start()
            before, most = ours.recv()
            process.join()
            print(
                f"{number:6,} items: {before:.0f} MiB before, the item table of "
                f"{items.nbytes / 2**20:.0f} MiB included; {most - before:.0f} MiB more at most",
                flush=True,
            )


def main() -> None:
    """Compare rates, or memory."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--memory", action="store_true")
    compare_memory() if parser.parse_args().memory else compare()


if __name__ == "__main__":
    main()
