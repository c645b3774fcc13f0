"""A sheet that was filled in: CSV, as spreadsheet programs save it."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from pydantic import ValidationError

from ....records.documents import StrictModel
from ....records.errors import InputError, suggestion
from ....records.sheets import unguarded
from ..form import NOTE, ReviewForm, form_of
from ..responses import ResponseStatus
from .returned import Given, Known, Returned
from .sheet import (
    FILLED,
    ITEM,
    KEPT,
    ORIGIN,
    READ,
    REVIEWER,
    STATUS,
    SUGGESTED,
    wire_answer,
)

_HEADER = re.compile(r'"?item_id"?([,;\t])')
_STATUSES: tuple[ResponseStatus, ...] = get_args(ResponseStatus)
_LONGEST = 2**31 - 1


class _Origin(StrictModel):
    """Where a row is from."""

    format: str
    version: int
    page: str
    project: str
    catalogue: str
    dimension: str
    mode: Literal["seen", "blind"]
    content_hash: str
    questions: int = 0
    """How many are asked; 0 in sheets that do not tell."""


@dataclass(frozen=True, slots=True)
class _Row:
    """One row, its cells without guards."""

    place: str
    cells: Mapping[str, str]


def is_sheet(text: str) -> bool:
    """Tell a sheet by its first column."""
    return _HEADER.match(text) is not None


def read_sheet(path: Path, text: str, time: str, known: Known, reviewer: str | None) -> Returned:
    """Read a sheet that was filled in.

    Args:
        path: The file, for what is told.
        text: Its content.
        time: When the answers were given, as far as anyone knows: when the file was changed.
        known: What the answers have to fit.
        reviewer: Who gave them, in place of the names in the sheet.

    Raises:
        InputError: the sheet is cut off, has an unknown column, or is another project's.
    """
    names, rows = _table(path, text)
    origin = next(filter(None, (_origin(row) for row in rows)), None)
    if origin is None:
        raise _changed(path, f"no row has its {ORIGIN!r} cell as it was")
    catalogue = known.catalogue(path, origin.project, origin.catalogue)
    asked = _asked(path, names, [attribute.id for attribute in catalogue])
    if len(asked) < origin.questions:
        raise _changed(path, f"{len(asked)} of {origin.questions} columns of questions are there")
    form = form_of(catalogue, asked, origin.dimension)
    returned = Returned(path, "sheet", origin.page, form, known)
    for row in rows:
        try:
            given = _given(row, form, origin, time, reviewer)
        except ValueError as error:
            returned.fault(row.place, str(error))
            continue
        if given is None:
            returned.pending += 1
        else:
            returned.take(given)
    return returned


def _given(
    row: _Row, form: ReviewForm, origin: _Origin, time: str, reviewer: str | None
) -> Given | None:
    own, suggested = _origin(row), _suggested(row)
    if own is None or own.page != origin.page:
        raise ValueError(f"the cell {ORIGIN!r} is not that of this sheet")
    cells = {question.name: row.cells[question.name].strip() for question in form}
    answers = {name: wire_answer(form[name], cell) for name, cell in cells.items() if cell}
    status = row.cells[STATUS].strip().lower()
    if not status:
        if row.cells[NOTE] or answers != suggested:
            raise ValueError(f"answered without a {STATUS}, wanted {_listed()}")
        return None
    if status not in _STATUSES:
        raise ValueError(f"the {STATUS} {status!r}, wanted {_listed()}")
    return Given(
        place=row.place,
        item_id=row.cells[ITEM],
        content_hash=own.content_hash,
        user=reviewer or row.cells[REVIEWER].strip(),
        status=status,
        mode=own.mode,
        answers=answers,
        note=row.cells[NOTE],
        time=time,
        suggested=suggested,
        raw=json.dumps({n: row.cells[n] for n in (ITEM, *cells, *FILLED)}, ensure_ascii=False),
    )


def _listed() -> str:
    return f"{', '.join(_STATUSES[:-1])} or {_STATUSES[-1]}"


def _origin(row: _Row) -> _Origin | None:
    try:
        return _Origin.model_validate_json(row.cells[ORIGIN])
    except ValidationError:
        return None


def _suggested(row: _Row) -> dict[str, object]:
    try:
        return dict(json.loads(row.cells[SUGGESTED]))
    except (ValueError, TypeError) as error:
        raise ValueError(f"the cell {SUGGESTED!r} was changed") from error


def _asked(path: Path, names: list[str], attributes: list[str]) -> list[str]:
    own = {*READ, *FILLED, *KEPT}
    for name in names:
        if name not in own and name not in attributes:
            known = [*attributes, *own]
            raise InputError(
                f"{path}: the unknown column {name!r}",
                wanted="the columns of the sheet",
                mend=f"{suggestion(name, known)} ..."[:200],
            )
    return [name for name in names if name in attributes]


def _table(path: Path, text: str) -> tuple[list[str], list[_Row]]:
    try:
        lines = [*_lines(text)]
    except csv.Error as error:
        raise _changed(path, f"it is damaged or cut off ({error})") from error
    names = lines[0][1]
    while names and not names[-1]:
        names = names[:-1]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise _changed(path, f"the column {twice!r} stands twice")
    for name in (ITEM, *FILLED, *KEPT):
        if name not in names:
            raise _changed(path, f"the column {name!r} is missing")
    rows = []
    for number, (line, cells) in enumerate(lines[1:], 2):
        if any(cells):
            padded = [*cells, *[""] * (len(names) - len(cells))]
            place = f"line {line}" if line == number else f"line {line} (row {number})"
            found = zip(names, map(unguarded, padded), strict=False)
            rows.append(_Row(place, dict(found)))
    return names, rows


def _lines(text: str) -> Iterator[tuple[int, list[str]]]:
    """The rows, each with the number of its first line."""
    header = _HEADER.match(text)
    separator = header[1] if header else ","
    csv.field_size_limit(_LONGEST)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    first = 1
    for cells in reader:
        yield first, cells
        first = reader.line_num + 1


def _changed(path: Path, found: str) -> InputError:
    return InputError(
        f"{path}: {found}",
        wanted="a sheet as 'benchprism review export --csv' wrote it, filled in",
        mend="save it from the spreadsheet program as CSV with UTF-8 once more",
    )
