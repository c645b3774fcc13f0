"""What annotators say today: the latest annotations of today's items under today's meanings."""

from __future__ import annotations

import json
from array import array
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from typing import cast

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ...prompts.catalogue import Attribute, Catalogue, Value
from ..reading.parsing import HESITATED
from .panel import PEOPLE, Kind, kind_of
from .store import Ledger

_REPLIES = """
    SELECT reply_id, item_id, content_hash, annotator, catalogue_hash, request_key FROM reply
    ORDER BY time, reply_id
"""
_WORDS = """
    SELECT reply_id, attribute, value, confidence, instr(reason, ?) > 0, status = 'invalid'
    FROM annotation
    WHERE status IN ('ok', 'abstained', 'invalid')
        AND reply_id IN (SELECT value FROM json_each(?))
"""
_WHO_HESITATES = """
    SELECT DISTINCT annotator FROM reply JOIN annotation a USING (reply_id)
    WHERE a.status = 'ok' AND a.reason != '' AND instr(a.reason, ?) > 0
"""


@dataclass(frozen=True, slots=True, eq=False)
class Current:
    """What annotators say of one attribute, a value an element, sorted by item and annotator."""

    attribute: Attribute
    rows: NDArray[np.int64]
    """Row of the item in the items table."""
    annotators: NDArray[np.int64]
    """Position of the annotator among ``names``."""
    names: tuple[str, ...]
    codes: NDArray[np.int64]
    """Position of the value among ``values``."""
    values: tuple[Value, ...]
    confidences: NDArray[np.float64]
    """NaN where none was given."""
    doubts: NDArray[np.float64]
    """1 where the annotator said that it hesitated, 0 where not; NaN for an annotator that never
    says so of anything: its silence tells nothing."""

    def where(self, kept: NDArray[np.bool_]) -> Current:
        """Keep some of what is said, by a truth value an element."""
        return replace(
            self,
            rows=self.rows[kept],
            annotators=self.annotators[kept],
            codes=self.codes[kept],
            confidences=self.confidences[kept],
            doubts=self.doubts[kept],
        )

    def without(self, kinds: Collection[Kind]) -> Current:
        """Leave out what annotators of some kinds say."""
        others = [kind_of(name) not in kinds for name in self.names]
        return self.where(np.array([*others, True])[self.annotators])


def current_annotations(
    ledger: Ledger, catalogue: Catalogue, items: pa.Table, *, without: Collection[str] = ()
) -> list[Current]:
    """Read what counts, attribute by attribute in the catalogue's order.

    An annotation counts when the item's content and the attribute's meaning are those of today; of
    several by one annotator, the latest. To abstain takes an earlier value back: of a person's
    responses, only the one that now abstains. A failed annotation says nothing, but an answer of a
    person that is no value takes back the one before it.

    Args:
        ledger: The ledger.
        catalogue: The criteria of today.
        items: A table with ``ITEM_SCHEMA``.
        without: Replies that are passed over, by id.
    """
    replies = _replies(ledger, items, without)
    today = meant(ledger, catalogue)
    columns = {attribute.id: _Column() for attribute in catalogue}
    rows = ledger.query(_WORDS, HESITATED, json.dumps([*replies.number]))
    for reply_id, attribute, value, confidence, hesitated, invalid in cast(Iterator[_Said], rows):
        number = replies.number[reply_id]
        counts = not invalid or replies.responses[number] != _NO_RESPONSE
        if counts and (replies.catalogues[number], attribute) in today:
            columns[attribute].append(number, value, confidence, hesitated)
    return [columns[attribute.id].current(attribute, replies) for attribute in catalogue]


_Said = tuple[str, str, str | None, float | None, int, int]
_NO_RESPONSE = -1


@dataclass(frozen=True, slots=True, eq=False)
class _Replies:
    """The replies about today's items, numbered from the oldest to the latest."""

    number: dict[str, int]
    rows: NDArray[np.int64]
    annotators: NDArray[np.int64]
    names: tuple[str, ...]
    outspoken: NDArray[np.bool_]
    """Whether the annotator of that name ever says that it hesitates."""
    catalogues: list[str]
    responses: NDArray[np.int64]
    """Which response of a person it is a state of; ``_NO_RESPONSE`` for all other annotators."""


class _Column:
    """What is said of one attribute as it is read; each different value is kept once."""

    def __init__(self) -> None:
        self._numbers, self._codes, self._confidences = array("q"), array("q"), array("d")
        self._doubts = array("b")
        self._texts: dict[str, int] = {}

    def append(
        self, number: int, value: str | None, confidence: float | None, hesitated: int
    ) -> None:
        code = -1 if value is None else self._texts.setdefault(value, len(self._texts))
        self._numbers.append(number)
        self._codes.append(code)
        self._confidences.append(float("nan") if confidence is None else confidence)
        self._doubts.append(hesitated)

    def current(self, attribute: Attribute, replies: _Replies) -> Current:
        numbers, codes = np.array(self._numbers, np.int64), np.array(self._codes, np.int64)
        rows, annotators = replies.rows[numbers], replies.annotators[numbers]
        last = _last(numbers, replies.responses[numbers], annotators, rows)
        given = last[codes[last] >= 0]
        latest = given[_last(numbers[given], annotators[given], rows[given])]
        spoken = replies.outspoken[annotators]
        doubts = np.where(spoken, np.array(self._doubts, np.float64), np.nan)
        return Current(
            attribute=attribute,
            rows=rows[latest],
            annotators=annotators[latest],
            names=replies.names,
            codes=codes[latest],
            values=tuple(json.loads(text) for text in self._texts),
            confidences=np.array(self._confidences, np.float64)[latest],
            doubts=doubts[latest],
        )


def _last(numbers: NDArray[np.int64], *groups: NDArray[np.int64]) -> NDArray[np.int64]:
    """Find where each group has its highest number, in the order of the groups from the last on."""
    order = np.lexsort((numbers, *groups))
    ends = np.ones(len(order), np.bool_)
    ends[:-1] = np.any([np.diff(group[order]) != 0 for group in groups], axis=0)
    return order[ends]


def _replies(ledger: Ledger, items: pa.Table, without: Collection[str]) -> _Replies:
    ids, contents = items["item_id"].to_pylist(), items["content_hash"].to_pylist()
    place = {pair: row for row, pair in enumerate(zip(ids, contents, strict=True))}
    number: dict[str, int] = {}
    names: dict[str, int] = {}
    keys: dict[str, int] = {}
    rows, annotators, responses, catalogues = array("q"), array("q"), array("q"), []
    for reply in cast(Iterator[tuple[str, str, str, str, str, str]], ledger.query(_REPLIES)):
        reply_id, item_id, content_hash, name, catalogue, key = reply
        row = place.get((item_id, content_hash))
        if row is not None and reply_id not in without:
            number[reply_id] = len(number)
            rows.append(row)
            annotators.append(names.setdefault(name, len(names)))
            is_person = kind_of(name) in PEOPLE
            responses.append(keys.setdefault(key, len(keys)) if is_person else _NO_RESPONSE)
            catalogues.append(catalogue)
    hesitating = {name for (name,) in ledger.query(_WHO_HESITATES, HESITATED)}
    return _Replies(
        number=number,
        rows=np.array(rows, np.int64),
        annotators=np.array(annotators, np.int64),
        names=tuple(names),
        outspoken=np.array([name in hesitating for name in names], np.bool_),
        catalogues=catalogues,
        responses=np.array(responses, np.int64),
    )


def meant(ledger: Ledger, catalogue: Catalogue) -> set[tuple[str, str]]:
    """Find the attributes of the ledger's catalogues that mean what those of today mean.

    Returns:
        Pairs of a catalogue's hash and an attribute's id.
    """
    today = {attribute.id: attribute for attribute in catalogue}
    return {
        (name, attribute.id)
        for name, then in ledger.catalogues().items()
        for attribute in then
        if attribute.id in today and attribute.means_the_same_as(today[attribute.id])
    }
