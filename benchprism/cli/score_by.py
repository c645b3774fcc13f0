"""Models by the value of an attribute, as ``benchprism score --by`` prints them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from benchprism.cli.output import counted, print_table, say

if TYPE_CHECKING:
    from benchprism.metrics.items.rank_changes import Standing
    from benchprism.metrics.scorecard import ScoreSettings
    from benchprism.scoring.by_attribute import AttributeStandings

_SIGNIFICANT = 0.05


def plain(found: AttributeStandings, settings: ScoreSettings) -> dict[str, Any]:
    """The standings as JSON; what is undefined is NaN here and null when it is printed."""
    return {
        "attribute": found.attribute,
        "benchmarks": list(found.benchmarks),
        "items": found.items,
        "items_without_a_value": found.without,
        "overall": _models(found, found.overall, compared=False),
        "values": [
            {"value": name, "items": own.items, "models": _models(found, own, compared=True)}
            for name, own in zip(found.names, found.standings, strict=True)
        ],
        "settings": {
            "accuracy_interval": "Wilson",
            "rank_interval": "bootstrap over items",
            "level": 0.95,
            "replicates": settings.replicates,
            "seed": settings.seed,
        },
    }


def _models(found: AttributeStandings, own: Standing, *, compared: bool) -> list[dict[str, Any]]:
    rows = []
    for column, model in enumerate(found.models):
        row = {
            "model": model,
            "accuracy": float(own.accuracy[column]),
            "accuracy_interval": [
                float(own.accuracy_low[column]),
                float(own.accuracy_high[column]),
            ],
            "rank": float(own.rank[column]),
        }
        if compared:
            row |= {
                "rank_interval": [float(own.rank_low[column]), float(own.rank_high[column])],
                "expected_rank": float(own.expected_rank[column]),
                "p_adjusted": float(own.p_values[column]),
                "change": _change(own, column),
            }
        rows.append(row)
    return rows


def _change(own: Standing, column: int) -> str | None:
    """Whether a model stands higher or lower than on random items, beyond noise."""
    if not own.p_values[column] < _SIGNIFICANT:
        return None
    return "higher" if own.rank[column] < own.expected_rank[column] else "lower"


def show(found: AttributeStandings, settings: ScoreSettings) -> None:
    """Print the standings for people, the best model first."""
    columns = ["model", f"all ({counted(found.items, 'item')})"]
    columns += [
        f"{name} ({own.items})" for name, own in zip(found.names, found.standings, strict=True)
    ]
    order = np.argsort(np.nan_to_num(found.overall.rank, nan=math.inf), kind="stable")
    rows = [
        [found.models[column], _cell(found.overall, column)]
        + [_cell(own, column) for own in found.standings]
        for column in order.tolist()
    ]
    print_table(columns, rows, title=f"By {found.attribute}")
    say(
        "accuracy [95% interval] #rank (95% of ranks on resampled items); ▲ ▼: higher, lower than "
        f"on random items of the same benchmarks, beyond noise (p < {_SIGNIFICANT}, adjusted); "
        f"{settings.replicates} replicates, seed {settings.seed}"
    )
    if found.without:
        say(f"{counted(found.without, 'item')} without a value of {found.attribute} left out")
    changes = sum(
        _change(own, column) is not None
        for own in found.standings
        for column in range(len(found.models))
    )
    say(f"{counted(changes, 'rank change')} beyond noise")


def _cell(own: Standing, column: int) -> str:
    if math.isnan(own.accuracy[column]):
        return "–"
    low, high = own.accuracy_low[column], own.accuracy_high[column]
    cell = f"{own.accuracy[column]:.2f} [{low:.2f}, {high:.2f}] #{own.rank[column]:g}"
    if not math.isnan(own.rank_low[column]):
        cell += f" ({own.rank_low[column]:g}–{own.rank_high[column]:g})"
    mark = {"higher": " ▲", "lower": " ▼", None: ""}[_change(own, column)]
    return cell + mark
