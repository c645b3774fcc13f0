"""The key or reference answer of one row, by the mapping's answer coding."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from ..errors import InputError
from .answers import Gold, accepted_texts, choice_gold, open_gold
from .cells import Cells, cell, is_empty, is_list
from .choices import Choices, read_choices, several
from .coding import CHOICE_CODINGS, CODINGS, CodedAnswer, sole_coding
from .mapping import ColumnMapping
from .record import fold
from .source import Row, Source


def read_gold(cells: Cells, mapping: ColumnMapping, choices: Choices) -> Gold:
    """Read the answer of a row, and the further answers that are accepted."""
    gold = _answer(cells, mapping, choices)
    if mapping.accepted is None:
        return gold
    separator = mapping.separators.get(mapping.accepted)
    value = cell(cells, mapping.accepted)
    texts = several(value, separator) if separator is not None else accepted_texts(value)
    further = {fold(gold.text or ""): "", "": ""}
    for text in (*gold.accepted, *texts):
        further.setdefault(fold(text), text)
    return replace(gold, accepted=tuple(text for text in further.values() if text))


def _answer(cells: Cells, mapping: ColumnMapping, choices: Choices) -> Gold:
    value = cell(cells, mapping.answer) if mapping.answer is not None else None
    coding = mapping.coding or "none"
    if not mapping.asks_for_choice(choices.texts):
        pattern = re.compile(mapping.answer_pattern) if mapping.answer_pattern else None
        return open_gold(value, "free" if coding in CHOICE_CODINGS else coding, pattern)
    if choices.texts:
        return choice_gold(value, coding, choices.texts, choices.labels)
    return Gold(fault="no_gold") if mapping.answer and is_empty(value) else Gold()


def settle_coding(mapping: ColumnMapping, source: Source) -> ColumnMapping:
    """Fill in an answer coding that was not stated, if the answers allow only one.

    Raises:
        InputError: they allow several, or none.
    """
    if mapping.coding is not None:
        return mapping
    answers: list[CodedAnswer] = []
    for row in source.rows:
        choices = read_choices(row, mapping, source=source.name)
        value = cell(row.cells, mapping.answer or "")
        if mapping.asks_for_choice(choices.texts):
            answers.append(CodedAnswer(row.place, value, choices.texts, choices.labels))
        elif is_list(value) or isinstance(value, dict):
            raise InputError(
                f"{source.name}, {row.place}: the answer {value!r} is not one text",
                wanted="the answer coding stated",
                mend="add --answer list if each of several answers is right",
            )
    coding = sole_coding(answers, source=source.name) if answers else "free"
    return mapping.model_copy(update={"coding": coding})


def check_readable(
    golds: Sequence[tuple[Row, Gold]], mapping: ColumnMapping, source: Source
) -> None:
    """Refuse a coding that none of the answers fits: it is the wrong one.

    Single answers that do not fit are faults of their items.

    Raises:
        InputError: naming the first answer.
    """
    given = [(row, gold) for row, gold in golds if gold.text is not None or gold.fault == "bad_key"]
    if not given or not all(gold.unreadable for _, gold in given):
        return
    row, coding = given[0][0], mapping.coding or "none"
    value = cell(row.cells, mapping.answer or "")
    pattern = f", pattern {mapping.answer_pattern!r}" if mapping.answer_pattern else ""
    raise InputError(
        f"{source.name}, {row.place}: the answer {value!r} does not fit the coding {coding!r} "
        f"({CODINGS[coding]}{pattern}), nor does any other answer",
        wanted="answers in the stated coding",
        mend="state the coding that fits with --answer, or check the answer's column",
    )
