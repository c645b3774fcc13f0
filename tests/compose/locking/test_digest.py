from __future__ import annotations

import struct
from hashlib import blake2b
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchprism.compose.locking.digest import TableDigest, column_digest, table_digest

COLUMNS: list[tuple[pa.DataType, list[Any]]] = [
    (pa.int8(), [1, None, -3, 0]),
    (pa.float64(), [0.5, None, -1.0, 0.0]),
    (pa.bool_(), [True, None, False, False]),
    (pa.string(), ["a", None, "", "ß\u2028"]),
    (pa.list_(pa.string()), [["a", "b"], None, [], ["", "ab"]]),
]


@pytest.mark.parametrize(("type_", "values"), COLUMNS)
def test_how_a_column_is_stored_does_not_matter(type_: pa.DataType, values: list[Any]) -> None:
    whole = column_digest(pa.chunked_array([pa.array(values, type_)]))
    parts = [pa.array(values[:1], type_), pa.array([], type_), pa.array(values[1:], type_)]
    assert column_digest(pa.chunked_array(parts)) == whole
    sliced = pa.array([values[0], *values, values[0]], type_).slice(1, 4)
    assert column_digest(pa.chunked_array([sliced])) == whole
    if pa.types.is_integer(type_):
        assert column_digest(pa.chunked_array([pa.array(values, pa.int64())])) == whole
    if pa.types.is_string(type_):
        assert column_digest(pa.chunked_array([pa.array(values, pa.large_string())])) == whole


@pytest.mark.parametrize(("type_", "values"), COLUMNS)
def test_every_value_counts(type_: pa.DataType, values: list[Any]) -> None:
    seen = {column_digest(pa.chunked_array([pa.array(values, type_)]))}
    for place in range(len(values)):
        for other in values:
            changed = [*values[:place], other, *values[place + 1 :]]
            if changed != values:
                seen.add(column_digest(pa.chunked_array([pa.array(changed, type_)])))
    pairs = {(p, repr(o)) for p in range(4) for o in values if o != values[p]}
    assert len(seen) == 1 + len(pairs)


@settings(deadline=None)
@given(st.lists(st.lists(st.text(max_size=3), max_size=3), max_size=4),
       st.lists(st.lists(st.text(max_size=3), max_size=3), max_size=4))  # fmt: skip
def test_lists_of_texts_cannot_be_confused(one: list[list[str]], other: list[list[str]]) -> None:
    digests = [
        column_digest(pa.chunked_array([pa.array(values, pa.list_(pa.string()))]))
        for values in (one, other)
    ]
    assert (digests[0] == digests[1]) == (one == other)


def test_a_table_may_come_in_parts() -> None:
    table = pa.table({"a": [1, 2, 3], "b": ["x", None, "z"]})
    parts = TableDigest().add(table.slice(0, 1)).add(table.slice(1)).hexdigest()
    assert parts == table_digest(table)
    assert parts != table_digest(table.rename_columns(["a", "c"]))
    assert parts != table_digest(table.select(["b", "a"]))


def digest(data: bytes) -> bytes:
    return blake2b(data, digest_size=16).digest()


def test_a_digest_is_made_of_bytes_that_are_defined_here() -> None:
    def column(present: bytes, lengths: bytes, values: bytes, inner: str = "") -> str:
        streams = digest(present) + digest(lengths) + digest(values)
        return digest(streams + inner.encode()).hex()

    number = column(b"\1\0", b"", struct.pack("<2q", 1, 0))
    texts = column(b"\1", struct.pack("<q", 2), "ß".encode())
    lists = column(b"\1\1", struct.pack("<2q", 1, 0), b"", texts)
    whole = digest(f"a\0{number}\0b\0{lists}\0".encode()).hex()
    assert table_digest(pa.table({"a": [1, None], "b": [["ß"], []]})) == whole
