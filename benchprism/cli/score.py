"""``benchprism score``: consistency, discriminability, alignment and quality of benchmarks."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from benchprism.cli.options import HERE, JsonOption, ProjectOption
from benchprism.cli.output import print_json, print_table, say
from benchprism.project import find_project
from benchprism.records.errors import InputError

if TYPE_CHECKING:
    from benchprism.metrics.resampling import Interval
    from benchprism.metrics.scorecard import (
        BenchmarkScore,
        IntervalEstimate,
        Scorecard,
        ScoreSettings,
    )


_Unit = Literal["percent", "proportion"]
_Ties = Literal["tau-b", "listing"]
_ESTIMATES = ("accuracy", "cbrc", "ds", "cad", "bqs")


def register(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command()(score)


def score(
    subset: Annotated[
        str | None,
        typer.Argument(help="A composed subset, to score the benchmarks on its items alone."),
    ] = None,
    accuracy: Annotated[
        Path | None,
        typer.Option(
            help="Score this CSV of accuracies instead of a project: models in rows (first "
            "column, then 'family' and 'size' if known), benchmarks in columns."
        ),
    ] = None,
    unit: Annotated[
        _Unit | None, typer.Option(help="What the accuracies of --accuracy are.")
    ] = None,
    domains: Annotated[
        Path | None, typer.Option(help="CSV with the columns benchmark and domain.")
    ] = None,
    inversions: Annotated[
        Path | None,
        typer.Option(help="CSV with a column benchmark and inversion rates, a column a family."),
    ] = None,
    ties: Annotated[
        _Ties, typer.Option(help="How rankings treat equal models; 'listing' is the paper's way.")
    ] = "tau-b",
    replicates: Annotated[
        int, typer.Option(min=0, help="Bootstrap replicates; 0 for no intervals.")
    ] = 1000,
    seed: Annotated[
        int | None, typer.Option(min=0, help="Seed of the bootstrap; the project's if none.")
    ] = None,
    epsilon: Annotated[
        float, typer.Option(min=0, max=1, help="Accuracy difference that does not count, for DS.")
    ] = 0.02,
    decay: Annotated[
        float, typer.Option("--lambda", min=0, max=1000, help="How fast inversions cost, for CAD.")
    ] = 12,
    as_json: JsonOption = False,
    project: ProjectOption = HERE,
) -> None:
    """Score benchmarks: whether they rank models alike, tell them apart, and order families.

    CBRC: the ranking agrees with the other benchmarks of the domain. DS: models lie apart. CAD:
    stronger models solve what weaker ones of their family solve. BQS: all three in one number.

    Example: benchprism score --json
    """
    from benchprism.metrics.scorecard import ScoreSettings

    settings = ScoreSettings(ties, epsilon, decay, replicates, seed or 0)
    if accuracy is not None:
        card = _score_table(accuracy, unit, subset, domains, inversions, settings)
    else:
        given = {"--unit": unit, "--domains": domains, "--inversions": inversions}
        card = _score_project(project, subset, seed, given, settings)
    if as_json:
        print_json([_row(found, card.settings) for found in card.benchmarks])
    else:
        _print(card)


def _score_project(
    project: Path,
    subset: str | None,
    seed: int | None,
    table_options: Mapping[str, object],
    settings: ScoreSettings,
) -> Scorecard:
    from benchprism.scoring import score_project

    for option, value in table_options.items():
        if value is not None:
            raise InputError(
                f"{option} without --accuracy",
                wanted="an accuracy table to go with it",
                mend=f"add --accuracy FILE, or leave out {option}",
            )
    opened = find_project(project)
    if seed is None:
        settings = replace(settings, seed=opened.settings.seed)
    return score_project(opened, subset=subset, settings=settings, threads=os.cpu_count() or 1)


def _score_table(
    table: Path,
    unit: _Unit | None,
    subset: str | None,
    domains: Path | None,
    inversions: Path | None,
    settings: ScoreSettings,
) -> Scorecard:
    from benchprism.scoring import score_accuracy

    if unit is None:
        raise InputError(
            "--accuracy without --unit",
            wanted="the unit of the accuracies",
            mend="add --unit percent (0 to 100) or --unit proportion (0 to 1)",
        )
    if subset is not None:
        raise InputError(
            f"the subset {subset!r} together with --accuracy",
            wanted="one of them, since an accuracy table has no items",
            mend="leave out one",
        )
    return score_accuracy(table, unit, domains=domains, inversions=inversions, settings=settings)


def _row(score: BenchmarkScore, settings: ScoreSettings) -> dict[str, Any]:
    """One benchmark as JSON; what is undefined is NaN here and null when it is printed."""
    row: dict[str, Any] = {
        "benchmark": score.benchmark,
        "domain": score.domain,
        "models": score.models,
        "items": score.items,
        "missing": score.missing,
    }
    for name in _ESTIMATES:
        estimate: IntervalEstimate = getattr(score, name)
        row[name] = estimate.value
        row[f"{name}_interval"] = _ends(estimate.over_items)
        row[f"{name}_interval_over_models"] = _ends(estimate.over_models)
    if not math.isnan(score.ranking_consistency):
        row["ranking_consistency"] = score.ranking_consistency
    return row | {
        "cbrc_deviation": score.cbrc_deviation,
        "ds_deviation": score.ds_deviation,
        "inversion_rate": score.inversion_rate,
        "peers": [asdict(peer) for peer in score.peers],
        "families": [asdict(family) for family in score.families],
        "accuracies": dict(score.accuracies),
        "notes": list(score.notes),
        "settings": {
            "ties": settings.ties,
            "epsilon": settings.epsilon,
            "lambda": settings.decay,
            "interval": "basic bootstrap",
            "level": settings.level,
            "resampled": {"interval": "items", "interval_over_models": "models"},
            "replicates": settings.replicates,
            "seed": settings.seed,
        },
    }


def _ends(interval: Interval) -> list[float] | None:
    return [interval.low, interval.high] if interval.defined else None


def _print(card: Scorecard) -> None:
    """Print a table for people, and under it, on stderr, what they have to know."""
    settings, scores = card.settings, card.benchmarks
    by_items = any(score.items is not None for score in scores)
    domains = len({score.domain for score in scores}) > 1
    subset = any(not math.isnan(score.ranking_consistency) for score in scores)
    columns = ["benchmark", *["domain"] * domains, "models", *["items"] * by_items, "accuracy"]
    columns += ["CBRC", "DS", "CAD", "BQS", *["tau to full"] * subset]
    rows = []
    for score in scores:
        row: list[object] = [score.benchmark, *[score.domain or "–"] * domains, score.models]
        row += [*[score.items] * by_items, _number(score.accuracy.value)]
        row += [_cell(getattr(score, name), by_items) for name in ("cbrc", "ds", "cad", "bqs")]
        rows.append([*row, *[_number(score.ranking_consistency)] * subset])
    print_table(columns, rows)
    if settings.replicates:
        over = "items" if by_items else "models"
        say(
            f"[low, high]: {settings.level:.0%} basic bootstrap interval over {over}, not clipped; "
            f"{settings.replicates} replicates, seed {settings.seed}, ties {settings.ties}"
        )
    if subset:
        say("tau to full: Kendall's tau between the ranking on these items and on all items")
    for note, names in _grouped(scores).items():
        say(f"{', '.join(names) if len(names) < len(scores) else 'all'}: {note}")


def _grouped(scores: Iterable[BenchmarkScore]) -> dict[str, list[str]]:
    """Benchmarks by note, so that what holds of several is said once."""
    grouped: dict[str, list[str]] = {}
    for score in scores:
        for note in score.notes:
            grouped.setdefault(note, []).append(score.benchmark)
    return grouped


def _cell(estimate: IntervalEstimate, by_items: bool) -> str:
    interval = estimate.over_items if by_items else estimate.over_models
    value = _number(estimate.value)
    return f"{value} [{interval.low:.2f}, {interval.high:.2f}]" if interval.defined else value


def _number(value: float) -> str:
    return "–" if math.isnan(value) else f"{value:.2f}"
