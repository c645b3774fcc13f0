"""``compose --sensitivity``: what a composition becomes under other annotators, levels, seeds."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchprism.cli.output import counted, print_json, print_table, progress, say
from benchprism.cli.score_card import number
from benchprism.project import Project

if TYPE_CHECKING:
    import pyarrow as pa

    from benchprism.compose.composer import Composition
    from benchprism.compose.language.criteria import Criteria
    from benchprism.compose.screening import Screening
    from benchprism.scoring.sensitivity import Sensitivity, Variation

    Screen = Callable[[Criteria, pa.Table], Screening]

_NUMBERS = ("items", "jaccard", "tau", "bqs")


def print_sensitivity(project: Project, path: Path, seeds: int, *, as_json: bool) -> None:
    """Compose a criteria file and its variants, and print how they differ; write nothing."""
    from benchprism.cli.recompose import composed
    from benchprism.metrics.scorecard import ScoreSettings
    from benchprism.records.files import listed
    from benchprism.scoring import project_results
    from benchprism.scoring.sensitivity import sensitivity

    composition = composed(project, path)
    variations, notes = _variations(project, composition, seeds)
    if not composition.met:
        notes.append("the composition itself is not as its criteria expect, and is not written")
    settings = ScoreSettings(replicates=0, seed=project.settings.seed)
    results = project_results(project) if listed(project.results, "*.parquet") else None
    with progress("Variants", len(variations)) as step:
        found = sensitivity(
            composition.chosen,
            _counted(variations, step),
            results,
            settings=settings,
            notes=notes,
        )
    if as_json:
        print_json(_plain(composition, found))
    else:
        _show(composition.name, found)


def _counted(variations: list[Variation], step: Callable[[], None]) -> Iterator[Variation]:
    for variation in variations:
        yield variation
        step()


def _variations(
    project: Project, composition: Composition, seeds: int
) -> tuple[list[Variation], list[str]]:
    """The changes to try, and what there is nothing to change of."""
    from benchprism.cli.gather import project_catalogue
    from benchprism.scoring.sensitivity import Variation
    from benchprism.scoring.variants import seed_variants, threshold_variants

    table, criteria = composition.screening.pool.table, composition.criteria
    screened, named = _screen(project, composition), _named(project, criteria)
    found = [*_by_voices(project, composition, screened, named)] if named else []
    thresholds = threshold_variants(criteria, project_catalogue(project))
    for kind, variants in (("threshold", thresholds), ("seed", seed_variants(criteria, seeds))):
        for one in variants:
            screening = None if one.criteria is None else partial(screened, one.criteria, table)
            found.append(Variation(kind, one.change, screening, one.reason))
    kinds = {variation.kind for variation in found}
    unnamed = "the criteria name no annotated attribute"
    nothing = {
        "annotator": f"annotators: not varied, as {'fewer than two decide' if named else unnamed}",
        "prompt": "prompts: not varied, as there are not several of any"
        if named
        else f"prompts: not varied, as {unnamed}",
        "threshold": "thresholds: not varied, as no condition is on a level",
        "seed": "seeds: not varied, as nothing is drawn" if seeds else "",
    }
    return found, [note for kind, note in nothing.items() if note and kind not in kinds]


def _screen(project: Project, composition: Composition) -> Screen:
    """Screening other criteria or another table with all else as it was."""
    from benchprism.annotate.review.judging.gate import CALIBRATION, read_gate
    from benchprism.cli.gather import earlier_compositions, project_catalogue
    from benchprism.compose.screening import screen

    catalogue = project_catalogue(project)
    return partial(
        screen,
        catalogue=catalogue,
        seed=composition.screening.seed,
        evidence=composition.screening.evidence,
        earlier=earlier_compositions(project, composition.criteria),
        gate=read_gate(project.review / CALIBRATION, catalogue),
    )


def _named(project: Project, criteria: Criteria) -> set[str]:
    """The annotated attributes that criteria name."""
    from benchprism.cli.gather import project_catalogue
    from benchprism.compose.language.checks import named_fields

    fields = {field.partition(".")[0] for field in named_fields(criteria)}
    return fields & {attribute.id for attribute in project_catalogue(project)}


def _by_voices(
    project: Project, composition: Composition, screened: Screen, named: set[str]
) -> Iterator[Variation]:
    """What each annotator alone, and each version of a prompt, would have composed."""
    from benchprism.annotate.attribute_table import with_values
    from benchprism.cli.gather import project_catalogue
    from benchprism.records.items.store import project_items
    from benchprism.scoring.sensitivity import Variation
    from benchprism.scoring.voices import prompt_versions, single_annotators

    table, criteria = composition.screening.pool.table, composition.criteria
    catalogue, settings = project_catalogue(project), project.settings.consolidation
    items = project_items(project.items)
    alone = single_annotators(project.ledger, catalogue, items, settings, named)
    versions = prompt_versions(project.ledger, catalogue, items, settings)

    def heard(values: Callable[[], pa.Table]) -> Screening:
        return screened(criteria, with_values(table, values(), catalogue))

    for kind, voices in (("annotator", alone), ("prompt", versions)):
        for voice in voices:
            yield Variation(kind, voice.change, partial(heard, voice.values))


def _plain(composition: Composition, found: Sensitivity) -> dict[str, Any]:
    return {
        "name": composition.name,
        "items": found.items,
        "bqs": found.bqs,
        "variants": [asdict(variant) for variant in found.variants],
        "ranges": {name: asdict(found.extent(name)) for name in _NUMBERS},
        "notes": list(found.notes),
    }


def _show(name: str, found: Sensitivity) -> None:
    rows: list[list[object]] = [
        ["composition", "as the criteria say", found.items, "1.00", "", number(found.bqs), ""]
    ]
    for one in found.variants:
        items = "–" if one.items is None else one.items
        numbers = [number(value) for value in (one.jaccard, one.tau, one.bqs)]
        rows.append([one.kind, one.change, items, *numbers, one.reason])
    columns = ["what", "change", "items", "Jaccard", "tau", "BQS", "remark"]
    print_table(columns, rows, title=f"{name} and its variants")
    if found.composed:
        ranges = ", ".join(f"{_title(one)} {_range(found, one)}" for one in _NUMBERS)
        variants = counted(len(found.variants), "variant")
        say(f"{found.composed} of {variants} can be composed: {ranges}.")
    say(
        "Jaccard: items in both, of those in either. tau: Kendall's, of the models' rankings on"
        " both. BQS: mean over the benchmarks."
    )
    for note in found.notes:
        say(f"{note[0].upper()}{note[1:]}.")


def _title(name: str) -> str:
    return {"jaccard": "Jaccard", "bqs": "BQS"}.get(name, name)


def _range(found: Sensitivity, name: str) -> str:
    extent = found.extent(name)
    if math.isnan(extent.low):
        return "undefined"
    low, high = (
        f"{end:.0f}" if name == "items" else f"{end:.2f}" for end in (extent.low, extent.high)
    )
    return low if low == high else f"{low} to {high}"
