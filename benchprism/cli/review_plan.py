"""``benchprism review plan``: what is reviewed, in which order, and by whom."""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from benchprism.cli.options import HERE, BenchmarkOption, JsonOption, ProjectOption
from benchprism.cli.output import counted, print_json, print_table, say
from benchprism.cli.review_planning import few_sampled, knowledge, planned, valueless
from benchprism.project import Project, find_project
from benchprism.records.errors import InputError

if TYPE_CHECKING:
    import pyarrow as pa

    from benchprism.annotate.review.planning.effort import Effort
    from benchprism.annotate.review.planning.plan import Planned
    from benchprism.annotate.review.planning.plan_store import Plan
    from benchprism.cli.review_planning import Knowledge, Valueless

_ITEMS = 200
"""Items that are planned when nothing says how many."""


def register(group: typer.Typer) -> None:
    """Add the command to ``benchprism review``."""
    group.command()(plan)


def plan(
    items: Annotated[
        int | None,
        typer.Option(min=1, help=f"How many items are reviewed in all; {_ITEMS} if nothing says."),
    ] = None,
    minutes: Annotated[
        float | None,
        typer.Option(min=0, help="In place of --items: the work of all reviewers together."),
    ] = None,
    seconds_per_item: Annotated[
        float | None,
        typer.Option(min=1, help="How long one takes; learnt from responses, or 90 until then."),
    ] = None,
    calibration: Annotated[
        str,
        typer.Option(
            help="Of them, in the blind sample: a share (0.3, 1.0 for all) or a number (60)."
        ),
    ] = "0.3",
    strata: Annotated[
        list[str] | None,
        typer.Option(help="A field to draw the sample by; benchmark if none; may be given again."),
    ] = None,
    subset: Annotated[
        list[str] | None,
        typer.Option(
            help="A composed subset: what may move into or out of it is urgent; may be given again."
        ),
    ] = None,
    benchmark: BenchmarkOption = None,
    attribute: Annotated[
        list[str] | None, typer.Option(help="Only doubts of this attribute; may be given again.")
    ] = None,
    confidence: Annotated[
        float, typer.Option(min=0, max=1, help="A value of less is in doubt.")
    ] = 0.7,
    reviewer: Annotated[
        list[str] | None,
        typer.Option(help="Who gets items, by user name; may be given again. Anyone if none."),
    ] = None,
    overlap: Annotated[
        int | None, typer.Option(min=1, help="How many reviewers each item gets; 1 if none says.")
    ] = None,
    seed: Annotated[
        int | None, typer.Option(min=0, help="Of the sample; the project's if none.")
    ] = None,
    anew: Annotated[
        bool, typer.Option("--anew", help="Forget the plan that there is, and who has what.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show the plan, and write nothing.")
    ] = False,
    project: ProjectOption = HERE,
    json: JsonOption = False,
) -> None:
    """Plan a review: a random sample without suggestions, then what is most in doubt.

    The sample tells how far annotations can be trusted (review calibrate). The rest are items where
    annotators failed, are at odds or unsure, or where another value would change a subset. Planned
    again, also with more items or reviewers, the plan keeps its items and who has them.

    Example: benchprism review plan --items 300 --reviewer alice --reviewer bob --overlap 2
    """
    if items is not None and minutes is not None:
        raise InputError(
            "both --items and --minutes are given", wanted="one of them", mend="leave one out"
        )
    opened = find_project(project)
    former = None if anew else _former(opened)
    known = knowledge(opened, attribute or [])
    settings: dict[str, Any] = {
        **_drawn_by(opened, former, strata, seed),
        "subsets": subset or [],
        "benchmarks": benchmark or [],
        "attributes": attribute or [],
        "confidence": confidence,
        "reviewers": reviewer or (former.settings.get("reviewers", []) if former else []),
        "overlap": overlap or (former.settings.get("overlap", 1) if former else 1),
    }
    _check_reviewers(settings["reviewers"])
    number = items or _ITEMS
    if minutes is not None:
        _check_finite(minutes, seconds_per_item)
        each = seconds_per_item or known.effort.seconds
        number = int(minutes * 60 / each / settings["overlap"])
        say(_in_minutes(minutes, each, settings["overlap"], number, known.effort, seconds_per_item))
        settings |= {"minutes": minutes, "seconds_per_item": each}
    settings |= {"items": number, "calibration": _share_or_number(calibration, number)}
    _tell_dropped(former, settings)
    made = planned(opened, known, former, settings)
    if not dry_run:
        _write(opened, made.plan)
    found = valueless(known, made.plan)
    _show(made, known, found, json=json)
    _hint(opened, made, found, few_sampled(known, made.plan), settings, dry_run=dry_run)


def _former(project: Project) -> Plan | None:
    from benchprism.annotate.review.planning.plan_store import read_plan

    return read_plan(project.review)


def _drawn_by(
    project: Project, former: Plan | None, strata: Sequence[str] | None, seed: int | None
) -> dict[str, Any]:
    """How the sample is drawn: as it was, unless options say otherwise."""
    from benchprism.annotate.review.planning.plan import require_same_sampling

    was: Mapping[str, Any] = former.settings if former else {}
    settings = {
        "seed": was.get("seed", project.settings.seed) if seed is None else seed,
        "strata": list(strata) if strata else was.get("strata", ["benchmark"]),
    }
    require_same_sampling(former, settings)
    return settings


def _tell_dropped(former: Plan | None, settings: Mapping[str, Any]) -> None:
    """Say which subsets the last plan was made for and this one is not."""
    was = former.settings.get("subsets", []) if former else []
    gone = [f"--subset {name}" for name in was if name not in settings["subsets"]]
    if gone:
        say(
            f"Note: the last plan was made with {' '.join(gone)}, and this one is not: consequence"
            " for that is no reason any more. Name it again to keep it."
        )


def _check_reviewers(names: Sequence[str]) -> None:
    from benchprism.annotate.review.offline.returned import check_name

    try:
        for name in names:
            check_name(name)
        if len(set(names)) < len(names):
            raise ValueError("a reviewer is named twice")
    except ValueError as error:
        raise InputError(
            str(error), wanted="the user name of each reviewer, once", mend="check --reviewer"
        ) from error


def _check_finite(*numbers: float | None) -> None:
    if not all(math.isfinite(number or 0) for number in numbers):
        raise InputError(
            "a budget without an end", wanted="numbers", mend="check --minutes and its seconds"
        )


def _share_or_number(text: str, items: int) -> int:
    """Read ``--calibration``: a number of items, or with a point a share of all."""
    try:
        number = round(float(text) * items) if "." in text else int(text)
    except (ValueError, OverflowError):
        number = -1
    if not 0 <= number <= items:
        raise InputError(
            f"--calibration {text!r} of {counted(items, 'item')}",
            wanted="a share with a point, from 0.0 to 1.0, or a number of items of the plan",
            mend="write 0.3 for three tenths, 1.0 for all of them, or 60 for sixty items",
        )
    return number


def _in_minutes(
    minutes: float, each: float, overlap: int, number: int, found: Effort, given: float | None
) -> str:
    learnt = f"the median of {found.times} times between responses" if found.times else "presumed"
    source = "as given" if given else learnt
    by = f", each by {overlap} reviewers" if overlap > 1 else ""
    budget = "1 minute is" if minutes == 1 else f"{minutes:g} minutes are"
    seconds = counted(round(each), "second")
    return f"{budget} {counted(number, 'item')}{by}, at {seconds} an item ({source})."


def _write(project: Project, plan: Plan) -> None:
    from benchprism.annotate.review.planning.plan_store import write_plan

    write_plan(project.review, plan)


def _show(made: Planned, known: Knowledge, found: Valueless, *, json: bool) -> None:
    from benchprism.annotate.review.planning.plan import (
        PLANNED_REASONS,
        assigned_counts,
        reason_counts,
    )

    counts = reason_counts(made.plan)
    reviewers = assigned_counts(made.plan, known.answers)
    if json:
        print_json({**_data(made, counts, reviewers), "sampled_without_value": found.items})
        return
    total = Counter[str]()
    for _, own in counts:
        total.update(own)
    columns = ["items", *PLANNED_REASONS]
    print_table(
        ["stratum", *(column.replace("_", " ") for column in columns)],
        [[name, *(own[c] for c in columns)] for name, own in [*counts, ("all", total)]],
        title="Items to review; one may have several reasons",
    )
    if reviewers:
        print_table(
            ["reviewer", "items", "blind", "seen", "answered"],
            [
                [name, own["blind"] + own["seen"], own["blind"], own["seen"], own["answered"]]
                for name, own in reviewers.items()
            ],
        )


def _data(
    made: Planned,
    counts: Sequence[tuple[str, Counter[str]]],
    reviewers: Mapping[str, Counter[str]],
) -> dict[str, Any]:
    from benchprism.annotate.review.planning.plan import PLANNED_REASONS

    table = made.plan.table
    return {
        "settings": made.plan.settings,
        "strata": [
            {"stratum": name, **{c: own[c] for c in ("items", *PLANNED_REASONS)}}
            for name, own in counts
        ],
        "reviewers": [
            {"reviewer": name, **{c: own[c] for c in ("blind", "seen", "answered")}}
            for name, own in reviewers.items()
        ],
        "left": made.left,
        "answered": made.answered,
        "items": table.drop_columns(["content_hash"]).to_pylist(),
    }


def _hint(
    project: Project,
    made: Planned,
    found: Valueless,
    few: Sequence[str],
    settings: Mapping[str, Any],
    *,
    dry_run: bool,
) -> None:
    from benchprism.annotate.review.planning.plan_store import PLAN

    number, wanted = made.plan.table.num_rows, settings["items"]
    empty = len({*made.plan.strata["stratum"].to_pylist()}) - len(
        {*made.plan.table["stratum"].filter(_is_blind(made.plan)).to_pylist()}
    )
    if empty and made.plan.sample:
        say(f"Note: {counted(empty, 'stratum').replace('stratums', 'strata')} without an item of"
            " the sample; a larger --calibration reaches them.")  # fmt: skip
    if found.items:
        sampled = counted(len(made.plan.sample), "sampled item")
        have = "has" if found.items == 1 else "have"
        say(
            f"Note: {found.items} of {sampled} {have} no value by {found.annotator}:"
            " 'review calibrate' learns nothing from what people say of them."
        )
    if few:
        say(
            f"Note: too few sampled items for the composition of {', '.join(few)}; a larger"
            " --calibration has more."
        )
    if made.answered:
        say(f"Left out: {counted(made.answered, 'item')} that people have answered already.")
    if made.left:
        say(f"Not planned: {counted(made.left, 'item')} with a reason; a larger budget has room.")
    elif number < wanted:
        say(f"{counted(number, 'item')} of {wanted}: no other item has a reason.")
    elif number > wanted:
        say(f"{counted(number, 'item')}, more than {wanted}: what was planned before stays.")
    if dry_run:
        say("Nothing was written (--dry-run).")
    else:
        path = os.path.relpath(project.review / PLAN)
        say(f"Wrote {path}. Next: benchprism review push, or review export.")


def _is_blind(plan: Plan) -> pa.ChunkedArray:
    import pyarrow.compute as pc

    return pc.equal(plan.table["mode"], "blind")
