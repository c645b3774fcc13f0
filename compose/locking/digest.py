"""Digests of columns: equal for equal values, however a table is chunked, stored or typed.

The bytes that are hashed are defined here and not left to a file format, so that they are the same
with another release of a library, on another machine, for the same values.
"""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

_SIZE = 16


class TableDigest:
    """The digest of a table that comes part by part, whatever the parts."""

    def __init__(self) -> None:
        self._columns: dict[str, _Parts] = {}

    def add(self, table: pa.Table) -> TableDigest:
        """Add the next rows."""
        for name in table.column_names:
            parts = self._columns.setdefault(name, _Parts(table[name].type))
            for chunk in table[name].chunks:
                _add(parts, chunk)
        return self

    def hexdigest(self) -> str:
        """Identify the table by the names and values of its columns: 32 hexadecimal digits."""
        whole = hashlib.blake2b(digest_size=_SIZE)
        for name, parts in self._columns.items():
            whole.update(f"{name}\0{parts.hexdigest()}\0".encode())
        return whole.hexdigest()


def table_digest(table: pa.Table) -> str:
    """Identify a table by the names and values of its columns: 32 hexadecimal digits."""
    return TableDigest().add(table).hexdigest()


def column_digest(column: pa.ChunkedArray) -> str:
    """Identify a column by its values: 32 hexadecimal digits (BLAKE2b-128).

    Whole numbers count as such whatever their width; a missing value differs from every other.
    """
    parts = _Parts(column.type)
    for chunk in column.chunks:
        _add(parts, chunk)
    return parts.hexdigest()


class _Parts:
    """What is there, how long it is, and what it is: streams that are hashed side by side.

    The texts of lists have streams of their own, so that it does not matter where a part ends.
    """

    def __init__(self, type_: pa.DataType) -> None:
        self.present, self.lengths, self.values = (
            hashlib.blake2b(digest_size=_SIZE) for _ in range(3)
        )
        self.inner = _Parts(type_.value_type) if pa.types.is_list(type_) else None

    def hexdigest(self) -> str:
        streams = b"".join(s.digest() for s in (self.present, self.lengths, self.values))
        inner = self.inner.hexdigest() if self.inner is not None else ""
        return hashlib.blake2b(streams + inner.encode(), digest_size=_SIZE).hexdigest()


def _add(parts: _Parts, array: pa.Array) -> None:
    parts.present.update(_bytes(pc.is_valid(array).to_numpy(zero_copy_only=False), "u1"))
    type_ = array.type
    if parts.inner is not None:
        parts.lengths.update(_bytes(pc.fill_null(pc.list_value_length(array), 0).to_numpy(), "<i8"))
        _add(parts.inner, pc.list_flatten(array))
    elif pa.types.is_string(type_) or pa.types.is_large_string(type_):
        texts = pc.fill_null(array, "")
        parts.lengths.update(_bytes(pc.binary_length(texts).to_numpy(), "<i8"))
        parts.values.update(_text_bytes(texts.cast(pa.large_string())))
    elif pa.types.is_boolean(type_):
        filled = pc.fill_null(array, False).to_numpy(zero_copy_only=False)
        parts.values.update(_bytes(filled, "u1"))
    elif pa.types.is_floating(type_):
        parts.values.update(_bytes(pc.fill_null(array, 0.0).to_numpy(), "<f8"))
    else:
        parts.values.update(_bytes(pc.fill_null(array, 0).to_numpy(), "<i8"))


def _bytes(values: NDArray[Any], kind: str) -> memoryview:
    return np.ascontiguousarray(values.astype(kind, copy=False)).data.cast("B")


def _text_bytes(texts: pa.Array) -> memoryview | bytes:
    """The texts one after the other in UTF-8."""
    if not len(texts):
        return b""
    _, offsets, data = texts.buffers()
    bounds = np.frombuffer(offsets, dtype="<i8")[[texts.offset, texts.offset + len(texts)]]
    return memoryview(data)[bounds[0] : bounds[1]] if data is not None else b""
