"""Texts as codes: tables repeat few names over many rows, so names are compared once each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

Codes = NDArray[np.int32]

_SEPARATOR = "\x1f"
_STEP = 2**17


class Names:
    """Distinct texts, coded in the order in which they are met; threads may share one."""

    def __init__(self) -> None:
        self._known = pa.array([], pa.string())
        self._last: tuple[pa.Array, Codes] = self._known, np.empty(0, dtype=np.int32)
        self._lock = Lock()

    def __len__(self) -> int:
        return len(self._known)

    @property
    def texts(self) -> pa.StringArray:
        """The texts; a code is a position among them."""
        return self._known

    def codes(self, texts: pa.Array) -> Codes:
        """Code texts, none of which is null; new ones are added."""
        texts_before, codes_before = self._last
        if texts.equals(texts_before):
            return codes_before
        found = pc.index_in(texts, value_set=self._known)
        if found.null_count:
            with self._lock:
                new = pc.filter(texts, pc.is_null(pc.index_in(texts, value_set=self._known)))
                self._known = pa.concat_arrays([self._known, pc.unique(new)])
            found = pc.index_in(texts, value_set=self._known)
        codes: Codes = found.to_numpy()
        self._last = texts, codes
        return codes


@dataclass(frozen=True, slots=True, eq=False)
class Coded:
    """A column of codes, as a table of them and each row's place in it."""

    table: Codes
    places: Codes

    def __len__(self) -> int:
        return len(self.places)

    def of(self, rows: slice) -> Codes:
        """The codes of some rows."""
        return self.table.take(self.places[rows])


def steps(rows: int) -> Iterator[slice]:
    """Rows a few at a time: what is made of them stays in the processor's cache."""
    return (slice(start, start + _STEP) for start in range(0, rows, _STEP))


def coded(column: pa.Array, names: Names) -> Coded:
    """Code the texts of a column."""
    places, words = _dictionary(column)
    return Coded(names.codes(words), places)


def coded_texts(column: pa.Array, texts: Sequence[str]) -> Codes:
    """The place of each row's text among some texts, or -1."""
    places, words = _dictionary(column)
    found = pc.index_in(words, value_set=pa.array(texts, pa.string())).fill_null(-1).to_numpy()
    codes: Codes = found.astype(np.int32).take(places)
    return codes


class PairNames:
    """Distinct pairs of texts, coded in the order in which they are met; threads may share one."""

    def __init__(self) -> None:
        self._names = Names()
        self._last: _PairTable | None = None

    def __len__(self) -> int:
        return len(self._names)

    def coded(self, first: pa.Array, second: pa.Array) -> Coded:
        """Code the pairs that the rows of two columns make.

        Where each second text comes with one first text, as an item does with its benchmark, a
        table of the second ones does; parts of a file often share it.
        """
        left, left_words = _dictionary(first)
        right, right_words = _dictionary(second)
        known = self._last
        if known is None or not known.holds(left, left_words, right, right_words):
            known = self._table(left, left_words, right, right_words)
        if known is not None:
            self._last = known
            return Coded(known.codes, right)
        width = len(right_words)
        pairs, places = np.unique(left.astype(np.int64) * width + right, return_inverse=True)
        codes = self._codes(left_words, pairs // width, right_words, pairs % width)
        return Coded(codes, places.astype(np.int32))

    def _table(
        self, left: Codes, left_words: pa.Array, right: Codes, right_words: pa.Array
    ) -> _PairTable | None:
        owner = np.full(len(right_words), -1, dtype=np.int32)
        for rows in steps(len(right)):
            owner[right[rows].astype(np.intp)] = left[rows]
        if not _agree(owner, left, right):
            return None
        used = np.flatnonzero(owner >= 0)
        codes = np.full(len(right_words), -1, dtype=np.int32)
        codes[used] = self._codes(left_words, owner[used], right_words, used)
        return _PairTable(left_words, right_words, owner, codes)

    def _codes(
        self,
        left_words: pa.Array,
        left: NDArray[np.integer[Any]],
        right_words: pa.Array,
        right: NDArray[np.integer[Any]],
    ) -> Codes:
        parts = left_words.take(pa.array(left)), right_words.take(pa.array(right))
        return self._names.codes(pc.binary_join_element_wise(*parts, _SEPARATOR))

    def split(self) -> tuple[pa.StringArray, pa.StringArray]:
        """The first and the second text of each pair."""
        parts = pc.split_pattern(self._names.texts, _SEPARATOR, max_splits=1)
        return pc.list_element(parts, 0), pc.list_element(parts, 1)


@dataclass(frozen=True, slots=True, eq=False)
class _PairTable:
    """For each second text the place of its first one, and the code of the pair."""

    left_words: pa.Array
    right_words: pa.Array
    owner: Codes
    codes: Codes

    def holds(self, left: Codes, left_words: pa.Array, right: Codes, right_words: pa.Array) -> bool:
        same = self.left_words.equals(left_words) and self.right_words.equals(right_words)
        return same and _agree(self.owner, left, right)


def _agree(owner: Codes, left: Codes, right: Codes) -> bool:
    return all((owner.take(right[rows]) == left[rows]).all() for rows in steps(len(right)))


def _dictionary(column: pa.Array) -> tuple[Codes, pa.Array]:
    """Split a column into the places of its rows and its distinct texts."""
    encoded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    words = encoded.dictionary
    if words.type != pa.string():
        words = words.cast(pa.string())
    return encoded.indices.to_numpy().astype(np.int32, copy=False), words
