"""Saving replies while requests are in flight: those that come together are one commit."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from .store import Entry, Ledger

_MOST_TOGETHER = 64


class Writer:
    """Adds replies to a ledger; a reply is safe when ``save`` returns.

    A worker asks for no further item before its reply is safe, so that the death of the process
    loses no more than the requests in flight.
    """

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._pending: list[Entry] = []
        self._waiting: list[asyncio.Future[None]] = []
        self._watched = False

    async def save(self, entries: Sequence[Entry]) -> None:
        """Add the replies of one call, each with what it says.

        Raises:
            InputError: the ledger cannot be written.
        """
        loop = asyncio.get_running_loop()
        saved = loop.create_future()
        self._pending += entries
        self._waiting.append(saved)
        if len(self._waiting) == _MOST_TOGETHER:
            self.flush()
        elif not self._watched:
            self._watched = True
            loop.call_soon(self._watch, 0)
        await saved

    def _watch(self, before: int) -> None:
        """Commit as soon as no more has come since the last look: nobody waits for nothing."""
        waiting = len(self._waiting)
        self._watched = waiting not in {before, 0}
        if self._watched:
            asyncio.get_running_loop().call_soon(self._watch, waiting)
        else:
            self.flush()

    def flush(self) -> None:
        """Commit what waits, and tell those who wait for it."""
        waiting, pending = self._waiting, self._pending
        self._waiting, self._pending = [], []
        failure: Exception | None = None
        try:
            if pending:
                self._ledger.add(pending)
        except Exception as error:
            failure = error
        for saved in waiting:
            if saved.cancelled():
                continue
            if failure is None:
                saved.set_result(None)
            else:
                saved.set_exception(failure)
