"""``benchprism review status``: how far reviewers are, and what their answers tell."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from benchprism.cli.agreement import agreement_data, commonest_cell, print_agreements
from benchprism.cli.intervals import coefficient_cell, number, share_cell, share_data
from benchprism.cli.options import HERE, JsonOption, ProjectOption
from benchprism.cli.output import counted, print_json, print_table, say
from benchprism.cli.ratings import AttributeOption, ReplicatesOption, SeedOption, resampling
from benchprism.cli.review_pull import DatasetOption, HomeOption, review_access, wanted_datasets
from benchprism.project import Project, find_project
from benchprism.records.errors import BenchprismError

if TYPE_CHECKING:
    from benchprism.annotate.consolidation.agreement import Resampling
    from benchprism.annotate.review.argilla.progress import DatasetProgress
    from benchprism.annotate.review.argilla.pull import ProjectItems
    from benchprism.annotate.review.judging.answers import Acceptance, Answers, ModelAnswers

_STATUSES = ("submitted", "draft", "discarded")


def register(group: typer.Typer) -> None:
    """Add the command to ``benchprism review``."""
    group.command()(status)


def status(
    dataset: DatasetOption = None,
    attribute: AttributeOption = None,
    replicates: ReplicatesOption = 1000,
    seed: SeedOption = None,
    home: HomeOption = None,
    project: ProjectOption = HERE,
    json: JsonOption = False,
) -> None:
    """Tell how far reviewers are, how far they agree, and what they make of suggestions.

    The datasets are as they stand on the server; everything else is about the responses that were
    pulled: agreement between people, and of each model with what they settled on, in all and apart
    for responses with and without suggestions; and how often a suggestion was simply accepted.

    Example: benchprism review status --attribute clarity
    """
    opened = find_project(project)
    settings = resampling(opened, replicates, seed)
    gathered = _gathered(opened, attribute or [], settings)
    datasets, silent = _datasets(opened, home, dataset or [], gathered.items)
    notes = [*_notes(gathered, datasets)]
    if json:
        print_json(_data(gathered, datasets, settings, [*silent, *notes]))
        return
    for note in silent:
        say(f"Note: {note}.")
    _print_progress(gathered, datasets)
    _print_answers(gathered.answers)
    _print_acceptance(gathered.acceptance)
    if gathered.answers:
        say(
            f"[low, high]: {settings.level:.0%} interval over items, of coefficients by bootstrap"
            f" ({settings.replicates} replicates, seed {settings.seed}), of shares Wilson's"
        )
    for note in notes:
        say(f"Note: {note}.")


@dataclass(frozen=True, slots=True)
class _Gathered:
    """What the ledger tells."""

    items: ProjectItems
    counts: dict[tuple[str, str], Counter[str]]
    """By dataset and user: responses by status."""
    changed: int
    gone: int
    answers: list[Answers]
    acceptance: list[Acceptance]
    remarks: list[dict[str, str]]
    """What people wrote beside their answers."""
    replayed: list[str]
    """Models that only replay what was recorded."""


def _gathered(project: Project, attributes: Sequence[str], settings: Resampling) -> _Gathered:
    from benchprism.annotate.gold.layout import known_attribute
    from benchprism.annotate.ledger.standing import standing
    from benchprism.annotate.ledger.store import Ledger
    from benchprism.annotate.review.argilla.pull import ProjectItems
    from benchprism.annotate.review.judging.answers import acceptance, answers
    from benchprism.annotate.review.recording import recorded_responses
    from benchprism.cli.gather import project_catalogue
    from benchprism.records.items.store import project_items

    catalogue, items = project_catalogue(project), project_items(project.items)
    for name in attributes:
        known_attribute(catalogue, name)
    today = ProjectItems.of(items)
    counts: dict[tuple[str, str], Counter[str]] = {}
    texts, remarks = Counter[str | None](), list[dict[str, str]]()
    with Ledger(project.ledger) as ledger:
        for one in recorded_responses(ledger):
            counts.setdefault((one.dataset, one.user), Counter())[one.status] += 1
            if one.note.strip():
                remarks.append({"item_id": one.item_id, "user": one.user, "note": one.note})
            texts[_lapse(today.contents.get(one.item_id), one.content_hash)] += 1
        accepted = acceptance(recorded_responses(ledger))
        replayed = [one.annotator for one in standing(ledger).annotators if one.replayed]
        found = answers(
            ledger,
            catalogue,
            items,
            policy=project.settings.consolidation,
            resampling=settings,
            attributes=attributes,
        )
    places = {one.id: place for place, one in enumerate(catalogue)}
    kept = [one for one in accepted if not attributes or one.attribute in attributes]
    kept.sort(key=lambda one: places.get(one.attribute, len(places)))
    return _Gathered(today, counts, texts["changed"], texts["gone"], found, kept, remarks, replayed)


def _lapse(today: str | None, then: str) -> str | None:
    if today is None:
        return "gone"
    return None if today == then else "changed"


def _datasets(
    project: Project, home: Path | None, names: Sequence[str], items: ProjectItems
) -> tuple[list[DatasetProgress], list[str]]:
    """How far the datasets are; or why the server cannot be asked, unless one was named."""
    from benchprism.annotate.review.argilla.client import Argilla
    from benchprism.annotate.review.argilla.progress import dataset_progress

    try:
        with Argilla(review_access(project, home)) as argilla:
            wanted = wanted_datasets(argilla, project, names, items)
            return [dataset_progress(argilla, one) for one in wanted], []
    except BenchprismError as error:
        if names:
            raise
        return [], [f"the datasets are not shown: {error.found}"]


def _notes(gathered: _Gathered, datasets: Sequence[DatasetProgress]) -> Iterator[str]:
    pulled = Counter[str]()
    for (dataset, _), counts in gathered.counts.items():
        pulled[dataset] += counts.total()
    for one in datasets:
        missing = one.responses - pulled[one.dataset]
        if missing > 0:
            verb = "is" if missing == 1 else "are"
            yield (
                f"{counted(missing, 'response')} in {one.dataset} {verb} not pulled yet:"
                " benchprism review pull"
            )
    if notes := len(gathered.remarks):
        verb = "has" if notes == 1 else "have"
        yield f"{counted(notes, 'response')} {verb} a note beside the answers; --json lists them"
    for lapsed, told in (
        (gathered.changed, "about another text than the item has today"),
        (gathered.gone, "about items that the project does not have"),
    ):
        if lapsed:
            yield f"{counted(lapsed, 'response')} {'is' if lapsed == 1 else 'are'} {told}"
    if gathered.replayed and gathered.answers:
        names = ", ".join(gathered.replayed)
        yield f"{names}: a REPLAY of recorded annotations; no model was asked"
    if {"blind", "seen"} <= {one.mode for one in gathered.answers}:
        yield (
            "blind responses and those with suggestions are about other items: where they differ,"
            " items may be the reason as well as suggestions"
        )


def _data(
    gathered: _Gathered,
    datasets: Sequence[DatasetProgress],
    settings: Resampling,
    notes: Sequence[str],
) -> dict[str, Any]:
    return {
        "datasets": [asdict(one) for one in datasets],
        "pulled": [
            {"dataset": dataset, "user": user, **{name: counts[name] for name in _STATUSES}}
            for (dataset, user), counts in sorted(gathered.counts.items())
        ],
        "not_counted": {"changed": gathered.changed, "gone": gathered.gone},
        "answers": [_answers_data(one) for one in gathered.answers],
        "acceptance": [
            {**asdict(one), "accepted": share_data(one.accepted)} for one in gathered.acceptance
        ],
        "remarks": gathered.remarks,
        "settings": asdict(settings),
        "notes": notes,
    }


def _answers_data(one: Answers) -> dict[str, Any]:
    return {
        "mode": one.mode,
        "people": one.people,
        "between_people": [agreement_data(found) for found in one.between_people],
        "models": [
            {
                "model": model.model,
                "accuracy": share_data(model.accuracy),
                **agreement_data(model.agreement),
            }
            for model in one.models
        ],
    }


def _print_progress(gathered: _Gathered, datasets: Sequence[DatasetProgress]) -> None:
    if datasets:
        print_table(
            ["dataset", "records", "pending", "reviewer", *_STATUSES, "assigned", "remaining"],
            [
                [
                    one.dataset,
                    one.records,
                    one.pending,
                    user.user,
                    user.submitted,
                    user.draft,
                    user.discarded,
                    user.assigned,
                    user.remaining,
                ]
                for one in datasets
                for user in one.users
            ],
            title="On the server",
        )
    if gathered.counts:
        print_table(
            ["dataset", "reviewer", *_STATUSES],
            [
                [dataset, user, *(counts[name] for name in _STATUSES)]
                for (dataset, user), counts in sorted(gathered.counts.items())
            ],
            title="In the ledger",
        )
    else:
        say("No responses are in the ledger yet. Next: benchprism review pull")


def _print_answers(answers: Sequence[Answers]) -> None:
    from benchprism.annotate.consolidation.agreement import Comparison

    if not answers:
        return
    everything, *by_mode = answers
    if everything.between_people:
        print_agreements(Comparison("people", everything.people), everything.between_people)
    if everything.models:
        print_table(
            ["attribute", "model", "items", "the same", "commonest value", "alpha"],
            [_model_row(one) for one in everything.models],
            title="Models beside what people settled on",
        )
    if len(by_mode) > 1:
        print_table(
            ["attribute", "with people", *(f"{way}{column}" for way in (one.mode for one in by_mode)
                                           for column in (": items", ", the same", ", alpha"))],
            _mode_rows(everything, by_mode),
            title="Without suggestions (blind) and with suggestions (seen)",
        )  # fmt: skip


def _model_row(one: ModelAnswers) -> list[object]:
    found = one.agreement
    return [
        found.attribute.id,
        one.model,
        found.alpha.pairable,
        share_cell(one.accuracy),
        commonest_cell(found),
        coefficient_cell(found.alpha),
    ]


def _mode_rows(everything: Answers, by_mode: Sequence[Answers]) -> Iterator[list[object]]:
    """For each attribute people among themselves, then each model, mode beside mode."""
    cells = [dict(_mode_cells(one)) for one in by_mode]
    keys = [key for key, _ in _mode_cells(everything)]
    attributes = list(dict.fromkeys(attribute for attribute, _ in keys))
    for attribute, who in sorted(keys, key=lambda key: attributes.index(key[0])):
        beside = [own.get((attribute, who), ["", "", ""]) for own in cells]
        yield [attribute, who, *(cell for three in beside for cell in three)]


def _mode_cells(one: Answers) -> Iterator[tuple[tuple[str, str], list[object]]]:
    for found in one.between_people:
        alpha = found.alpha
        cells = [alpha.pairable, number(alpha.raw), coefficient_cell(alpha)]
        yield (found.attribute.id, "people"), cells
    for model in one.models:
        attribute, *_, alpha_cell = _model_row(model)
        items = model.agreement.alpha.pairable
        cells = [items, share_cell(model.accuracy), alpha_cell]
        yield (str(attribute), model.model), cells


def _print_acceptance(found: Sequence[Acceptance]) -> None:
    users = sorted({one.user for one in found})
    shares = {(one.attribute, one.user): f"{one.shown}: {share_cell(one.accepted)}"
              for one in found}  # fmt: skip
    if found:
        print_table(
            ["attribute", *users],
            [
                [attribute, *(shares.get((attribute, user), "") for user in users)]
                for attribute in dict.fromkeys(one.attribute for one in found)
            ],
            title="Suggestions shown, and accepted as they were",
        )
