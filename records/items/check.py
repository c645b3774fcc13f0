"""Findings over the items of a project: faults, duplicates, and keys that contradict each other."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from .position import position_dependent
from .record import fold

_DETAILS = {
    "bad_key": "the key is not among the choices, or cannot be read",
    "no_gold": "there is no key or reference answer",
    "missing_choices": "multiple choice without choices",
    "empty_choice": "a choice is empty",
    "duplicate_choices": "two choices are equal",
    "empty_question": "the question is empty",
}


@dataclass(frozen=True, slots=True)
class Finding:
    """Something about an item that a person should look at.

    The faults of the item itself leave it out of scoring and composing; ``conflicting_keys``,
    ``exact_duplicate``, ``shuffled_duplicate`` and ``position_dependent`` do not: they depend on
    the other items or on how the choices are shown.
    """

    benchmark: str
    item_id: str
    fault: str
    detail: str


_Row = Mapping[str, Any]


def find_faults(items: pa.Table) -> list[Finding]:
    """Check the items of one or several benchmarks.

    Args:
        items: a table with ``ITEM_SCHEMA``; duplicates are looked for among all of it.

    Returns:
        The findings in the order of the items; for each item its own faults first.
    """
    columns = ["benchmark", "item_id", "choices", "answer_text", "accepted_answers", "faults"]
    rows = items.select([*columns, "kind", "content_hash", "choice_set_hash"]).to_pylist()
    among: dict[str, list[Finding]] = defaultdict(list)
    for finding in (*_conflicts(rows), *_duplicates(rows)):
        among[finding.item_id].append(finding)
    return [finding for row in rows for finding in (*_own(row), *among.get(row["item_id"], ()))]


def _finding(row: _Row, fault: str, detail: str) -> Finding:
    return Finding(row["benchmark"], row["item_id"], fault, detail)


def _own(row: _Row) -> Iterator[Finding]:
    for fault in row["faults"]:
        yield _finding(row, fault, _DETAILS.get(fault, ""))
    option = position_dependent(row["choices"])
    if option is not None:
        yield _finding(row, "position_dependent", f"the choice {option!r} speaks of other choices")


def _groups(rows: Iterable[_Row], column: str) -> Iterator[list[_Row]]:
    """Yield the rows that share a hash with another row."""
    groups: dict[str, list[_Row]] = defaultdict(list)
    for row in rows:
        groups[row[column]].append(row)
    return (group for group in groups.values() if len(group) > 1)


def _conflicts(rows: Sequence[_Row]) -> Iterator[Finding]:
    for group in _groups(rows, "choice_set_hash"):
        for row in group:
            other = next((other for other in group if _contradict(row, other)), None)
            if other is not None:
                keys = f"key {row['answer_text']!r}, but {other['answer_text']!r}"
                yield _finding(row, "conflicting_keys", f"{keys} in {other['item_id']}")


def _contradict(one: _Row, other: _Row) -> bool:
    if one["answer_text"] is None or other["answer_text"] is None:
        return False
    return _right_answers(one).isdisjoint(_right_answers(other))


def _right_answers(row: _Row) -> set[str]:
    return {fold(text) for text in (row["answer_text"], *row["accepted_answers"])}


def _duplicates(rows: Sequence[_Row]) -> Iterator[Finding]:
    exact = set()
    for group in _groups(rows, "content_hash"):
        for row in group[1:]:
            exact.add(row["item_id"])
            yield _finding(row, "exact_duplicate", f"the same as {group[0]['item_id']}")
    for group in _groups(rows, "choice_set_hash"):
        for row in group[1:]:
            if row["item_id"] not in exact and row["content_hash"] != group[0]["content_hash"]:
                detail = f"{group[0]['item_id']} with its choices in another order"
                yield _finding(row, "shuffled_duplicate", detail)
