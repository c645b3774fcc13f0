"""An HTTP server on a free port of this machine, in a thread of its own."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from aiohttp import web

Handler = Callable[["web.Request"], Awaitable["web.StreamResponse"]]

_LARGEST_REQUEST = 2**25


@contextmanager
def chat_completions_server(
    handler: Handler, *, paths: Sequence[str] = ("/chat/completions",)
) -> Iterator[str]:
    """Serve chat completions while the block runs.

    Args:
        handler: Answers a request; it runs in the server's thread.
        paths: Where it answers, seen from the base URL.

    Yields:
        The base URL, as an OpenAI client wants it.
    """
    address: Future[str] = Future()
    loop, stop = asyncio.new_event_loop(), asyncio.Event()

    def run() -> None:
        with asyncio.Runner(loop_factory=lambda: loop) as runner:
            runner.run(_serve(handler, paths, address, stop))

    thread = threading.Thread(target=run, name="local server", daemon=True)
    thread.start()
    try:
        yield address.result()
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join()


async def _serve(
    handler: Handler, paths: Sequence[str], address: Future[str], stop: asyncio.Event
) -> None:
    from aiohttp import web

    app = web.Application(client_max_size=_LARGEST_REQUEST)
    for path in paths:
        app.router.add_post(f"/v1{path}", handler)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=1.0)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        address.set_result(f"http://127.0.0.1:{runner.addresses[0][1]}/v1")
        await stop.wait()
    except OSError as error:
        address.set_exception(error)
    finally:
        await runner.cleanup()
