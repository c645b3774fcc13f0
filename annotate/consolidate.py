"""One value for each item and attribute, out of everything that annotators said.

The best kind of annotator that gave any value decides: adjudication, then people, then language
models, then rules. Among annotators of that kind, a claim needs more than half of them: a level is
the lower median, a truth value is false on a tie, a label among several stays out on a tie. A
single label is the most frequent one, on a tie the first in the catalogue.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Literal, cast

import numpy as np
import pyarrow as pa

from ..prompts.catalogue import NONE_LABEL, Attribute, Catalogue, Value
from .current import Current, current_annotations
from .ledger import Ledger

Provenance = Literal[
    "human_adjudicated", "human_majority", "llm_consensus", "llm_single", "heuristic", "computed"
]
VALUES_SCHEMA = pa.schema(
    [
        ("item_id", pa.string()),
        ("attribute", pa.string()),
        ("value", pa.string()),  # JSON
        ("provenance", pa.string()),
        ("confidence", pa.float64()),  # null when nothing measures it
        ("annotators", pa.int32()),  # how many of the deciding kind gave a value
    ]
)

_PRECEDENCE = ("adjudicator", "human", "llm", "heuristic", "computed")


@dataclass(frozen=True, slots=True)
class Given:
    """What one annotator gave."""

    annotator: str
    value: Value
    confidence: float | None


@dataclass(frozen=True, slots=True)
class Consolidated:
    """The value that stands, and how sure it is."""

    value: Value
    provenance: Provenance
    confidence: float | None
    """Share of the annotators that agree with it (for several labels, their mean overlap with it);
    a single annotator's own confidence."""
    annotators: int


def consolidated_values(ledger: Path, catalogue: Catalogue, items: pa.Table) -> pa.Table:
    """Consolidate what a ledger has about some items.

    What counts is what ``current_annotations`` reads; a failed annotation gives no row.

    Args:
        ledger: The ledger's path; a ledger that is not there yet gives no rows.
        catalogue: The criteria of today.
        items: A table with ``ITEM_SCHEMA``.

    Returns:
        A table with ``VALUES_SCHEMA``.
    """
    with Ledger(ledger) as opened:
        columns = current_annotations(opened, catalogue, items)
    tables = [_consolidated(column, items) for column in columns]
    return pa.concat_tables([VALUES_SCHEMA.empty_table(), *tables])


def consolidate(given: Sequence[Given], attribute: Attribute) -> Consolidated:
    """Make one value out of what annotators gave for one item and attribute.

    >>> from ..prompts.library import load_catalogue
    >>> depth = load_catalogue("core")["reasoning_depth"]
    >>> consolidate([Given("llm:a", 1, None), Given("llm:b", 3, None)], depth)
    Consolidated(value=1, provenance='llm_consensus', confidence=0.5, annotators=2)
    """
    best = min((_kind(g.annotator) for g in given), key=_PRECEDENCE.index)
    decisive = [g for g in given if _kind(g.annotator) == best]
    values = [g.value for g in decisive]
    value = _agreed(values, attribute)
    if len(decisive) == 1:
        confidence = decisive[0].confidence
    else:
        confidence = sum(_overlap(value, other) for other in values) / len(values)
    return Consolidated(value, _provenance(best, len(decisive)), confidence, len(decisive))


def _consolidated(current: Current, items: pa.Table) -> pa.Table:
    """Consolidate one attribute; items of which the same is said are decided once."""
    starts = np.flatnonzero(np.diff(current.rows, prepend=-1))
    confidences = [None if math.isnan(sure) else sure for sure in current.confidences.tolist()]
    said = [*zip(current.annotators.tolist(), current.codes.tolist(), confidences, strict=True)]

    @cache
    def decided(group: tuple[tuple[int, int, float | None], ...]) -> Consolidated:
        names, values = current.names, current.values
        given = [Given(names[who], values[code], sure) for who, code, sure in group]
        return consolidate(given, current.attribute)

    made = [
        decided(tuple(said[start:end])) for start, end in pairwise([*starts.tolist(), len(said)])
    ]
    columns = {
        "item_id": items["item_id"].take(pa.array(current.rows[starts])),
        "attribute": [current.attribute.id] * len(made),
        "value": [json.dumps(one.value) for one in made],
        "provenance": [one.provenance for one in made],
        "confidence": [one.confidence for one in made],
        "annotators": [one.annotators for one in made],
    }
    return pa.table(columns, schema=VALUES_SCHEMA)


def _kind(annotator: str) -> str:
    kind = annotator.partition(":")[0]
    return kind if kind in _PRECEDENCE else "heuristic"


def _provenance(kind: str, annotators: int) -> Provenance:
    if kind == "adjudicator":
        return "human_adjudicated"
    if kind == "human":
        return "human_majority"
    if kind == "llm":
        return "llm_single" if annotators == 1 else "llm_consensus"
    return "computed" if kind == "computed" else "heuristic"


def _agreed(values: Sequence[Value], attribute: Attribute) -> Value:
    order = list(attribute.values)
    if attribute.type == "level":
        return sorted(cast(Sequence[int], values))[(len(values) - 1) // 2]
    if attribute.type == "boolean":
        return 2 * sum(map(bool, values)) > len(values)
    if attribute.type == "label":
        counts = Counter(cast(Sequence[str], values))
        return max(counts, key=lambda label: (counts[label], -order.index(label)))
    return _agreed_labels(cast(Sequence[list[str]], values), [str(label) for label in order])


def _agreed_labels(values: Sequence[list[str]], order: Sequence[str]) -> list[str]:
    """Labels of more than half of the annotators; without any, the most frequent ones."""
    counts = Counter(label for labels in values for label in labels)
    chosen = {label for label, count in counts.items() if 2 * count > len(values)}
    if not chosen and counts:
        most = max(counts.values())
        chosen = {label for label, count in counts.items() if count == most}
        chosen = {NONE_LABEL} if NONE_LABEL in chosen else chosen
    return [label for label in order if label in chosen]


def _overlap(value: Value, other: Value) -> float:
    """1 for equal values, 0 for different ones; the Jaccard index of two lists of labels."""
    if not isinstance(value, list) or not isinstance(other, list):
        return float(value == other)
    union = {*value, *other}
    return len({*value} & {*other}) / len(union) if union else 1.0
