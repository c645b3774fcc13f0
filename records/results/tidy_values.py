"""The cells of a tidy table: names as codes, scores on the scale that the user states."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ..errors import InputError
from .codes import Codes, Names, coded
from .logs.scales import UNIT, Scale

_MISSING = ["", "nan", "na", "n/a", "null", "none"]


@dataclass(frozen=True, slots=True)
class Scoring:
    """How the numbers of a table are to be read."""

    scale: Scale = UNIT
    """The number that is 0 and the number that is 1."""
    penalties: bool = False
    """Whether a score may fall below 0, because wrong answers cost points."""


@dataclass(frozen=True, slots=True)
class Place:
    """Which rows and column of a file some cells are, for errors."""

    path: Path
    column: str
    first_row: int

    def row(self, position: int) -> int:
        """The 1-based row of a cell."""
        return self.first_row + position + 1

    def refuse(self, found: str, wanted: str, mend: str) -> NoReturn:
        """Raise an error about the cells."""
        raise InputError(f"{self.path}: {found}", wanted=wanted, mend=mend)


def names_of(column: pa.Array, names: Names, place: Place) -> Codes:
    """Code a column of names or ids; whole numbers keep their digits.

    Raises:
        InputError: the column holds something else, or an empty cell.
    """
    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    if not (is_text(kind) or pa.types.is_integer(kind)):
        found = f"the column {place.column!r} of type {kind}"
        place.refuse(found, "text or whole numbers", "convert it")
    if column.null_count:
        _lacking(place, pc.index(pc.is_null(column), True).as_py())
    encoded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    words = encoded.dictionary.cast(pa.string())
    empty = pc.index(words, "").as_py()
    row = pc.index(encoded.indices, pa.scalar(empty, encoded.indices.type)).as_py()
    if empty >= 0 and row >= 0:
        _lacking(place, row)
    return coded(pa.DictionaryArray.from_arrays(encoded.indices, words), names).of(slice(None))


def _lacking(place: Place, row: int) -> NoReturn:
    place.refuse(f"no {place.column!r} in row {place.row(row)}", "one in every row", "fill it in")


def is_text(kind: pa.DataType) -> bool:
    """Tell whether a column is of text."""
    return bool(
        pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)
    )


def trials_of(column: pa.Array, place: Place) -> NDArray[np.int32]:
    """Read a column of repeats: whole numbers from 0.

    Raises:
        InputError: a cell is something else, or empty.
    """
    numbers = _numbers(column, place) if is_text(column.type) else column
    try:
        trials = numbers.cast(pa.int32())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        trials = pa.nulls(1, pa.int32())
    if trials.null_count or (pc.min(trials).as_py() or 0) < 0:
        place.refuse(f"the column {place.column!r}", "whole numbers from 0", "number the repeats")
    found: NDArray[np.int32] = trials.to_numpy()
    return found


def scores_of(column: pa.Array, scoring: Scoring, place: Place) -> NDArray[np.float64]:
    """Read a column of scores; what is missing or infinite becomes NaN.

    Raises:
        InputError: a cell is no number, or lies outside the scale.
    """
    numbers = _numbers(column, place)
    raw = numbers.to_numpy(zero_copy_only=False)
    raw = np.where(np.isfinite(raw), raw, np.nan)
    worst, best = scoring.scale.worst, scoring.scale.best
    scores: NDArray[np.float64] = (raw - worst) / (best - worst)
    with np.errstate(invalid="ignore"):
        outside = (scores > 1) | (scores < (-np.inf if scoring.penalties else 0))
    if outside.any():
        row = int(outside.argmax())
        _outside(numbers[row].as_py(), scores[row] < 0, scoring.scale, place, row)
    return scores


def _outside(score: float, is_below: bool, scale: Scale, place: Place, row: int) -> NoReturn:
    mend = "state the range with --scale WORST:BEST, as in --scale 0:100"
    if is_below:
        mend += ", or add --penalties if wrong answers cost points"
    place.refuse(
        f"the score {score!r} in row {place.row(row)}",
        f"scores between {scale.worst:g} and {scale.best:g}, or an empty cell",
        mend,
    )


def _numbers(column: pa.Array, place: Place) -> pa.Array:
    """Read cells as numbers, with the usual words for missing, true and false."""
    kind = column.type
    if pa.types.is_dictionary(kind):
        return _numbers(column.dictionary_decode(), place)
    if is_text(kind):
        return _spelled(column.cast(pa.string()), place)
    if pa.types.is_boolean(kind):
        return column.cast(pa.int8()).cast(pa.float64())
    if not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_null(kind)):
        place.refuse(f"the column {place.column!r} of type {kind}", "numbers", "convert it")
    return column.cast(pa.float64())


def _spelled(column: pa.Array, place: Place) -> pa.Array:
    words = pc.utf8_lower(pc.utf8_trim_whitespace(column))
    words = pc.if_else(pc.is_in(words, pa.array(_MISSING)), None, words)
    words = pc.if_else(pc.equal(words, "true"), "1", words)
    words = pc.if_else(pc.equal(words, "false"), "0", words)
    try:
        return words.cast(pa.float64())
    except pa.ArrowInvalid:
        row = _first_that_is_no_number(words.to_pylist())
        found = f"the {place.column} {column[row].as_py()!r} in row {place.row(row)}"
        place.refuse(found, "a number, or an empty cell", f"mend the column {place.column!r}")


def _first_that_is_no_number(words: Sequence[str | None]) -> int:
    def fits(word: str | None) -> bool:
        try:
            float(word or 0)
        except ValueError:
            return False
        return True

    return next(row for row, word in enumerate(words) if not fits(word))
