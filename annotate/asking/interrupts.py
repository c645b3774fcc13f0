"""SIGINT, SIGTERM and SIGHUP as events, while an event loop works."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def interrupts(on_interrupt: Callable[[], None]) -> Iterator[None]:
    """Call ``on_interrupt`` for each signal in place of ending the process.

    Only the main thread hears signals; elsewhere nothing changes. What the process was told to
    ignore, as by ``nohup``, it ignores.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    loop = asyncio.get_running_loop()
    heard = [number for number in _SIGNALS if signal.getsignal(number) is not signal.SIG_IGN]
    for number in heard:
        loop.add_signal_handler(number, on_interrupt)
    try:
        yield
    finally:
        for number in heard:
            loop.remove_signal_handler(number)
