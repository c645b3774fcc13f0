"""A replay: a local OpenAI-compatible server that answers with recorded annotations.

It finds the recording by the content of the item in the request, and answers with what the recorded
reader said, word for word. Its models are called ``replay:<reader>``, so that every annotation and
every number made from it says that it is a replay. Token counts are estimates.

A recordings file is gzipped JSONL, a line an item::

    {"content_hash": "...", "item_id": "...",
     "passes": {"a": {"values": {...}, "doubt": [...], "note": "..."}, "b": {...}}}
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..prompts.messages import read_item_message
from ..records.errors import InputError
from .loopback import chat_completions_server

if TYPE_CHECKING:
    from aiohttp import web

REPLAY = "replay:"
"""How the name of a replayed model begins."""

Recordings = dict[str, dict[str, Any]]
"""Reader to recorded reply, by content hash."""


class ReplayServer:
    """A running replay."""

    def __init__(self, recordings: Recordings) -> None:
        self._recordings = recordings
        self._seen_prefixes: set[str] = set()
        readers = {reader for passes in recordings.values() for reader in passes}
        self.models = [f"{REPLAY}reader-{reader}" for reader in sorted(readers)]
        """The models that it serves: one a reader."""
        self.base_url = ""
        """Where it listens."""
        self.requests = 0
        """Requests answered so far, whatever the answer."""

    async def answer(self, request: web.Request) -> web.Response:
        """Answer one request for a chat completion."""
        from aiohttp import web

        self.requests += 1
        try:
            asked = await request.json()
            model, messages = asked["model"], asked["messages"]
            item = read_item_message(messages[-1]["content"])
        except (ValueError, LookupError, TypeError):
            return web.json_response(_error("not a chat completion request", "bad"), status=400)
        if model not in self.models:
            return web.json_response(_error(f"no model {model!r}", "model_not_found"), status=404)
        if item is None:
            return web.json_response(_error("no whole item in the message", "bad"), status=422)
        reader = model.removeprefix(f"{REPLAY}reader-")
        recorded = self._recordings.get(item.content_hash, {}).get(reader)
        if recorded is None:
            return web.json_response(
                _error("no recorded answer for this item", "not_recorded"), status=422
            )
        return web.json_response(self._completion(model, messages, recorded))

    def _completion(
        self, model: str, messages: list[dict[str, str]], recorded: Mapping[str, Any]
    ) -> dict[str, Any]:
        content = json.dumps(
            {
                "note": recorded["note"],
                "values": {k: v for k, v in recorded["values"].items() if v is not None},
                "doubt": recorded["doubt"],
            },
            ensure_ascii=False,
        )
        prefix = messages[0]["content"]
        cached = _tokens(prefix) if prefix in self._seen_prefixes else 0
        self._seen_prefixes.add(prefix)
        usage: dict[str, Any] = {
            "prompt_tokens": sum(_tokens(message["content"]) for message in messages),
            "completion_tokens": _tokens(content),
            "prompt_tokens_details": {"cached_tokens": cached},
        }
        usage["total_tokens"] = usage["prompt_tokens"] + usage["completion_tokens"]
        message = {"role": "assistant", "content": content}
        return {
            "id": f"replay-{self.requests}",
            "object": "chat.completion",
            "created": 0,
            "model": model,
            "choices": [{"index": 0, "finish_reason": "stop", "message": message}],
            "usage": usage,
        }


def read_recordings(path: Path) -> Recordings:
    """Read a recordings file.

    Raises:
        InputError: it cannot be read, or a line is no recording.
    """
    recordings: Recordings = {}
    number = 0
    try:
        with gzip.open(path, "rt", encoding="utf-8", newline="\n") as lines:
            for number, line in enumerate(lines, start=1):  # noqa: B007
                recording = json.loads(line)
                recordings[recording["content_hash"]] = dict(recording["passes"])
    except (OSError, EOFError, ValueError, LookupError, TypeError) as error:
        raise InputError(
            f"{path}, line {number}: no recording can be read ({error})",
            wanted="gzipped JSONL with content_hash and passes",
            mend="check the path, or leave --replay out to ask a model",
        ) from error
    return recordings


@contextmanager
def serving(recordings: Recordings) -> Iterator[ReplayServer]:
    """Serve recordings while the block runs."""
    server = ReplayServer(recordings)
    with chat_completions_server(server.answer) as server.base_url:
        yield server


def _tokens(text: str) -> int:
    """Estimate tokens: four characters each, as in English prose."""
    return -(-len(text) // 4)


def _error(message: str, code: str) -> dict[str, Any]:
    return {"error": {"message": message, "type": "invalid_request_error", "code": code}}
