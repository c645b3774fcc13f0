"""Evidence: what is known of a benchmark before its numbers are worked out."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

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
from .item_bootstrap import ItemColumns, item_columns
from .scorecard import Model


@dataclass(frozen=True, slots=True, eq=False)
class ItemScores:
    """Scores of models on the items of one benchmark."""

    benchmark: str
    domain: str | None
    """CBRC compares with the other benchmarks of the domain; none for a benchmark without peers."""
    models: tuple[str, ...]
    scores: NDArray[np.floating[Any]]
    """(n, m), in [0, 1], NaN where a model has no score for an item; at least one item."""


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
class Evidence:
    """What is known of one benchmark besides its accuracies."""

    benchmark: str
    domain: str | None
    models: tuple[int, ...]
    """Positions of its models among all models."""
    items: int | None
    missing: int
    counted: int | None
    """Number of items when every accuracy is a count of right answers over them."""
    families: tuple[Family, ...]
    """Families by position among all models."""
    rates: Mapping[str, float]
    """Inversion rate of each family."""
    pairs: PairInversions | None
    """Inversions of single pairs of models, by position among all models; none if not known."""

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


def item_evidence(given: ItemScores, models: Sequence[Model]) -> tuple[Evidence, ItemColumns]:
    """Count inversions and lay out the columns of a benchmark's items.

    Args:
        given: the scores; a model without any is not one of the benchmark's.
        models: all models, to which positions refer.
    """
    place = {model.name: position for position, model in enumerate(models)}
    scored = np.flatnonzero(~np.isnan(given.scores).all(axis=0)).tolist()
    scores = given.scores[:, scored]
    own = [place[given.models[column]] for column in scored]
    places = np.array(own, dtype=np.intp)
    families = _families([models[position] for position in own])
    columns = item_columns(given.benchmark, scores, places, item_inversions(scores, families))
    pairs = pair_inversions(scores, families)
    evidence = Evidence(
        benchmark=given.benchmark,
        domain=given.domain,
        models=tuple(own),
        items=len(scores),
        missing=int(np.isnan(scores).sum()),
        counted=len(scores) if columns.counted else None,
        families=tuple(family.among(places) for family in families),
        rates={family.name: inversion_rate(*pairs.of(family)) for family in families},
        pairs=pairs.among(places),
    )
    return evidence, columns


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
        items=None,
        missing=0,
        counted=None,
        families=tuple(family.among(np.array(own, dtype=np.intp)) for family in families),
        rates=rates,
        pairs=None,
    )


def _families(models: Sequence[Model]) -> tuple[Family, ...]:
    return families_of([model.family for model in models], [model.size for model in models])
