"""Heterogeneity inside a benchmark: how accuracy differs between parts of its items."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from benchprism.metrics.items.strata import RankAgreement, rank_agreement
from benchprism.prompts.catalogue import Catalogue
from benchprism.records.results.matrix import Outcomes
from benchprism.report.divisions import Accuracy, Division, Floats, accuracies, ranked_divisions
from benchprism.report.strata import Strata, grouped_items

SMALLEST_STRATUM = 5
"""Strata with fewer items are counted and not compared."""


@dataclass(frozen=True, slots=True)
class Row:
    """A model, or a family of models, over the strata of a division."""

    name: str
    family: str
    models: int
    overall: Accuracy
    by_stratum: tuple[Accuracy, ...]


@dataclass(frozen=True, slots=True)
class BenchmarkHeterogeneity:
    """What the accuracy of one benchmark hides."""

    benchmark: str
    items: int
    """Items with a score."""
    model_count: int
    """Models with a score."""
    overall: Accuracy
    divisions: tuple[Division, ...]
    """The clearest first."""
    main: Division | None
    """The clearest annotated division, or a computed one when nothing is annotated."""
    models: tuple[Row, ...]
    """Over the strata of the main division; the most accurate model first."""
    families: tuple[Row, ...]
    ranks: RankAgreement | None
    """Of the models between the easiest and the hardest stratum of that division."""


def heterogeneity(
    table: pa.Table,
    catalogue: Catalogue,
    outcomes: Outcomes,
    families: Mapping[str, str],
    *,
    seed: int,
) -> BenchmarkHeterogeneity:
    """Compare the strata of one benchmark.

    Args:
        table: the attribute table; items of other benchmarks are passed over.
        catalogue: its attributes.
        outcomes: the scores of the benchmark.
        families: the family of each model that has one.
        seed: of the random divisions that the found ones are compared with.
    """
    every = outcomes.scores.astype(float)
    scored = ~np.isnan(every).all(axis=1)
    scores = every[scored]
    item_ids = [item for item, kept in zip(outcomes.item_ids, scored, strict=True) if kept]
    ease = np.nanmean(scores, axis=1) if len(scores) else np.empty(0)
    rng = np.random.default_rng(seed)
    grouped = [*grouped_items(table, catalogue, item_ids, smallest=SMALLEST_STRATUM)]
    found = ranked_divisions(grouped, ease, rng)
    main = next(iter(sorted(found, key=lambda pair: pair[1].computed)), None)
    return BenchmarkHeterogeneity(
        benchmark=outcomes.benchmark,
        items=len(scores),
        model_count=int((~np.isnan(scores)).any(axis=0).sum()),
        overall=accuracies(ease[:, None])[0],
        divisions=tuple(division for _, division in found),
        main=main[1] if main else None,
        models=_models(outcomes.models, families, scores, main[0]) if main else (),
        families=_families(outcomes.models, families, scores, main[0]) if main else (),
        ranks=_ranks(scores, *main, rng) if main else None,
    )


def _ranks(
    scores: Floats, strata: Strata, division: Division, rng: np.random.Generator
) -> RankAgreement:
    extremes = (division.easiest, division.hardest)
    return rank_agreement(*(scores[strata.codes == k] for k in extremes), rng=rng)


def _models(
    models: Sequence[str], families: Mapping[str, str], scores: Floats, strata: Strata
) -> tuple[Row, ...]:
    names = [(model, families.get(model, ""), 1) for model in models]
    return _rows(names, scores, strata)


def _families(
    models: Sequence[str], families: Mapping[str, str], scores: Floats, strata: Strata
) -> tuple[Row, ...]:
    """Average the models of each declared family, item by item."""
    members: dict[str, list[int]] = {}
    for position, model in enumerate(models):
        if model in families:
            members.setdefault(families[model], []).append(position)
    means = np.full((len(scores), len(members)), np.nan)
    for column, positions in enumerate(members.values()):
        part = scores[:, positions]
        known = ~np.isnan(part).all(axis=1)
        means[known, column] = np.nanmean(part[known], axis=1)
    names = [(family, family, len(positions)) for family, positions in members.items()]
    return _rows(names, means, strata)


def _rows(groups: list[tuple[str, str, int]], scores: Floats, strata: Strata) -> tuple[Row, ...]:
    inside = strata.codes >= 0
    parts = [scores[strata.codes == k] for k in range(len(strata.values))]
    overall = accuracies(scores[inside])
    by_stratum = list(zip(*(accuracies(part) for part in parts), strict=True))
    rows = [
        Row(name, family, models, whole, tuple(accuracies))
        for (name, family, models), whole, accuracies in zip(
            groups, overall, by_stratum, strict=True
        )
    ]
    scored = [row for row in rows if row.overall.mean == row.overall.mean]
    return tuple(sorted(scored, key=lambda row: -row.overall.mean))
