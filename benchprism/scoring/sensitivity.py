"""Sensitivity: how much of a composition hangs on who annotated, a threshold, or a seed."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa

from benchprism.compose.explaining.ranking import ranking_change
from benchprism.compose.language.expectations import check_expectations
from benchprism.compose.narrowing import drawn, narrow
from benchprism.compose.sampling.draw import Draw, Shortage
from benchprism.compose.screening import Screening
from benchprism.metrics.scorecard import Scorecard, ScoreSettings
from benchprism.records.errors import InputError
from benchprism.scoring.benchmarks import score_results
from benchprism.scoring.judging import undefined_because
from benchprism.scoring.results import ProjectResults
from benchprism.scoring.subsets import results_on


@dataclass(frozen=True, slots=True)
class Variation:
    """A change, and the screening with it."""

    kind: str
    """``annotator``, ``prompt``, ``threshold`` or ``seed``."""
    change: str
    screening: Callable[[], Screening] | None
    """None when there can be none."""
    reason: str = ""
    """Why there can be none."""


@dataclass(frozen=True, slots=True)
class Variant:
    """What a change makes of a composition."""

    kind: str
    change: str
    items: int | None
    """None when nothing can be composed."""
    jaccard: float
    """Items that both have, as a share of the items that either has."""
    tau: float
    """Kendall's tau of the models' ranking with that on the composition; NaN when undefined."""
    bqs: float
    """Mean over the benchmarks; NaN when undefined."""
    reason: str
    """Why nothing can be composed, or what would keep it from being written; often empty."""


@dataclass(frozen=True, slots=True)
class Extent:
    """The least and the most of a number over variants; NaN when none has it."""

    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Sensitivity:
    """A composition and its variants."""

    items: int
    bqs: float
    variants: tuple[Variant, ...]
    notes: tuple[str, ...]
    """What could not be varied, and what is undefined."""

    @property
    def composed(self) -> int:
        """Number of variants that can be composed."""
        return sum(variant.items is not None for variant in self.variants)

    def extent(self, number: str) -> Extent:
        """The range of ``items``, ``jaccard``, ``tau`` or ``bqs`` over the variants."""
        values = [getattr(one, number) for one in self.variants if one.items is not None]
        known = [float(value) for value in values if not math.isnan(value)]
        return Extent(min(known), max(known)) if known else Extent(math.nan, math.nan)


def sensitivity(
    base: pa.Table,
    variations: Iterable[Variation],
    results: ProjectResults | None,
    *,
    settings: ScoreSettings,
    notes: Sequence[str] = (),
) -> Sensitivity:
    """Compose each variation, and compare it with a composition.

    Args:
        base: the composition's items, with the columns ``benchmark`` and ``item_id``.
        variations: the changes.
        results: what models scored; none when there are no results.
        settings: options of the metrics; no intervals are made.
        notes: what could not be varied.
    """
    whole = _Beside(base, results, settings)
    quality = whole.quality(base)
    told = [*notes]
    if results is None:
        told.append("tau and BQS: undefined because there are no results")
    elif math.isnan(quality):
        told.append(f"BQS: undefined because {whole.lacks}")
    found = tuple(whole.variant(variation) for variation in variations)
    return Sensitivity(base.num_rows, quality, found, tuple(told))


class _Beside:
    """Comparing tables of items with that of a composition."""

    def __init__(
        self, base: pa.Table, results: ProjectResults | None, settings: ScoreSettings
    ) -> None:
        self.ids = {*base["item_id"].to_pylist()}
        self.results, self.settings = results, settings
        self.lacks = ""

    def variant(self, variation: Variation) -> Variant:
        """Compose a variation and compare it."""
        unknown, kind, change = math.nan, variation.kind, variation.change
        if variation.screening is None:
            return Variant(kind, change, None, unknown, unknown, unknown, variation.reason)
        try:
            items, caution = _composed(variation.screening())
        except InputError as error:
            return Variant(kind, change, None, unknown, unknown, unknown, error.found)
        ids = {*items["item_id"].to_pylist()}
        shared = len(ids & self.ids) / len(ids | self.ids)
        ranking, quality = self.tau(ids), self.quality(items)
        return Variant(kind, change, len(ids), shared, ranking, quality, caution)

    def tau(self, ids: set[str]) -> float:
        """Tau of the models' ranking on some items with that on the composition."""
        if self.results is None:
            return math.nan
        return ranking_change(self.results.outcomes, self.ids, ids, replicates=0).tau

    def quality(self, items: pa.Table) -> float:
        """BQS of some items."""
        if self.results is None:
            return math.nan
        try:
            on_items = results_on(self.results, items, "these items")
        except InputError as error:
            self.lacks = error.found
            return math.nan
        card = score_results(self.results, on_items, settings=self.settings)
        if math.isnan(found := mean_quality(card)):
            self.lacks = _lacking(card)
        return found


def _lacking(card: Scorecard) -> str:
    """Why no benchmark of a subset has a BQS."""
    notes = [score.notes for score in card.benchmarks[:-1]]
    for measure in ("cbrc", "ds", "cad"):
        if not any(getattr(score, measure).defined for score in card.benchmarks[:-1]):
            return f"{measure.upper()} is: {undefined_because(measure, notes)}"
    return "no benchmark has all three of CBRC, DS and CAD"


def mean_quality(card: Scorecard) -> float:
    """Mean BQS of a subset's benchmarks that have one; NaN when none has."""
    known = [score.bqs.value for score in card.benchmarks[:-1] if score.bqs.defined]
    return sum(known) / len(known) if known else math.nan


def _composed(screening: Screening) -> tuple[pa.Table, str]:
    """The items of a composition, and what would keep it from being written.

    Raises:
        InputError: too few items are left.
    """
    narrowing = narrow(screening)
    outcome, rows = drawn(narrowing) if len(narrowing.rows) else None, narrowing.rows
    if not len(rows):
        raise InputError("no item is left", wanted="at least one", mend="loosen the criteria")
    if isinstance(outcome, Shortage):
        found = f"{outcome.found}, wanted {outcome.wanted}"
        raise InputError(found, wanted=outcome.wanted, mend="loosen the criteria")
    rows = rows[outcome.drawn] if isinstance(outcome, Draw) else rows
    table = narrowing.pool.table
    caution = "; ".join(_unmet(screening, table, rows))
    return table.select(["benchmark", "item_id"]).take(pa.array(rows)), caution


def _unmet(screening: Screening, table: pa.Table, rows: pa.Array) -> Iterator[str]:
    for finding in check_expectations(screening.criteria, table, rows):
        if not finding.met:
            of = f" (of {finding.group})" if finding.group else ""
            yield f"expected {finding.text}{of}, found {finding.value:.4g}"
