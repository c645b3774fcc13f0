"""Batches against a real server: every way one can end, and a process that dies on the way."""

from __future__ import annotations

import asyncio
import json
import random
import threading
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from aiohttp import web
from typer.testing import CliRunner, Result

from benchprism.annotate.annotator import Annotator, run_annotator
from benchprism.annotate.batch import Limits, submit
from benchprism.annotate.batch_collecting import (
    BatchReport,
    collect,
    forget,
    forget_orphan,
    orphans,
)
from benchprism.annotate.endpoint import EndpointSettings
from benchprism.annotate.ledger import Ledger
from benchprism.annotate.pace import Patience
from benchprism.annotate.plan import Asking
from benchprism.annotate.prices import Price
from benchprism.cli.main import app
from benchprism.prompts.catalogue import Catalogue
from benchprism.prompts.messages import read_item_messages
from benchprism.records.errors import (
    BudgetReached,
    ConfirmationNeeded,
    EndpointError,
    InputError,
)
from benchprism.records.items.store import write_items

# aiohttp's own reader of uploads warns about itself.
pytestmark = pytest.mark.filterwarnings("ignore:unread_data:DeprecationWarning")

MakeItems = Callable[..., pa.Table]
Body = dict[str, Any]
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]

PRICE = Price(input=1.0, output=10.0, batch=0.5)
EACH = (7 * 1.0 + 3 * 10.0) / 1e6 / 2
"""What one answer costs: 7 tokens of a request, 3 of a reply, half price."""


@dataclass
class BatchServer:
    """Files and batches as the OpenAI API has them; a batch stands still until it is ended."""

    outcome: Callable[[str], Mapping[str, Any] | None] = lambda _: {}
    """By the questions of a line: a line of the result, or none for no answer."""
    base_url: str = ""
    files: dict[str, bytes] = field(default_factory=dict)
    batches: dict[str, Body] = field(default_factory=dict)
    uploaded: list[list[Body]] = field(default_factory=list)
    dies: bool = False
    """Whether the connection is lost after a batch was made, before its id is told, and nothing
    is told afterwards."""
    breaks_off: int = 0
    """How often the connection is lost in the middle of a file."""
    odd: list[tuple[str, int, str]] = field(default_factory=list)
    """Answers in place of others: method and start of the path, status, text; each is used up."""
    full: bool = False
    """Whether no batch is taken at the moment."""
    asked: Counter[str] = field(default_factory=Counter)
    """Chat completions outside of batches, by question."""

    @web.middleware
    async def instead(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        for place, (start, status, text) in enumerate(self.odd):
            if f"{request.method} {request.path}".startswith(start):
                await request.read()
                del self.odd[place]
                return web.Response(status=status, text=text, content_type="text/html")
        return await handler(request)

    def routes(self) -> list[web.RouteDef]:
        return [
            web.post("/v1/files", self._upload),
            web.get("/v1/files/{id}/content", self._content),
            web.post("/v1/batches", self._create),
            web.get("/v1/batches", self._list),
            web.get("/v1/batches/{id}", self._retrieve),
            web.post("/v1/batches/{id}/cancel", self._cancel),
            web.post("/v1/chat/completions", self._complete),
        ]

    async def _upload(self, request: web.Request) -> web.Response:
        parts = await request.post()
        assert parts["purpose"] == "batch"
        file = parts["file"]
        assert isinstance(file, web.FileField)
        name = f"file-{len(self.files)}"
        self.files[name] = file.file.read()
        self.uploaded.append([json.loads(line) for line in self.files[name].splitlines()])
        return web.json_response({
            "id": name, "object": "file", "bytes": len(self.files[name]), "created_at": 1,
            "filename": file.filename, "purpose": "batch", "status": "processed",
        })  # fmt: skip

    async def _content(self, request: web.Request) -> web.StreamResponse:
        if self.breaks_off:
            self.breaks_off -= 1
            answer = web.StreamResponse(headers={"Content-Length": "1000"})
            await answer.prepare(request)
            await answer.write(b"{")
            assert request.transport is not None
            request.transport.abort()
            return answer
        return web.Response(body=self.files[request.match_info["id"]])

    async def _create(self, request: web.Request) -> web.Response:
        if self.full:
            message = "Enqueued token limit reached for gpt-6-luna in organization org-1."
            return web.json_response({"error": {"message": message}}, status=400)
        given = await request.json()
        assert (given["endpoint"], given["completion_window"]) == ("/v1/chat/completions", "24h")
        name = f"batch-{len(self.batches)}"
        self.batches[name] = {
            "id": name, "object": "batch", "status": "in_progress",
            "created_at": 1_900_000_000 + len(self.batches), "errors": None, **given,
        }  # fmt: skip
        if self.dies:
            assert request.transport is not None
            request.transport.abort()
        return web.json_response(self.batches[name])

    async def _list(self, request: web.Request) -> web.Response:
        if self.dies:
            assert request.transport is not None
            request.transport.abort()
        newest = list(reversed(self.batches.values()))
        after = request.query.get("after")
        start = next((n + 1 for n, one in enumerate(newest) if one["id"] == after), 0)
        page = newest[start : start + 2]  # small pages, so that there are several
        more = start + 2 < len(newest)
        last = page[-1]["id"] if page else None
        return web.json_response(
            {"object": "list", "data": page, "has_more": more, "last_id": last}
        )

    async def _retrieve(self, request: web.Request) -> web.Response:
        found = self.batches.get(request.match_info["id"])
        if found is None:
            return web.json_response({"error": {"message": "no such batch"}}, status=404)
        return web.json_response(found)

    async def _cancel(self, request: web.Request) -> web.Response:
        batch = self.batches[request.match_info["id"]]
        batch["status"] = "cancelling"
        return web.json_response(batch)

    async def _complete(self, request: web.Request) -> web.Response:
        body = await request.json()
        self.asked.update(questions(body))
        return web.json_response(completion(body))

    def end(self, name: str, status: str = "completed", *, seed: int = 0) -> None:
        """End a batch: its lines get their results, in another order."""
        batch = self.batches[name]
        lines = [json.loads(line) for line in self.files[batch["input_file_id"]].splitlines()]
        random.Random(seed).shuffle(lines)
        output: list[Body] = []
        errors: list[Body] = []
        for line in lines:
            given = self.outcome(",".join(questions(line["body"])))
            if given is None:
                continue
            code = given.get("status_code", 200)
            body = given.get("body") or completion(line["body"], **given.get("message", {}))
            response = {"status_code": code, "request_id": "r", "body": body}
            result = {
                "id": "r",
                "custom_id": line["custom_id"],
                "error": None,
                "response": response,
            }
            if "error" in given:
                result |= {"response": None, "error": given["error"]}
            (output if code == 200 and "error" not in given else errors).append(result)
        batch["status"] = status
        batch[f"{status}_at"] = batch["created_at"] + 100
        batch["request_counts"] = {
            "total": len(lines), "completed": len(output), "failed": len(errors)
        }  # fmt: skip
        for kind, results in (("output", output), ("error", errors)):
            if results:
                content = "\n".join(json.dumps(result, ensure_ascii=False) for result in results)
                self.files[f"{kind}-{name}"] = content.encode()
                batch[f"{kind}_file_id"] = f"{kind}-{name}"


def questions(body: Body) -> list[str]:
    items = read_item_messages(body["messages"][-1]["content"])
    return [item.body.split("Question:\n")[1].split("\n")[0] for item in items]


def completion(body: Body, **message: Any) -> Body:
    asked = questions(body)
    schema = body["response_format"]["json_schema"]["schema"]
    several = "$defs" in schema
    one = schema["$defs"]["item"] if several else schema
    parts = one["properties"]["values"]["properties"]
    reply = {
        "note": "a line\u2028separator",
        "values": {name: _first(part) for name, part in parts.items()},
        "doubt": [],
    }
    content = {str(n): reply for n in range(1, len(asked) + 1)} if several else reply
    finish = message.pop("finish_reason", "stop")
    said = {"content": json.dumps(content, ensure_ascii=False), **message}
    usage = {"prompt_tokens": 7 * len(asked), "completion_tokens": 3 * len(asked)}
    return {"choices": [{"index": 0, "finish_reason": finish, "message": said}], "usage": usage}


def _first(schema: Body) -> Any:
    if schema["type"] == "boolean":
        return False
    if schema["type"] == "array":
        return [schema["items"]["enum"][0]]
    return schema["enum"][0]


@contextmanager
def serving(server: BatchServer) -> Iterator[BatchServer]:
    address: Future[str] = Future()
    loop, stop = asyncio.new_event_loop(), asyncio.Event()

    async def serve() -> None:
        app = web.Application(client_max_size=2**30, middlewares=[server.instead])
        app.add_routes(server.routes())
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=1.0)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        address.set_result(f"http://127.0.0.1:{runner.addresses[0][1]}/v1")
        await stop.wait()
        await runner.cleanup()

    def run() -> None:
        with asyncio.Runner(loop_factory=lambda: loop) as runner:
            runner.run(serve())

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    try:
        server.base_url = address.result()
        yield server
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join()


@pytest.fixture
def server() -> Iterator[BatchServer]:
    with serving(BatchServer()) as server:
        yield server


@pytest.fixture
def annotator(server: BatchServer) -> Annotator:
    settings = EndpointSettings("m", server.base_url, max_output_tokens=100, rung="json_schema")
    patience = Patience(first_wait=0.001, longest_wait=0.01)
    return Annotator("llm:test", settings, price=PRICE, patience=patience)


@pytest.fixture
def ledger(tmp_path: Path) -> Path:
    return tmp_path / "ledger.sqlite"


def started(
    annotator: Annotator, items: pa.Table, core: Catalogue, ledger: Path, **options: Any
) -> list[int]:
    return [report.calls for report in submit(annotator, items, core, ledger, **options)]


def states(ledger: Path) -> list[object]:
    with Ledger(ledger) as opened:
        query = "SELECT status FROM item_state ORDER BY CAST(substr(item_id, 12) AS INTEGER)"
        return [row[0] for row in opened.query(query)]


def rows(ledger: Path, sql: str) -> list[tuple[object, ...]]:
    with Ledger(ledger) as opened:
        return [*opened.query(sql)]


def test_what_is_missing_is_sent_and_what_came_is_kept(
    server: BatchServer, annotator: Annotator, make_items: MakeItems, core: Catalogue, ledger: Path
) -> None:
    items = make_items(12)
    run_annotator(annotator, items[:2], core, ledger)
    assert started(annotator, items, core, ledger) == [10]
    (lines,) = server.uploaded
    assert {(line["method"], line["url"]) for line in lines} == {("POST", "/v1/chat/completions")}
    assert len({line["custom_id"] for line in lines}) == 10
    assert all(len(line["custom_id"]) < 64 for line in lines)
    assert lines[0]["body"]["max_tokens"] == 100
    (waiting,) = collect(annotator, ledger)
    assert (waiting.state, waiting.batch_id, states(ledger)) == (
        "in_progress",
        "batch-0",
        ["ok"] * 2,
    )
    server.end("batch-0")
    (asked_only,) = collect(annotator, ledger, wait=True)
    assert (asked_only.state, asked_only.completed, states(ledger)) == ("completed", 10, ["ok"] * 2)
    assert [*collect(annotator, ledger)] == [
        BatchReport("llm:test", "batch-0", "completed", 10, 10, 0, Counter({"ok": 10}), 0, "")
    ]
    assert states(ledger) == ["ok"] * 12
    batch = rows(ledger, "SELECT sum(prompt_tokens), sum(price), count(*) FROM reply WHERE"
                         " time > '2030'")  # fmt: skip
    assert batch == [(70, pytest.approx(10 * EACH), 10)]
    assert [*collect(annotator, ledger)] == []
    assert started(annotator, items, core, ledger) == []


def test_what_waits_in_a_batch_is_not_asked_otherwise(
    server: BatchServer, annotator: Annotator, make_items: MakeItems, core: Catalogue, ledger: Path
) -> None:
    started(annotator, make_items(5), core, ledger)
    assert started(annotator, make_items(5), core, ledger) == []
    assert run_annotator(annotator, make_items(6), core, ledger).asked == 1
    assert server.asked.total() == 1


@pytest.mark.parametrize(
    ("limits", "calls"),
    [(Limits(calls=5), [5, 5, 2]), (Limits(bytes=1), [1] * 12), (Limits(calls=12), [12])],
)
def test_files_are_split(
    server: BatchServer, annotator: Annotator, make_items: MakeItems, core: Catalogue, ledger: Path,
    limits: Limits, calls: list[int],
) -> None:  # fmt: skip
    assert started(annotator, make_items(12), core, ledger, limits=limits) == calls
    sent = [line["custom_id"] for lines in server.uploaded for line in lines]
    assert len(sent) == len(set(sent)) == 12
    for name in server.batches:
        server.end(name)
    assert sum(report.statuses.total() for report in collect(annotator, ledger)) == 12
    assert states(ledger) == ["ok"] * 12


def test_no_file_passes_its_size(
    server: BatchServer, annotator: Annotator, make_items: MakeItems, core: Catalogue, ledger: Path
) -> None:
    started(annotator, make_items(9), core, ledger, limits=Limits(bytes=60_000))
    assert len(server.files) > 1
    assert all(len(content) <= 60_000 for content in server.files.values())


EXPIRED = {"error": {"code": "batch_expired", "message": "could not be executed in time"}}
LINES: dict[str, tuple[Mapping[str, Any] | None, str | None]] = {
    "fine": ({}, "ok"),
    "left out": (None, None),
    "expired": (EXPIRED, None),
    "busy": ({"status_code": 429, "body": {"error": {"message": "slow down"}}}, None),
    "down": ({"status_code": 500, "body": {"error": {"message": "oops"}}}, None),
    "filter": ({"status_code": 400, "body": {"error": {"code": "content_filter"}}}, "filtered"),
    "long": ({"status_code": 400, "body": {"error": {"code": "context_length_exceeded"}}},
             "too_long"),
    "refuses": ({"message": {"content": None, "refusal": "No."}}, "refused"),
    "half": ({"message": {"content": "{", "finish_reason": "length"}}, "truncated"),
    "prose": ({"message": {"content": "It is clear."}}, "invalid"),
    "also fine": ({}, "ok"),
}  # fmt: skip


@pytest.mark.parametrize("ending", ["completed", "expired", "cancelled"])
def test_every_line_ends_in_its_state_or_is_sent_again(
    server: BatchServer, annotator: Annotator, make_items: MakeItems, core: Catalogue, ledger: Path,
    ending: str,
) -> None:  # fmt: skip
    items = make_items(list(LINES))
    server.outcome = lambda question: LINES[question][0]
    started(annotator, items, core, ledger)
    server.end("batch-0", ending)
    (report,) = collect(annotator, ledger)
    kept = [status for _, status in LINES.values() if status]
    assert report.statuses == Counter(kept)
    assert (report.state, report.missing) == (ending, len(LINES) - len(kept))
    assert states(ledger) == kept
    assert started(annotator, items, core, ledger) == [4]
    sent_again = sorted(
        question for line in server.uploaded[1] for question in questions(line["body"])
    )
    assert sent_again == ["busy", "down", "expired", "left out"]
    server.outcome = lambda _: {}
    server.end("batch-1")
    assert [report.statuses for report in collect(annotator, ledger)] == [Counter(ok=4)]
    assert [status or "ok" for _, status in LINES.values()] == states(ledger)


def test_a_batch_that_fails_as_a_whole_says_why_and_is_missing_again(
    server: BatchServer, annotator: Annotator, make_items: MakeItems, core: Catalogue, ledger: Path
) -> None:
    started(annotator, make_items(3), core, ledger)
    server.outcome = lambda _: None
    server.end("batch-0", "failed")
    server.batches["batch-0"]["errors"] = {
        "object": "list", "data": [{"code": "invalid", "message": "line 1 is no JSON"}]
    }  # fmt: skip
    (report,) = collect(annotator, ledger)
    assert (report.state, report.missing, report.problem) == ("failed", 3, "line 1 is no JSON")
    assert started(annotator, make_items(3), core, ledger) == [3]


def test_an_error_file_alone_is_read(
    server: BatchServer, annotator: Annotator, make_items: MakeItems, core: Catalogue, ledger: Path
) -> None:
    started(annotator, make_items(3), core, ledger)
    server.outcome = lambda _: {"status_code": 404, "body": {"error": {"message": "no model 'm'"}}}
    server.end("batch-0")
    assert "output_file_id" not in server.batches["batch-0"]
    (report,) = collect(annotator, ledger)
    assert (report.statuses, report.missing, report.failed) == (Counter(), 3, 3)
    assert report.problem == "HTTP 404: no model 'm'"


def test_lines_that_say_nothing_are_passed_over(
    server: BatchServer, annotator: Annotator, make_items: MakeItems, core: Catalogue, ledger: Path
) -> None:
    started(annotator, make_items(3), core, ledger)
    server.end("batch-0")
    name = server.batches["batch-0"]["output_file_id"]
    first = server.files[name].split(b"\n")[0]
    foreign = json.dumps({"custom_id": "x" * 99, "response": {"status_code": 200, "body": {}}})
    odd = [b"", b"{not json", b"[1]", foreign.encode(), first, b'{"custom_id": 7}']
    server.files[name] += b"\n" + b"\n".join(odd)
    (report,) = collect(annotator, ledger)
    assert (report.statuses, report.missing) == (Counter(ok=3), 0)
    assert rows(ledger, "SELECT count(*) FROM reply") == [(3,)]


def test_a_batch_that_started_unnoticed_is_found(
    server: BatchServer, annotator: Annotator, make_items: MakeItems, core: Catalogue, ledger: Path
) -> None:
    for number in range(3):
        server.batches[f"other-{number}"] = {
            "id": f"other-{number}", "object": "batch", "status": "completed", "errors": None,
            "created_at": 1_900_000_500 + number, "endpoint": "/v1/chat/completions",
            "input_file_id": "f", "completion_window": "24h", "metadata": None,
        }  # fmt: skip
    server.dies = True
    with pytest.raises(EndpointError, match="what was sent is known"):
        started(annotator, make_items(4), core, ledger)
    server.dies = False
    assert len(server.batches) == 4
    assert len(server.uploaded) == 1
    assert started(annotator, make_items(4), core, ledger) == []
    (name,) = (name for name in server.batches if name.startswith("batch"))
    server.end(name)
    assert [report.statuses for report in collect(annotator, ledger)] == [Counter(ok=4)]


def test_a_batch_that_never_started_is_given_up(
    server: BatchServer, annotator: Annotator, make_items: MakeItems, core: Catalogue, ledger: Path
) -> None:
    server.dies = True
    with pytest.raises(EndpointError):
        started(annotator, make_items(4), core, ledger)
    server.batches.clear()
    server.dies = False
    assert [report.state for report in collect(annotator, ledger)] == ["abandoned"]
    assert started(annotator, make_items(4), core, ledger) == [4]


def test_collecting_goes_on_where_it_died(
    server: BatchServer, annotator: Annotator, make_items: MakeItems, core: Catalogue, ledger: Path
) -> None:
    started(annotator, make_items(6), core, ledger)
    server.end("batch-0")
    [*collect(annotator, ledger)]
    before = rows(ledger, "SELECT * FROM reply ORDER BY reply_id")
    with Ledger(ledger, write=True) as opened:  # as if it had died before the end was kept
        opened._database.execute("DELETE FROM batch_event WHERE event = 'ended'")
    (report,) = collect(annotator, ledger)
    assert report.statuses == Counter(ok=6)
    assert rows(ledger, "SELECT * FROM reply ORDER BY reply_id") == before


def test_items_that_failed_together_are_sent_again_alone(
    server: BatchServer, annotator: Annotator, make_items: MakeItems, core: Catalogue, ledger: Path
) -> None:
    together = replace(annotator, asking=Asking("all", 3))
    items = make_items(["one", "bad", "three", "four"])
    refusal = {"message": {"content": None, "refusal": "No."}}
    server.outcome = lambda asked: refusal if "bad" in asked else {}
    assert started(together, items, core, ledger) == [2]
    server.end("batch-0")
    (report,) = collect(together, ledger)
    assert (report.statuses, report.missing) == (Counter(ok=1), 3)
    assert started(together, items, core, ledger) == [3]
    server.end("batch-1")
    (report,) = collect(together, ledger)
    assert report.statuses == Counter(ok=2, refused=1)
    assert states(ledger) == ["ok", "refused", "ok", "ok"]
    assert started(together, items, core, ledger) == []


def test_dimensions_have_lines_of_their_own(
    server: BatchServer, annotator: Annotator, make_items: MakeItems, core: Catalogue, ledger: Path
) -> None:
    by_dimension = replace(annotator, asking=Asking("dimension", 1))
    assert started(by_dimension, make_items(2), core, ledger) == [2 * len(core.dimensions)]
    server.end("batch-0")
    [*collect(by_dimension, ledger)]
    assert states(ledger) == ["ok", "ok"]
    assert rows(ledger, "SELECT count(*) FROM annotation") == [(2 * len([*core]),)]


def test_what_is_too_long_is_kept_as_such(
    server: BatchServer, annotator: Annotator, make_items: MakeItems, core: Catalogue, ledger: Path
) -> None:
    short = replace(annotator, max_prompt_characters=30_000)
    assert started(short, make_items(["short", "x" * 30_000]), core, ledger) == [1]
    assert states(ledger) == ["too_long"]
    assert started(short, make_items(["short", "x" * 30_000]), core, ledger) == []


def test_a_budget_counts_all_that_is_not_back_yet(
    server: BatchServer, annotator: Annotator, make_items: MakeItems, core: Catalogue, ledger: Path
) -> None:
    items = make_items(40)
    sending = submit(annotator, items, core, ledger, budget=0.1)
    first = next(sending).calls
    with pytest.raises(BudgetReached, match=r"what is not back yet may cost 0\.09") as error:
        next(sending)
    assert error.value.exit_code == 4
    ((most,),) = rows(ledger, "SELECT sum(most) FROM batch")
    assert isinstance(most, float)
    assert 0.1 - most / first < most <= 0.1
    with pytest.raises(BudgetReached):
        started(annotator, items, core, ledger, budget=0.1)
    server.end("batch-0")
    [*collect(annotator, ledger)]
    assert rows(ledger, "SELECT total(price) FROM reply") == [(pytest.approx(first * EACH),)]
    assert started(annotator, items, core, ledger, budget=0.1) == [40 - first]


def test_a_batch_that_cannot_be_collected_keeps_nobody_else_waiting_and_is_let_go(
    server: BatchServer, annotator: Annotator, make_items: MakeItems, core: Catalogue, ledger: Path
) -> None:
    assert started(annotator, make_items(6), core, ledger, limits=Limits(calls=2)) == [2, 2, 2]
    for name in server.batches:
        server.end(name)
    del server.batches["batch-0"]
    server.batches["batch-1"]["request_counts"] = {"total": 2, "completed": 2, "failed": 0}
    output = server.batches["batch-1"]["output_file_id"]
    whole, server.files[output] = server.files[output], b"<html>error</html>"

    def found(reports: Iterator[BatchReport]) -> list[tuple[str, str, int, int]]:
        return [(r.batch_id, r.state, r.statuses.total(), r.missing) for r in reports]

    gone = ("batch-0", "unknown to the endpoint", 0, 0)
    assert found(collect(annotator, ledger)) == [
        gone, ("batch-1", "incomplete", 0, 0), ("batch-2", "completed", 2, 0),
    ]  # fmt: skip
    assert started(annotator, make_items(6), core, ledger) == []
    server.files[output] = whole
    assert found(collect(annotator, ledger)) == [gone, ("batch-1", "completed", 2, 0)]
    assert found(forget(annotator, ledger)) == [("batch-0", "forgotten", 0, 2)]
    assert [*collect(annotator, ledger)] == []
    assert started(annotator, make_items(6), core, ledger) == [2]
    assert states(ledger) == ["ok"] * 4


def test_a_batch_that_runs_is_let_go_when_it_is_named(
    server: BatchServer, annotator: Annotator, make_items: MakeItems, core: Catalogue, ledger: Path
) -> None:
    together = replace(annotator, asking=Asking("all", 3))
    assert started(together, make_items(6), core, ledger, limits=Limits(calls=1)) == [1, 1]
    assert [r.state for r in forget(together, ledger)] == ["in_progress"] * 2
    (gone,) = forget(together, ledger, batch_id="batch-1")
    assert (gone.batch_id, gone.state, gone.missing) == ("batch-1", "forgotten", 3)
    assert server.batches["batch-1"]["status"] == "cancelling"
    assert server.batches["batch-0"]["status"] == "in_progress"
    assert started(together, make_items(6), core, ledger) == [1]
    server.end("batch-0")
    (kept,) = forget(together, ledger, batch_id="batch-0")
    assert (kept.state, kept.statuses) == ("completed", Counter(ok=3))


def test_a_batch_of_an_endpoint_that_is_gone_is_let_go_when_it_is_named(
    server: BatchServer, annotator: Annotator, make_items: MakeItems, core: Catalogue, ledger: Path
) -> None:
    started(annotator, make_items(2), core, ledger)
    moved = replace(annotator.endpoint, base_url="http://127.0.0.1:1/v1")
    elsewhere = replace(annotator, endpoint=moved)
    with pytest.raises(EndpointError, match="no answer from"):
        [*forget(elsewhere, ledger)]
    (gone,) = forget(elsewhere, ledger, batch_id="batch-0")
    assert (gone.state, gone.missing) == ("forgotten", 2)
    assert "no answer from http://127.0.0.1:1/v1" in gone.problem


def test_a_batch_whose_annotator_is_gone_is_named_and_let_go(
    server: BatchServer, annotator: Annotator, make_items: MakeItems, core: Catalogue, ledger: Path
) -> None:
    started(annotator, make_items(2), core, ledger)
    assert orphans(ledger, ["llm:test"]) == []
    (found,) = orphans(ledger, ["llm:other"])
    assert (found.batch_id, found.state) == ("batch-0", "without its annotator")
    with pytest.raises(InputError, match=r"no open batch 'batch-1'.*'batch-0'"):
        forget_orphan(ledger, "batch-1")
    assert forget_orphan(ledger, "batch-0").missing == 2
    assert orphans(ledger, ["llm:other"]) == []
    assert started(annotator, make_items(2), core, ledger) == [2]


HTML = "<html>error</html>"


@pytest.mark.parametrize(
    ("counts", "output"),
    [
        ({"total": 3, "completed": 3, "failed": 0}, None),  # the file is not there yet
        (None, None),
        ({"total": 0, "completed": 0, "failed": 0}, HTML),  # nobody counts
        ({"total": 3, "completed": 3, "failed": 0}, '{"custom_id"'),
        ({"total": 3, "completed": 3, "failed": 0}, "FIRST\nFIRST\nFIRST"),  # one, three times
    ],
)
def test_a_batch_is_not_over_while_answers_lack(
    server: BatchServer, annotator: Annotator, make_items: MakeItems, core: Catalogue, ledger: Path,
    counts: Body | None, output: str | None,
) -> None:  # fmt: skip
    started(annotator, make_items(3), core, ledger)
    server.end("batch-0")
    batch = server.batches["batch-0"]
    name = batch["output_file_id"]
    whole, batch["request_counts"] = server.files[name], counts
    if output is None:
        batch["output_file_id"] = None
    else:
        server.files[name] = output.encode().replace(b"FIRST", whole.splitlines()[0])
    (report,) = collect(annotator, ledger)
    assert (report.state, report.missing, report.complete) == ("incomplete", 0, False)
    lost = 2 if report.statuses else 3
    assert report.problem.startswith(f"{lost} answers are said to be there")
    assert started(annotator, make_items(3), core, ledger) == []
    server.files[name], batch["output_file_id"] = whole, name
    (report,) = collect(annotator, ledger)
    assert (report.state, report.statuses, report.complete) == ("completed", Counter(ok=3), True)


def test_a_download_that_breaks_off_is_made_again(
    server: BatchServer, annotator: Annotator, make_items: MakeItems, core: Catalogue, ledger: Path
) -> None:
    started(annotator, make_items(3), core, ledger)
    server.end("batch-0")
    server.breaks_off = 3
    assert [report.statuses for report in collect(annotator, ledger)] == [Counter(ok=3)]


def test_a_batch_that_cannot_be_read_is_one_sentence_when_the_others_are_collected(
    server: BatchServer, annotator: Annotator, make_items: MakeItems, core: Catalogue, ledger: Path
) -> None:
    started(annotator, make_items(4), core, ledger, limits=Limits(calls=2))
    for name in server.batches:
        server.end(name)
    server.breaks_off = 4
    reports: list[BatchReport] = []
    with pytest.raises(EndpointError, match="run the same command again"):
        reports += collect(annotator, ledger)
    assert states(ledger) == ["ok"] * 2
    (report,) = collect(annotator, ledger)
    assert (report.batch_id, report.statuses) == ("batch-0", Counter(ok=2))


PASSING = [
    [("POST /v1/files", 500, "oops")],
    [("POST /v1/batches", 503, "oops"), ("GET /v1/batches", 502, HTML)],
    [("POST /v1/batches", 200, HTML)],
    [("GET /v1/batches/", 200, HTML), ("GET /v1/batches/", 429, "slow down")],
    [("GET /v1/files/", 500, HTML)],
]


@pytest.mark.parametrize("odd", PASSING)
def test_passing_faults_are_met_again(
    server: BatchServer, annotator: Annotator, make_items: MakeItems, core: Catalogue, ledger: Path,
    odd: list[tuple[str, int, str]],
) -> None:  # fmt: skip
    server.odd = [*odd]
    assert started(annotator, make_items(3), core, ledger) == [3]
    assert len(server.batches) == 1
    server.end("batch-0")
    assert [report.statuses for report in collect(annotator, ledger)] == [Counter(ok=3)]
    assert server.odd == []


LASTING = [
    ("POST /v1/files", 500, "", "fails"),
    ("POST /v1/files", 200, HTML, "answers with what is no answer to that"),
    ("POST /v1/batches", 200, '{"id": null}', "answers with what is no answer to that"),
    ("POST /v1/batches", 413, "", "refuses it"),
]


@pytest.mark.parametrize(("start", "status", "text", "sentence"), LASTING)
def test_lasting_faults_are_one_sentence(
    server: BatchServer, annotator: Annotator, make_items: MakeItems, core: Catalogue, ledger: Path,
    start: str, status: int, text: str, sentence: str,
) -> None:  # fmt: skip
    server.odd = [(start, status, text)] * 4
    with pytest.raises(EndpointError, match=sentence):
        started(annotator, make_items(3), core, ledger)
    assert not server.batches


def test_an_account_without_money_is_not_a_wrong_address(
    server: BatchServer, annotator: Annotator, make_items: MakeItems, core: Catalogue, ledger: Path
) -> None:
    limit = '{"error": {"code": "billing_hard_limit_reached", "message": "Pay."}}'
    server.odd = [("POST /v1/batches", 400, limit)]
    with pytest.raises(BudgetReached, match="no quota left"):
        started(annotator, make_items(3), core, ledger)


def test_answers_without_tokens_are_kept_at_the_most_that_one_can_cost(
    server: BatchServer, annotator: Annotator, make_items: MakeItems, core: Catalogue, ledger: Path
) -> None:
    started(annotator, make_items(["short", "x" * 2000]), core, ledger)
    ((most,),) = rows(ledger, "SELECT most FROM batch")
    body = {"choices": [{"message": {"content": "{}"}, "finish_reason": "stop"}]}
    server.outcome = lambda question: {"body": body} if question == "short" else {}
    server.end("batch-0")
    [*collect(annotator, ledger)]
    sizes = [len(json.dumps(line["body"])) for line in server.uploaded[0]]
    worked = [(200 + size + 100 * 10) / 1e6 / 2 for size in sizes]
    prices = [row[0] for row in rows(ledger, "SELECT price FROM reply ORDER BY item_id")]
    assert prices == [pytest.approx(max(worked), rel=0.01), pytest.approx(EACH)]
    assert most == pytest.approx(sum(worked), rel=0.01)


def test_a_full_queue_is_no_wrong_address(
    server: BatchServer, annotator: Annotator, make_items: MakeItems, core: Catalogue, ledger: Path
) -> None:
    server.full = True
    with pytest.raises(EndpointError, match="collect what is done, then submit again"):
        started(annotator, make_items(3), core, ledger)
    server.full = False
    assert started(annotator, make_items(3), core, ledger) == [3]


def test_a_plain_run_does_not_spend_what_batches_may_cost(
    server: BatchServer, annotator: Annotator, make_items: MakeItems, core: Catalogue, ledger: Path
) -> None:
    started(annotator, make_items(4), core, ledger)
    ((most,),) = rows(ledger, "SELECT sum(most) FROM batch")
    cap = float(str(most)) + 0.001
    with pytest.raises(BudgetReached):
        run_annotator(annotator, make_items(8), core, ledger, budget=cap)
    assert not server.asked


def test_an_endpoint_without_batches_is_one_sentence(
    annotator: Annotator, make_items: MakeItems, core: Catalogue, ledger: Path, server: BatchServer
) -> None:
    nowhere = replace(annotator.endpoint, base_url=server.base_url.replace("/v1", "/v2"))
    with pytest.raises(EndpointError, match="wanted an endpoint with files and batches"):
        started(replace(annotator, endpoint=nowhere), make_items(2), core, ledger)
    down = replace(annotator.endpoint, base_url="http://127.0.0.1:1/v1")
    with pytest.raises(EndpointError, match=r"no answer from http://127\.0\.0\.1:1/v1"):
        started(replace(annotator, endpoint=down), make_items(2), core, ledger)


def test_the_command_line_goes_the_whole_way(
    server: BatchServer, make_items: MakeItems, tmp_path: Path
) -> None:
    write_items(tmp_path / "items" / "bench.parquet", make_items(6), {})
    (tmp_path / "benchprism.yaml").write_text(
        "project: p\n"
        f"annotators: {{a: {{model: m, base_url: '{server.base_url}', max_output_tokens: 100}}}}\n"
        "prices: {m: {input: 1000, output: 10000, batch: 0.5}}\n",
        encoding="utf-8",
    )

    def run(*arguments: str) -> Result:
        line = ["annotate", "--project", str(tmp_path), *arguments]
        return CliRunner().invoke(app, line, catch_exceptions=False)

    live, batch = (
        json.loads(run("--dry-run", "--json", *options).stdout)[0]["chosen"]["price"]
        for options in ([], ["--batch", "submit"])
    )
    assert batch == pytest.approx([price / 2 for price in live])
    with pytest.raises(ConfirmationNeeded):
        run("--batch", "submit")
    assert "llm:a: batch batch-0 is started, 6 calls." in run("--batch", "submit", "--yes").stderr
    assert "Nothing is missing." in run("--batch", "submit").stderr
    waiting = CliRunner().invoke(app, ["annotate", "status", "--project", str(tmp_path), "--json"])
    assert json.loads(waiting.stdout)["waiting_in_batches"] == 6
    status = json.loads(run("--batch", "status", "--json").stdout)
    assert [(one["batch_id"], one["state"]) for one in status] == [("batch-0", "in_progress")]
    server.outcome = lambda question: None if question.startswith("What is 3") else {}
    server.end("batch-0", "expired")
    collected = run("--batch", "collect")
    assert "is expired, 6 calls (5 ok)" in collected.stderr
    assert "benchprism annotate --batch submit" in collected.stderr
    assert "missing again" in collected.stdout
    assert "batch-1 is started, 1 calls" in run("--batch", "submit", "--yes").stderr
    assert "No batch is open" not in run("--batch", "status").stderr
    server.outcome = lambda _: {}
    server.end("batch-1")
    last = run("--batch", "collect", "--json")
    assert [one["statuses"] for one in json.loads(last.stdout)] == [{"ok": 1}]
    assert "Next: benchprism annotate status" in last.stderr
    assert "No batch is open" in run("--batch", "collect").stderr
    assert run("--json").exit_code == 0
    assert not server.asked


def test_a_command_tells_by_its_code_whether_all_is_there(
    server: BatchServer, make_items: MakeItems, tmp_path: Path
) -> None:
    write_items(tmp_path / "items" / "bench.parquet", make_items(4), {})

    def project(**annotators: str) -> None:
        told = ", ".join(f"{k}: {{model: m, base_url: '{v}'}}" for k, v in annotators.items())
        text = f"project: p\nannotators: {{{told}}}\n"
        (tmp_path / "benchprism.yaml").write_text(text, encoding="utf-8")

    def run(*arguments: str) -> Result:
        line = ["annotate", "--project", str(tmp_path), *arguments]
        return CliRunner().invoke(app, line, catch_exceptions=False)

    project(a=server.base_url)
    assert run("--batch", "submit").exit_code == 0
    plain = run()
    assert plain.exit_code == 1
    assert "0 items asked, 0 were in the ledger, 4 wait in a batch" in plain.stderr
    assert "benchprism annotate --batch collect" in plain.stderr
    assert run("--batch", "status").exit_code == 0
    assert run("--batch", "collect").exit_code == 1  # it still runs
    server.outcome = lambda question: None if question.startswith("What is 3") else {}
    server.end("batch-0", "expired")
    some = run("--batch", "collect")
    assert some.exit_code == 1
    assert "(3 ok), 1 requests are missing again" in some.stderr
    assert run("--batch", "collect").exit_code == 0

    run("--batch", "submit")
    project(b=server.base_url)
    lost = run("--batch", "collect")
    assert lost.exit_code == 1
    assert "is without its annotator" in lost.stderr
    assert "--batch forget --batch-id batch-1" in lost.stderr
    with pytest.raises(InputError, match="--batch-id without --batch forget"):
        run("--batch", "collect", "--batch-id", "batch-1")
    forgotten = run("--batch", "forget", "--batch-id", "batch-1", "--json")
    assert [one["state"] for one in json.loads(forgotten.stdout)] == ["forgotten"]
    assert "No batch is open" in run("--batch", "status").stderr

    run("--batch", "submit")
    project(gone="http://127.0.0.1:1/v1", b=server.base_url)
    server.outcome = lambda _: {}
    server.end("batch-2")
    assert "is completed, 4 calls (4 ok)" in run("--batch", "collect").stderr
