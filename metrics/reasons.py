"""Reasons: why a number of a scorecard is undefined, and what a defined one rests on."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence

from .scorecard import BenchmarkScore, FamilyScore, IntervalEstimate, Model

FEW_MODELS = 5
FEW_GROUPS = 10
SIGNIFICANT = 0.05
_TOO_MANY = "it is undefined in more than 5 % of the replicates"


def notes_on(score: BenchmarkScore, models: Sequence[Model], *, replicates: int) -> Iterator[str]:
    """Say what a reader of a benchmark's numbers has to know.

    Args:
        score: the numbers.
        models: the models that the benchmark has.
        replicates: bootstrap replicates that the intervals are made of.
    """
    if score.groups is not None:
        grouped = f"{score.items} items in {_count(score.groups, 'group')} that share"
        yield f"{grouped} a passage or a text, and are drawn together"
    if score.missing and score.items is not None:
        cells = score.items * score.models
        yield f"{score.missing} of {cells} scores are missing; missing is not wrong"
    yield from _on_consistency(score)
    yield from _on_reliability(score)
    yield from _on_discriminability(score)
    yield from _on_alignment(score, models)
    yield from _on_what_was_asked(score)
    missing = [name for name in ("cbrc", "ds", "cad") if not _estimate(score, name).defined]
    if missing:
        verb = "is" if len(missing) == 1 else "are"
        names = " and ".join([", ".join(missing[:-1]), missing[-1]] if missing[1:] else missing)
        yield f"bqs: undefined because {names} {verb}"
    if replicates:
        yield from _on_intervals(score)


def warnings_on(score: BenchmarkScore) -> Iterator[str]:
    """Say why a benchmark's numbers say less than they seem to.

    Args:
        score: the numbers.
    """
    if 0 < score.models < FEW_MODELS:
        yield f"only {_count(score.models, 'model')}: a ranking of so few says little"
    used = _families_used(score)
    if len(used) == 1:
        yield f"cad: rests on one family, {used[0].family}: its order may just be wrong"
    order = score.order
    if order.p_value > SIGNIFICANT and order.smallest <= SIGNIFICANT:
        yield (
            f"cad: sizes order the models no better than chance (p = {order.p_value:.2g}): it"
            " measures something else here"
        )
    if score.groups is not None and score.groups < FEW_GROUPS:
        yield f"only {_count(score.groups, 'group')} of items: intervals over so few say little"


def _families_used(score: BenchmarkScore) -> list[FamilyScore]:
    return [family for family in score.families if not math.isnan(family.inversion_rate)]


def _on_consistency(score: BenchmarkScore) -> Iterator[str]:
    known = [peer for peer in score.peers if not math.isnan(peer.tau)]
    lost = [peer for peer in score.peers if math.isnan(peer.tau)]
    if not known:
        yield f"cbrc: undefined because {_without_peers(score)}"
        return
    if len(known) == 1:
        yield f"cbrc: rests on a single peer, {known[0].benchmark}"
    if lost:
        names = named(peer.benchmark for peer in lost)
        yield f"cbrc: {names} left out; a constant ranking, or fewer than two models in common"
    shared = [peer.models for peer in known]
    if min(shared) < score.models:
        span = f"{min(shared)} to {max(shared)}" if min(shared) < max(shared) else f"{shared[0]}"
        yield f"cbrc: rankings compared over the {span} models that both benchmarks have"


def _without_peers(score: BenchmarkScore) -> str:
    if score.domain is None:
        return "it has no domain to share with other benchmarks"
    if not score.peers:
        return f"no other benchmark of the domain {score.domain!r} is scored"
    if score.models < 2:
        return "fewer than two models are scored"
    if len(set(score.accuracies.values())) == 1:
        return "all models have the same accuracy"
    return "no peer has two models in common with it and a ranking that is not constant"


def _on_reliability(score: BenchmarkScore) -> Iterator[str]:
    """Why halves, stability and the detectable difference are undefined, where there are items."""
    numbers = {
        "halves": score.reliability.tau,
        "stability": score.stability,
        "detectable difference": score.detectable,
    }
    lost = [name for name, value in numbers.items() if math.isnan(value)]
    if score.items is None or not lost:
        return
    reason = "all models have the same accuracy"
    if score.models < 2:
        reason = "fewer than two models are scored"
    elif _units(score) < 2:
        reason = _single(score)
    yield f"{', '.join(lost)}: undefined because {reason}"


def _units(score: BenchmarkScore) -> int:
    """Items, or groups of items, that are drawn."""
    return (score.items or 0) if score.groups is None else score.groups


def _single(score: BenchmarkScore) -> str:
    return "all items share one passage" if score.groups is not None else "there is a single item"


def _on_discriminability(score: BenchmarkScore) -> Iterator[str]:
    if score.ds.defined:
        return
    reason = "the models score 0 or less on average"
    if score.models < 2:
        reason = "fewer than two models are scored"
    elif math.isnan(score.epsilon):
        reason = "an epsilon from the standard error needs two items and two models"
    elif set(score.accuracies.values()) == {0}:
        reason = "every model scores 0"
    yield f"ds: undefined because {reason}"


def _on_what_was_asked(score: BenchmarkScore) -> Iterator[str]:
    """Why numbers beside the paper's are undefined."""
    if score.shrunken is not None and math.isnan(score.shrunken.mean):
        reason = "no two benchmarks of a domain rank models"
        if score.domain is None:
            reason = "it has no domain"
        yield f"cbrc shrunken: undefined because {reason}"
    found = score.cross_family
    if found is not None and math.isnan(found.shared_rate):
        yield "cad of shared inversions: undefined because it takes two families with two sizes"


def _on_alignment(score: BenchmarkScore, models: Sequence[Model]) -> Iterator[str]:
    if not _families_used(score):
        reason = _without_pairs(score.families, models)
        if score.items is None:
            reason = "no inversion rate is given of a family with two sizes"
        yield f"cad: undefined because {reason}"
        return
    if math.isnan(score.decay):
        yield (
            "cad: undefined because an adaptive lambda needs three benchmarks with inversion rates,"
            " a quarter of them above 0"
        )
    if score.order.smallest > SIGNIFICANT:
        yield f"cad: too few sizes to test their order (p is {score.order.smallest:.2g} at least)"
    unused = [family.family for family in score.families if math.isnan(family.inversion_rate)]
    if unused:
        yield f"cad: {_count(len(unused), 'family')} without two models to compare: {named(unused)}"
    strays = [model.name for model in models if model.family is None]
    if strays:
        yield f"cad: {_count(len(strays), 'model')} without a family: {named(strays)}"


def _without_pairs(families: Sequence[FamilyScore], models: Sequence[Model]) -> str:
    if not families:
        return "no model has a family, as the models file declares them"
    if all(model.size is None for model in models if model.family is not None):
        return "no model has a size, as the models file declares them"
    return "no family has two models of different size with scores for the same item"


def _on_intervals(score: BenchmarkScore) -> Iterator[str]:
    names = [name for name in ("cbrc", "ds", "cad") if _estimate(score, name).defined]
    over_models = names
    if score.items is None:
        yield "no intervals over items: the accuracies are given without items"
        over_models = [name for name in names if name != "cad"]
        if "cad" in names:
            yield "cad, bqs: no interval over models: inversion rates are of families, not of pairs"
    elif _units(score) < 2:
        yield f"no intervals over items: {_single(score)}"
    else:
        lost = [name for name in names if not _estimate(score, name).over_items.defined]
        yield from (f"{name}: no interval over items: {_TOO_MANY}" for name in lost)
    lost = [name for name in over_models if not _estimate(score, name).over_models.defined]
    yield from (f"{name}: no interval over models: {_TOO_MANY}" for name in lost)
    if score.items is not None and _units(score) > 1:
        lost = [name for name in names if not _estimate(score, name).over_both.defined]
        yield from (f"{name}: no interval over items and models: {_TOO_MANY}" for name in lost)
    if score.cbrc.over_items.low > score.cbrc.value:
        yield (
            "cbrc: the interval over items lies above the estimate: noise from few items pulls"
            " every tau down, and the interval corrects for it"
        )


def _estimate(score: BenchmarkScore, name: str) -> IntervalEstimate:
    estimate: IntervalEstimate = getattr(score, name)
    return estimate


def named(names: Iterable[str], most: int = 5) -> str:
    """List names, the first few in full.

    >>> named(["a", "b", "c"], most=2)
    'a, b and 1 more'
    """
    known = list(names)
    rest = len(known) - most
    return ", ".join(known[:most]) + (f" and {rest} more" if rest > 0 else "")


def _count(number: int, noun: str) -> str:
    plural = {"family": "families"}.get(noun, f"{noun}s")
    return f"{number} {noun if number == 1 else plural}"
