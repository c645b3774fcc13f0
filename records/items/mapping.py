"""The column mapping: which columns of a source hold what an item is made of."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

from pydantic import ValidationError, field_validator

from ..documents import StrictModel
from ..errors import InputError, suggestion
from .coding import CHOICE_CODINGS, CODINGS, Coding

_PLACE = re.compile(r"\{([^{}]+)\}")

Pattern = str
"""A regular expression; its first group is what is wanted."""


class ColumnMapping(StrictModel):
    """Where an item's parts are found. A column may be a path into records: ``choices.text``."""

    question: str
    """A column, or a text with columns in braces: ``{activity_label}: {ctx}``."""
    context: str | None = None
    choices: str | list[str] | None = None
    """A column of lists, or several columns; none for open questions."""
    labels: str | None = None
    """The column of the choices' labels, for the coding ``label``."""
    answer: str | None = None
    coding: Coding | None = None
    """How the answer is coded; when it is not stated, the values have to allow one reading only."""
    accepted: str | None = None
    """Further answers that are accepted as right."""
    subset: str | None = None
    split: str | None = None
    split_names: dict[str, str] = {}
    """What the values of the split column are called here: ``val: validation``."""
    id: str | None = None
    """The source's own id; without one, rows are counted within their subset."""
    count_from: int = 0
    """The number of the first row, where rows are counted."""
    kind: Literal["multiple_choice", "generative", "mixed"] | None = None
    """``mixed``: an item without choices is an open question, not a faulty one."""
    rows: dict[str, str] = {}
    """Read only the rows that have these texts in these columns."""
    separators: dict[str, str] = {}
    """What separates the values of a column that holds several in one text."""
    answer_pattern: Pattern | None = None
    """Where the answer stands within the text of the answer column."""
    id_pattern: Pattern | None = None
    """Where the id stands within the text of the id column."""

    @field_validator("answer_pattern", "id_pattern")
    @classmethod
    def _pattern_has_a_group(cls, pattern: str | None) -> str | None:
        if pattern is not None and re.compile(pattern).groups < 1:
            raise ValueError("a regular expression with a group")
        return pattern

    def asks_for_choice(self, choices: Sequence[str]) -> bool:
        """Tell whether an item with these choices is multiple choice."""
        if self.kind is None:
            return self.choices is not None
        return self.kind == "multiple_choice" or (self.kind == "mixed" and bool(choices))

    def question_columns(self, columns: Iterable[str]) -> list[str]:
        """List the columns in the question's text; none when it is a column itself."""
        return [] if self.question in columns else _PLACE.findall(self.question)

    def missing_columns(self, columns: Sequence[str]) -> list[str]:
        """List the columns that the mapping names and a source with ``columns`` lacks."""
        choices = [self.choices] if isinstance(self.choices, str) else self.choices or []
        named = (
            *(self.question_columns(columns) or [self.question]),
            *(self.context, *choices, self.labels, self.answer, self.accepted),
            *(self.subset, self.split, self.id, *self.rows),
        )
        return [name for name in named if name is not None and name not in columns]


def fill(text: str, values: Mapping[str, str]) -> str:
    """Put values in place of the columns in braces; what stands in a value is left alone.

    >>> fill("{a}: {b}", {"a": "{b}", "b": "x "})
    '{b}: x'
    """
    return _PLACE.sub(lambda place: values[place[1]], text).strip()


_MAPPED = ("question", "context", "choices", "labels", "answer", "accepted", "subset", "split")
_OPTIONS = (*_MAPPED, "id", "kind")


def mapping_options(options: Iterable[str], coding: str | None) -> dict[str, Any]:
    """Read ``--map PART=COLUMN`` options and ``--answer CODING`` into fields of a mapping.

    Raises:
        InputError: an option has no ``=``, an unknown part or coding, or comes twice.
    """
    fields: dict[str, Any] = {}
    for option in options:
        part, equals, column = option.partition("=")
        if not equals or not column:
            raise InputError(
                f"--map {option!r}",
                wanted="PART=COLUMN",
                mend="write it as in --map question=COLUMN",
            )
        if part not in _OPTIONS:
            raise InputError(
                f"--map {option!r} maps the unknown part {part!r}",
                wanted="a part of an item",
                mend=suggestion(part, _OPTIONS),
            )
        if part in fields:
            raise InputError(
                f"--map {part}=... twice", wanted="each part once", mend="remove one of them"
            )
        fields[part] = column
    if coding is not None:
        if coding not in CODINGS:
            raise InputError(
                f"the answer coding {coding!r}",
                wanted="a known coding",
                mend=suggestion(coding, CODINGS),
            )
        fields["coding"] = coding
    return fields


def make_mapping(fields: Mapping[str, Any], columns: Sequence[str]) -> ColumnMapping:
    """Make a mapping of a user's fields for a source with ``columns``.

    ``choices`` may name several columns, separated by commas.

    Raises:
        InputError: there is no question, or a field does not fit.
    """
    fields = dict(fields)
    choices = fields.get("choices")
    if isinstance(choices, str) and choices not in columns and "," in choices:
        fields["choices"] = [name.strip() for name in choices.split(",")]
    if "question" not in fields:
        raise InputError(
            "no column is mapped to the question",
            wanted="--map question=COLUMN",
            mend=f"choose among the columns {', '.join(columns)}",
        )
    try:
        return ColumnMapping.model_validate(fields)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise InputError(
            f"--map {first['loc'][0]}={first['input']}",
            wanted=first["msg"].removeprefix("Input should be "),
            mend="mend the option",
        ) from error


def check_mapping(mapping: ColumnMapping, columns: Sequence[str], *, source: str) -> None:
    """Refuse a mapping that names columns the source lacks, or that contradicts itself.

    Raises:
        InputError: naming the column or the coding, and the one that was probably meant.
    """
    missing = mapping.missing_columns(columns)
    if missing:
        raise InputError(
            f"{source} has no column {missing[0]!r}",
            wanted="a column that is there",
            mend=suggestion(missing[0], columns),
        )
    coding = mapping.coding
    if mapping.answer is None and coding not in {"first", "none"}:
        raise InputError(
            "no column is mapped to the answer",
            wanted="a key or a reference answer for each item",
            mend=f"add --map answer=COLUMN with one of {', '.join(columns)}, "
            "or --answer none when there is no key",
        )
    choices = mapping.choices is not None and mapping.kind != "generative"
    if coding is None or coding == "none":
        return
    if choices != (coding in CHOICE_CODINGS) and mapping.kind != "mixed":
        fitting = sorted(CHOICE_CODINGS if choices else CODINGS.keys() - CHOICE_CODINGS)
        raise InputError(
            f"the answer coding {coding!r} for {'items with choices' if choices else 'questions'}"
            f"{'' if choices else ' without choices'}",
            wanted=f"one of {', '.join(fitting)}",
            mend="change --answer, or map the choices" if not choices else "change --answer",
        )
    labelled = mapping.labels or any(n.startswith(f"{mapping.choices}.") for n in columns)
    if coding == "label" and not labelled:
        raise InputError(
            "the answer coding 'label' without labels",
            wanted="the column of the choices' labels",
            mend="add --map labels=COLUMN",
        )
