"""Reasons: why a number of a scorecard is undefined, and what a defined one rests on."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence

from .bootstrap.resampling import Interval
from .scorecard import BenchmarkScore, FamilyScore, IntervalEstimate, Model

FEW_MODELS = 5
FEW_UNITS = 10
"""Items, or groups of items."""
SIGNIFICANT = 0.05
_APART = "no two models have an item in common"


def notes_on(score: BenchmarkScore, models: Sequence[Model], *, replicates: int) -> Iterator[str]:
    """Say what a reader of a benchmark's numbers has to know.

    Args:
        score: the numbers.
        models: the models that the benchmark has.
        replicates: bootstrap replicates that the intervals are made of.
    """
    if score.groups is not None:
        items, groups = counted(score.items or 0, "item"), counted(score.groups, "group")
        yield f"{items} in {groups} that share a passage or a text, and are drawn together"
    if score.missing and score.items is not None:
        cells = score.items * score.models
        verb = "is" if score.missing == 1 else "are"
        yield f"{score.missing} of {cells} scores {verb} missing; missing is not wrong"
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
        yield f"only {counted(score.models, 'model')}: a ranking of so few says little"
    used = _families_used(score)
    if len(used) == 1:
        yield f"cad: rests on one family, {used[0].family}: its order may just be wrong"
    order = score.order
    if order.p_value > SIGNIFICANT and order.smallest <= SIGNIFICANT:
        yield (
            f"cad: sizes order the models no better than chance (p = {order.p_value:.2g}): it"
            " measures something else here"
        )
    if score.items and _units(score) < FEW_UNITS:
        units = counted(score.items, "item")
        if score.groups is not None:
            units = f"{counted(score.groups, 'group')} of items"
        yield f"only {units}: numbers from so few say little"
    if score.apart == 1:
        yield f"{_APART}: they may differ by what they were asked"
    elif score.apart > 0:
        share = "less than 1 %" if score.apart < 0.01 else f"{min(score.apart, 0.99):.0%}"
        yield (
            f"{share} of the pairs of models have no item in common: these may differ by what they"
            " were asked"
        )


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
        yield (
            f"cbrc: {names} left out; a constant ranking, models without a common item, or fewer"
            " than two models in common"
        )
    shared = [peer.models for peer in known]
    if min(shared) < score.models:
        span = f"{min(shared)} to {max(shared)}" if min(shared) < max(shared) else f"{shared[0]}"
        yield f"cbrc: rankings compared over the {span} models that both benchmarks have"


def _without_peers(score: BenchmarkScore) -> str:
    if score.apart == 1:
        return _APART
    if score.domain is None:
        return "it has no domain to share with other benchmarks"
    if not score.peers:
        return f"no other benchmark of the domain {score.domain!r} is scored"
    if score.models < 2:
        return "fewer than two models are scored"
    if len(set(score.accuracies.values())) == 1:
        return "all models have the same accuracy"
    return "no peer has two models in common with it and a ranking that is not constant"


def _unranked(score: BenchmarkScore) -> bool:
    """Whether there is no ranking that any other could agree with."""
    constant = len(set(score.accuracies.values())) == 1
    return score.models < 2 or score.apart == 1 or constant


def _on_reliability(score: BenchmarkScore) -> Iterator[str]:
    """Why halves, stability and the detectable difference are undefined, where there are items."""
    numbers = {
        "halves": score.reliability.tau,
        "stability": score.stability,
        "detectable difference": score.detectable,
    }
    lost: dict[str, list[str]] = {}
    for name, value in numbers.items():
        if math.isnan(value):
            lost.setdefault(_unreliable(score, name), []).append(name)
    if score.items is None:
        return
    for reason, names in lost.items():
        yield f"{', '.join(names)}: undefined because {reason}"
    if not math.isnan(score.reliability.tau) and math.isnan(score.reliability.coefficient):
        yield (
            "split-half coefficient: undefined because the accuracies on the halves do not"
            " correlate above 0"
        )


def _unreliable(score: BenchmarkScore, name: str) -> str:
    if score.models < 2:
        return "fewer than two models are scored"
    if score.apart == 1:
        return _APART
    if _units(score) < 2:
        return _single(score)
    if name == "detectable difference":
        return "no two models differ on some of their common items otherwise than on others"
    return "all models have the same accuracy"


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
        reason = (
            "an epsilon from the standard error needs two items, and two models that differ on some"
            " otherwise than on others"
        )
    elif set(score.accuracies.values()) == {0}:
        reason = "every model scores 0"
    yield f"ds: undefined because {reason}"


def _on_what_was_asked(score: BenchmarkScore) -> Iterator[str]:
    """Why numbers beside the paper's are undefined."""
    if score.shrunken is not None and math.isnan(score.shrunken.mean):
        reason = "no two benchmarks of a domain rank models"
        if score.domain is None:
            reason = "it has no domain"
        elif _unranked(score):
            reason = _without_peers(score)
        yield f"cbrc shrunken: undefined because {reason}"
    elif score.shrunken is not None and not score.shrunken.peers:
        yield (
            "cbrc shrunken: nothing of this benchmark is in it: it is what the other benchmarks say"
        )
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
        families = counted(len(unused), "family")
        yield f"cad: {families} without two models to compare: {named(unused)}"
    strays = [model.name for model in models if model.family is None]
    if strays:
        yield f"cad: {counted(len(strays), 'model')} without a family: {named(strays)}"


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
        yield from _lost(score, names, "items")
    yield from _lost(score, over_models, "models")
    if score.items is not None and _units(score) > 1:
        yield from _lost(score, names, "both")
    if score.cbrc.over_items.low > score.cbrc.value:
        yield (
            "cbrc: the interval over items lies above the estimate: noise from few items pulls"
            " every tau down, and the interval corrects for it"
        )
    yield from _beside(score)


_OVER = {"items": "items", "models": "models", "both": "items and models"}


def _lost(score: BenchmarkScore, names: Iterable[str], over: str) -> Iterator[str]:
    """Why numbers have no interval."""
    for name in names:
        interval = _interval(score, name, over)
        if not interval.defined:
            yield f"{name}: no interval over {_OVER[over]}: {interval.reason}"


def _beside(score: BenchmarkScore) -> Iterator[str]:
    """Which intervals do not hold their estimate, besides that of CBRC over items."""
    for over, what in _OVER.items():
        for name in ("cbrc", "ds", "cad", "bqs"):
            interval, value = _interval(score, name, over), _estimate(score, name).value
            if (name, over) == ("cbrc", "items") and interval.low > value:
                continue
            if interval.low > value or interval.high < value:
                where, way = ("above", "down") if interval.low > value else ("below", "up")
                yield (
                    f"{name}: the interval over {what} lies {where} the estimate: resampling moves"
                    f" it {way}, and the interval corrects for that"
                )


def _interval(score: BenchmarkScore, name: str, over: str) -> Interval:
    interval: Interval = getattr(_estimate(score, name), f"over_{over}")
    return interval


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


def counted(number: int, noun: str) -> str:
    """Say how many there are.

    >>> counted(1, "family"), counted(2, "family")
    ('1 family', '2 families')
    """
    plural = {"family": "families"}.get(noun, f"{noun}s")
    return f"{number} {noun if number == 1 else plural}"
