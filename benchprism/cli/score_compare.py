"""Two models compared, as ``benchprism score --compare`` prints it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from benchprism.cli.output import counted, print_table, say
from benchprism.cli.score_card import number

if TYPE_CHECKING:
    from benchprism.metrics.scorecard import ScoreSettings
    from benchprism.scoring.comparison import BenchmarkComparison


NO_ITEM = "no item has scores of both models"


def _no_noise(one: BenchmarkComparison) -> str | None:
    """Why neither an interval nor a detectable difference can be given; none when they are."""
    found = one.comparison
    if not found.items or found.differing:
        return None
    if found.items == 1:
        return "the models have a single item in common"
    if one.groups is not None:
        return "the models differ by the same in every group of items, or have a single one"
    if not found.first_only and not found.second_only:
        return "the models score alike on every item, which does not say how large chance is"
    return "the models differ by the same on every item, which does not say how large chance is"


def plain(
    found: Sequence[BenchmarkComparison], first: str, second: str, settings: ScoreSettings
) -> dict[str, Any]:
    """The comparison as JSON."""
    return {
        "first": first,
        "second": second,
        "benchmarks": [_row(one) for one in found],
        "settings": {
            "interval": "basic bootstrap over items",
            "level": 0.95,
            "replicates": settings.replicates,
            "seed": settings.seed,
        },
    }


def _row(one: BenchmarkComparison) -> dict[str, Any]:
    found = one.comparison
    return {
        "benchmark": one.benchmark,
        "items": found.items,
        "groups": one.groups,
        "first": found.first,
        "second": found.second,
        "difference": found.difference,
        "interval": [found.interval.low, found.interval.high] if found.interval.defined else None,
        "first_only": found.first_only,
        "second_only": found.second_only,
        "test": found.test,
        "p": found.p_value,
        "p_adjusted": one.adjusted_p,
        "detectable_difference": found.detectable,
        "reason": _no_noise(one) if found.items else NO_ITEM,
    }


def show(
    found: Sequence[BenchmarkComparison], first: str, second: str, settings: ScoreSettings
) -> None:
    """Print the comparison for people."""
    columns = ["benchmark", "items", first, second, "difference", "only first", "only second"]
    columns += ["test", "p", "p adjusted", "detectable"]
    rows = []
    for one in found:
        own = one.comparison
        cell = f"{own.difference:+.3f}" if own.items else "–"
        if own.interval.defined:
            cell += f" [{own.interval.low:+.3f}, {own.interval.high:+.3f}]"
        rows.append(
            [
                one.benchmark,
                own.items,
                number(own.first, 3),
                number(own.second, 3),
                cell,
                own.first_only,
                own.second_only,
                own.test,
                p_value(own.p_value),
                p_value(one.adjusted_p),
                number(own.detectable, 3),
            ]
        )
    print_table(columns, rows)
    say(
        f"[low, high]: 95% basic bootstrap interval over items; {settings.replicates} replicates, "
        f"seed {settings.seed}. p adjusted: for the number of benchmarks (Holm). detectable: the "
        "difference that this comparison finds with 80 % power"
    )
    for one in found:
        if not one.comparison.items:
            say(f"{one.benchmark}: undefined because {NO_ITEM}")
        if reason := _no_noise(one):
            say(f"{one.benchmark}: interval and detectable: undefined because {reason}")
        if one.groups is not None:
            items = counted(one.comparison.items, "item")
            say(
                f"{one.benchmark}: {items} in {counted(one.groups, 'group')} that share a passage"
                " or a text: signs are flipped by group, since McNemar's test takes items one by"
                " one"
            )


def p_value(value: float) -> str:
    """A p value as tables print it."""
    return "< 0.0001" if value < 0.0001 else number(value, 4)
