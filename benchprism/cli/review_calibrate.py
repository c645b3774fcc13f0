"""``benchprism review calibrate``: how far annotations can be trusted, told by a blind sample."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from benchprism.cli.intervals import (
    coefficient_cell,
    coefficient_data,
    estimate_data,
    mean_data,
    number,
    with_interval,
)
from benchprism.cli.options import HERE, JsonOption, ProjectOption
from benchprism.cli.output import counted, json_text, print_json, print_table, say
from benchprism.cli.ratings import AttributeOption, ReplicatesOption, SeedOption, resampling
from benchprism.project import Project, find_project
from benchprism.records.errors import InputError

if TYPE_CHECKING:
    from benchprism.annotate.consolidation.agreement import Resampling
    from benchprism.annotate.review.judging.calibration import AttributeCalibration, Calibration
    from benchprism.annotate.review.judging.composition import Composition, ValueEstimate
    from benchprism.annotate.review.judging.gate import Judgement
    from benchprism.annotate.review.planning.plan_store import Plan
    from benchprism.metrics.raters.patterns import Estimate


_UNDRAWN = "no review plan drew the answered items at random"


def register(group: typer.Typer) -> None:
    """Add the command to ``benchprism review``."""
    group.command()(calibrate)


def calibrate(
    attribute: AttributeOption = None,
    replicates: ReplicatesOption = 1000,
    seed: SeedOption = None,
    project: ProjectOption = HERE,
    json: JsonOption = False,
) -> None:
    """Judge annotations by the blind sample: what people said who saw no suggestion.

    For each attribute: accuracy, bias, and alpha between the values that items have without people
    and those of people, with the gate's verdict on it as a hard criterion. Everything goes into
    review/calibration.json, which compose reads. With --attribute: the confusion of its values, and
    each benchmark's composition as annotated and corrected by people.

    Example: benchprism review calibrate --attribute clarity
    """
    from benchprism.annotate.review.planning.plan_store import read_plan

    opened = find_project(project)
    settings = resampling(opened, replicates, seed)
    plan = read_plan(opened.review)
    calibration = _calibrated(opened, plan, attribute or [], settings)
    judgements = _judgements(opened, calibration, drawn=plan is not None)
    data = _data(opened, calibration, judgements, settings)
    path = _write(opened, data)
    if json:
        print_json(data)
    else:
        _print(calibration, judgements, attribute or [])
        say(
            f"[low, high]: {settings.level:.0%} intervals over items; of alpha by bootstrap"
            f" ({settings.replicates} replicates, seed {settings.seed})"
        )
    say(f"Wrote {os.path.relpath(path)}; compose reads it.")


def _calibrated(
    project: Project, plan: Plan | None, shown: Sequence[str], settings: Resampling
) -> Calibration:
    from benchprism.annotate.gold.layout import known_attribute
    from benchprism.annotate.ledger.store import Ledger
    from benchprism.annotate.review.judging.calibration import calibrate as calibrated
    from benchprism.cli.gather import project_catalogue
    from benchprism.records.items.store import project_items

    catalogue, items = project_catalogue(project), project_items(project.items)
    for name in shown:
        known_attribute(catalogue, name)
    with Ledger(project.ledger) as ledger:
        found = calibrated(
            ledger,
            catalogue,
            items,
            sample=None if plan is None else plan.sample,
            strata=None if plan is None else plan.strata_of(items),
            settings=project.settings.consolidation,
            resampling=settings,
        )
    if not any(one.people for one in found.attributes):
        raise InputError(
            "nobody has answered blind yet",
            wanted="answers to a sample that was drawn at random and shown without suggestions",
            mend="run 'benchprism review plan', then push and pull",
        )
    return found if plan else _undrawn(found)


def _undrawn(found: Calibration) -> Calibration:
    """Take nothing for a random sample of a benchmark that no plan drew."""
    say(
        "Warning: no review plan drew the items that were answered blind. The numbers tell of these"
        " items alone, and nothing follows for others: no attribute is usable by them, and there is"
        " no composition."
        " 'benchprism review plan' draws a sample, of answered items too."
    )
    none = [replace(one, estimates=(), reason=_UNDRAWN) for one in found.compositions]
    return replace(found, compositions=tuple(none))


def _judgements(project: Project, calibration: Calibration, *, drawn: bool) -> dict[str, Judgement]:
    """What the gate says of each attribute that people gave a value of."""
    from benchprism.annotate.ledger.panel import PEOPLE, kind_of
    from benchprism.annotate.review.judging.gate import judge, signature
    from benchprism.cli.gather import project_annotators
    from benchprism.records.items.store import project_items

    gate = project.settings.review.gate
    everyone = project_annotators(project, project_items(project.items)["item_id"].to_pylist())
    judged = {signature(one) for one in everyone if kind_of(one["annotator"]) not in PEOPLE}
    return {
        one.attribute.id: judge(one.attribute, one.alpha, gate, judged, drawn=drawn)
        for one in calibration.attributes
        if one.people
    }


def _write(project: Project, data: Mapping[str, Any]) -> Path:
    from benchprism.annotate.review.judging.gate import CALIBRATION
    from benchprism.records.files import write_text

    path = project.review / CALIBRATION
    write_text(path, json_text(data) + "\n")
    return path


def _data(
    project: Project,
    calibration: Calibration,
    judgements: Mapping[str, Judgement],
    settings: Resampling,
) -> dict[str, Any]:
    from benchprism.annotate.review.judging.gate import gate_data
    from benchprism.cli.gather import project_catalogue

    return {
        **gate_data(judgements),
        "attributes": [_attribute_data(one) for one in calibration.attributes if one.people],
        "compositions": [_composition_data(one) for one in calibration.compositions],
        "catalogue": project_catalogue(project).hash,
        "settings": {**asdict(settings), "gate": project.settings.review.gate.model_dump()},
    }


def _attribute_data(one: AttributeCalibration) -> dict[str, Any]:
    confusion = None if one.confusion is None else one.confusion.round(9).tolist()
    return {
        "attribute": one.attribute.id,
        "people": one.people,
        "items": one.items,
        "missing": one.missing,
        "responses": one.responses,
        "alpha": coefficient_data(one.alpha),
        "accuracy": mean_data(one.accuracy),
        "bias": {name: mean_data(found) for name, found in one.bias.items()},
        "values": one.values,
        "confusion": confusion,
    }


def _composition_data(one: Composition) -> dict[str, Any]:
    return {
        "benchmark": one.benchmark,
        "attribute": one.attribute,
        "items": one.items,
        "labelled": one.labelled,
        "reason": one.reason,
        "estimates": [_value_data(estimate) for estimate in one.estimates],
    }


def _value_data(one: ValueEstimate) -> dict[str, Any]:
    found = one.found
    return {
        "value": one.value,
        "annotated": one.annotated,
        "corrected": estimate_data(found.estimate, found.interval, found.reason),
        "people_only": mean_data(found.labels_only),
        "tuning": found.tuning,
    }


def _print(
    calibration: Calibration, judgements: Mapping[str, Judgement], shown: Sequence[str]
) -> None:
    answered = [one for one in calibration.attributes if one.people]
    print_table(
        ["attribute", "items", "no value", "accuracy", "bias", "alpha", "as a hard criterion"],
        [
            [
                one.attribute.id,
                one.items,
                one.missing or None,
                _estimate_cell(one.accuracy),
                _largest_bias(one),
                coefficient_cell(one.alpha),
                judgements[one.attribute.id].verdict,
            ]
            for one in answered
            if not shown or one.attribute.id in shown
        ],
        title=f"Annotations beside {_who(answered)}, who saw no suggestion",
    )
    for one in answered:
        if one.attribute.id in shown:
            _print_confusion(one)
            _print_compositions(calibration, one.attribute.id)
    for judgement in judgements.values():
        if judgement.verdict != "usable" and (not shown or judgement.attribute in shown):
            say(judgement.sentence)


def _who(answered: Sequence[AttributeCalibration]) -> str:
    names = {name for one in answered for name in one.people}
    return counted(len(names), "person").replace("persons", "people")


def _estimate_cell(found: Estimate) -> str:
    return with_interval(found.value, *found.interval)


def _largest_bias(one: AttributeCalibration) -> str:
    """The bias of the mean level, or of the value whose share is furthest off."""
    name, found = max(one.bias.items(), key=lambda pair: abs(pair[1].value))
    return f"{name} {_estimate_cell(found)}" if one.items else ""


def _print_confusion(one: AttributeCalibration) -> None:
    if one.confusion is None or not one.items:
        return
    print_table(
        ["people gave", *one.values],
        [
            [value, *(f"{count:g}" if count else "" for count in row.round(2))]
            for value, row in zip(one.values, one.confusion, strict=True)
        ],
        title=f"{one.attribute.id}: items by what people gave and what they have without people",
    )


def _print_compositions(calibration: Calibration, attribute: str) -> None:
    own = [one for one in calibration.compositions if one.attribute == attribute]
    rows = [row for one in own for row in _composition_rows(one)]
    if rows:
        print_table(
            ["benchmark", "items", "by people", "value", "annotated", "corrected", "people only"],
            rows,
            title=f"{attribute}: composition of each benchmark",
        )
    for one in own:
        if one.reason is not None:
            say(f"{attribute}: no composition of {one.benchmark}: {one.reason}")


def _composition_rows(one: Composition) -> list[list[object]]:
    return [
        [
            one.benchmark,
            one.items,
            one.labelled,
            each.value,
            number(each.annotated),
            with_interval(each.found.estimate, *each.found.interval),
            _estimate_cell(each.found.labels_only),
        ]
        for each in one.estimates
    ]
