"""The judgement of a composition, as ``score --judge`` prints it."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

from benchprism.cli.output import counted, print_json, print_table, say
from benchprism.cli.score_card import number
from benchprism.project import Project
from benchprism.records.errors import InputError

if TYPE_CHECKING:
    from benchprism.scoring.judging import Judgement, Measured

_NAMES = {"ranking_consistency": "ranking consistency", "stability": "stability"}
_QUICK = 1_000_000
"""Scores up to which a composition is judged without being asked for."""


def print_judgement(judgement: Judgement, *, as_json: bool) -> None:
    """Print a judgement, the composition as a whole; JSON has its benchmarks too."""
    from benchprism.scoring.judgement_record import judgement_data

    if as_json:
        print_json(judgement_data(judgement))
        return
    name, held_out = judgement.subset.name, judgement.by_held_out
    columns = ["measure", "subset", "sources whole", "random subsets", "beats", "p"]
    others: list[Measured | None] = [None] * len(judgement.whole)
    if held_out is not None:
        columns += ["held-out families", "random subsets, held out", "beats, held out"]
        others = [*held_out.measures[name]]
    rows = [
        [_name(one.measure), *_cells(one), *([] if other is None else _cells_held_out(other))]
        for one, other in zip(judgement.whole, others, strict=True)
    ]
    print_table(columns, rows, title=f"{name} beside {judgement.subsets} random subsets")
    for sentence in sentences(judgement):
        say(sentence)


def _name(measure: str) -> str:
    return _NAMES.get(measure, measure.upper())


def _cells(one: Measured) -> list[str]:
    placed = one.placing
    return [
        number(placed.value),
        number(one.sources),
        _random(one),
        _share(one.beats),
        number(placed.p_value, 3),
    ]


def _cells_held_out(one: Measured) -> list[str]:
    return [number(one.placing.value), _random(one), _share(one.beats)]


def _random(one: Measured) -> str:
    placed = one.placing
    if math.isnan(placed.chance):
        return "–"
    return f"{placed.chance:.2f} [{placed.low:.2f}, {placed.high:.2f}]"


def _share(share: float) -> str:
    return "–" if math.isnan(share) else f"{math.floor(100 * share + 1e-9)} %"


def sentences(judgement: Judgement) -> Iterator[str]:
    """What the table says, and on what it rests."""
    by_all, held_out = judgement.by_all, judgement.by_held_out
    items, name = judgement.subset.items.num_rows, judgement.subset.name
    yield _beats(judgement.whole, by_all.items)
    if held_out is not None:
        yield f"By held-out families: {_beats(held_out.measures[name], held_out.items)}"
    yield from _undefined(judgement.whole, "")
    if held_out is not None:
        yield from _undefined(held_out.measures[name], "by held-out families, ")
    judges = f"{counted(len(by_all.models), 'model')} judge"
    scored = f"{by_all.items} of {counted(items, 'item')} have results"
    yield f"{judges}; {scored}; seed {judgement.settings.seed}. [low, high]: 95 % of random subsets"
    if held_out is None:
        yield f"Held-out families: none; {judgement.nobody}."
    else:
        families = sorted({family for family in held_out.models.values() if family})
        yield f"Held-out families: {', '.join(families)}."
    yield "CBRC and BQS: means over the benchmarks; --json has each benchmark."
    for note in by_all.notes:
        yield f"Note: {note}."


def _beats(measures: tuple[Measured, ...], items: int) -> str:
    """Such as ``Beats 97 % of random subsets of 60 items in DS, 40 % in CAD.``"""
    found = [
        (_share(one.beats), _name(one.measure)) for one in measures if not math.isnan(one.beats)
    ]
    if not found:
        return "Nothing can be compared with random subsets."
    (share, measure), *rest = found
    more = "".join(f", {own} in {what}" for own, what in rest)
    return f"Beats {share} of random subsets of {counted(items, 'item')} in {measure}{more}."


def _undefined(measures: tuple[Measured, ...], by: str) -> Iterator[str]:
    for reason in dict.fromkeys(one.reason for one in measures if one.reason):
        names = [_name(one.measure) for one in measures if one.reason == reason]
        what = ", ".join(names) if len(names) < len(measures) else "all"
        lacks = any(math.isnan(one.placing.value) for one in measures if one.reason == reason)
        yield f"{what}: {by}{'undefined' if lacks else 'not compared'} because {reason}."


def say_verdict(project: Project, name: str) -> None:
    """Judge a composition that was just written, if that is quick, and say so in one line."""
    from pyarrow.lib import ArrowException
    from pyarrow.parquet import read_metadata

    from benchprism.records.files import listed

    try:
        files = listed(project.results, "*.parquet")
        scores = sum(read_metadata(path).num_rows for path in files)
    except (OSError, ArrowException):
        return
    if not 0 < scores <= _QUICK:
        return
    from benchprism.metrics.scorecard import ScoreSettings
    from benchprism.scoring import project_results
    from benchprism.scoring.judgement_record import write_judgement
    from benchprism.scoring.judging import judge

    settings = ScoreSettings(seed=project.settings.seed)
    try:
        results = project_results(project)
        found = judge(project, name, results, settings=settings, threads=os.cpu_count() or 1)
    except InputError:  # nothing to judge it by; scoring it says why
        return
    write_judgement(found)
    say(f"{_beats(found.whole, found.by_all.items)} 'benchprism score {name} --judge' says more.")
