"""Reading the files of an ended batch: lines in any order, some missing, some errors."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ..asking.call import asked_alone
from ..asking.entries import Origin, entries
from ..ledger.outcome import Status
from ..ledger.store import Entry
from ..money.prices import Price
from ..reading.completion import Reading, failed, read_answer
from ..traffic.faults import Response, fault_of
from .book import Carried, Planned

_PASSING = 503


class Results:
    """What came of one batch."""

    def __init__(
        self, batch: Planned, carried: Mapping[str, Carried], price: Price | None, time: str
    ) -> None:
        """Prepare for the lines of a batch.

        Args:
            batch: The batch.
            carried: What each of its lines asked, by id.
            price: What the model's tokens cost.
            time: When the batch ended: the time of its replies, so that reading a file again makes
                the same replies.
        """
        self._batch = batch
        self._left = dict(carried)
        self._price = price
        self._time = time
        self.statuses: Counter[Status] = Counter()
        """Requests that were answered, by how they ended."""
        self.read: set[str] = set()
        """Calls that a line is about."""
        self.answered: set[str] = set()
        """Calls that a line with a status of 200 is about."""
        self._divided = 0
        self._problems: Counter[str] = Counter()

    @property
    def missing(self) -> int:
        """Requests that are to be made again: no line has answered them by themselves."""
        left = sum(len(carried.subjects) for carried in self._left.values())
        return left + self._divided

    @property
    def problem(self) -> str:
        """What most of the lines say that answer nothing."""
        return next((problem for problem, _ in self._problems.most_common(1)), "")

    def entries(self, lines: Iterable[Mapping[str, Any] | None]) -> Iterator[list[Entry]]:
        """Make the ledger's entries of each line that answers something.

        A line with an unknown id, or with one that came before, says nothing; neither does an error
        that another try may not meet, such as the batch's expiry: the request is missing again.
        """
        for line in lines:
            custom_id = str(line.get("custom_id")) if line is not None else ""
            carried = self._left.get(custom_id)
            if line is None or carried is None:
                continue
            response = _response(line)
            self.read.add(custom_id)
            if response.status_code == 200:
                self.answered.add(custom_id)
            readings = self._readings(response, carried)
            if readings is not None:
                del self._left[custom_id]
                yield self._kept(carried, response, readings)

    def _readings(self, response: Response, carried: Carried) -> Sequence[Reading] | None:
        fault = fault_of(response, endpoint=self._batch.base_url, model=self._batch.model)
        if fault is None:
            return read_answer(response.content, carried.prompt, self._batch.rung)
        if fault.remedy != "settle":
            self._problems[fault.reason] += 1
            return None
        reading = failed(fault.status, fault.reason, carried.prompt.attributes)
        return [reading] * len(carried.subjects)

    def _kept(
        self, carried: Carried, response: Response, readings: Sequence[Reading]
    ) -> list[Entry]:
        alone, batch = asked_alone(readings), self._batch
        origin = Origin(
            annotator=batch.annotator,
            model=batch.model,
            price=self._price,
            body=response.body if response.status_code == 200 else "",
            time=self._time,
            attempts=1,
            batch=True,
            rung=batch.rung,
            alone=alone,
            most=batch.most_of_one if response.status_code == 200 else None,
        )
        answered = (one for place, one in enumerate(readings) if place not in alone)
        self.statuses.update(reading.status for reading in answered)
        self._divided += len(alone)
        return entries(carried.subjects, readings, origin)


def _response(line: Mapping[str, Any]) -> Response:
    """The response of a line; an error without one is as good as an overloaded endpoint."""
    given = line.get("response")
    if isinstance(given, dict) and isinstance(given.get("status_code"), int):
        body = json.dumps(given.get("body"), ensure_ascii=False)
        return Response(given["status_code"], {}, body)
    return Response(_PASSING, {}, json.dumps({"error": line.get("error") or {}}))
