"""Argilla's own server, run by benchprism in an environment that holds nothing of benchprism.

The starter writes one line of JSON to standard input (``Orders``) and keeps it open as long as it
lives. This process answers on standard output with lines of JSON: ``{"ready": ...}`` or
``{"failed": ...}``. Everything else that is printed goes to standard error.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO, TypedDict

from .parent import when_the_parent_ends

_SECONDS_TO_END = 5


class Orders(TypedDict):
    """What the starter wants."""

    host: str
    port: int
    queue: str | None
    """Socket file for the job queue; none when a Redis serves it."""
    accounts: dict[str, Any]
    """Arguments of ``accounts.ensure_accounts``."""


def main() -> None:
    """Serve until a signal, or until the starter is gone."""
    os.umask(0o077)
    answers = _own_output()
    orders: Orders = json.loads(sys.stdin.buffer.readline())
    when_the_parent_ends(lambda: os.kill(os.getpid(), signal.SIGTERM))
    with socket.socket(socket.AF_INET6 if ":" in orders["host"] else socket.AF_INET) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((orders["host"], orders["port"]))
        except OSError as error:
            _answer(answers, failed="bind", reason=error.strerror or str(error))
            return
        try:
            _serve(listener, orders, answers)
        except Exception as error:
            _answer(answers, failed="start", reason=str(error).split("\n")[0])
            raise


def _serve(listener: socket.socket, orders: Orders, answers: TextIO) -> None:
    if orders["queue"]:
        from .job_queue import serve_queue

        serve_queue(Path(orders["queue"]))
    from .parsed_settings import build_adapters_once
    from .tables import prepare_tables
    from .unheard_events import skip_unheard_events

    build_adapters_once()
    skip_unheard_events()
    prepare_tables()
    for number in (signal.SIGTERM, signal.SIGINT):
        # uvicorn hears these signals while it serves, and raises them again when it has ended.
        signal.signal(number, lambda *_: None)
    asyncio.run(_accept(listener, orders, answers))


async def _accept(listener: socket.socket, orders: Orders, answers: TextIO) -> None:
    import uvicorn
    from argilla_server import app
    from argilla_server.jobs.queues import REDIS_CONNECTION

    from .accounts import ensure_accounts
    from .search import engine  # noqa: F401  registers the engine
    from .tables import settle_record_statuses

    try:
        api_key, accounts = await ensure_accounts(**orders["accounts"])
    except LookupError as error:
        _answer(answers, failed="user", reason=str(error.args[0]))
        return
    await settle_record_statuses()
    REDIS_CONNECTION.ping()
    config = uvicorn.Config(
        app, access_log=False, log_level="warning", timeout_graceful_shutdown=_SECONDS_TO_END
    )
    server = uvicorn.Server(config)
    serving = asyncio.create_task(server.serve(sockets=[listener]))
    while not server.started and not serving.done():
        await asyncio.sleep(0.05)
    if not server.started:
        await serving
        raise RuntimeError("Argilla gave up at its start")
    with _worker():
        _answer(answers, ready=listener.getsockname()[1], api_key=api_key, accounts=accounts)
        await serving


@contextmanager
def _worker() -> Iterator[None]:
    boot = Path(__file__).with_name("boot.py")
    worker = subprocess.Popen(  # noqa: S603
        [sys.executable, "-I", boot, "worker"], stdin=subprocess.PIPE
    )
    try:
        yield
    finally:
        worker.terminate()  # it finishes its job first
        try:
            worker.wait(_SECONDS_TO_END)
        except subprocess.TimeoutExpired:
            worker.kill()


def _own_output() -> TextIO:
    """Keep standard output for answers; what Argilla prints goes to standard error."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    return answers


def _answer(answers: TextIO, **answer: Any) -> None:
    answers.write(json.dumps(answer) + "\n")
    answers.flush()


if __name__ == "__main__":
    main()
