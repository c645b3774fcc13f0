"""Which items of the project a log's item may be, and how surely that is known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ...items.record import choice_set_hash, fold
from .items import Found, ProjectItems, first_found

How = Literal["id", "content", "source_id", "processed", "choice_order", "question", "none"]
"""How an item was found, the surest way first.

- ``id``: the log names the project's own id.
- ``content``: question, context and choices are the item's.
- ``source_id``: the log's item carries the source's id, and its text does not contradict it.
- ``processed``: content, in a form that a harness makes of it.
- ``choice_order``: content, with the choices in another order.
- ``question``: the question alone, which no other item of the benchmark asks, of a log that has no
  choices: with other choices it would be another item (MMLU-Pro asks MMLU's questions).
"""

_NUMBERED = {"eq-bench": "eq_bench"}
"""Formats of one benchmark whose items go by number, and the benchmark's preset."""


@dataclass(frozen=True, slots=True)
class LoggedItem:
    """An item as a log holds it."""

    doc_id: str
    source_id: str | None = None
    hashes: tuple[str, ...] = ()
    question: str | None = None
    context: str = ""
    choices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Candidates:
    """The items of the project that a log's item may be."""

    items: Found
    how: How


NOTHING = Candidates((), "none")


class Matcher:
    """Finds candidates; each distinct answer has a code, and the code of nothing is 0."""

    def __init__(self, items: ProjectItems) -> None:
        self._items = items
        self.answers: list[Candidates] = [NOTHING]
        self._codes = {NOTHING: 0}

    def code(self, answer: Candidates) -> int:
        """The code of an answer."""
        if answer not in self._codes:
            self._codes[answer] = len(self.answers)
            self.answers.append(answer)
        return self._codes[answer]

    def logged(self, item: LoggedItem, format_name: str) -> Candidates:
        """Find what an item of a log may be."""
        items = self._items
        for name in (item.source_id, item.doc_id):
            if name in items.by_id:
                return Candidates((items.by_id[name],), "id")
        if format_name in _NUMBERED:
            return self._numbered(item, _NUMBERED[format_name])
        found = first_found(item.hashes, items.by_hash)
        if found:
            return Candidates(self._narrowed(found, item), "content")
        found = self._by_source_id(item)
        return Candidates(found, "source_id") if found else self._by_other_forms(item)

    def tabled(self, benchmark: str | None, item_id: str) -> Candidates:
        """Find what a row of a table may be, which names its item by some id.

        Args:
            benchmark: the project's benchmark that the row is of; none when it is not known. Then
                a plain number names no item.
            item_id: the project's id, the source's id, or the row where items are counted.
        """
        items = self._items
        if item_id in items.by_id:
            return Candidates((items.by_id[item_id],), "id")
        if benchmark is not None:
            found = items.by_row(benchmark).get(item_id, ()) or self._of(benchmark, item_id)
        else:
            found = () if item_id.isdigit() else items.by_source_id.get(item_id, ())
        return Candidates(found, "source_id") if found else NOTHING

    def _of(self, benchmark: str, source_id: str) -> Found:
        found = self._items.by_source_id.get(source_id, ())
        return tuple(at for at in found if self._items.benchmarks[at] == benchmark)

    def _numbered(self, item: LoggedItem, preset: str) -> Candidates:
        benchmark = self._items.benchmark_called(preset)
        found = self._items.by_row(benchmark).get(item.doc_id, ()) if benchmark else ()
        return Candidates(found, "source_id") if found else NOTHING

    def _narrowed(self, found: Found, item: LoggedItem) -> Found:
        """Of items with the same content, the one that also has the log's source id."""
        if len(found) == 1 or item.source_id is None:
            return found
        named = set(self._items.by_source_id.get(item.source_id, ()))
        return tuple(at for at in found if at in named) or found

    def _by_source_id(self, item: LoggedItem) -> Found:
        """Items with the log's source id, if that can be trusted.

        A plain number names items of many benchmarks, and a changed copy keeps its original's id:
        the texts have to agree. Without a text, a number is not trusted.
        """
        if item.source_id is None:
            return ()
        found = self._items.by_source_id.get(item.source_id, ())
        if item.question is None:
            return () if item.source_id.isdigit() else found
        return tuple(at for at in found if _agree(self._items.question(at), item.question))

    def _by_other_forms(self, item: LoggedItem) -> Candidates:
        items = self._items
        found = first_found(item.hashes, items.by_form)
        if found:
            return Candidates(found, "processed")
        if item.question is None:
            return NOTHING
        if item.choices:
            shuffled = choice_set_hash(item.question, item.context, item.choices)
            found = items.by_choice_set.get(shuffled, ())
            return Candidates(found, "choice_order") if found else NOTHING
        found = items.by_question.get(fold(item.question), ())
        return Candidates(found, "question") if found else NOTHING


def _agree(question: str, logged: str) -> bool:
    """Tell whether one text is inside the other, signs and case aside.

    >>> _agree("What is 2 + 3?", "Question: what is 2+3?\\nAnswer:"), _agree("2 + 3?", "2 + 4?")
    (True, False)
    """
    first, second = ("".join(filter(str.isalnum, text.lower())) for text in (question, logged))
    return bool(first) and (first in second or (len(second) > len(first) // 2 and second in first))
