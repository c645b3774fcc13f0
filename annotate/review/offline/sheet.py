"""The sheet: items to review as CSV for a spreadsheet program, one row an item.

A cell that a spreadsheet would compute is guarded (``records/sheets.py``). Several labels stand in
one cell, apart by semicolons; truth values are ``yes`` and ``no``, which no program changes.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Mapping

from ....prompts.catalogue import Value
from ....records.errors import InputError
from ....records.sheets import guarded
from ..fields import FIELDS, readable_fields
from ..form import NOTE, Question, ReviewForm
from .handout import Handout, HandoutCase, on_the_wire

ITEM = "item_id"
STATUS = "status"
REVIEWER = "reviewer"
READ = (ITEM, *(field.name for field in FIELDS))
"""The columns that a reviewer reads."""
FILLED = (NOTE, STATUS, REVIEWER)
"""The columns that a reviewer fills in, after those of the attributes."""
SUGGESTED = "suggested"
ORIGIN = "origin"
KEPT = (SUGGESTED, ORIGIN)
"""The columns that import needs and nobody changes: JSON, which no program takes for a number."""
LONGEST_CELL = 32_000
"""Characters of an item's text in a cell: a spreadsheet program breaks longer ones apart."""

_WHOLE = re.compile(r"([0-9]{1,9})([.,]0+)?")
_TRUTH = {"yes": "true", "no": "false", "true": "true", "false": "false"}


def write_sheet(handout: Handout) -> str:
    """Write a handout as CSV.

    Raises:
        InputError: an attribute is called as one of the sheet's own columns.
    """
    form = handout.form
    _check_names(form)
    text = io.StringIO()
    names = [*READ, *(question.name for question in form), *FILLED, *KEPT]
    writer = csv.DictWriter(text, names)
    writer.writeheader()
    for one in handout.cases:
        row = {**_read(one), **_answers(one, form), **_filled(handout), **_kept(one, handout)}
        writer.writerow({name: guarded(cell) for name, cell in row.items()})
    return text.getvalue()


def write_answer(question: Question, value: Value) -> str:
    """Write a value as a cell."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return _separator(question).join(value) if isinstance(value, list) else str(value)


def wire_answer(question: Question, cell: str) -> object:
    """Read a cell as a wire value, which ``Question.read`` judges.

    A spreadsheet program may have written ``TRUE`` for ``true``, and ``1.0`` for ``1``.

    Raises:
        ValueError: it is neither yes nor no, where one of them is asked.
    """
    if question.kind == "rating":
        whole = _WHOLE.fullmatch(cell)
        return int(whole[1]) if whole else cell
    if question.attribute.type == "boolean":
        if cell.lower() not in _TRUTH:
            raise ValueError(f"{question.name}: {cell!r} is neither yes nor no")
        return _TRUTH[cell.lower()]
    if question.kind == "label":
        return _label(question, cell)
    parts = [part.strip() for part in cell.split(_separator(question).strip(" "))]
    return [_label(question, part) for part in parts if part]


def _label(question: Question, cell: str) -> str:
    """The label that a cell names: as it is, in capitals, or in words as people are shown it."""
    names = [option.name for option in question.options]
    for read in (str.strip, _in_words):
        found = [name for name in names if read(name) == read(cell)]
        if len(found) == 1:
            return found[0]
    return cell


def _in_words(text: str) -> str:
    return text.strip().replace("_", " ").casefold()


def _separator(question: Question) -> str:
    """The first separator that occurs in no label."""
    labels = [option.name for option in question.options]
    signs = ("; ", " | ")
    return next((s for s in signs if not any(s.strip() in label for label in labels)), "\n")


def _check_names(form: ReviewForm) -> None:
    for question in form:
        if question.name in {*READ, *FILLED, *KEPT}:
            raise InputError(
                f"an attribute is called {question.name!r}, as a column of the sheet is",
                wanted="another name",
                mend="review it on the page, or rename the attribute",
            )


def _read(one: HandoutCase) -> dict[str, str]:
    texts = readable_fields(one.case)
    return {ITEM: one.case.item_id, **{name: _short(text) for name, text in texts.items()}}


def _short(text: str) -> str:
    if len(text) <= LONGEST_CELL:
        return text
    return f"{text[:LONGEST_CELL]} [... {len(text) - LONGEST_CELL} more characters on the page]"


def _answers(one: HandoutCase, form: ReviewForm) -> dict[str, str]:
    suggested = one.suggested(form)
    return {name: write_answer(form[name], value) for name, value in suggested.items()}


def _filled(handout: Handout) -> dict[str, str]:
    return {NOTE: "", STATUS: "", REVIEWER: handout.reviewer}


def _kept(one: HandoutCase, handout: Handout) -> Mapping[str, str]:
    case, form = one.case, handout.form
    own = {"mode": one.mode, "content_hash": case.content_hash, "questions": len(form.questions)}
    origin = {**handout.about, **own}
    suggested = on_the_wire(one.suggested(form), form)
    return {SUGGESTED: json.dumps(suggested), ORIGIN: json.dumps(origin)}
