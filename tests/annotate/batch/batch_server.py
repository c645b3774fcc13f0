"""A real server of files and batches, and what tests ask of a ledger."""

from __future__ import annotations

import asyncio
import json
import random
import threading
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
from aiohttp import web

from benchprism.annotate.asking.annotator import Annotator
from benchprism.annotate.batch.batches import submit
from benchprism.annotate.ledger.store import Ledger
from benchprism.annotate.money.prices import Price
from benchprism.prompts.catalogue import Catalogue
from benchprism.prompts.messages import read_item_messages

MakeItems = Callable[..., pa.Table]
Body = dict[str, Any]
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
HTML = "<html>error</html>"

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
