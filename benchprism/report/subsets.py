"""A composed subset against the items it was composed from."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from benchprism.compose.export.composition import JudgementRow, judgement_rows
from benchprism.compose.store import Subset
from benchprism.prompts.catalogue import Attribute, Catalogue
from benchprism.records.documents import dump_document
from benchprism.records.results.matrix import Outcomes
from benchprism.report.profile import attribute_shares
from benchprism.report.strata import value_name
from benchprism.scoring.judgement_record import read_judgement

EXAMPLES = 3
LONGEST = 600
"""Characters of a text that an example shows."""


@dataclass(frozen=True, slots=True)
class Origin:
    """What one benchmark gives to a subset."""

    benchmark: str
    available: int
    not_annotated: int
    """Items that a rule left out because they had no value of an attribute it looks at."""
    excluded: int
    """All other excluded items."""
    chosen: int
    accuracy_before: float
    """Mean accuracy of the models on all items of the benchmark; NaN without results."""
    accuracy_after: float
    """The same on the chosen items."""


@dataclass(frozen=True, slots=True)
class Exclusion:
    """How many items a rule left out, by benchmark."""

    rule: str
    items: int
    by_benchmark: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class AttributeShift:
    """The value of an attribute whose share differs most between the sources and the subset."""

    attribute: str
    title: str
    value: str
    before: float
    after: float


@dataclass(frozen=True, slots=True)
class Example:
    """A chosen item, as people read it."""

    item_id: str
    text: str
    choices: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SubsetView:
    """What the report says about a subset."""

    name: str
    items: int
    criteria_text: str
    """Resolved, as YAML."""
    origins: tuple[Origin, ...]
    exclusions: tuple[Exclusion, ...]
    shifts: tuple[AttributeShift, ...]
    """The largest first."""
    examples: tuple[Example, ...]
    judged: Mapping[str, Any] | None = None
    """What models' results say of it, as it was judged last; see ``scoring.judgement_record``."""

    @property
    def judgement(self) -> list[JudgementRow]:
        """Its measures as a whole; nothing when it was not judged as it is now."""
        return judgement_rows(self.judged)

    @property
    def scored(self) -> bool:
        """Tell whether any chosen item has outcomes."""
        return any(not math.isnan(origin.accuracy_after) for origin in self.origins)


def view_subset(
    subset: Subset, table: pa.Table, catalogue: Catalogue, outcomes: Mapping[str, Outcomes]
) -> SubsetView:
    """Compare a subset with its sources.

    Args:
        subset: as it was composed.
        table: the project's attribute table of today.
        catalogue: its attributes.
        outcomes: the results by benchmark.
    """
    names = sorted(subset.lock["sources"])
    pool = table.filter(pc.is_in(table["benchmark"], value_set=pa.array(names, pa.string())))
    blank = subset.excluded.filter(_without_a_value(subset))
    return SubsetView(
        subset.name,
        subset.items.num_rows,
        dump_document(subset.criteria.plain()),
        tuple(_origin(name, subset, blank, outcomes.get(name)) for name in names),
        _exclusions(subset, names),
        _shifts(pool, subset.items, catalogue),
        _examples(subset.items),
        read_judgement(subset),
    )


def _without_a_value(subset: Subset) -> pa.ChunkedArray:
    """Mark the exclusions that are due to a missing annotation, as their reasons in words tell."""
    fields = [
        re.escape(name)
        for name in subset.items.column_names
        if f"{name}.source" in subset.items.column_names
    ]
    said = rf"(^|, )({'|'.join(fields)}) is missing[,;]"
    found = pc.match_substring_regex(subset.excluded["detail"], said)
    by_a_rule = pc.and_(pc.is_null(subset.excluded["instead"]), pc.is_null(subset.excluded["turn"]))
    return pc.and_(pc.fill_null(found, False), by_a_rule)


def _origin(name: str, subset: Subset, blank: pa.Table, outcomes: Outcomes | None) -> Origin:
    chosen = subset.items.filter(pc.equal(subset.items["benchmark"], name))["item_id"].to_pylist()
    excluded, missing = (
        pc.sum(pc.equal(table["benchmark"], name), min_count=0).as_py()
        for table in (subset.excluded, blank)
    )
    return Origin(
        name,
        len(chosen) + excluded,
        missing,
        excluded - missing,
        len(chosen),
        _mean_score(outcomes, None),
        _mean_score(outcomes, set(chosen)),
    )


def _mean_score(outcomes: Outcomes | None, items: set[str] | None) -> float:
    """Mean over items of the item's mean over models, as everywhere in the report."""
    if outcomes is None:
        return float("nan")
    rows = [items is None or item in items for item in outcomes.item_ids]
    scores = outcomes.scores[np.array(rows, dtype=bool)].astype(float)
    scores = scores[~np.isnan(scores).all(axis=1)]
    return float(np.nanmean(scores, axis=1).mean()) if len(scores) else float("nan")


def _exclusions(subset: Subset, names: Sequence[str]) -> tuple[Exclusion, ...]:
    rows = subset.excluded.select(["rule", "benchmark"]).to_pylist()
    counts = Counter((row["rule"], row["benchmark"]) for row in rows)
    rules = Counter(row["rule"] for row in rows)
    return tuple(
        Exclusion(rule, total, tuple(counts[rule, name] for name in names))
        for rule, total in rules.most_common()
    )


def _shifts(pool: pa.Table, chosen: pa.Table, catalogue: Catalogue) -> tuple[AttributeShift, ...]:
    found = [
        max(shifts, key=lambda shift: abs(shift.after - shift.before))
        for attribute in catalogue
        if (shifts := _shares(pool, chosen, attribute))
    ]
    moved = [shift for shift in found if shift.after != shift.before]
    return tuple(sorted(moved, key=lambda shift: -abs(shift.after - shift.before)))


def _shares(pool: pa.Table, chosen: pa.Table, attribute: Attribute) -> list[AttributeShift]:
    """Each value's share before and after; of levels the share from each level up.

    An attribute that the subset was composed without, or with another type, is missing there.
    """
    if {name: chosen[name].type for name in chosen.column_names}.get(attribute.id) != (
        pool[attribute.id].type
    ):
        return []
    before, after = (attribute_shares(table, attribute) for table in (pool, chosen))
    shares = [[share.share.share for share in found] for found in (before, after)]
    if any(math.isnan(share) for found in shares for share in found):
        return []
    names = [value_name(value) for value in attribute.values]
    if attribute.type == "level":
        shares = [[sum(part[k:]) for k in range(1, len(part))] for part in shares]
        names = [f"{level} or more" for level in names[1:]]
    pairs = zip(names, *shares, strict=True)
    return [
        AttributeShift(attribute.id, attribute.name, name, old, new) for name, old, new in pairs
    ]


def _examples(chosen: pa.Table) -> tuple[Example, ...]:
    """Items of different benchmarks, the first of each by content hash."""
    rows = chosen.select(["item_id", "benchmark", "context", "question", "choices", "content_hash"])
    by_benchmark: dict[str, list[dict[str, Any]]] = {}
    for row in sorted(rows.to_pylist(), key=lambda row: row["content_hash"]):
        by_benchmark.setdefault(row["benchmark"], []).append(row)
    first = [found[0] for _, found in sorted(by_benchmark.items())]
    return tuple(
        Example(
            str(row["item_id"]),
            _cut(f"{row['context']}\n{row['question']}".strip()),
            tuple(_cut(choice) for choice in row["choices"]),
        )
        for row in first[:EXAMPLES]
    )


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[:LONGEST].rstrip()} …"
