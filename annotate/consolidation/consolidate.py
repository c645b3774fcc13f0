"""One value for each item and attribute, out of everything that annotators said.

The best kind of annotator that gave any value decides: adjudication, then people, then language
models, then rules. Among annotators of that kind a policy decides (``policy.py``); the settings of
a project are for its language models.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ...metrics.raters.patterns import Codes
from ...prompts.catalogue import Catalogue, Value
from ..ledger.current import Current, current_annotations
from ..ledger.panel import KINDS, Kind, kind_of
from ..ledger.store import Ledger
from .policy import ConsolidationSettings
from .rating_matrix import RatingMatrix, rating_matrix
from .settling import Settled, settle

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
        ("confidence_source", pa.string()),  # what measures it; see ConfidenceSource
        ("annotators", pa.int32()),  # how many of the deciding kind gave a value
    ]
)
UNDECIDED_SCHEMA = pa.schema(
    [
        ("item_id", pa.string()),
        ("attribute", pa.string()),
        ("reason", pa.string()),  # tie, too few annotators, ...
        ("annotators", pa.int32()),
    ]
)

_SEVERAL: dict[Kind, Provenance] = {
    "adjudicator": "human_adjudicated",
    "human": "human_majority",
    "llm": "llm_consensus",
    "heuristic": "heuristic",
    "computed": "computed",
}


@dataclass(frozen=True, slots=True, eq=False)
class Consolidation:
    """What comes out of everything that annotators said."""

    values: pa.Table
    """The values that exist; with ``VALUES_SCHEMA``."""
    undecided: pa.Table
    """Items for which annotators gave values and no value comes out; ``UNDECIDED_SCHEMA``."""
    notes: tuple[str, ...]
    """Where the method that was asked for could not decide."""


def consolidated_values(
    ledger: Path,
    catalogue: Catalogue,
    items: pa.Table,
    settings: ConsolidationSettings | None = None,
) -> pa.Table:
    """Consolidate what a ledger has about some items.

    Returns:
        A table with ``VALUES_SCHEMA``; see ``consolidation``.
    """
    return consolidation(ledger, catalogue, items, settings).values


def consolidation(
    ledger: Path,
    catalogue: Catalogue,
    items: pa.Table,
    settings: ConsolidationSettings | None = None,
) -> Consolidation:
    """Consolidate what a ledger has about some items, and tell what could not be decided.

    What counts is what ``current_annotations`` reads; a failed annotation gives no row.

    Args:
        ledger: The ledger's path; a ledger that is not there yet gives no rows.
        catalogue: The criteria of today.
        items: A table with ``ITEM_SCHEMA``. Where Dawid-Skene decides, all of them have a part in
            each value.
        settings: How one value is made of several.
    """
    with Ledger(ledger) as opened:
        columns = current_annotations(opened, catalogue, items)
    return consolidate(columns, items, settings or ConsolidationSettings())


def consolidate(
    columns: Sequence[Current], items: pa.Table, settings: ConsolidationSettings
) -> Consolidation:
    """Consolidate what annotators say, attribute by attribute."""
    made = [
        (current.attribute.id, decided)
        for current in columns
        for decided in _by_kind(rating_matrix(current, items.num_rows), settings)
    ]
    ids = items["item_id"]
    values = [_values(ids, attribute, decided) for attribute, decided in made]
    undecided = [_undecided(ids, attribute, decided) for attribute, decided in made]
    return Consolidation(
        pa.concat_tables([VALUES_SCHEMA.empty_table(), *values]),
        pa.concat_tables([UNDECIDED_SCHEMA.empty_table(), *undecided]),
        tuple(_notes(made, settings, columns)),
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Decided:
    """What annotators of one kind decide."""

    kind: Kind
    rows: Codes
    """The items that are theirs to decide."""
    settled: Settled


def _by_kind(matrix: RatingMatrix, settings: ConsolidationSettings) -> Iterator[_Decided]:
    """Let each kind decide about the items of which no better kind said anything."""
    open_ = np.ones(len(matrix.codes), dtype=np.bool_)
    policy = settings.of(matrix.attribute.type)
    for kind in KINDS:
        own = matrix.of([name for name in matrix.annotators if kind_of(name) == kind])
        rated = own.rated.any(axis=1)
        theirs = open_ & rated
        if theirs.any():
            settled = settle(own, policy if kind == "llm" else policy.for_others)
            yield _Decided(kind, np.flatnonzero(theirs), settled)
        open_ &= ~rated


def _values(ids: pa.ChunkedArray, attribute: str, decided: _Decided) -> pa.Table:
    made = decided.settled
    rows = decided.rows[made.codes[decided.rows] >= 0]
    annotators = made.annotators[rows]
    provenance = np.where(annotators > 1, _SEVERAL[decided.kind], _single(decided.kind))
    columns = {
        "item_id": ids.take(pa.array(rows)),
        "attribute": _same(attribute, len(rows)),
        "value": _texts(made.values, made.codes[rows]),
        "provenance": pa.array(provenance.tolist(), pa.string()),
        "confidence": pa.array(made.confidences[rows], from_pandas=True),
        "confidence_source": pa.array(made.sources[rows].tolist(), pa.string()),
        "annotators": pa.array(annotators, pa.int32()),
    }
    return pa.table(columns, schema=VALUES_SCHEMA)


def _undecided(ids: pa.ChunkedArray, attribute: str, decided: _Decided) -> pa.Table:
    made = decided.settled
    rows = decided.rows[made.codes[decided.rows] < 0]
    columns = {
        "item_id": ids.take(pa.array(rows)),
        "attribute": _same(attribute, len(rows)),
        "reason": pa.array(made.reasons[rows].tolist(), pa.string()),
        "annotators": pa.array(made.annotators[rows], pa.int32()),
    }
    return pa.table(columns, schema=UNDECIDED_SCHEMA)


def _notes(
    made: Sequence[tuple[str, _Decided]],
    settings: ConsolidationSettings,
    columns: Sequence[Current],
) -> Iterator[str]:
    """Say each note once, with the attributes that it holds of."""
    types = {current.attribute.id: current.attribute.type for current in columns}
    grouped: dict[str, list[str]] = {}
    for attribute, decided in made:
        if decided.settled.note:
            method = settings.of(types[attribute]).method
            grouped.setdefault(f"{method}: {decided.settled.note}", []).append(attribute)
    for note, attributes in grouped.items():
        yield f"consolidation of {', '.join(attributes)} by {note}"


def _single(kind: Kind) -> Provenance:
    return "llm_single" if kind == "llm" else _SEVERAL[kind]


def _texts(values: Sequence[Value], codes: NDArray[np.int64]) -> pa.Array:
    texts = pa.array([json.dumps(value) for value in values], pa.string())
    return texts.take(pa.array(codes))


def _same(text: str, number: int) -> pa.Array:
    return pa.array([text] * number, pa.string())
