"""Evidence: what is known of a benchmark before its numbers are worked out."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .alignment import (
    Family,
    PairInversions,
    families_of,
    inversion_rate,
    item_inversions,
    pair_inversions,
    pooled_inversion_rate,
)
from .bootstrap.over_items import ItemColumns, item_columns
from .bootstrap.resampling import stream
from .inversion_test import UNTESTED, OrderTest, order_test
from .scorecard import Model
from .scores import Scores, known
from .standard_errors import difference_errors, paired_errors, share_apart, typical_error

_TYPICAL = 200
"""Models that stand for all in the typical standard error."""
_CELLS = 1 << 24
"""Scores that are looked at for the error of pairs where some are missing: each model's beside
those of all others."""


@dataclass(frozen=True, slots=True, eq=False)
class ItemScores:
    """Scores of models on the items of one benchmark."""

    benchmark: str
    domain: str | None
    """CBRC compares with the other benchmarks of the domain; none for a benchmark without peers."""
    models: tuple[str, ...]
    scores: Scores
    """(n, m), in [0, 1], NaN where a model has no score for an item; at least one item."""
    groups: NDArray[np.intp] | None = None
    """(n,), from 0 without gaps: items that belong together, as those about one passage or copies
    of each other, and are drawn together. None when each stands for itself."""


@dataclass(frozen=True, slots=True, eq=False)
class ReportedScores:
    """Accuracies of models on one benchmark, without items."""

    benchmark: str
    domain: str | None
    accuracies: Mapping[str, float]
    """Accuracy of each model, in [0, 1]."""
    inversion_rates: Mapping[str, float]
    """Inversion rate of each family for which it is known."""


@dataclass(frozen=True, slots=True, eq=False)
class ItemTable:
    """The items of a benchmark, for the m models that have scores there."""

    scores: Scores
    """(n, m)."""
    columns: ItemColumns
    """The same, laid out to be weighted; its ``places`` are the models' among all models."""
    families: tuple[Family, ...]
    """As columns of ``scores``."""


@dataclass(frozen=True, slots=True, eq=False)
class Evidence:
    """What is known of one benchmark besides its accuracies."""

    benchmark: str
    domain: str | None
    models: tuple[int, ...]
    """Positions of its models among all models."""
    families: tuple[Family, ...]
    """Families by position among all models."""
    rates: Mapping[str, float]
    """Inversion rate of each family."""
    items: int | None = None
    """None when accuracies were given without items."""
    groups: int | None = None
    """Groups of items that are drawn together; none when each stands for itself."""
    missing: int = 0
    counted: int | None = None
    """Number of items when every accuracy is a count of right answers over them."""
    pairs: PairInversions | None = None
    """Inversions of single pairs of models, by position among all models; none if not known."""
    error: float = math.nan
    """Typical standard error of the difference of two models, each over the items that it has."""
    paired_error: float = math.nan
    """The same on the items that both have."""
    apart: float = 0.0
    """Share of the pairs of models that have no item in common; NaN for fewer than two models."""
    order: OrderTest = UNTESTED

    @property
    def ranked(self) -> bool:
        """Whether some models can be ranked: two of them have an item in common.

        Otherwise how they stand says as much about the items of each as about the models.
        """
        return self.apart != 1

    @property
    def peer_domain(self) -> str | None:
        """The domain of a benchmark whose ranking others can be compared with; none otherwise."""
        return self.domain if self.ranked else None

    @property
    def pooled_rate(self) -> float:
        """Inversion rate over the families for which it is known."""
        return pooled_inversion_rate(
            [self.rates[family.name] for family in self.families],
            [family.pairs for family in self.families],
        )

    def inversions(self, family: str) -> tuple[int | None, int | None]:
        """Inverted and compared pairs of a family, if they are known."""
        if self.pairs is None:
            return None, None
        ordered = [own for own in self.families if own.name == family]
        return self.pairs.of(ordered[0]) if ordered else (0, 0)


def item_table(given: ItemScores, models: Sequence[Model]) -> ItemTable:
    """Count inversions and lay out the columns of a benchmark's items.

    Args:
        given: the scores; a model without any is not one of the benchmark's.
        models: all models, to which positions refer.
    """
    place = {model.name: position for position, model in enumerate(models)}
    scored = known(given.scores).any(axis=0)
    scores = given.scores if scored.all() else given.scores[:, scored]
    own = [place[given.models[column]] for column in np.flatnonzero(scored)]
    families = _families([models[position] for position in own])
    inversions = item_inversions(scores, families)
    places = np.array(own, dtype=np.intp)
    columns = item_columns(given.benchmark, scores, places, inversions, given.groups)
    return ItemTable(scores, columns, families)


def item_evidence(given: ItemScores, table: ItemTable, *, seed: int = 0) -> Evidence:
    """Gather what the items of a benchmark say besides the models' accuracies.

    Args:
        given: the scores.
        table: the same, as ``item_table`` lays them out.
        seed: of the permutations of sizes.
    """
    scores, places = table.scores, table.columns.places
    pairs = pair_inversions(scores, table.families)
    missing = scores.size - int(known(scores).sum())
    some = scores[:, _spread(len(places), _TYPICAL)]
    errors = difference_errors(some, given.groups)
    if missing:
        few = _spread(len(places), math.isqrt(_CELLS // max(1, len(scores))))
        paired = paired_errors(scores[:, few], given.groups)
    else:
        paired = errors
    return Evidence(
        benchmark=given.benchmark,
        domain=given.domain,
        models=tuple(places.tolist()),
        families=tuple(family.among(places) for family in table.families),
        rates={family.name: inversion_rate(*pairs.of(family)) for family in table.families},
        items=len(scores),
        groups=None if given.groups is None else int(given.groups.max(initial=-1)) + 1,
        missing=missing,
        counted=len(scores) if table.columns.counted else None,
        pairs=pairs.among(places),
        error=typical_error(errors),
        paired_error=typical_error(paired),
        apart=share_apart(some),
        order=order_test(scores, table.families, stream(seed, given.benchmark + "\0order", 0)),
    )


def _spread(number: int, most: int) -> NDArray[np.intp]:
    """Places spread over ``number`` of them, at most so many and two at least if there are."""
    most = min(number, _TYPICAL, max(2, most))
    return np.linspace(0, max(0, number - 1), most).round().astype(np.intp)


def reported_evidence(given: ReportedScores, models: Sequence[Model]) -> Evidence:
    """Take the families' inversion rates as they are given."""
    own = [place for place, model in enumerate(models) if model.name in given.accuracies]
    families = _families([models[place] for place in own])
    rates = {
        family.name: given.inversion_rates.get(family.name, math.nan) if family.pairs else math.nan
        for family in families
    }
    return Evidence(
        benchmark=given.benchmark,
        domain=given.domain,
        models=tuple(own),
        families=tuple(family.among(np.array(own, dtype=np.intp)) for family in families),
        rates=rates,
    )


def _families(models: Sequence[Model]) -> tuple[Family, ...]:
    return families_of([model.family for model in models], [model.size for model in models])
