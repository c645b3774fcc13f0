"""``benchprism diff``: what two compositions do not have in common."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from benchprism.cli.options import HERE, JsonOption, ProjectOption
from benchprism.cli.output import counted, print_json, print_table, say
from benchprism.project import Project, find_project
from benchprism.records.errors import InputError

if TYPE_CHECKING:
    from benchprism.compose.explaining.difference import Difference, MovedItem, Shift
    from benchprism.compose.explaining.ranking import RankingChange
    from benchprism.compose.store import Subset

_LISTED = 10


def register(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command()(diff)


def diff(
    before: Annotated[
        str, typer.Argument(help="A subset's name, or the folder of one.", show_default=False)
    ],
    after: Annotated[
        str, typer.Argument(help="Another one, or another version.", show_default=False)
    ],
    replicates: Annotated[
        int, typer.Option(min=0, help="Bootstrap replicates for the ranking's interval.")
    ] = 1000,
    project: ProjectOption = HERE,
    json: JsonOption = False,
) -> None:
    """Compare two compositions: items in and out with reasons, attributes, ranking of models.

    Example: benchprism diff reasoning old/subsets/reasoning
    """
    from benchprism.compose.explaining.difference import difference

    opened = _project(project)
    then, now = (_subset(name, opened) for name in (before, after))
    found = difference(then, now)
    ranking = None if opened is None else _ranking(opened, then, now, replicates)
    if json:
        print_json({**asdict(found), "ranking": _ranking_data(ranking)})
        return
    _print(found)
    if ranking is not None:
        _print_ranking(ranking)
    else:
        say("No ranking of models: there are no results on both.")


def _project(start: Path) -> Project | None:
    """The project, if there is one: two folders can be compared without."""
    try:
        return find_project(start)
    except InputError:
        return None


def _subset(name: str, project: Project | None) -> Subset:
    from benchprism.compose.store import LOCK, read_subset

    if (Path(name) / LOCK).is_file() or project is None:
        return read_subset(Path(name))
    return read_subset(project.subsets / name)


def _ranking(project: Project, then: Subset, now: Subset, replicates: int) -> RankingChange | None:
    from benchprism.cli.gather import project_evidence
    from benchprism.compose.explaining.ranking import ranking_change

    evidence = project_evidence(project)
    if evidence is None:
        return None
    found = ranking_change(
        evidence.outcomes,
        then.contents.keys(),
        now.contents.keys(),
        seed=project.settings.seed,
        replicates=replicates,
    )
    return found if found.items_before and found.items_after else None


def _ranking_data(ranking: RankingChange | None) -> dict[str, Any] | None:
    if ranking is None:
        return None
    return {
        "tau": ranking.tau,
        "interval": [ranking.interval.low, ranking.interval.high],
        "items_before": ranking.items_before,
        "items_after": ranking.items_after,
        "replicates": ranking.replicates,
        "seed": ranking.seed,
        "models": [
            {**asdict(model), "change": [model.change.low, model.change.high]}
            for model in ranking.models
        ],
    }


def _print(found: Difference) -> None:
    a, b = found.before, found.after
    both = counted(found.both, "item")
    typer.echo(f"{both} in both, {len(found.came)} only in {b}, {len(found.went)} only in {a}.")
    for cause in found.causes:
        typer.echo(f"  - {cause}")
    _print_items(found.came, f"in {b}, not in {a}")
    _print_items(found.went, f"in {a}, not in {b}")
    if found.edited:
        print_table(["item with other content"], [[item] for item in found.edited[:_LISTED]])
    _print_shifts(found.shifts)


def _print_items(items: Sequence[MovedItem], title: str) -> None:
    if not items:
        return
    rules = Counter(item.rule for item in items).most_common()
    print_table(["left out of the other by", "items"], rules, title=title)
    rows = [[item.item_id, item.detail] for item in items[:_LISTED]]
    print_table(["item", "why not in the other"], rows)
    if len(items) > _LISTED:
        say(f"{counted(len(items) - _LISTED, 'more item')}; list them all with --json.")


def _print_shifts(shifts: Sequence[Shift]) -> None:
    """Print of each attribute what has shifted most."""
    most: dict[str, Shift] = {}
    for shift in shifts:
        known = most.get(shift.attribute)
        if _size(shift) > 0 and (known is None or _size(shift) > _size(known)):
            most[shift.attribute] = shift
    if most:
        rows = [
            [s.attribute, s.measure, f"{s.before:.3g}", f"{s.after:.3g}"] for s in most.values()
        ]
        print_table(["attribute", "mean, or share of", "before", "after"], rows)


def _size(shift: Shift) -> float:
    if shift.before is None or shift.after is None:
        return 0.0
    return abs(shift.after - shift.before)


def _print_ranking(ranking: RankingChange) -> None:
    rows = [
        [m.model, f"{m.accuracy_before:.3f}", f"{m.accuracy_after:.3f}", m.rank_before,
         m.rank_after, _ends(m.change.low, m.change.high)]
        for m in ranking.models
        if m.rank_before != m.rank_after
    ]  # fmt: skip
    interval = _ends(ranking.interval.low, ranking.interval.high)
    typer.echo(
        f"Kendall's tau of the two rankings of {counted(len(ranking.models), 'model')}:"
        f" {ranking.tau:.3f} {interval}."
    )
    if rows:
        columns = ["model", "accuracy before", "after", "rank before", "after", "change"]
        print_table(columns, rows, title="models whose rank differs")
    say(
        f"[low, high]: 95% basic bootstrap intervals over items ({ranking.items_before} and"
        f" {ranking.items_after} with results); {ranking.replicates} replicates,"
        f" seed {ranking.seed}."
    )


def _ends(low: float, high: float) -> str:
    return "" if low != low else f"[{low:.2f}, {high:.2f}]"
