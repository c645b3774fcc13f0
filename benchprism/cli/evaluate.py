"""``benchprism annotate evaluate``: annotators compared with values known to be right."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from benchprism.cli.agreement import agreement
from benchprism.cli.annotate import group
from benchprism.cli.intervals import (
    coefficient_cell,
    coefficient_data,
    mean_data,
    share_cell,
    share_data,
    with_interval,
)
from benchprism.cli.options import HERE, JsonOption, ProjectOption
from benchprism.cli.output import print_json, print_table, say
from benchprism.cli.ratings import (
    AttributeOption,
    Ratings,
    ReplicatesOption,
    SeedOption,
    known_annotators,
    project_ratings,
    resampling,
)
from benchprism.project import find_project
from benchprism.records.errors import InputError

if TYPE_CHECKING:
    from benchprism.annotate.consolidation.agreement import Resampling
    from benchprism.annotate.consolidation.rating_matrix import RatingMatrix
    from benchprism.annotate.gold.evaluation import Collapse, Evaluation, Given
    from benchprism.annotate.gold.labels import GoldLabels, JoinReport
    from benchprism.annotate.ledger.standing import AnnotatorStanding

CONSOLIDATED = "consolidated"
"""Stands beside the annotators: the value that comes out of all of them."""


def register(_: typer.Typer) -> None:
    """Add the commands to those of ``benchprism annotate``."""
    group.command()(agreement)
    group.command()(evaluate)


def evaluate(
    gold: Annotated[
        Path, typer.Option(help="Gold labels: .jsonl, .json, .csv, .tsv (.gz) or .parquet.")
    ],
    attribute: AttributeOption = None,
    mapping: Annotated[
        str | None,
        typer.Option("--map", help="How to read them: mmlu_redux, or a mapping file."),
    ] = None,
    collapse: Annotated[
        list[str] | None,
        typer.Option(help="Compare this value with all others; again for more on its side."),
    ] = None,
    annotator: Annotated[
        list[str] | None,
        typer.Option("--annotator", "-a", help="Only this annotator; may be given again."),
    ] = None,
    replicates: ReplicatesOption = 1000,
    seed: SeedOption = None,
    project: ProjectOption = HERE,
    json: JsonOption = False,
) -> None:
    """Compare annotators, and the consolidated values, with gold labels.

    Precision, recall, F1 and confusion by value, accuracy and Cohen's kappa, with intervals, and
    what each annotator cost. The gold file has a row an item, with its id and a column for each
    attribute; or a row a value, with the columns attribute and value.

    Example: benchprism annotate evaluate --gold experts.csv --attribute answerability --collapse ok
    """
    from benchprism.annotate.gold.evaluation import Collapse
    from benchprism.annotate.gold.labels import read_gold
    from benchprism.annotate.gold.mapping import gold_mapping

    opened = find_project(project)
    ratings = project_ratings(opened)
    wanted = [m.attribute.id for m in ratings.of(attribute or [])] if attribute else []
    labels = read_gold(
        gold, ratings.items, ratings.catalogue, mapping=gold_mapping(mapping), attributes=wanted
    )
    _check_join(gold, labels.join)
    chosen = known_annotators(annotator or [], [*ratings.annotators, CONSOLIDATED])
    settings = resampling(opened, replicates, seed)
    side = Collapse(frozenset(collapse)) if collapse else None
    found = [*_evaluations(ratings, labels, chosen, settings, side)]
    names = {one.annotator for one in found}
    costs = [_cost(one, ratings) for one in ratings.standing.annotators if one.annotator in names]
    notes = [*ratings.replay_notes(names), *ratings.consolidation.notes]
    if json:
        data: dict[str, Any] = {
            "gold": {"file": gold.name, **_join_data(labels.join)},
            "evaluations": [_data(one) for one in found],
            "costs": costs,
            "settings": {**asdict(settings), "collapse": collapse or []},
            "notes": notes,
        }
        print_json(data)
        return
    _say_join(gold, labels.join)
    _print(found)
    _print_costs(costs)
    for note in notes:
        say(f"Note: {note}.")


def _evaluations(
    ratings: Ratings,
    labels: GoldLabels,
    chosen: Sequence[str],
    settings: Resampling,
    collapse: Collapse | None,
) -> Iterator[Evaluation]:
    from benchprism.annotate.gold.evaluation import evaluate, given_values

    for matrix in ratings.of([name for name, values in labels.values.items() if values]):
        values = labels.values[matrix.attribute.id]
        items = sorted(values)
        given = given_values(matrix, items)
        given[CONSOLIDATED] = _consolidated(ratings, matrix, items)
        if chosen:
            given = {name: values for name, values in given.items() if name in chosen}
        gold = [values[item] for item in items]
        yield from evaluate(matrix.attribute, given, gold, settings, collapse)


def _consolidated(ratings: Ratings, matrix: RatingMatrix, items: Sequence[int]) -> Given:
    import json

    import pyarrow.compute as pc

    values = ratings.consolidation.values
    own = values.filter(pc.equal(values["attribute"], matrix.attribute.id))
    by_id = dict(zip(own["item_id"].to_pylist(), own["value"].to_pylist(), strict=True))
    ids = ratings.items["item_id"].take(items).to_pylist()
    return [json.loads(by_id[item_id]) if item_id in by_id else None for item_id in ids]


def _check_join(gold: Path, join: JoinReport) -> None:
    if join.items:
        return
    ways = ", ".join(f"{count} {way}" for way, count in join.ways.items())
    raise InputError(
        f"no item of the project has a gold value in {gold} ({join.rows} rows: {ways})",
        wanted="rows that are about its items",
        mend="name the column of the id, or those of question and choices, in a mapping (--map)",
    )


def _join_data(join: JoinReport) -> dict[str, Any]:
    return {**asdict(join), "joined": join.joined}


def _say_join(gold: Path, join: JoinReport) -> None:
    ways = ", ".join(f"{count} {way}" for way, count in join.ways.items())
    say(f"{gold.name}: {join.joined} of {join.rows} rows are about items of the project ({ways})")
    for value, count in join.set_aside.items():
        say(f"{count} rows with {value!r} are set aside by the mapping")
    if join.conflicts:
        say(f"{len(join.conflicts)} items have two gold values, and none: {join.conflicts[0]}, ...")


def _data(found: Evaluation) -> dict[str, Any]:
    errors = found.errors
    return {
        "attribute": found.attribute,
        "annotator": found.annotator,
        "items": found.items,
        "missing": found.missing,
        "accuracy": share_data(found.accuracy),
        "kappa": coefficient_data(found.kappa),
        "mean_absolute_error": mean_data(errors.mean_absolute) if errors else None,
        "bias": mean_data(errors.bias) if errors else None,
        "values": [
            {
                "value": value,
                "gold": scores.gold,
                "given": scores.given,
                "precision": share_data(scores.precision),
                "recall": share_data(scores.recall),
                "f1": share_data(scores.f1),
                "reason": scores.reason,
            }
            for value, scores in zip(found.values, found.by_value, strict=True)
        ],
        "confusion": None if found.confusion is None else found.confusion.tolist(),
        "reason": found.reason,
    }


def _print(found: Sequence[Evaluation]) -> None:
    print_table(
        ["attribute", "annotator", "items", "missing", "accuracy", "kappa", "levels off", "bias"],
        [
            [
                one.attribute,
                one.annotator,
                one.items,
                one.missing,
                share_cell(one.accuracy),
                coefficient_cell(one.kappa),
                *_errors(one),
            ]
            for one in found
        ],
        title="Against the gold labels",
    )
    print_table(
        ["attribute", "annotator", "value", "gold", "given", "precision", "recall", "F1"],
        [row for one in found for row in _value_rows(one)],
        title="Value by value",
    )
    for one in found:
        _print_confusion(one)
    for reason in {f"kappa: {one.kappa.reason}" for one in found if one.kappa.reason}:
        say(reason)


def _errors(found: Evaluation) -> list[str]:
    if found.errors is None:
        return ["", ""]
    both = found.errors.mean_absolute, found.errors.bias
    return [with_interval(one.value, *one.interval) for one in both]


def _value_rows(found: Evaluation) -> Iterator[list[object]]:
    """A row for each value that is gold or was given."""
    for value, scores in zip(found.values, found.by_value, strict=True):
        if scores.gold or scores.given:
            shares = scores.precision, scores.recall, scores.f1
            cells = map(share_cell, shares)
            yield [found.attribute, found.annotator, value, scores.gold, scores.given, *cells]


def _print_confusion(found: Evaluation) -> None:
    if found.confusion is None or not found.items:
        return
    print_table(
        ["gold", *(f"as {value}" for value in found.values)],
        [
            [value, *row]
            for value, row in zip(found.values, found.confusion.tolist(), strict=True)
            if any(row)
        ],
        title=f"Confusion: {found.attribute}, {found.annotator}",
    )


def _cost(one: AnnotatorStanding, ratings: Ratings) -> dict[str, Any]:
    counts = [count.items for count in ratings.standing.items if count.annotator == one.annotator]
    return {
        "annotator": one.annotator,
        "model": one.model,
        "replayed": one.replayed,
        "items": sum(counts),
        "prompt_tokens": one.prompt_tokens,
        "cached_tokens": one.cached_tokens,
        "completion_tokens": one.completion_tokens,
        "price": one.price,
    }


def _print_costs(costs: Sequence[dict[str, Any]]) -> None:
    """Print what an item cost, beside what it was worth."""
    kinds = ("prompt_tokens", "cached_tokens", "completion_tokens")
    rows = [
        [
            one["annotator"],
            one["items"],
            *(f"{one[kind] / one['items']:.0f}" for kind in kinds),
            "" if one["price"] is None else f"{1000 * one['price'] / one['items']:.2f}",
        ]
        for one in costs
        if one["items"]
    ]
    print_table(
        ["annotator", "items", "prompt tokens", "cached", "completion tokens", "price of 1,000"],
        rows,
        title="What an item cost",
    )
