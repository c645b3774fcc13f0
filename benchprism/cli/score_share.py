"""The share of items to keep, as ``benchprism score --share`` prints it."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from benchprism.cli.output import counted, print_table, say
from benchprism.cli.score_card import number

if TYPE_CHECKING:
    from benchprism.metrics.scorecard import ScoreSettings
    from benchprism.scoring.share import ShareChoice


def plain(found: ShareChoice, settings: ScoreSettings) -> dict[str, Any]:
    """The trade-off as JSON."""
    return {
        "best": found.curve.best,
        "points": [asdict(point) for point in found.curve.points],
        "items": found.items,
        "dropped": found.dropped,
        "held_in": list(found.split.held_in) if found.split else None,
        "held_out": list(found.split.held_out) if found.split else None,
        "settings": {"seed": settings.seed},
    }


def show(found: ShareChoice) -> None:
    """Print the trade-off for people."""
    from benchprism.metrics.reasons import named
    from benchprism.scoring.share import CAD_ABOVE

    columns = ["share", "items", "kept", "consistency", "stability", "discriminability", "mean", ""]
    rows = [
        [
            f"{point.share:.0%}",
            point.items,
            f"{point.items / found.items:.0%}" if found.items else "–",
            number(point.consistency),
            number(point.stability),
            number(point.discriminability),
            number(point.objective),
            "best" if point.share == found.curve.best else "",
        ]
        for point in found.curve.points
    ]
    print_table(columns, rows)
    say(
        f"{found.dropped} of {counted(found.items, 'item')} dropped first: their CAD is at most"
        f" {CAD_ABOVE} among the models that choose. A share is of all items of each benchmark;"
        " where fewer are left, all of these are kept"
    )
    if math.isnan(found.curve.best):
        say("best: undefined because fewer than two models judge, or they all score alike")
    if found.split is None:
        say(
            "warning: fewer than two families: the models that choose the items also judge them, "
            "which flatters every choice"
        )
    else:
        say(
            f"items chosen by {named(found.split.held_in)}; judged by "
            f"{named(found.split.held_out)}, which were held out"
        )
