"""Scorecards as ``benchprism score`` prints them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from benchprism.cli.output import print_json, print_table, say

if TYPE_CHECKING:
    from benchprism.cli.score_options import Over
    from benchprism.metrics.bootstrap.random_subsets import Placing
    from benchprism.metrics.bootstrap.resampling import Interval
    from benchprism.metrics.cross_family import CrossFamily
    from benchprism.metrics.scorecard import (
        BenchmarkScore,
        IntervalEstimate,
        Scorecard,
        ScoreSettings,
    )
    from benchprism.metrics.sensitivity import Curve

_ESTIMATES = ("accuracy", "cbrc", "ds", "cad", "bqs")
_SHOWN = ("cbrc", "ds", "cad", "bqs")

Placings = Mapping[str, Mapping[str, "Placing"]]


@dataclass(frozen=True, slots=True)
class Scorecards:
    """A scorecard with fixed constants, and one with constants that come from the data."""

    card: Scorecard
    adaptive: Scorecard | None = None

    @property
    def rows(self) -> Iterator[tuple[BenchmarkScore, BenchmarkScore | None]]:
        """Each benchmark's scores in both."""
        for place, found in enumerate(self.card.benchmarks):
            yield found, self.adaptive.benchmarks[place] if self.adaptive else None


def score_twice(settings: ScoreSettings, score: Callable[[ScoreSettings], Scorecard]) -> Scorecards:
    """Score with fixed constants; and if some are to come from the data, with those as well."""
    from benchprism.metrics.scorecard import ScoreSettings

    default, fixed = ScoreSettings(), settings
    if settings.epsilon == "noise":
        fixed = replace(fixed, epsilon=default.epsilon)
    if settings.decay == "adaptive":
        fixed = replace(fixed, decay=default.decay)
    if fixed == settings:
        return Scorecards(score(settings))
    return Scorecards(score(fixed), score(replace(settings, curves=False)))


def print_scorecards(
    cards: Scorecards,
    over: Over,
    as_json: bool,
    placings: Placings | None = None,
    subsets: int = 0,
) -> None:
    """Print scorecards as JSON, or as tables with what a reader has to know on stderr.

    Args:
        cards: the scorecards.
        over: what the intervals of the table are over.
        as_json: whether to print JSON.
        placings: where a subset's numbers stand among those of random subsets.
        subsets: number of random subsets.
    """
    if as_json:
        print_json(_plain(cards, placings, subsets))
        return
    if all(found.items is None for found in cards.card.benchmarks):
        over = "models"
    _print(cards.card, over)
    _print_beside(cards, over)
    if placings is not None:
        _print_placings(placings, subsets)
    if any(found.cross_family for found in cards.card.benchmarks):
        _print_cross_family(cards.card)
    if cards.card.curves is not None:
        names = [found.benchmark for found in cards.card.benchmarks]
        _print_curve("CAD by lambda", cards.card.curves.decay, names)
        _print_curve("DS by epsilon", cards.card.curves.epsilon, names)
    _remarks(cards, over)


def _plain(cards: Scorecards, placings: Placings | None, subsets: int) -> list[dict[str, Any]]:
    """One object a benchmark; what is undefined is NaN here and null when it is printed."""
    rows = []
    for place, (found, adaptive) in enumerate(cards.rows):
        row = _row(found, cards.card.settings)
        if adaptive is not None:
            row["adaptive"] = {
                "epsilon": adaptive.epsilon,
                "lambda": adaptive.decay,
                **{
                    key: value
                    for name in ("ds", "cad", "bqs")
                    for key, value in _estimate(name, getattr(adaptive, name)).items()
                },
            }
        if found.shrunken is not None:
            row["cbrc_shrunken"] = asdict(found.shrunken)
        if found.cross_family is not None:
            row["cross_family"] = _cross_family(found, found.cross_family)
        if cards.card.curves is not None:
            curves = cards.card.curves
            row["curves"] = {
                "lambda": _curve(curves.decay, "cad", place),
                "epsilon": _curve(curves.epsilon, "ds", place),
            }
        if placings is not None:
            own = {name: asdict(placed) for name, placed in placings[found.benchmark].items()}
            row["null"] = {"subsets": subsets, **own}
        rows.append(row)
    return rows


def _row(score: BenchmarkScore, settings: ScoreSettings) -> dict[str, Any]:
    row: dict[str, Any] = {
        "benchmark": score.benchmark,
        "domain": score.domain,
        "models": score.models,
        "items": score.items,
        "groups": score.groups,
        "missing": score.missing,
        "pairs_without_common_items": score.apart,
    }
    for name in _ESTIMATES:
        row |= _estimate(name, getattr(score, name))
    if not math.isnan(score.ranking_consistency):
        row["ranking_consistency"] = score.ranking_consistency
    return row | {
        "cbrc_deviation": score.cbrc_deviation,
        "ds_deviation": score.ds_deviation,
        "reliability": asdict(score.reliability),
        "stability": score.stability,
        "detectable_difference": score.detectable,
        "inversion_rate": score.inversion_rate,
        "order_of_sizes": asdict(score.order),
        "peers": [asdict(peer) for peer in score.peers],
        "families": [asdict(family) for family in score.families],
        "accuracies": dict(score.accuracies),
        "warnings": list(score.warnings),
        "notes": list(score.notes),
        "settings": {
            "ties": settings.ties,
            "epsilon": settings.epsilon,
            "lambda": settings.decay,
            "interval": "basic bootstrap",
            "level": settings.level,
            "resampled": {
                "interval": "items",
                "interval_over_models": "models",
                "interval_over_both": "items and models",
            },
            "replicates": settings.replicates,
            "seed": settings.seed,
        },
    }


def _estimate(name: str, estimate: IntervalEstimate) -> dict[str, Any]:
    return {
        name: estimate.value,
        f"{name}_interval": _ends(estimate.over_items),
        f"{name}_interval_over_models": _ends(estimate.over_models),
        f"{name}_interval_over_both": _ends(estimate.over_both),
        f"{name}_corrected": estimate.corrected,
        f"{name}_standard_error": estimate.deviation,
    }


def _ends(interval: Interval) -> list[float] | None:
    return [interval.low, interval.high] if interval.defined else None


def _cross_family(score: BenchmarkScore, found: CrossFamily) -> dict[str, Any]:
    names = list(score.accuracies)
    plain = asdict(found)
    plain["contradictions"] = [
        asdict(pair) | {"weaker": names[pair.weaker], "stronger": names[pair.stronger]}
        for pair in found.contradictions
    ]
    return plain


def _curve(curve: Curve, name: str, place: int) -> dict[str, Any]:
    return {
        "constants": list(curve.constants),
        name: curve.metric[:, place].tolist(),
        "bqs": curve.quality[:, place].tolist(),
        "order_of_benchmarks": curve.order.tolist(),
    }


def _print(card: Scorecard, over: Over) -> None:
    scores = card.benchmarks
    by_items = any(score.items is not None for score in scores)
    domains = len({score.domain for score in scores}) > 1
    subset = any(not math.isnan(score.ranking_consistency) for score in scores)
    columns = ["benchmark", *["domain"] * domains, "models", *["items"] * by_items, "accuracy"]
    columns += ["CBRC", *["halves"] * by_items, "DS", "CAD", "BQS", *["detectable"] * by_items]
    columns += ["tau to full"] * subset
    rows = []
    for score in scores:
        row: list[object] = [score.benchmark, *[score.domain or "–"] * domains, score.models]
        row += [*[score.items] * by_items, number(score.accuracy.value)]
        row += [_cell(score.cbrc, over), *[number(score.reliability.tau)] * by_items]
        row += [_cell(getattr(score, name), over) for name in ("ds", "cad", "bqs")]
        row += [number(score.detectable, 3)] * by_items
        rows.append([*row, *[number(score.ranking_consistency)] * subset])
    print_table(columns, rows)


def _print_beside(cards: Scorecards, over: Over) -> None:
    """Numbers with constants from the data, and CBRC shrunken, where they were asked for."""
    shrunken = any(score.shrunken is not None for score in cards.card.benchmarks)
    if not shrunken and cards.adaptive is None:
        return
    columns = ["benchmark", *["CBRC shrunken", "peers"] * shrunken]
    if cards.adaptive is not None:
        columns += ["epsilon", "DS", "lambda", "CAD", "BQS"]
    rows = []
    for score, adaptive in cards.rows:
        row: list[object] = [score.benchmark]
        if shrunken:
            row += [_shrunken(score), score.shrunken.peers if score.shrunken else 0]
        if adaptive is not None:
            row += [number(adaptive.epsilon, 3), _cell(adaptive.ds, over)]
            row += [number(adaptive.decay, 1), _cell(adaptive.cad, over), _cell(adaptive.bqs, over)]
        rows.append(row)
    print_table(columns, rows, title="Beside the paper's numbers")


def _shrunken(score: BenchmarkScore) -> str:
    found = score.shrunken
    if found is None or math.isnan(found.mean):
        return "–"
    return f"{found.mean:.2f} [{found.low:.2f}, {found.high:.2f}]"


def _cell(estimate: IntervalEstimate, over: Over) -> str:
    interval: Interval = getattr(estimate, f"over_{over}")
    value = number(estimate.value)
    return f"{value} [{interval.low:.2f}, {interval.high:.2f}]" if interval.defined else value


def number(value: float, digits: int = 2) -> str:
    """A number as tables print it; a dash when it is undefined."""
    return "–" if math.isnan(value) else f"{value:.{digits}f}"


def _print_placings(placings: Placings, subsets: int) -> None:
    rows = [
        [
            benchmark,
            name.replace("_", " "),
            number(own.value),
            number(own.chance),
            f"[{own.low:.2f}, {own.high:.2f}]",
            number(own.p_value, 3),
        ]
        for benchmark, found in placings.items()
        for name, own in found.items()
        if not math.isnan(own.p_value)
    ]
    print_table(
        ["benchmark", "metric", "subset", "by chance", "95 % of random subsets", "p"],
        rows,
        title=f"Beside {subsets} random subsets of the same size",
    )


def _print_cross_family(card: Scorecard) -> None:
    rows = []
    for score in card.benchmarks:
        found = score.cross_family
        if found is not None:
            rows.append(
                [
                    score.benchmark,
                    number(score.cad.value),
                    found.items_inverted,
                    found.items_shared,
                    number(found.shared_by_chance, 1),
                    number(found.shared_cad),
                    number(found.supported_cad),
                    len(found.contradictions),
                ]
            )
    columns = ["benchmark", "CAD", "items inverted", "by several families", "by chance"]
    columns += ["CAD of these", "CAD without contradicted pairs", "contradicted pairs"]
    print_table(columns, rows, title="Inversions across families")


def _print_curve(title: str, curve: Curve, names: Iterable[str]) -> None:
    columns = ["benchmark", *(f"{constant:g}" for constant in curve.constants)]
    rows = [
        [name, *(number(value) for value in column)]
        for name, column in zip(names, curve.metric.T, strict=True)
    ]
    rows.append(["order by BQS", *(number(value) for value in curve.order)])
    print_table(columns, rows, title=title)


def _remarks(cards: Scorecards, over: Over) -> None:
    """Say, on stderr, what the table shows and what a reader has to know."""
    settings, scores = cards.card.settings, cards.card.benchmarks
    by_items = any(score.items is not None for score in scores)
    if settings.replicates:
        what = "items and models" if over == "both" else over
        say(
            f"[low, high]: {settings.level:.0%} basic bootstrap interval over {what}, not clipped; "
            f"{settings.replicates} replicates, seed {settings.seed}, ties {settings.ties}"
        )
    if by_items:
        say(
            "halves: Kendall's tau between rankings on random halves of the items; "
            "detectable: accuracy difference that a paired test finds with 80 % power"
        )
    if any(not math.isnan(score.ranking_consistency) for score in scores):
        say("tau to full: Kendall's tau between the ranking on these items and on all items")
    if any(score.shrunken is not None for score in scores):
        say("CBRC shrunken: expected tau with one more peer, with its 95% credible interval")
    if cards.card.curves is not None:
        say("order by BQS: tau of the benchmarks' order with that by the paper's constant")
    for warning, names in _grouped(scores, "warnings").items():
        say(f"warning: {_among(names, scores)}: {warning}")
    for note, names in _grouped(scores, "notes").items():
        if note not in _grouped(scores, "warnings"):
            say(f"{_among(names, scores)}: {note}")
    if cards.adaptive is not None:
        known = set(_grouped(scores, "notes"))
        for note, names in _grouped(cards.adaptive.benchmarks, "notes").items():
            if note not in known:
                say(f"{_among(names, scores)}: with constants from the data: {note}")


def _among(names: list[str], scores: tuple[BenchmarkScore, ...]) -> str:
    return ", ".join(names) if len(names) < len(scores) else "all"


def _grouped(scores: Iterable[BenchmarkScore], kind: str) -> dict[str, list[str]]:
    """Benchmarks by note, so that what holds of several is said once."""
    grouped: dict[str, list[str]] = {}
    for score in scores:
        for note in getattr(score, kind):
            grouped.setdefault(note, []).append(score.benchmark)
    return grouped
