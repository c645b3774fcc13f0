"""``benchprism annotate status``: how far an annotation is, what failed, what it has cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from benchprism.cli.options import HERE, JsonOption, ProjectOption
from benchprism.cli.output import print_json, print_table, say
from benchprism.project import find_project

if TYPE_CHECKING:
    from benchprism.annotate.ledger.outcome import Status
    from benchprism.annotate.ledger.standing import AnnotatorStanding, Standing, ValueCount


def status(
    attributes: Annotated[
        bool, typer.Option("--attributes", help="Show the values of each attribute too.")
    ] = False,
    ledger: Annotated[
        Path | None, typer.Option(help="The ledger of a shard, in place of the project's.")
    ] = None,
    project: ProjectOption = HERE,
    json: JsonOption = False,
) -> None:
    """Count items and values by annotator, benchmark, attribute and status, tokens and price.

    Example: benchprism annotate status --json
    """
    from benchprism.annotate.ledger.stale import stale
    from benchprism.annotate.ledger.standing import declined_clusters, standing
    from benchprism.annotate.ledger.store import Ledger
    from benchprism.cli.gather import project_catalogue
    from benchprism.records.items.store import project_items

    opened = find_project(project)
    with Ledger(ledger or opened.ledger) as open_ledger:
        now = standing(open_ledger)
        waiting = len(open_ledger.waiting())
        catalogue = project_catalogue(opened)
        has_items = any(opened.items.glob("*.parquet"))
        old = stale(open_ledger, catalogue, project_items(opened.items)) if has_items else []
    declined = declined_clusters(now.values, catalogue)
    notes = [*_replay_notes(now), *map(str, old), *map(str, declined)]
    if json:
        print_json(
            {
                **_standing(now),
                "notes": notes,
                "stale": [asdict(one) for one in old],
                "declined": [asdict(cluster) for cluster in declined],
                "waiting_in_batches": waiting,
            }
        )
        return
    if waiting:
        say(f"{waiting} requests wait in batches. To look: benchprism annotate --batch status")
    if not now.annotators:
        say("Nothing is annotated yet. Next: benchprism annotate")
        return
    _print_standing(now)
    if attributes:
        _print_attributes(now.values)
    for note in notes:
        say(f"Note: {note}.")


def _standing(now: Standing) -> dict[str, Any]:
    annotators = [{**asdict(one), "replayed": one.replayed} for one in now.annotators]
    return {**asdict(now), "annotators": annotators}


def _replay_notes(now: Standing) -> list[str]:
    return [
        f"{one.annotator} is a replay of recorded annotations; its token counts are estimates"
        for one in now.annotators
        if one.replayed
    ]


def _print_standing(now: Standing) -> None:
    counts = [((one.annotator, one.benchmark), one.status, one.items) for one in now.items]
    _print_pivot(["annotator", "benchmark"], counts, "Items")
    print_table(
        ["annotator", "model", "replies", "prompt tokens", "cached", "completion tokens", "price"],
        [
            (
                one.annotator,
                one.model,
                one.replies,
                one.prompt_tokens,
                one.cached_tokens,
                one.completion_tokens,
                _price_cell(one),
            )
            for one in now.annotators
        ],
        title="Replies",
    )


def _price_cell(one: AnnotatorStanding) -> str:
    """The price, and of how many replies when some have none."""
    from benchprism.annotate.money.prices import money

    if one.price is None:
        return ""
    some = f" ({one.priced} of {one.replies} replies)" if one.priced < one.replies else ""
    return f"{money(one.price)}{some}"


def _print_attributes(values: Sequence[ValueCount]) -> None:
    counts = [((one.annotator, one.attribute), one.status, one.values) for one in values]
    _print_pivot(["annotator", "attribute"], counts, "Values")


def _print_pivot(
    columns: Sequence[str], counts: Sequence[tuple[tuple[str, str], Status, int]], title: str
) -> None:
    """Print counts with a column for each status that occurs."""
    from benchprism.annotate.ledger.outcome import STATUSES

    shown = [status for status in STATUSES if any(status == other for _, other, _ in counts)]
    rows: dict[tuple[str, str], dict[Status, int]] = {}
    for key, ended, count in counts:
        row = rows.setdefault(key, {})
        row[ended] = row.get(ended, 0) + count
    print_table(
        [*columns, "all", *shown],
        [(*key, sum(row.values()), *(row.get(s, 0) for s in shown)) for key, row in rows.items()],
        title=title,
    )
