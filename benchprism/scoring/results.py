"""A project's results, with what is known of its models, items and domains."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from benchprism.metrics.bootstrap.groups import joined_groups
from benchprism.metrics.evidence import ItemScores
from benchprism.metrics.reasons import counted, named
from benchprism.metrics.scorecard import Model
from benchprism.project import Project
from benchprism.records.errors import InputError, suggestion
from benchprism.records.items.store import read_items, read_provenance
from benchprism.records.results.matrix import Outcomes, outcomes
from benchprism.records.results.metrics_used import mixed_metrics
from benchprism.records.results.models import doubtful_entries, read_models, read_models_file
from benchprism.records.results.store import ResultsFile, read_results

ONE_DOMAIN = "all"
"""The domain of every benchmark when none is stated for any."""

Notes = dict[str, list[str]]
_LISTED = 20
_TOGETHER = ("context", "content_hash", "choice_set_hash")
"""Items that have one of these in common are no independent witnesses."""


@dataclass(frozen=True, slots=True)
class Scope:
    """Which results of a project are looked at, and how its items are drawn."""

    benchmarks: tuple[str, ...] = ()
    """Only these; all when empty."""
    families: tuple[str, ...] = ()
    """Only models of these; all models, also those without a family, when empty."""
    grouped: bool = True
    """Whether items that share a passage or a text are drawn together."""


EVERYTHING = Scope()


@dataclass(frozen=True, eq=False)
class ProjectResults:
    """The results of a project, ready to be scored."""

    outcomes: tuple[Outcomes, ...]
    """By benchmark, in the order of their names, without the items that are left out."""
    models: tuple[Model, ...]
    """Every model with results: as the models file lists them, then the others by name."""
    domains: Mapping[str, str | None]
    """Domain of each benchmark."""
    notes: Notes
    """What was left out and what did not join, by benchmark."""
    items: Mapping[str, pa.Table] = field(default_factory=dict)
    """The items of each benchmark that the project has items of."""
    grouped: bool = True
    """As ``Scope.grouped``."""

    @cached_property
    def _together(self) -> dict[str, tuple[str | None, ...]]:
        """What each item may share with others, by item id."""
        found = {}
        for table in self.items.values():
            columns = [table[name].to_pylist() for name in ("item_id", *_TOGETHER)]
            for item, *keys in zip(*columns, strict=True):
                found[item] = tuple(key or None for key in keys)
        return found

    def groups_of(self, item_ids: Sequence[str]) -> NDArray[np.intp] | None:
        """Groups of items that share a passage or a text, from 0; none when there are none."""
        if not self.grouped:
            return None
        alone: tuple[str | None, ...] = (None,) * len(_TOGETHER)
        rows = [self._together.get(item, alone) for item in item_ids]
        return joined_groups(*zip(*rows, strict=True)) if rows else None

    def item_scores(self, given: Outcomes) -> ItemScores:
        """A benchmark's outcomes as the metrics take them."""
        domain, groups = self.domains.get(given.benchmark), self.groups_of(given.item_ids)
        return ItemScores(given.benchmark, domain, given.models, given.scores, groups)

    @property
    def families(self) -> tuple[str, ...]:
        """Declared families of the models, sorted."""
        return tuple(sorted({model.family for model in self.models if model.family is not None}))

    def of_families(self, families: Collection[str]) -> ProjectResults:
        """The results of the models of some families.

        Raises:
            InputError: no model of one of them has results.
        """
        for wanted in families:
            if wanted not in self.families:
                raise InputError(
                    f"no model of the family {wanted!r} has results",
                    wanted=f"a family with results: {named(self.families)}"
                    if self.families
                    else "families of the models, as the models file declares them",
                    mend=nearest(wanted, self.families, lister="results models")
                    if self.families
                    else "draft it with 'benchprism results models'",
                )
        models = tuple(model for model in self.models if model.family in families)
        found = (_with_models(given, models) for given in self.outcomes)
        return replace(self, outcomes=tuple(own for own in found if own.models), models=models)


def project_results(project: Project, scope: Scope = EVERYTHING) -> ProjectResults:
    """Read a project's results and what is known of their models, items and domains.

    Results are matched to the project's items by id. Items that have a fault of their own are left
    out; results on other items are kept, and counted in the notes.

    Raises:
        InputError: there are no results (in the scope), or a file cannot be read.
    """
    found, notes, items = [], Notes(), {}
    files = read_results(project.results)
    every = outcomes(files)
    known = {model for given in every for model in given.models}
    for given in _chosen(every, scope):
        path = project.items / f"{given.benchmark}.parquet"
        table = read_items(path) if path.is_file() else None
        joined, notes[given.benchmark] = _joined(given, table, path.name)
        if joined.item_ids:
            found.append(joined)
            if table is not None:
                items[given.benchmark] = table
    names = {model for given in found for model in given.models}
    domains = _domains(project, [given.benchmark for given in found], notes)
    models = _project_models(project, names)
    _tell_metrics(files, found, notes)
    _tell_guesses(project, found, notes)
    _tell_doubts(project, known, found, notes)
    results = ProjectResults(tuple(found), models, domains, notes, items, scope.grouped)
    return results.of_families(scope.families) if scope.families else results


def _chosen(found: Sequence[Outcomes], scope: Scope) -> list[Outcomes]:
    """The benchmarks of the scope, in their order."""
    names = [given.benchmark for given in found]
    for wanted in scope.benchmarks:
        if wanted not in names:
            raise InputError(
                f"no results on the benchmark {wanted!r}",
                wanted=f"one with results: {named(names)}",
                mend=nearest(wanted, names),
            )
    return [given for given in found if not scope.benchmarks or given.benchmark in scope.benchmarks]


def _with_models(given: Outcomes, models: Iterable[Model]) -> Outcomes:
    names = {model.name for model in models}
    kept = [column for column, model in enumerate(given.models) if model in names]
    if len(kept) == len(given.models):
        return given
    columns = tuple(given.models[column] for column in kept)
    return replace(given, models=columns, scores=given.scores[:, kept])


def _joined(given: Outcomes, items: pa.Table | None, file: str) -> tuple[Outcomes, list[str]]:
    """Leave out the items that have faults, and say which results have no item."""
    if items is None:
        return given, []
    faults = dict(zip(items["item_id"].to_pylist(), items["faults"].to_pylist(), strict=True))
    notes = []
    strangers = [item for item in given.item_ids if item not in faults]
    if strangers:
        share = f"{len(strangers)} of {len(given.item_ids)}"
        notes.append(f"{share} items with results are not in {file} ({named(strangers, 1)})")
    unanswered = len(faults) - (len(given.item_ids) - len(strangers))
    if unanswered:
        notes.append(f"{unanswered} of {len(faults)} items have no results")
    faulty = {item for item in given.item_ids if faults.get(item)}
    if faulty:
        number = counted(len(faulty), "item")
        notes.append(f"{number} left out for their faults; see 'benchprism items check'")
    return without(given, faulty), notes


def nearest(word: str, names: Sequence[str], *, lister: str = "results list") -> str:
    """Say which name was probably meant; where they are many and none is near, who lists them."""
    said = suggestion(word, names)
    many = len(names) > _LISTED and not said.startswith("did you mean")
    return f"'benchprism {lister}' names them all" if many else said


def without(given: Outcomes, left_out: Collection[str]) -> Outcomes:
    """A benchmark's outcomes without some of its items."""
    if not left_out:
        return given
    kept = np.array([item not in left_out for item in given.item_ids], dtype=bool)
    ids = tuple(item for item in given.item_ids if item not in left_out)
    return replace(given, item_ids=ids, scores=given.scores[kept])


def pooled(parts: Sequence[Outcomes], name: str) -> Outcomes:
    """All items together, with the models that have results on every part."""
    common = [model for model in parts[0].models if all(model in part.models for part in parts)]
    scores = [part.scores[:, [part.models.index(model) for model in common]] for part in parts]
    ids = tuple(item for part in parts for item in part.item_ids)
    return Outcomes(name, ids, tuple(common), np.concatenate(scores))


def _project_models(project: Project, names: Collection[str]) -> tuple[Model, ...]:
    declared = read_models(project.models) if project.models.is_file() else {}
    listed = [
        Model(name, known.family, known.size) for name, known in declared.items() if name in names
    ]
    return (*listed, *(Model(name) for name in sorted(names) if name not in declared))


def _tell_guesses(project: Project, found: Sequence[Outcomes], notes: Notes) -> None:
    """Note the models whose family and size are guesses that nobody has confirmed."""
    if not project.models.is_file():
        return
    guesses = set(read_models_file(project.models).unconfirmed)
    for given in found:
        own = [model for model in given.models if model in guesses]
        if own:
            number = counted(len(own), "model")
            notes[given.benchmark].append(
                f"families and sizes of {number} are guesses that nobody confirmed, and are not"
                f" used: {named(own)}"
            )


def _tell_metrics(
    files: Mapping[str, ResultsFile], found: Sequence[Outcomes], notes: Notes
) -> None:
    """Note the benchmarks whose models are scored in different ways."""
    for benchmark, uses in mixed_metrics(files, [given.benchmark for given in found]).items():
        ways = named(map(str, uses))
        notes[benchmark].append(f"results are of different metrics, which need not compare: {ways}")


def _tell_doubts(
    project: Project, known: Collection[str], found: Sequence[Outcomes], notes: Notes
) -> None:
    """Note what may be slips in the models file, given the models that have results."""
    if not project.models.is_file():
        return
    for line in doubtful_entries(read_models_file(project.models).models, known):
        for given in found:
            notes[given.benchmark].append(f"{project.models.name} {line}")


def _domains(project: Project, benchmarks: Sequence[str], notes: Notes) -> dict[str, str | None]:
    """Find the stated domain of each benchmark; when none is stated for any, all are one."""
    domains: dict[str, str | None] = {}
    for name in benchmarks:
        path = project.items / f"{name}.parquet"
        own = read_provenance(path).get("domain") if path.is_file() else None
        domains[name] = project.settings.domains.get(name) or own
    if not any(domains.values()):
        for name in benchmarks:
            notes[name].append("no domain is stated for any benchmark: all are compared as one")
        return dict.fromkeys(benchmarks, ONE_DOMAIN)
    for name, domain in domains.items():
        if not domain:
            notes[name].append("no domain is stated: name it under 'domains' in benchprism.yaml")
    return domains
