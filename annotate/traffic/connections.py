"""Connections that are kept open, and trusted only as long as they carry one answer a request.

HTTP/1.1 numbers no answers: whatever comes next on a connection is taken for the answer to the next
request. An endpoint, or a proxy before it, that writes an answer twice would so give one item the
values of another, and every later request on that connection, too. Three things prevent it:

- A connection on which something came while no request was out is closed, not used.
- Once that was seen, no connection carries a second request.
- An answer that repeats an earlier one on its connection to the byte, id included, is no answer to
  this request: the connection is closed. Unless new connections begin with this very answer, as
  they do where an endpoint has a cache, or its ids tell nothing since different answers have one.
"""

from __future__ import annotations

import select
from collections import OrderedDict, deque
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import aiohttp

if TYPE_CHECKING:
    from aiohttp.client_proto import ResponseHandler
    from aiohttp.connector import Connection

_REMEMBERED = 16
"""Answers of a connection that a later one is compared with."""
_FIRST = 1024
"""First answers of connections that are remembered, and ids of answers."""

_CARRIER: ContextVar[ResponseHandler | None] = ContextVar("carrier", default=None)
"""What carries the request of this task."""


class Connections(aiohttp.TCPConnector):
    """A pool of connections."""

    def __init__(self, limit: int) -> None:
        """Make the pool, inside a running event loop.

        Args:
            limit: The most connections at once.
        """
        super().__init__(limit=limit)
        self.trusted = True
        """Whether a connection may carry another request."""
        self._answers: WeakKeyDictionary[ResponseHandler, deque[int]] = WeakKeyDictionary()
        self._first: OrderedDict[int, bool] = OrderedDict()
        self._bodies: OrderedDict[str, int] = OrderedDict()
        self._ids_tell = True

    async def connect(self, *request: Any, **options: Any) -> Connection:
        """Give a connection on which nothing waits; see ``aiohttp.TCPConnector``."""
        while True:
            connection = await super().connect(*request, **options)
            carrier = connection.protocol
            if carrier is None or carrier not in self._answers or self._is_quiet(carrier):
                break
            connection.close()
        if carrier is not None:
            self._answers.setdefault(carrier, deque(maxlen=_REMEMBERED))
            if not self.trusted:
                carrier.force_close()
            _CARRIER.set(carrier)
        return connection

    def repeats(self, identity: str, body: bytes) -> bool:
        """Tell whether what this task was given is a late duplicate; its connection is then closed.

        Args:
            identity: The answer's id.
            body: The whole answer.
        """
        carrier, name = _CARRIER.get(), hash(body)
        before = None if carrier is None else self._answers.get(carrier)
        self._ids_tell = self._ids_tell and self._bodies.setdefault(identity, name) == name
        if carrier is None or before is None or not self._ids_tell:
            return False
        if len(self._bodies) > _FIRST:
            self._bodies.popitem(last=False)
        if not before:
            self._begins(name)
        elif name in before and not self._first.get(name):
            carrier.close()
            return True
        before.append(name)
        return False

    def _begins(self, name: int) -> None:
        """Remember which answers new connections began with, and whether several did."""
        self._first[name] = name in self._first
        if len(self._first) > _FIRST:
            self._first.popitem(last=False)

    def _is_quiet(self, carrier: ResponseHandler) -> bool:
        """Tell whether nothing came on a connection since its last answer; an end counts, too."""
        if carrier.should_close:
            self.trusted = self.trusted and not carrier.is_connected()
            return False
        return not _waits(carrier)


def _waits(carrier: ResponseHandler) -> bool:
    """Tell whether the system has something of a connection that was not read yet."""
    transport = carrier.transport
    socket = None if transport is None else transport.get_extra_info("socket")
    if socket is None or socket.fileno() < 0:
        return True
    poll = select.poll()
    poll.register(socket.fileno(), select.POLLIN)
    return bool(poll.poll(0))
