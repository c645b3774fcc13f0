"""What an export is made of: the tables of its card."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...annotate.ledger.panel import PEOPLE, kind_of
from ...prompts.catalogue import Attribute
from ...records.errors import enumerated
from ...records.items.cells import text_of
from .subset import ExportedSource, ExportedSubset

REPLAY = "llm:replay:"
"""How the names of annotators begin that repeat what was recorded."""

_MEASURES = {
    "cbrc": "CBRC: its benchmarks rank models alike",
    "ds": "DS: it tells models apart",
    "cad": "CAD: stronger models of a family solve what weaker ones solve",
    "bqs": "BQS: all three",
    "ranking_consistency": "ranking consistency: tau with the ranking on the whole sources",
    "stability": "stability: tau between rankings on resamples of the items",
}


@dataclass(frozen=True, slots=True)
class BenchmarkRow:
    """One benchmark's part of a subset."""

    source: ExportedSource
    share: float
    """Of the subset's items."""


@dataclass(frozen=True, slots=True)
class AttributeRow:
    """How the values of one attribute are spread."""

    attribute: Attribute
    given: int
    """Items that have a value."""
    missing: int
    """Items that have none, and whose kind is asked."""
    shares: Mapping[str, float]
    """Of the given values, each that occurs, in the catalogue's order; of several labels at once
    the items that have the label."""
    sources: Mapping[str, int]
    """Items by the provenance of their value, the most frequent first."""
    confidence: float | None
    """The mean, where anything measures it."""


@dataclass(frozen=True, slots=True)
class Coverage:
    """Who gave the attributes' values, over all of them."""

    values: int
    missing: int
    """Values that there are none of; those that are not asked of an item's kind are not counted."""
    sources: Mapping[str, int]

    @property
    def by_machine(self) -> int:
        """Values that no person gave or confirmed."""
        return sum(n for source, n in self.sources.items() if not source.startswith("human"))


@dataclass(frozen=True, slots=True)
class JudgementRow:
    """One measure of a subset: its number, and what stands beside it."""

    measure: str
    found: Mapping[str, Any]
    held_out: Mapping[str, Any] | None
    """By the models that had no part in the choice, where others had."""


def benchmark_rows(export: ExportedSubset) -> list[BenchmarkRow]:
    """The benchmarks' parts, in the order of their names."""
    return [BenchmarkRow(s, s.items / export.items.num_rows) for s in export.sources]


def attribute_rows(export: ExportedSubset) -> list[AttributeRow]:
    """How the attributes' values are spread, in the catalogue's order."""
    return [_row(export, attribute) for attribute in export.catalogue or ()]


def _row(export: ExportedSubset, attribute: Attribute) -> AttributeRow:
    values = [v for v in export.items[attribute.id].to_pylist() if v is not None]
    counts = Counter(text_of(one) for value in values for one in _each(value))
    known = [text for value in attribute.values if counts[text := text_of(value)]]
    confidences = export.items[f"{attribute.id}_confidence"].drop_null().to_numpy()
    return AttributeRow(
        attribute,
        given=len(values),
        missing=_asked(export, attribute) - len(values),
        shares={text: counts[text] / len(values) for text in known},
        sources=_by_source(export, attribute),
        confidence=float(np.mean(confidences)) if len(confidences) else None,
    )


def _each(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list) else [value]


def _by_source(export: ExportedSubset, attribute: Attribute) -> dict[str, int]:
    found = export.items[f"{attribute.id}_source"].drop_null().to_pylist()
    return dict(sorted(Counter(found).items(), key=lambda pair: (-pair[1], pair[0])))


def annotators(export: ExportedSubset) -> list[str]:
    """Who gave values of the chosen items, as the lock has it; people are counted, not named."""
    told = export.lock["annotators"]
    models = {(one["annotator"], one.get("model") or "") for one in told}
    people = {name for name, _ in models if kind_of(name) in PEOPLE}
    lines = [_in_words(*one) for one in sorted(models) if one[0] not in people]
    return [*lines, *([people_in_words(len(people))] if people else [])]


def people_in_words(number: int) -> str:
    """Say how many people, not who.

    >>> people_in_words(1), people_in_words(2)
    ('1 person', '2 people')
    """
    return "1 person" if number == 1 else f"{number} people"


def _in_words(name: str, model: str) -> str:
    replay = ": a replay of recorded annotations, no model was asked"
    words = f"{name} ({model})" if model else name
    return words + replay if name.startswith(REPLAY) else words


def compared(export: ExportedSubset) -> str:
    """Whose agreement is told."""
    figure = export.agreement[0]
    people = figure.between == "people"
    return people_in_words(len(figure.annotators)) if people else enumerated(figure.annotators)


def judgement_rows(judgement: Mapping[str, Any] | None) -> list[JudgementRow]:
    """What models' results say of a subset as a whole; nothing when it was not judged."""
    if judgement is None:
        return []
    name, others = judgement["subset"], judgement["held_out"]
    held_out = others["measures"][name] if others else {}
    return [
        JudgementRow(_MEASURES.get(measure, measure), found, held_out.get(measure))
        for measure, found in judgement["all"]["measures"][name].items()
    ]


def judges(models: Mapping[str, str | None]) -> str:
    """Say who judged: how many models, and of which families."""
    families = sorted({family for family in models.values() if family})
    number = f"{len(models)} model{'' if len(models) == 1 else 's'}"
    return f"{number} ({', '.join(families)})" if families else number


def coverage(export: ExportedSubset) -> Coverage:
    """Who gave the attributes' values, and how many are missing."""
    total: Counter[str] = Counter()
    for attribute in export.catalogue or ():
        total.update(_by_source(export, attribute))
    asked = sum(_asked(export, attribute) for attribute in export.catalogue or ())
    return Coverage(total.total(), asked - total.total(), dict(sorted(total.items())))


def _asked(export: ExportedSubset, attribute: Attribute) -> int:
    return sum(attribute.asks(kind) for kind in export.items["kind"].to_pylist())
