"""Selection: the items that models' scores recommend, chosen on held-in families alone.

The Benchmark^2 paper (arXiv 2601.03986) leaves out items whose own CAD is low and keeps, of each
benchmark, the items that discriminate best. Choosing items by the scores of the same models that
the subset is then judged on is circular, so some families are held out, and the lock says which.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ..metrics.held_out import split_families
from ..metrics.items import item_statistics as statistics
from ..metrics.scorecard import Model
from ..metrics.tradeoff import RankedItems, SharePoint, Weights, share_curve
from ..records.errors import suggestion
from ..records.results.matrix import Outcomes
from .evidence import Evidence, alignments, joined
from .explaining.values import join, numbers_in_words
from .language.criteria import Select, TradeOff
from .language.errors import CriteriaError
from .pool import Pool
from .sampling.draw import drawing_keys, turns
from .sampling.groups import Groups
from .screening import Exclusion

RULE = "select:"
"""How the text of the step begins, where the texts of rules stand."""
CAD, ORDER = "held_in.cad", "held_in.{}"
"""Columns that hold what the choice rests on."""


@dataclass(frozen=True, slots=True, eq=False)
class Selection:
    """The choice, and what it rests on."""

    left: NDArray[np.int64]
    """Rows of the pool that stay, in the order in which they came."""
    exclusions: tuple[Exclusion, ...]
    columns: Mapping[str, pa.ChunkedArray]
    """CAD and the order of every item of the pool on the held-in models, by name."""
    held_in: Mapping[str, tuple[str, ...]]
    """Models whose scores decided, by family."""
    held_out: Mapping[str, tuple[str, ...]]
    """Models of other families, to judge the choice on."""
    share: float
    curve: tuple[SharePoint, ...]
    """What each share would have given; empty when the criteria say the share."""


def families(models: Sequence[Model]) -> dict[str, tuple[str, ...]]:
    """Models by family, both by name; models without a family are left out."""
    named = sorted({model.family for model in models if model.family is not None})
    return {
        family: tuple(sorted(model.name for model in models if model.family == family))
        for family in named
    }


def held_in_families(wanted: Select, models: Sequence[Model]) -> list[str]:
    """Which families decide.

    Raises:
        CriteriaError: a family is unknown, or there is none.
    """
    known = families(models)
    if not known:
        raise CriteriaError(
            "no model with results has a family",
            wanted="families, of which some are held out",
            mend="declare them in the models file",
            place=("select",),
        )
    if wanted.held_in == "all":
        return [*known]
    if wanted.held_in == "half":
        return [*split_families(known, seed=wanted.seed or 0).held_in]
    for position, family in enumerate(wanted.held_in):
        if family not in known:
            raise CriteriaError(
                f"the unknown family {family!r}",
                wanted="a family of models with results",
                mend=suggestion(family, known),
                place=("select", "held_in", position),
            )
    return sorted(wanted.held_in)


def select(
    pool: Pool, rows: NDArray[np.int64], wanted: Select, evidence: Evidence | None
) -> Selection:
    """Choose among some items by what held-in models scored.

    Args:
        pool: the candidates.
        rows: the items, in the order of their sources.
        wanted: how to choose.
        evidence: the results.

    Raises:
        CriteriaError: there are no results, or no families.
    """
    if evidence is None:
        raise CriteriaError(
            "'select', which needs results",
            wanted="scores of models on the items",
            mend="add them with 'benchprism results add FILE'",
            place=("select",),
        )
    inside = held_in_families(wanted, evidence.models)
    outcomes = [
        g for g in (_of(given, evidence, inside) for given in evidence.outcomes) if g.models
    ]
    columns = _columns(pool, outcomes, evidence, wanted)
    cad, order = (column.take(pa.array(rows)).to_numpy() for column in columns.values())
    ranking = _rank(pool, rows, cad, order, wanted)
    curve: tuple[SharePoint, ...] = ()
    share = float(wanted.share)
    if wanted.tradeoff is not None:
        ids = pool.table["item_id"].take(pa.array(rows)).to_pylist()
        curve = _curve(outcomes, ids, ranking, wanted.tradeoff, wanted.seed or 0)
        share = _best_share(curve)
    grouped = families(evidence.models)
    return Selection(
        left=rows[ranking.chosen(share)],
        exclusions=tuple(_exclusions(ranking, share, wanted)),
        columns=columns,
        held_in={family: grouped[family] for family in inside},
        held_out={family: grouped[family] for family in grouped if family not in inside},
        share=share,
        curve=curve,
    )


def _of(given: Outcomes, evidence: Evidence, inside: Sequence[str]) -> Outcomes:
    """The scores of the models of some families."""
    kept = [model.family in inside for model in evidence.of(given.models)]
    names = tuple(name for name, keep in zip(given.models, kept, strict=True) if keep)
    return replace(given, models=names, scores=given.scores[:, np.array(kept, dtype=bool)])


def _columns(
    pool: Pool, outcomes: Sequence[Outcomes], evidence: Evidence, wanted: Select
) -> dict[str, pa.ChunkedArray]:
    """CAD, and what is ordered by, of every item of the pool."""
    ids = pool.table["item_id"]
    cad = joined(ids, {given: alignments(given, evidence.of(given.models)) for given in outcomes})
    if wanted.cad_above is not None and cad.null_count == len(cad):
        raise CriteriaError(
            "no item has a CAD: no held-in family has two models of different size with results",
            wanted="sizes in the models file, or a selection without CAD",
            mend="declare sizes, hold in other families, or set cad_above to null",
            place=("select",),
        )
    measure = {"discrimination": statistics.discrimination, "variance": statistics.variance}
    order = joined(ids, {given: measure[wanted.by](given.scores) for given in outcomes})
    return {CAD: cad, ORDER.format(wanted.by): order}


@dataclass(frozen=True, slots=True, eq=False)
class _Ranking:
    """Items of each benchmark in the order in which they are chosen."""

    rows: NDArray[np.int64]
    cad: NDArray[np.float64]
    order: NDArray[np.float64]
    aligned: NDArray[np.bool_]
    """Whether the CAD is high enough."""
    benchmarks: Groups
    turn: NDArray[np.int64]
    """The item's 0-based turn in its benchmark; its number of items for one without a turn."""

    def places(self, share: float) -> NDArray[np.int64]:
        """How many items of each benchmark a share is; at least one."""
        counts = self.benchmarks.counts.tolist()
        return np.array([max(1, round(share * n)) for n in counts], dtype=np.int64)

    def chosen(self, share: float) -> NDArray[np.bool_]:
        """Which items a share chooses."""
        found: NDArray[np.bool_] = self.turn < self.places(share)[self.benchmarks.codes]
        return found


def _rank(
    pool: Pool,
    rows: NDArray[np.int64],
    cad: NDArray[np.float64],
    order: NDArray[np.float64],
    wanted: Select,
) -> _Ranking:
    aligned = np.ones(len(rows), dtype=bool)
    if wanted.cad_above is not None:
        aligned = cad > wanted.cad_above  # not of NaN
    benchmarks = pool.benchmarks.at(rows)
    ready = np.flatnonzero(aligned & ~np.isnan(order))
    ids = pool.table["item_id"].take(pa.array(rows[ready])).to_pylist()
    keys = drawing_keys(ids, wanted.seed or 0)
    turn = benchmarks.counts[benchmarks.codes]
    turn[ready] = turns(benchmarks.codes[ready], [-order[ready], keys])
    return _Ranking(rows, cad, order, aligned, benchmarks, turn)


def _curve(
    outcomes: Sequence[Outcomes],
    item_ids: Sequence[str],
    ranking: _Ranking,
    wanted: TradeOff,
    seed: int,
) -> tuple[SharePoint, ...]:
    """Judge each share on the models that choose."""
    place = {name: position for position, name in enumerate(item_ids)}
    ranked = []
    for given in outcomes:
        rows = [row for row, name in enumerate(given.item_ids) if name in place]
        places = np.array([place[given.item_ids[row]] for row in rows], dtype=np.int64)
        turn = ranking.turn[places]
        ready = turn < ranking.benchmarks.counts[ranking.benchmarks.codes[places]]
        order = np.argsort(np.where(ready, turn, len(item_ids)), kind="stable")[: ready.sum()]
        if rows:
            ranked.append(RankedItems(given.scores[rows], order))
    weights = Weights(
        float(wanted.consistency), float(wanted.stability), float(wanted.discriminability)
    )
    shares = [float(share) for share in wanted.shares]
    return share_curve(ranked, shares=shares, weights=weights, seed=abs(seed)).points


def _best_share(curve: Sequence[SharePoint]) -> float:
    """The share of the largest objective, the smaller of those that are equal to six decimals."""
    known = [point for point in curve if not math.isnan(point.objective)]
    if not known:
        raise CriteriaError(
            "no share can be judged: the rankings of the held-in models are undefined",
            wanted="two models or more with results, and items that tell them apart",
            mend="hold in more families, or say the share",
            place=("select", "tradeoff"),
        )
    return max(known, key=lambda point: (round(point.objective, 6), -point.share)).share


def _exclusions(ranking: _Ranking, share: float, wanted: Select) -> Iterator[Exclusion]:
    if wanted.cad_above is not None:
        out = np.flatnonzero(~ranking.aligned)
        text = f"{RULE} cad > {wanted.cad_above} on held-in families"
        given = numbers_in_words(ranking.cad[out])
        detail = join(
            "its CAD on held-in families is ", given, f", wanted above {wanted.cad_above}"
        )
        yield Exclusion(text, ranking.rows[out], detail, int(np.isnan(ranking.cad[out]).sum()))
    out = np.flatnonzero(ranking.aligned & ~ranking.chosen(share))
    text = f"{RULE} first {float(100 * Fraction(str(share))):g} % of each benchmark by {wanted.by}"
    code = ranking.benchmarks.codes[out]
    ranked = ~np.isnan(ranking.order[out])
    detail = join(
        f"its {wanted.by} on held-in models is ",
        numbers_in_words(ranking.order[out]),
        pc.if_else(pa.array(ranked), join(", its turn is ", ranking.turn[out] + 1), ", no turn"),
        " of ",
        ranking.benchmarks.counts[code],
        " (",
        pa.array(ranking.benchmarks.names, pa.string()).take(pa.array(code)),
        "), wanted the first ",
        ranking.places(share)[code],
    )
    yield Exclusion(text, ranking.rows[out], detail, int((~ranked).sum()))
