"""A case: one item to review, with what annotators made of it so far."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ...metrics.raters.patterns import Codes
from ...prompts.catalogue import Value
from ..ledger.current import Current

_AT_ONCE = 500
"""Items that are in memory as Python values."""


@dataclass(frozen=True, slots=True)
class Suggestion:
    """What a reviewer is shown as the answer so far."""

    value: Value
    confidence: float | None
    """From 0 to 1; none when nothing measures it."""
    agent: str
    """Who says so: the one annotator's name, or of several how they were made one."""


@dataclass(frozen=True, slots=True)
class Case:
    """One item to review."""

    item_id: str
    content_hash: str
    kind: str
    benchmark: str
    subset: str
    question: str
    context: str
    choices: tuple[str, ...]
    answer_index: int | None
    answer_text: str | None
    suggestions: Mapping[str, Suggestion]
    """By attribute; empty when the reviewer is to see none."""
    confidence: float | None
    """The lowest of the values' confidences; none when nothing measures one."""
    disagreement: float | None
    """The share of attributes on which annotators differ; none without two on any."""
    reasons: tuple[str, ...]
    """Why it is reviewed: ``calibration``, ``low_confidence``, ``disagreement``, ``failed``,
    ``consequence``, ``all``."""
    reviewers: tuple[str, ...]
    """To whom it is assigned; empty when to anyone."""
    said: str = ""
    """What annotators said, for the person who decides between them; else empty."""


@dataclass(frozen=True, slots=True)
class Errand:
    """Why an item is reviewed, and by whom."""

    reasons: tuple[str, ...] = ("all",)
    reviewers: tuple[str, ...] = ()


def cases(
    items: pa.Table,
    values: pa.Table,
    *,
    said: Sequence[Current] = (),
    errands: Mapping[str, Errand] | None = None,
    attributes: Collection[str] | None = None,
    blind: bool = False,
) -> Iterator[Case]:
    """Make the cases of a table of items, in its order.

    Args:
        items: A table with ``ITEM_SCHEMA``.
        values: The consolidated values, with ``VALUES_SCHEMA``.
        said: What the annotators say (``current_annotations`` of the same items): the names of
            single annotators, and on how many attributes annotators differ.
        errands: Why and by whom, by item id; whoever is not there is reviewed by anyone.
        attributes: The attributes that are asked; all when none.
        blind: Leave out the suggestions.
    """
    said = [one for one in said if attributes is None or one.attribute.id in attributes]
    if attributes is not None:
        asked = pc.is_in(values["attribute"], pa.array(list(attributes), pa.string()))
        values = values.filter(asked)
    starts, values = _by_item(items, values)
    differing = disagreements(said, items.num_rows)
    known = errands or {}
    for start in range(0, items.num_rows, _AT_ONCE):
        rows = items.slice(start, _AT_ONCE).to_pylist()
        first, last = starts[start], starts[start + len(rows)]
        given = values.slice(first, last - first).to_pylist()
        who = _annotators(said, start, start + len(rows))
        for row, item in enumerate(rows, start):
            own = given[starts[row] - first : starts[row + 1] - first]
            errand = known.get(item["item_id"], Errand())
            yield _case(item, own, who.get(row, {}), differing[row], errand, blind=blind)


def disagreements(said: Sequence[Current], items: int) -> NDArray[np.float64]:
    """The share of attributes on which annotators differ, of those that two or more speak of.

    Args:
        said: What the annotators say, attribute by attribute.
        items: How many items there are.

    Returns:
        One number an item; NaN where no attribute has two annotators.
    """
    compared, differing = np.zeros(items), np.zeros(items)
    for one in said:
        raters = np.bincount(one.rows, minlength=items)
        pairs = np.unique(np.stack([one.rows, one.codes]), axis=1)[0]
        compared += raters > 1
        differing += np.bincount(pairs, minlength=items) > 1
    shares = np.full(items, np.nan)
    np.divide(differing, compared, out=shares, where=compared > 0)
    return shares


def _by_item(items: pa.Table, values: pa.Table) -> tuple[Codes, pa.Table]:
    """Sort the values by the row of their item; tell where each item's values start."""
    ids = items["item_id"].combine_chunks()
    found = pc.index_in(values["item_id"], ids)
    known = pc.is_valid(found)
    place = np.asarray(found.filter(known), np.int64)
    order = np.argsort(place, kind="stable")
    starts = np.searchsorted(place[order], np.arange(items.num_rows + 1))
    return starts, values.filter(known).take(pa.array(order))


def _annotators(said: Sequence[Current], first: int, end: int) -> dict[int, dict[str, list[str]]]:
    """Who says something of each attribute of the items from ``first`` to before ``end``."""
    found: dict[int, dict[str, list[str]]] = {}
    for one in said:
        part = slice(*np.searchsorted(one.rows, [first, end]).tolist())
        pairs = zip(one.rows[part].tolist(), one.annotators[part].tolist(), strict=True)
        for row, annotator in pairs:
            attributes = found.setdefault(row, {})
            attributes.setdefault(one.attribute.id, []).append(one.names[annotator])
    return found


def _case(
    item: Mapping[str, Any],
    values: Sequence[Mapping[str, Any]],
    annotators: Mapping[str, Sequence[str]],
    disagreement: float,
    errand: Errand,
    *,
    blind: bool,
) -> Case:
    measured = [value["confidence"] for value in values if value["confidence"] is not None]
    suggestions = {
        value["attribute"]: Suggestion(
            json.loads(value["value"]),
            value["confidence"],
            _agent(value, annotators.get(value["attribute"], ())),
        )
        for value in values
        if not blind
    }
    return Case(
        item_id=item["item_id"],
        content_hash=item["content_hash"],
        kind=item["kind"],
        benchmark=item["benchmark"],
        subset=item["subset"],
        question=item["question"],
        context=item["context"],
        choices=tuple(item["choices"]),
        answer_index=item["answer_index"],
        answer_text=item["answer_text"],
        suggestions=suggestions,
        confidence=min(measured, default=None),
        disagreement=None if np.isnan(disagreement) else float(disagreement),
        reasons=errand.reasons,
        reviewers=errand.reviewers,
    )


def _agent(value: Mapping[str, Any], names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else str(value["provenance"])
