"""Texts as codes: tables repeat few names over many rows, so names are compared once each."""

from __future__ import annotations

from threading import Lock
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

Codes = NDArray[np.int32]

_SEPARATOR = "\x1f"


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


def dictionary(column: pa.Array) -> tuple[Codes, pa.Array]:
    """Split a column into the codes of its rows and its distinct texts."""
    encoded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    words = encoded.dictionary
    if words.type != pa.string():
        words = words.cast(pa.string())
    return encoded.indices.to_numpy().astype(np.int32, copy=False), words


def coded(column: pa.Array, names: Names) -> Codes:
    """Code the texts of a column, row by row."""
    rows, words = dictionary(column)
    return names.codes(words).take(rows)


def coded_pairs(first: pa.Array, second: pa.Array, names: Names) -> Codes:
    """Code the pairs of texts that the rows of two columns make; ``split_pairs`` undoes it."""
    left, left_words = dictionary(first)
    right, right_words = dictionary(second)
    place = right.astype(np.intp)  # the index type itself: others are cast at each use
    owner = np.full(len(right_words), -1, dtype=np.int32)
    owner[place] = left
    if (owner.take(place) == left).all():
        used = np.flatnonzero(owner >= 0)
        codes = np.empty(len(right_words), dtype=np.int32)
        codes[used] = _pair_codes(left_words, owner[used], right_words, used, names)
        return codes.take(place)
    width = len(right_words)
    pairs, rows = np.unique(left.astype(np.int64) * width + right, return_inverse=True)
    found = _pair_codes(left_words, pairs // width, right_words, pairs % width, names)
    own: Codes = found[rows]
    return own


def _pair_codes(
    left_words: pa.Array,
    left: NDArray[np.integer[Any]],
    right_words: pa.Array,
    right: NDArray[np.integer[Any]],
    names: Names,
) -> Codes:
    parts = left_words.take(pa.array(left)), right_words.take(pa.array(right))
    return names.codes(pc.binary_join_element_wise(*parts, _SEPARATOR))


def split_pairs(names: Names) -> tuple[pa.StringArray, pa.StringArray]:
    """The two texts of each coded pair."""
    parts = pc.split_pattern(names.texts, _SEPARATOR, max_splits=1)
    return pc.list_element(parts, 0), pc.list_element(parts, 1)
