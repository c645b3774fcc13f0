"""Real items with recorded annotations, and a real HTTP server that can fail in every way."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from aiohttp import web

from benchprism.annotate.asking.annotator import Annotator
from benchprism.annotate.loopback import chat_completions_server
from benchprism.annotate.replay import read_recordings
from benchprism.annotate.traffic.endpoint import EndpointSettings
from benchprism.annotate.traffic.patience import Patience
from benchprism.prompts.catalogue import Catalogue
from benchprism.prompts.library import load_catalogue
from benchprism.prompts.messages import read_item_message
from benchprism.records.items.loading import Request, load
from benchprism.records.items.record import Item, choice_set_hash, content_hash, items_table

DEMO = Path(str(files("benchprism.demo")))
RECORDED = (
    "arc_challenge", "arc_easy", "cruxeval", "gsm8k", "hellaswag", "mmlu", "truthfulqa",
    "winogrande",
)  # fmt: skip


@pytest.fixture(scope="session")
def recordings_file() -> Path:
    """The recorded annotations of 360 items by two readers."""
    return DEMO / "recordings.jsonl.gz"


@pytest.fixture(scope="session")
def recorded_items(recordings_file: Path) -> pa.Table:
    """The 360 items."""
    known = set(read_recordings(recordings_file))
    loaded = [load(Request(name, file=DEMO / f"{name}.jsonl.gz")).items for name in RECORDED]
    return items_table(item for items in loaded for item in items if item.content_hash in known)


@pytest.fixture(scope="session")
def core() -> Catalogue:
    """The shipped catalogue."""
    return load_catalogue("core")


@pytest.fixture
def make_items() -> Callable[..., pa.Table]:
    """Make a table of simple items, out of a number or of questions."""

    def make(questions: int | Sequence[str]) -> pa.Table:
        if isinstance(questions, int):
            questions = [f"What is {n} plus {n}?" for n in range(questions)]
        return items_table(_item(n, question) for n, question in enumerate(questions))

    return make


def _item(row: int, question: str) -> Item:
    choices = ("one", "two")
    return Item(
        item_id=f"bench/test/{row}",
        benchmark="bench",
        subset="",
        split="test",
        row=row,
        revision="r1",
        question=question,
        context="",
        choices=choices,
        answer_index=1,
        answer_text="two",
        accepted_answers=(),
        kind="multiple_choice",
        faults=(),
        source="{}",
        content_hash=content_hash(question, "", choices),
        choice_set_hash=choice_set_hash(question, "", choices),
    )


@dataclass
class FaultServer:
    """A server that answers each item by its script: one act for each further request about it.

    When an item's script is used up, or it has none, it is answered well.
    """

    scripts: dict[str, list[str | tuple[str, Mapping[str, Any]]]] = field(default_factory=dict)
    """Question to acts, by name."""
    base_url: str = ""
    asked: Counter[str] = field(default_factory=Counter)
    """Requests by question, whatever the answer."""
    bodies: list[dict[str, Any]] = field(default_factory=list)
    headers: list[Mapping[str, str]] = field(default_factory=list)
    at_once: int = 0
    most_at_once: int = 0
    prompt_tokens: int = 0
    """Tokens of the answers that carried a usage."""

    async def answer(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        fenced = read_item_message(body["messages"][-1]["content"])
        assert fenced is not None
        question = fenced.body.split("Question:\n")[1].split("\n")[0]
        self.bodies.append(body)
        self.headers.append(request.headers)
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        try:
            script = self.scripts.get(question, [])
            act = script[self.asked[question]] if self.asked[question] < len(script) else "ok"
            self.asked[question] += 1
            name, options = (act, {}) if isinstance(act, str) else act
            return await self._act(name, request, body, **options)
        finally:
            self.at_once -= 1

    async def _act(
        self, name: str, request: web.Request, body: dict[str, Any], **options: Any
    ) -> web.StreamResponse:
        match name:
            case "ok":
                return self._completion(self.reply_to(body))
            case "status":
                error = {"message": options.get("message", "no"), "code": options.get("code")}
                return web.json_response(
                    {"error": error}, status=options["status"], headers=options.get("headers")
                )
            case "html":
                return web.Response(status=502, text="<html>bad gateway</html>")
            case "reset":
                assert request.transport is not None
                request.transport.abort()
                return web.Response()
            case "hang":
                await asyncio.sleep(options["seconds"])
                return self._completion(self.reply_to(body))
            case "cut":
                return web.Response(text='{"id": "c", "choi', content_type="application/json")
            case "error200":
                return web.json_response({"error": {"message": "overloaded", **options}})
            case "no_choices":
                return web.json_response({"choices": []})
            case "message":
                return self._completion(**options)
        raise AssertionError(name)

    def _completion(self, content: Any, **options: Any) -> web.Response:
        finish = options.pop("finish_reason", "stop")
        self.prompt_tokens += 7
        message = {"role": "assistant", "content": content, **options}
        return web.json_response(
            {
                "choices": [{"index": 0, "finish_reason": finish, "message": message}],
                "usage": {
                    "prompt_tokens": 7,
                    "completion_tokens": 3,
                    "prompt_tokens_details": {"cached_tokens": 5},
                },
            }
        )

    @staticmethod
    def reply_to(body: dict[str, Any], **changes: Any) -> str:
        """A reply with the first value that the request's schema allows for each attribute."""
        schema = body["response_format"]["json_schema"]["schema"]
        asked = schema["properties"]["values"]["properties"]
        values = {name: _first(part) for name, part in asked.items()}
        return json.dumps({"note": "Plain.", "values": {**values, **changes}, "doubt": []})


def _first(schema: dict[str, Any]) -> Any:
    if schema["type"] == "boolean":
        return False
    if schema["type"] == "array":
        return [schema["items"]["enum"][0]]
    return schema["enum"][0]


@pytest.fixture
def fault_server() -> Callable[..., AbstractContextManager[FaultServer]]:
    """Start a server with a script for some questions."""

    @contextmanager
    def start(**options: Any) -> Iterator[FaultServer]:
        server = FaultServer(**options)
        with chat_completions_server(server.answer) as server.base_url:
            yield server

    return start


@pytest.fixture
def annotator_at() -> Callable[..., Annotator]:
    """Make an annotator that loses its patience within milliseconds."""

    def make(base_url: str, *, concurrency: int = 4, **options: Any) -> Annotator:
        patience: dict[str, Any] = {"attempts": 3, "first_wait": 0.001, "longest_wait": 0.01}
        patience |= options.pop("patience", {})
        limits = {k: options.pop(k) for k in ("max_prompt_characters",) if k in options}
        return Annotator(
            name=options.pop("name", "llm:test"),
            endpoint=EndpointSettings(options.pop("model", "m"), base_url, **options),
            concurrency=concurrency,
            patience=Patience(**patience),
            **limits,
        )

    return make
