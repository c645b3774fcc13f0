"""Items built from the rows of sources by a column mapping."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ..errors import InputError, suggestion
from .answers import Gold
from .cells import cell, is_empty, text_of, to_json
from .choices import Choices, choice_faults, read_choices
from .gold import check_readable, read_gold, settle_coding
from .mapping import ColumnMapping, check_mapping, fill
from .record import Item, content_hashes, fold
from .source import Row, Source


@dataclass(frozen=True, slots=True)
class Part:
    """Which part of a benchmark to build.

    Where the source has a column for it, a name chooses rows; elsewhere it names them all.
    """

    split: str | None = None
    subset: str | None = None
    default_split: str = ""
    """The split of rows where neither the source nor ``split`` tells."""


@dataclass(frozen=True, slots=True)
class _PlacedRow:
    """A row and its place in the benchmark."""

    row: Row
    number: int
    subset: str
    split: str
    count: int
    """Its number among the rows of its subset and split."""


def build_items(
    benchmark: str, sources: Sequence[Source], mapping: ColumnMapping, part: Part | None = None
) -> list[Item]:
    """Build the items of a benchmark.

    Returns:
        The items in the order of their sources, faulty ones with their faults among them.

    Raises:
        InputError: a column is missing, an answer could be read in several ways, no answer has
            the form of its coding, two rows have one id, or the asked part is not there.
    """
    items: list[Item] = []
    places: dict[str, str] = {}
    for source in sources:
        settled = settle_mapping(mapping, source)
        golds: list[tuple[Row, Gold]] = []
        for placed in _placed_rows(source, settled, part or Part()):
            item, gold = _item(benchmark, source, placed, settled)
            place = f"{source.name}, {placed.row.place}"
            if places.setdefault(item.item_id, place) != place:
                raise _twice(item.item_id, places[item.item_id], place)
            items.append(item)
            golds.append((placed.row, gold))
        check_readable(golds, settled, source)
    if not items:
        raise _nothing(sources, mapping, part or Part())
    return items


def settle_mapping(mapping: ColumnMapping, source: Source) -> ColumnMapping:
    """Check a mapping against its source, and fill in an answer coding that was not stated.

    Raises:
        InputError: as ``check_mapping`` and ``settle_coding``.
    """
    check_mapping(mapping, source.columns, source=source.name)
    return settle_coding(mapping, source)


def _placed_rows(source: Source, mapping: ColumnMapping, part: Part) -> Iterator[_PlacedRow]:
    counts: Counter[tuple[str, str]] = Counter()
    for number, row in enumerate(source.rows):
        if any(text_of(cell(row.cells, name)) != text for name, text in mapping.rows.items()):
            continue
        subset, split = _subset(row, source, mapping, part), _split(row, source, mapping, part)
        counts[subset, split] += 1
        if part.subset in {None, subset} and part.split in {None, split}:
            count = counts[subset, split] - 1 + mapping.count_from
            yield _PlacedRow(row, number, subset, split, count)


def _subset(row: Row, source: Source, mapping: ColumnMapping, part: Part) -> str:
    if mapping.subset is not None:
        return text_of(cell(row.cells, mapping.subset))
    return source.subset or part.subset or ""


def _split(row: Row, source: Source, mapping: ColumnMapping, part: Part) -> str:
    if source.split is not None:
        return source.split
    if mapping.split is not None:
        value = text_of(cell(row.cells, mapping.split))
        return mapping.split_names.get(value, value)
    return part.split or part.default_split


def _item(
    benchmark: str, source: Source, placed: _PlacedRow, mapping: ColumnMapping
) -> tuple[Item, Gold]:
    cells = placed.row.cells
    question = _question(placed.row, source, mapping)
    context = text_of(cell(cells, mapping.context)) if mapping.context else ""
    choices = read_choices(placed.row, mapping, source=source.name)
    gold = read_gold(cells, mapping, choices)
    hashes = content_hashes(question, context, choices.texts)
    name = _source_id(placed.row, source, mapping) if mapping.id else str(placed.count)
    item = Item(
        item_id="/".join(filter(None, (benchmark, placed.subset, placed.split, name))),
        benchmark=benchmark,
        subset=placed.subset,
        split=placed.split,
        row=placed.number,
        revision=source.revision,
        question=question,
        context=context,
        choices=choices.texts,
        answer_index=gold.index,
        answer_text=gold.text,
        accepted_answers=gold.accepted,
        kind="multiple_choice" if mapping.asks_for_choice(choices.texts) else "generative",
        faults=_faults(question, choices, mapping, gold),
        source=_source_json(placed.row, source),
        content_hash=hashes[0],
        choice_set_hash=hashes[1],
    )
    return item, gold


def _question(row: Row, source: Source, mapping: ColumnMapping) -> str:
    columns = mapping.question_columns(source.columns)
    if not columns:
        return text_of(cell(row.cells, mapping.question))
    return fill(mapping.question, {name: text_of(cell(row.cells, name)) for name in columns})


def _source_id(row: Row, source: Source, mapping: ColumnMapping) -> str:
    value = cell(row.cells, mapping.id or "")
    text = text_of(value).strip()
    if mapping.id_pattern is not None:
        found = re.search(mapping.id_pattern, text)
        text = found[1] if found else ""
    if is_empty(value) or not text:
        raise InputError(
            f"{source.name}, {row.place}: no id in the column {mapping.id!r} ({value!r})",
            wanted="an id in each row",
            mend="mend the row, or map no id so that rows are counted",
        )
    return text


def _faults(question: str, choices: Choices, mapping: ColumnMapping, gold: Gold) -> tuple[str, ...]:
    faults = [] if fold(question) else ["empty_question"]
    if mapping.asks_for_choice(choices.texts):
        faults += choice_faults(choices.texts)
    if gold.fault is not None:
        faults.append(gold.fault)
    return tuple(faults)


def _source_json(row: Row, source: Source) -> str:
    text = to_json(row.cells)
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise InputError(
            f"{source.name}, {row.place}: half a surrogate pair ({text[error.start]!r})",
            wanted="Unicode text",
            mend="mend the text, or write the file again as UTF-8",
        ) from error
    return text


def _twice(item_id: str, first: str, second: str) -> InputError:
    return InputError(
        f"the id {item_id!r} twice, at {first} and at {second}",
        wanted="each id once",
        mend="mend the ids, or map no id so that rows are counted",
    )


def _nothing(sources: Sequence[Source], mapping: ColumnMapping, part: Part) -> InputError:
    names = ", ".join(source.name for source in sources)
    places = [p for source in sources for p in _placed_rows(source, mapping, Part())]
    for kind, name, found in (
        ("split", part.split, {p.split for p in places}),
        ("subset", part.subset, {p.subset for p in places}),
    ):
        if name is not None and name not in found:
            return InputError(
                f"{names} has no rows of the {kind} {name!r}",
                wanted=f"a {kind} that is there",
                mend=suggestion(name, found),
            )
    return InputError(
        f"{names} has no rows with {mapping.rows}",
        wanted="items of the benchmark",
        mend="check that the file is of this benchmark",
    )
