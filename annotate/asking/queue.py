"""The calls of a run that are still to be made, in the order in which they are made."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator

from .pending import Call


class Queue:
    """Calls that come, those that came of others, and those that were put aside.

    What was put aside, since the endpoint answered nobody, is made before all others as soon as it
    has answered again. As long as it has not, other calls are tried: they tell an endpoint that is
    down from an item at which it fails.
    """

    def __init__(self, calls: Iterable[Call]) -> None:
        """Take the calls, which are made as they are needed."""
        self._coming: Iterator[Call] = iter(calls)
        self._next: Call | None = None
        self._soon: deque[Call] = deque()
        self._aside: deque[tuple[Call, int]] = deque()

    def take(self, answers: int) -> Call | None:
        """Take the next call; none when none is left.

        Args:
            answers: How often the endpoint has answered by now.
        """
        again = bool(self._aside) and self._aside[0][1] < answers
        if self.has_more and not again:
            return self._soon.popleft() if self._soon else self._pop()
        return self._aside.popleft()[0] if self._aside else None

    def add(self, calls: Iterable[Call]) -> None:
        """Add calls that came of another."""
        self._soon.extend(calls)

    def put_aside(self, call: Call, answers: int) -> None:
        """Put aside a call that the endpoint did not answer.

        Args:
            call: The call.
            answers: How often the endpoint has answered others by now.
        """
        self._aside.append((call, answers))

    @property
    def has_more(self) -> bool:
        """Whether a call is left that was not put aside."""
        if not self._soon and self._next is None:
            self._next = next(self._coming, None)
        return bool(self._soon) or self._next is not None

    def _pop(self) -> Call | None:
        call, self._next = self._next, None
        return call
