"""Twenty reviewers at once on the server of ``benchprism review serve``, for a minute.

Each fetches the page of pending records that the web UI fetches, thinks, and submits a response to
the first one. Afterwards every acknowledged response must be stored as it was sent. With
``--kill`` the server is killed by SIGKILL half-way and started again, and the reviewers go on.

Run: python benchmarks/review_server.py [--think 0] [--kill] [--seconds 60] [--reviewers 20]
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp
import numpy as np

from benchprism.annotate.review.server import (
    ARGILLA,
    ServeOptions,
    Server,
    ServerHome,
    cache_folder,
    environment_python,
    find_access,
    review_server,
)

RECORDS = 500
LABELS = ("a", "b", "c")
LEVELS = range(4)


@dataclass
class Tally:
    """What the reviewers saw."""

    acknowledged: dict[tuple[str, str], Any] = field(default_factory=dict)
    """Values by user and record."""
    searches: list[float] = field(default_factory=list)
    submits: list[float] = field(default_factory=list)
    errors: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True)
class Api:
    """The server's HTTP API for one user."""

    session: aiohttp.ClientSession
    base: str
    headers: dict[str, str]

    async def __call__(self, method: str, path: str, data: Any = None) -> tuple[int, Any]:
        """Send JSON; returns the HTTP status and the answer."""
        url = f"{self.base}/api/v1/{path}"
        async with self.session.request(method, url, json=data, headers=self.headers) as answer:
            return answer.status, await answer.json()


async def made(api: Api, method: str, path: str, data: Any = None) -> Any:
    """An answer that must not be a refusal."""
    status, answer = await api(method, path, data)
    assert status < 300, (status, path, answer)
    return answer


async def push(owner: Api) -> str:
    """A published dataset whose records have suggestions; returns its id."""
    workspace = (await made(owner, "GET", "me/workspaces"))["items"][0]["id"]
    overlap = {"strategy": "overlap", "min_submitted": 2}
    description = {"name": "benchmark", "workspace_id": workspace, "distribution": overlap}
    dataset = str((await made(owner, "POST", "datasets", description))["id"])
    base = f"datasets/{dataset}"
    text = {"name": "text", "title": "Text", "required": True, "settings": {"type": "text"}}
    await made(owner, "POST", f"{base}/fields", text)
    options = [{"value": label, "text": label} for label in LABELS]
    asked = {
        "label": {"type": "label_selection", "options": options},
        "level": {"type": "rating", "options": [{"value": level} for level in LEVELS]},
    }
    ids = {}
    for name, settings in asked.items():
        question = {"name": name, "title": name, "required": True, "settings": settings}
        ids[name] = (await made(owner, "POST", f"{base}/questions", question))["id"]
    await made(owner, "PUT", f"{base}/publish")
    suggested = [
        {"question_id": ids["label"], "value": "a", "score": 0.7, "agent": "llm"},
        {"question_id": ids["level"], "value": 2, "score": 0.4, "agent": "llm"},
    ]
    items = [
        {"external_id": str(n), "fields": {"text": f"Item {n} " * 100}, "suggestions": suggested}
        for n in range(RECORDS)
    ]
    await made(owner, "POST", f"{base}/records/bulk", {"items": items})
    return dataset


async def log_in(session: aiohttp.ClientSession, url: str, name: str, password: str) -> Api:
    """The API as a user sees it who gave a password."""
    form = {"username": name, "password": password}
    async with session.post(f"{url}/api/v1/token", data=form) as answer:
        token = (await answer.json())["access_token"]
    return Api(session, url, {"Authorization": f"Bearer {token}"})


async def review(
    api: Api, name: str, dataset: str, tally: Tally, *, until: float, think: float
) -> None:
    """One reviewer, until the time is over; a server that is away is asked again."""
    draw = random.Random(name)
    scopes = [{"entity": entity, "property": "status"} for entity in ("response", "record")]
    pending = [{"type": "terms", "scope": scope, "values": ["pending"]} for scope in scopes]
    page = f"me/datasets/{dataset}/records/search?include=responses&include=suggestions&limit=10"
    while time.monotonic() < until:
        await asyncio.sleep(draw.expovariate(1 / think) if think else 0)
        try:
            found = await timed(tally.searches, api("POST", page, {"filters": {"and": pending}}))
            if not found["items"]:
                return
            record = found["items"][0]["record"]["id"]
            chosen = {"label": draw.choice(LABELS), "level": draw.choice(LEVELS)}
            values = {question: {"value": value} for question, value in chosen.items()}
            response = {"status": "submitted", "values": values}
            await timed(tally.submits, api("POST", f"records/{record}/responses", response))
            tally.acknowledged[name, record] = values
        except aiohttp.ClientError as error:
            tally.errors[type(error).__name__] += 1
            await asyncio.sleep(0.5)
        except RuntimeError as error:
            tally.errors[str(error)] += 1


async def timed(seconds: list[float], asking: Any) -> Any:
    """The answer; keeps how long it took.

    Raises:
        RuntimeError: the server refused.
    """
    start = time.perf_counter()
    status, answer = await asking
    seconds.append(time.perf_counter() - start)
    if status >= 300:
        raise RuntimeError(f"HTTP {status}: {str(answer)[:100]}")
    return answer


async def stored(owner: Api, dataset: str) -> dict[tuple[str, str], Any]:
    """Every submitted response in the server: values by user and record."""
    users = {u["id"]: u["username"] for u in (await made(owner, "GET", "users"))["items"]}
    found = await made(owner, "GET", f"datasets/{dataset}/records?include=responses&limit=1000")
    return {
        (users[response["user_id"]], record["id"]): response["values"]
        for record in found["items"]
        for response in record["responses"]
        if response["status"] == "submitted"
    }


@dataclass(frozen=True)
class Outcome:
    """A minute of reviewing."""

    tally: Tally
    kept: dict[tuple[str, str], Any]
    """What the server stores."""
    ready: float
    """Seconds until the server was ready."""
    seconds: float

    @property
    def lost(self) -> int:
        """Acknowledged responses that are not stored as they were sent."""
        said = self.tally.acknowledged
        return sum(self.kept.get(key) != values for key, values in said.items())


async def run(python: Path, home: ServerHome, arguments: argparse.Namespace) -> Outcome:
    """Start a server, let everybody review, and look at what it stores."""
    names = tuple(f"reviewer{n}" for n in range(arguments.reviewers))

    def serve(port: int) -> AbstractContextManager[Server]:
        return review_server(home, ServeOptions(port=port, users=names), python, os.environ)

    tally, start = Tally(), time.monotonic()
    connector = aiohttp.TCPConnector(limit=0)
    with ExitStack() as running:
        server = running.enter_context(serve(0))
        ready = time.monotonic() - start
        url = server.running.url
        async with aiohttp.ClientSession(connector=connector) as session:
            key = find_access(home, {}).api_key
            owner = Api(session, url, {"X-Argilla-Api-Key": key})
            dataset = await push(owner)
            passwords = {a.username: a.password or "" for a in server.accounts}
            users = {name: await log_in(session, url, name, passwords[name]) for name in names}
            begun = time.monotonic()
            until = begun + arguments.seconds
            reviewing = (
                review(api, name, dataset, tally, until=until, think=arguments.think)
                for name, api in users.items()
            )
            work = asyncio.gather(*reviewing)
            if arguments.kill:
                await asyncio.sleep(arguments.seconds / 2)
                os.kill(server.running.pid, signal.SIGKILL)
                running.close()
                port = int(url.rsplit(":", 1)[1])
                await asyncio.to_thread(running.enter_context, serve(port))
            await work
            seconds = time.monotonic() - begun
            return Outcome(tally, await stored(owner, dataset), ready, seconds)


def main() -> int:
    """Run it and print the figures; 1 when something was lost or refused."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--reviewers", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--think", type=float, default=0, help="mean seconds before each page")
    parser.add_argument("--kill", action="store_true", help="kill the server half-way")
    arguments = parser.parse_args()
    python = environment_python(
        cache_folder(), ARGILLA, progress=lambda *_: nullcontext(lambda: None), say=print
    )
    with tempfile.TemporaryDirectory() as folder:
        outcome = asyncio.run(run(python, ServerHome(Path(folder) / "home"), arguments))
    print(f"ready in {outcome.ready:.1f} s")
    for name, seconds in (("search", outcome.tally.searches), ("submit", outcome.tally.submits)):
        low, high = np.percentile(seconds, [50, 95])
        print(
            f"{name}: {len(seconds)}, p50 {low:.2f} s, p95 {high:.2f} s, max {max(seconds):.2f} s"
        )
    acknowledged = len(outcome.tally.acknowledged)
    print(f"{acknowledged} acknowledged, {acknowledged / outcome.seconds:.1f} a second")
    print(f"{len(outcome.kept)} stored, {outcome.lost} lost")
    print(f"errors: {dict(outcome.tally.errors) or 'none'}")
    return int(bool(outcome.lost or (outcome.tally.errors and not arguments.kill)))


if __name__ == "__main__":
    sys.exit(main())
