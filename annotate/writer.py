"""Saving replies while requests are in flight: those that come together are one commit."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from .ledger import Ledger
from .outcome import Reply, Verdict

_GATHER_SECONDS = 0.01


class Writer:
    """Adds replies to a ledger; a reply is safe when ``save`` returns.

    A worker asks for no further item before its reply is safe, so that the death of the process
    loses no more than the requests in flight.
    """

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._pending: list[tuple[Reply, Sequence[Verdict]]] = []
        self._commit: asyncio.Future[None] | None = None

    async def save(self, reply: Reply, verdicts: Sequence[Verdict]) -> None:
        """Add a reply with what it says.

        Raises:
            InputError: the ledger cannot be written.
        """
        self._pending.append((reply, verdicts))
        if self._commit is None:
            loop = asyncio.get_running_loop()
            self._commit = loop.create_future()
            loop.call_later(_GATHER_SECONDS, self.flush)
        await asyncio.shield(self._commit)

    def flush(self) -> None:
        """Commit what waits, and tell those who wait for it."""
        commit, pending = self._commit, self._pending
        if commit is None:
            return
        self._commit, self._pending = None, []
        try:
            self._ledger.add(pending)
        except Exception as error:
            commit.set_exception(error)
        else:
            commit.set_result(None)
