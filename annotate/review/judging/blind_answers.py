"""Blind answers: what people say who see no suggestion, beside the value that there is anyway."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ....metrics.counting.division import ratio
from ....metrics.raters.patterns import Codes, Floats
from ....metrics.raters.prediction_powered import Stratum
from ....prompts.catalogue import Attribute, Catalogue, Value
from ....records.items.cells import text_of
from ...consolidation.consolidate import consolidate
from ...consolidation.policy import ConsolidationSettings
from ...consolidation.rating_matrix import RatingMatrix, coded, possible_values, rating_matrix
from ...ledger.current import Current, current_annotations
from ...ledger.panel import PEOPLE, kind_of
from ...ledger.store import Ledger

_SEEN = """
    SELECT reply_id FROM reply JOIN body USING (body_hash)
    WHERE annotator GLOB 'human:*'
        AND CASE WHEN json_valid(body) THEN json_extract(body, '$.mode') END IS NOT 'blind'
"""
"""What people said when they were not asked blind."""


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """Where each item belongs; one element an item."""

    kinds: NDArray[np.str_]
    benchmarks: NDArray[np.str_]
    strata: NDArray[np.str_]
    """In which it could be drawn; empty where it could not."""

    @classmethod
    def of(cls, items: pa.Table, strata: Sequence[str | None] | None) -> Frame:
        """Take it out of a table with ``ITEM_SCHEMA``; without strata a benchmark is one."""
        kinds, benchmarks = (np.array(items[n].to_pylist(), np.str_) for n in ("kind", "benchmark"))
        if strata is None:
            return cls(kinds, benchmarks, benchmarks)
        return cls(kinds, benchmarks, np.array([stratum or "" for stratum in strata], np.str_))

    @property
    def drawable(self) -> NDArray[np.bool_]:
        """(N,): whether the item could be drawn; the sample tells nothing of another."""
        drawable: NDArray[np.bool_] = self.strata != ""
        return drawable

    def strata_of(self, rows: Codes, labelled: NDArray[np.bool_]) -> list[tuple[Codes, Codes]]:
        """Split rows by stratum into those that are labelled and the others.

        A stratum with fewer than two labelled items says nothing of itself: such strata are put
        together, and with the smallest other one if that is not enough.
        """
        names = np.char.add(np.char.add(self.benchmarks[rows], "\n"), self.strata[rows])
        groups = [rows[names == name] for name in np.unique(names)]
        whole = [group for group in groups if labelled[group].sum() > 1]
        rest = [group for group in groups if labelled[group].sum() < 2]
        if rest:
            joined = np.concatenate(rest)
            if labelled[joined].sum() < 2 and whole:
                smallest = min(range(len(whole)), key=lambda place: len(whole[place]))
                joined = np.concatenate([joined, whole.pop(smallest)])
            whole.append(joined)
        return [(group[labelled[group]], group[~labelled[group]]) for group in whole]


@dataclass(frozen=True, slots=True, eq=False)
class BlindAnswers:
    """What is said of one attribute: by people who saw no suggestion, and without people."""

    attribute: Attribute
    people: tuple[str, ...]
    panel: Codes
    """(N, R): position of each person's value, -1 where there is none."""
    alone: Codes
    """(N,): position of the value without people, -1 where there is none."""
    names: tuple[str, ...]
    """(C,): what can hold of an item: a value; of several labels, each label."""
    holds: Floats
    """(V, C): whether it holds of an item with that value."""

    @property
    def given(self) -> NDArray[np.bool_]:
        """(N, R): where a person gave a value."""
        return self.panel >= 0

    @property
    def answered(self) -> NDArray[np.bool_]:
        """(N,): whether any person gave a value."""
        any_: NDArray[np.bool_] = self.given.sum(axis=1) > 0
        return any_

    def by_people(self, of_value: Floats) -> Floats:
        """The mean over the people of an item of what each value stands for; NaN without any."""
        total = np.where(self.given, of_value[self.panel], 0.0).sum(axis=1)
        return ratio(total, self.given.sum(axis=1))

    def without_people(self, of_value: Floats, missing: float) -> Floats:
        """What the value without people stands for."""
        return np.where(self.alone >= 0, of_value[self.alone], missing)

    @property
    def levels(self) -> Floats | None:
        """The values as numbers; none for what has no levels."""
        return (
            np.arange(len(self.holds), dtype=np.float64) if self.attribute.type == "level" else None
        )


def blind_answers(
    ledger: Ledger,
    catalogue: Catalogue,
    items: pa.Table,
    settings: ConsolidationSettings,
    *,
    sample: Collection[str] | None = None,
    attributes: Collection[str] = (),
) -> list[BlindAnswers]:
    """Read what people said blind, and consolidate what is said without people.

    Args:
        ledger: The ledger.
        catalogue: The criteria of today.
        items: A table with ``ITEM_SCHEMA``.
        settings: How one value is made of what several language models gave.
        sample: The items that were drawn, by id: what people said of others is left out. All items
            when none.
        attributes: The attributes that are read; all when none are named.
    """
    seen = {reply for (reply,) in cast(Iterator[tuple[str]], ledger.query(_SEEN))}
    said = [
        one
        for one in current_annotations(ledger, catalogue, items, without=seen)
        if not attributes or one.attribute.id in attributes
    ]
    alone = consolidate([one.without(PEOPLE) for one in said], items, settings).values
    drawn = np.ones(items.num_rows, np.bool_)
    if sample is not None:
        drawn = np.isin(items["item_id"].to_pylist(), [*sample])
    return [_answers(one, items, alone, drawn) for one in said]


def _answers(
    current: Current, items: pa.Table, alone: pa.Table, drawn: NDArray[np.bool_]
) -> BlindAnswers:
    matrix = rating_matrix(current, items.num_rows)
    people = [name for name in matrix.annotators if kind_of(name) == "human"]
    own = alone.filter(pc.equal(alone["attribute"], current.attribute.id))
    given: list[Value] = [json.loads(text) for text in own["value"].to_pylist()]
    values = possible_values(current.attribute, [*matrix.values, *given]) or ([],)
    names, holds = _what_holds(current.attribute, values)
    return BlindAnswers(
        attribute=current.attribute,
        people=tuple(people),
        panel=np.where(drawn[:, None], _recoded(matrix.of(people), values), -1),
        alone=_codes(items, own["item_id"], coded(given, values)),
        names=names,
        holds=holds,
    )


def _recoded(matrix: RatingMatrix, values: Sequence[Value]) -> Codes:
    places: Codes = np.append(coded(matrix.values, values), -1)[matrix.codes]
    return places


def _codes(items: pa.Table, ids: pa.ChunkedArray, codes: Codes) -> Codes:
    found = np.full(items.num_rows, -1, dtype=np.int64)
    rows = pc.index_in(ids, value_set=items["item_id"].combine_chunks())
    found[np.asarray(rows.combine_chunks(), dtype=np.int64)] = codes
    return found


def _what_holds(attribute: Attribute, values: Sequence[Value]) -> tuple[tuple[str, ...], Floats]:
    if attribute.type != "labels":
        return tuple(map(text_of, values)), np.eye(len(values))
    labels = [str(label) for label in attribute.values]
    sets = [[label in cast(list[str], given) for label in labels] for given in values]
    return tuple(labels), np.array(sets, dtype=np.float64).reshape(len(values), len(labels))


def strata_of_values(
    rows: Sequence[tuple[Codes, Codes]], labels: Floats, predictions: Floats
) -> list[Stratum]:
    """Put numbers, one an item, into strata.

    Args:
        rows: Of each stratum, the items with a label and the others (``Frame.strata_of``).
        labels: (N,) what people say; looked at where there is a label.
        predictions: (N,) what is said without them.
    """
    return [
        Stratum(labels[given], predictions[given], predictions[others]) for given, others in rows
    ]
