"""``benchprism annotate agreement``: how far annotators, or the passes of one, agree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from benchprism.cli.intervals import coefficient_cell, coefficient_data, mean_data, number
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
from benchprism.project import Project, find_project
from benchprism.records.errors import InputError

if TYPE_CHECKING:
    from benchprism.annotate.consolidation.agreement import (
        AttributeAgreement,
        Coefficient,
        Comparison,
        Resampling,
    )

_KAPPAS: tuple[Coefficient, ...] = ("cohen_kappa", "weighted_kappa", "fleiss_kappa")
_TITLES = {
    "models": "Between language models",
    "people": "Between people",
    "passes": "Between passes of one annotator",
    "annotators": "Between annotators",
}


def agreement(
    between: Annotated[
        str, typer.Option(help="Annotators to compare, with commas between them.")
    ] = "",
    attribute: AttributeOption = None,
    replicates: ReplicatesOption = 1000,
    seed: SeedOption = None,
    project: ProjectOption = HERE,
    json: JsonOption = False,
) -> None:
    """Say how far annotators agree: models, people, and the passes of one annotator.

    For each attribute: raw agreement, the share of the most frequent value, Krippendorff's alpha,
    Cohen's kappa (for levels also weighted) and Fleiss' kappa, with bootstrap intervals over items.

    Example: benchprism annotate agreement --attribute clarity
    """
    opened = find_project(project)
    ratings = project_ratings(opened)
    settings = resampling(opened, replicates, seed)
    compared = _comparisons(ratings, between)
    wanted = [m.attribute.id for m in ratings.of(attribute or [])]
    found = [(comparison, _agreements(ratings, comparison, wanted, settings))
             for comparison in compared]  # fmt: skip
    notes = _notes(ratings, compared)
    if json:
        data: dict[str, Any] = {
            "comparisons": [_comparison_data(*one) for one in found],
            "consolidation": _consolidation_data(opened, ratings),
            "settings": {**asdict(settings), "interval": "expanded percentile bootstrap"},
            "notes": notes,
        }
        print_json(data)
        return
    for comparison, agreements in found:
        print_agreements(comparison, agreements)
    if found:
        say(
            f"[low, high]: {settings.level:.0%} bootstrap interval over items;"
            f" {settings.replicates} replicates, seed {settings.seed}"
        )
    for note in notes:
        say(f"Note: {note}.")


def _comparisons(ratings: Ratings, between: str) -> list[Comparison]:
    from benchprism.annotate.consolidation.agreement import Comparison, comparisons

    named = [name.strip() for name in between.split(",") if name.strip()]
    if not named:
        return comparisons(ratings.annotators)
    chosen = known_annotators(named, ratings.annotators)
    if len(chosen) < 2:
        raise InputError(
            f"--between {between!r}",
            wanted="at least two annotators with commas between them",
            mend="name another one, or leave --between out",
        )
    return [Comparison("annotators", tuple(chosen))]


def _agreements(
    ratings: Ratings, comparison: Comparison, wanted: Sequence[str], settings: Resampling
) -> list[AttributeAgreement]:
    from benchprism.annotate.consolidation.agreement import attribute_agreement

    return [
        attribute_agreement(matrix.of(comparison.annotators), settings)
        for matrix in ratings.of(wanted)
    ]


def _notes(ratings: Ratings, compared: Sequence[Comparison]) -> list[str]:
    names = {name for comparison in compared for name in comparison.annotators}
    notes = ratings.replay_notes(names)
    if not compared:
        count = len(ratings.annotators)
        notes.append(
            f"{count or 'no'} annotator{'' if count == 1 else 's'} gave values: agreement needs two"
            " models, two people, or two passes of one ('repeats' in benchprism.yaml)"
        )
    undecided = Counter(ratings.consolidation.undecided["reason"].to_pylist())
    for reason, count in sorted(undecided.items()):
        notes.append(f"{count} consolidated values are missing: {reason}")
    return [*notes, *ratings.consolidation.notes]


def _comparison_data(
    comparison: Comparison, agreements: Sequence[AttributeAgreement]
) -> dict[str, Any]:
    return {**asdict(comparison), "attributes": [agreement_data(one) for one in agreements]}


def agreement_data(found: AttributeAgreement) -> dict[str, Any]:
    """Agreement on one attribute as JSON."""
    from benchprism.annotate.consolidation.agreement import DISTANCES
    from benchprism.records.items.cells import text_of

    alpha, labels = found.alpha, found.by_label
    shares = zip(map(text_of, found.values), alpha.prevalence, strict=True)
    data: dict[str, Any] = {
        "attribute": found.attribute.id,
        "type": found.attribute.type,
        "distance": DISTANCES[found.attribute.type],
        "raters": alpha.raters,
        "items": alpha.pairable,
        "raw_agreement": alpha.raw,
        "prevalence": dict(shares),
        **{name: coefficient_data(one) for name, one in found.coefficients.items()},
    }
    if labels is not None:
        each = zip(map(text_of, found.values), labels.labels, strict=True)
        data["label_alpha"] = {
            "mean": mean_data(labels.mean),
            "labels": {label: coefficient_data(one) for label, one in each},
        }
    return data


def _consolidation_data(project: Project, ratings: Ratings) -> dict[str, Any]:
    undecided = ratings.consolidation.undecided
    counts = Counter(
        zip(undecided["attribute"].to_pylist(), undecided["reason"].to_pylist(), strict=True)
    )
    return {
        "settings": project.settings.consolidation.model_dump(),
        "values": ratings.consolidation.values.num_rows,
        "undecided": [
            {"attribute": attribute, "reason": reason, "items": items}
            for (attribute, reason), items in counts.items()
        ],
    }


def print_agreements(comparison: Comparison, agreements: Sequence[AttributeAgreement]) -> None:
    """Print how far some annotators agree, attribute by attribute."""
    print_table(
        ["attribute", "items", "raw", "commonest value", "alpha", "Cohen", "weighted", "Fleiss"],
        [_row(one) for one in agreements],
        title=f"{_TITLES[comparison.between]}: {', '.join(comparison.annotators)}",
    )
    reasons: dict[str, list[str]] = {}
    for one in agreements:
        for name, found in one.coefficients.items():
            if found.reason is not None:
                reasons.setdefault(f"{name}: {found.reason}", []).append(one.attribute.id)
    for reason, attributes in reasons.items():
        everywhere = len(attributes) == len(agreements)
        say(f"{'all' if everywhere else ', '.join(attributes)}: {reason}")


def _row(found: AttributeAgreement) -> list[object]:
    alpha = found.alpha
    kappas = [
        found.coefficients.get(name) for name in ("cohen_kappa", "weighted_kappa", "fleiss_kappa")
    ]
    return [
        found.attribute.id,
        alpha.pairable,
        number(alpha.raw),
        commonest_cell(found),
        coefficient_cell(alpha),
        *("" if kappa is None else coefficient_cell(kappa) for kappa in kappas),
    ]


def commonest_cell(found: AttributeAgreement) -> str:
    """The commonest value with its share, without which agreement means little."""
    from benchprism.records.items.cells import text_of

    alpha = found.alpha
    if not alpha.pairable:
        return ""
    shares = zip(alpha.prevalence, map(text_of, found.values), strict=True)
    share, value = max(shares, key=lambda pair: pair[0])
    return f"{value} {number(share)}"
