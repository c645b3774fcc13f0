"""``benchprism score``: what results say about benchmarks, subsets, items and models."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from benchprism.cli import score_options as given
from benchprism.cli.options import HERE, JsonOption, ProjectOption
from benchprism.project import find_project
from benchprism.records.errors import InputError

if TYPE_CHECKING:
    from benchprism.metrics.scorecard import ScoreSettings


def register(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command()(score)


def score(
    subset: given.SubsetArgument = None,
    benchmark: given.BenchmarkOption = None,
    family: given.FamilyOption = None,
    held_out: given.HeldOutOption = False,
    accuracy: given.AccuracyOption = None,
    unit: given.UnitOption = None,
    domains: given.DomainsOption = None,
    inversions: given.InversionsOption = None,
    ties: given.TiesOption = "tau-b",
    epsilon: given.EpsilonOption = "0.02",
    decay: given.LambdaOption = "12",
    over: given.OverOption = "items",
    ungrouped: given.UngroupedOption = False,
    replicates: given.ReplicatesOption = 1000,
    seed: given.SeedOption = None,
    null: given.NullOption = 0,
    shrink: given.ShrinkOption = False,
    cross_family: given.CrossFamilyOption = False,
    curves: given.CurvesOption = False,
    compare: given.CompareOption = None,
    by: given.ByOption = None,
    items: given.ItemsOption = False,
    response: given.ResponseOption = "2PL",
    out: given.OutOption = None,
    demand: given.DemandOption = None,
    share: given.ShareOption = False,
    judge: given.JudgeOption = False,
    as_json: JsonOption = False,
    project: ProjectOption = HERE,
) -> None:
    """Score benchmarks: whether they rank models alike, tell them apart, and order families.

    CBRC: the ranking agrees with the other benchmarks of the domain. DS: models lie apart. CAD:
    stronger models solve what weaker ones of their family solve. BQS: all three in one number.

    Example: benchprism score --json

    Example: benchprism score deep --null 200

    Example: benchprism score deep --judge

    Example: benchprism score --lambda adaptive --epsilon noise --shrink --cross-family --curves

    Example: benchprism score --compare qwen-7b llama-8b

    Example: benchprism score --by reasoning_depth

    Example: benchprism score --demand reasoning_depth --demand domain_knowledge

    Example: benchprism score --items --out items.parquet
    """
    from benchprism.cli.score_question import Question
    from benchprism.metrics.scorecard import ScoreSettings
    from benchprism.scoring import Scope

    settings = ScoreSettings(
        ties=ties,
        epsilon="noise" if epsilon == "noise" else _number("--epsilon", epsilon, "noise", 1),
        decay="adaptive" if decay == "adaptive" else _number("--lambda", decay, "adaptive", 1000),
        replicates=replicates,
        seed=seed or 0,
        shrunken=shrink,
        cross_family=cross_family,
        curves=curves,
    )
    questions = {"--compare": compare, "--by": by, "--items": items, "--demand": demand}
    questions |= {"--share": share, "--judge": judge}
    asked = [option for option, value in questions.items() if value]
    if len(asked) > 1:
        wanted = "one question at a time"
        raise InputError(f"{' and '.join(asked)} together", wanted=wanted, mend="leave out one")
    if out is not None and not items:
        raise InputError("--out without --items", wanted="both", mend="add --items")
    needs_items = {
        "the subset": subset, **questions, "--benchmark": benchmark, "--family": family,
        "--held-out": held_out, "--null": null, "--cross-family": cross_family,
    }  # fmt: skip
    if accuracy is not None:
        _refuse(needs_items, "together with --accuracy", "a project, since a table has no items")
        _score_table(accuracy, unit, domains, inversions, settings, over, as_json)
        return
    table_options = {"--unit": unit, "--domains": domains, "--inversions": inversions}
    _refuse(table_options, "without --accuracy", "an accuracy table to go with it")
    opened = find_project(project)
    if seed is None:
        settings = replace(settings, seed=opened.settings.seed)
    scope = Scope(tuple(benchmark or ()), tuple(family or ()), not ungrouped)
    question = Question(opened, subset, scope, held_out, settings, as_json)
    if compare:
        question.compare(*compare)
    elif by:
        question.by(by)
    elif items:
        question.items(None if response == "none" else response, out)
    elif demand:
        question.demands(demand)
    elif share:
        question.share()
    elif judge:
        question.judge(null)
    else:
        question.scorecard(over, null)


def _number(option: str, text: str, word: str, most: float) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 <= value <= most:
        raise InputError(
            f"{option} {text!r}",
            wanted=f"a number from 0 to {most:g}, or {word!r}",
            mend="give one of them",
        )
    return value


def _refuse(options: Mapping[str, object], where: str, wanted: str) -> None:
    """Refuse options that make no sense there."""
    for option, value in options.items():
        if value:
            name = f"the subset {value!r}" if option == "the subset" else option
            raise InputError(f"{name} {where}", wanted=wanted, mend="leave out one of them")


def _score_table(
    table: Path,
    unit: given.Unit | None,
    domains: Path | None,
    inversions: Path | None,
    settings: ScoreSettings,
    over: given.Over,
    as_json: bool,
) -> None:
    from benchprism.cli.score_card import print_scorecards, score_twice
    from benchprism.scoring import score_accuracy

    if unit is None:
        raise InputError(
            "--accuracy without --unit",
            wanted="the unit of the accuracies",
            mend="add --unit percent (0 to 100) or --unit proportion (0 to 1)",
        )
    known = unit
    cards = score_twice(
        settings,
        lambda chosen: score_accuracy(
            table, known, domains=domains, inversions=inversions, settings=chosen
        ),
    )
    print_scorecards(cards, over, as_json)
