"""Values put into words, for a million items as for one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

_LONGEST = 60


def values_in_words(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Write each value as text; a value that is not there is ``missing``."""
    if pa.types.is_list(column.type):
        text = pc.binary_join(column, ", ")
    elif pa.types.is_boolean(column.type):
        text = pc.if_else(column, "true", "false")
    elif pa.types.is_floating(column.type):
        text = pc.cast(pc.round(column, ndigits=3), pa.string())
    else:
        text = pc.cast(column, pa.string())
    long = pc.greater(pc.utf8_length(text), _LONGEST)
    short = pc.binary_join_element_wise(pc.utf8_slice_codeunits(text, 0, _LONGEST), "...", "")
    return pc.fill_null(pc.if_else(long, short, text), "missing")


def numbers_in_words(numbers: NDArray[np.float64]) -> pa.ChunkedArray:
    """Write each number with three decimals at most; NaN is ``missing``."""
    return values_in_words(pa.chunked_array([pa.array(numbers, pa.float64(), from_pandas=True)]))


def join(*pieces: Any) -> pa.ChunkedArray:
    """Put text, columns of text and whole numbers together, row by row."""
    columns = [
        pc.cast(pa.array(piece), pa.string()) if isinstance(piece, np.ndarray) else piece
        for piece in pieces
    ]
    joined = pc.binary_join_element_wise(*columns, "")
    return joined if isinstance(joined, pa.ChunkedArray) else pa.chunked_array([joined])
