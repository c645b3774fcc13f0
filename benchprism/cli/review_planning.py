"""What a review plan is made from: everything that a project knows of its items."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from benchprism.project import Project
from benchprism.records.errors import InputError, suggestion

if TYPE_CHECKING:
    import pyarrow as pa

    from benchprism.annotate.ledger.current import Current
    from benchprism.annotate.ledger.panel import Kind
    from benchprism.annotate.review.planning.effort import Effort
    from benchprism.annotate.review.planning.plan import Answered, Planned
    from benchprism.annotate.review.planning.plan_store import Plan
    from benchprism.annotate.review.planning.queue import Need
    from benchprism.prompts.catalogue import Catalogue

_NO_VALUE = "(none)"


@dataclass(frozen=True, slots=True, eq=False)
class Knowledge:
    """What a plan is made from."""

    items: pa.Table
    catalogue: Catalogue
    values: pa.Table
    """The consolidated values without people."""
    said: list[Current]
    """What annotators say without people, of the attributes that are reviewed."""
    failed: set[tuple[str, str]]
    """Items and attributes at which an annotator failed."""
    asked: dict[str, Kind]
    """The best kind of annotator that was asked about an item, by item id; people aside."""
    answers: dict[str, Answered]
    effort: Effort


def knowledge(project: Project, attributes: Sequence[str]) -> Knowledge:
    """Read what a project knows of its items, and of some attributes or of all.

    Raises:
        InputError: the catalogue has no such attribute.
    """
    from benchprism.annotate.consolidation.consolidate import consolidate
    from benchprism.annotate.gold.layout import known_attribute
    from benchprism.annotate.ledger.current import current_annotations
    from benchprism.annotate.ledger.panel import PEOPLE
    from benchprism.annotate.ledger.store import Ledger
    from benchprism.annotate.review.planning.effort import effort
    from benchprism.annotate.review.planning.plan import answered
    from benchprism.annotate.review.planning.queue import asked_items, failed_annotations
    from benchprism.annotate.review.recording import recorded_responses
    from benchprism.cli.gather import project_catalogue
    from benchprism.records.items.store import project_items

    items, catalogue = project_items(project.items), project_catalogue(project)
    for name in attributes:
        known_attribute(catalogue, name)
    ids, contents = items["item_id"].to_pylist(), items["content_hash"].to_pylist()
    with Ledger(project.ledger) as ledger:
        said = [one.without(PEOPLE) for one in current_annotations(ledger, catalogue, items)]
        return Knowledge(
            items=items,
            catalogue=catalogue,
            values=consolidate(said, items, project.settings.consolidation).values,
            said=[one for one in said if not attributes or one.attribute.id in attributes],
            failed=failed_annotations(ledger, items),
            asked=asked_items(ledger, items),
            answers=answered(recorded_responses(ledger), dict(zip(ids, contents, strict=True))),
            effort=effort(recorded_responses(ledger)),
        )


def planned(
    project: Project, known: Knowledge, former: Plan | None, settings: Mapping[str, Any]
) -> Planned:
    """Make the plan that settings ask for.

    Raises:
        InputError: a benchmark, field or subset is unknown, there are too few reviewers, or nothing
            is to be reviewed.
    """
    from benchprism.annotate.review.planning.plan import Budget, make_plan

    items = known.items
    chosen = _candidates(known, settings["benchmarks"])
    needs = _needs(project, known, settings)
    budget = Budget(
        items=settings["items"],
        calibration=settings["calibration"],
        reviewers=tuple(settings["reviewers"]),
        overlap=settings["overlap"],
        seed=settings["seed"],
    )
    made = make_plan(
        items,
        _strata(project, chosen, settings["strata"]),
        needs,
        budget,
        answers=known.answers,
        former=former,
        settings=settings,
    )
    if not made.plan.table.num_rows:
        raise InputError(
            "there is nothing to review",
            wanted="an item in the sample, or one with a reason",
            mend="allow more --items or --minutes, or a larger --calibration",
        )
    return made


@dataclass(frozen=True, slots=True)
class Valueless:
    """Items of the sample that tell nothing of the annotators that are to be judged by it."""

    items: int
    annotator: str
    """The kind that gave them no value, in words."""


def valueless(known: Knowledge, plan: Plan) -> Valueless:
    """Count the sampled items without a value by any annotator of the best kind."""
    import numpy as np

    from benchprism.annotate.ledger.panel import KINDS, kind_of

    asked = {known.asked.get(item_id) for item_id in plan.strata["item_id"].to_pylist()}
    best = next((kind for kind in KINDS if kind in asked), "llm")
    ids, valued = np.array(known.items["item_id"].to_pylist(), np.str_), set[str]()
    for one in known.said:
        of_kind = np.array([*(kind_of(name) == best for name in one.names), False])
        valued.update(ids[one.rows[of_kind[one.annotators]]].tolist())
    number = sum(item_id not in valued for item_id in plan.sample)
    return Valueless(number, "a model" if best == "llm" else "a rule")


def few_sampled(known: Knowledge, plan: Plan) -> list[str]:
    """The benchmarks of whose composition the sample is too small to tell."""
    from benchprism.annotate.review.judging.composition import FEWEST

    items = known.items
    columns = (items[name].to_pylist() for name in ("item_id", "benchmark"))
    benchmarks = dict(zip(*columns, strict=True))
    counts = Counter(benchmarks[item_id] for item_id in plan.sample)
    return [f"{name} ({counts[name]} of {FEWEST})" for name in counts if counts[name] < FEWEST]


def _candidates(known: Knowledge, benchmarks: Sequence[str]) -> pa.Table:
    import pyarrow as pa

    from benchprism.annotate.review.planning.queue import candidates

    items = known.items
    if known.asked:
        ids = items["item_id"].to_pylist()
        items = items.filter(pa.array([one in known.asked for one in ids], pa.bool_()))
    return candidates(_of_benchmarks(items, benchmarks), known.asked)


def _of_benchmarks(items: pa.Table, names: Sequence[str]) -> pa.Table:
    import pyarrow as pa
    import pyarrow.compute as pc

    there = pc.unique(items["benchmark"]).to_pylist()
    for name in names:
        if name not in there:
            raise InputError(
                f"no item of {name!r} can be reviewed",
                wanted="a benchmark of the project, with annotated items if there are any",
                mend=suggestion(name, there),
            )
    wanted = pc.is_in(items["benchmark"], pa.array(names, pa.string()))
    return items.filter(wanted) if names else items


def _strata(project: Project, items: pa.Table, fields: Sequence[str]) -> dict[str, str]:
    """The stratum of each item: its values of some fields, in words."""
    import pyarrow as pa

    from benchprism.cli.gather import project_attribute_table
    from benchprism.records.items.cells import text_of

    ids = items["item_id"].to_pylist()
    known = {*items.column_names}
    table = items if known.issuperset(fields) else project_attribute_table(project, ids)
    for name in fields:
        if name not in table.column_names:
            raise InputError(
                f"no field {name!r} to draw by",
                wanted="a field that every item has, or an attribute",
                mend=suggestion(name, table.column_names),
            )
        if pa.types.is_list(table[name].type):
            raise InputError(
                f"the field {name!r} has several values an item",
                wanted="a field with one",
                mend="draw by another field",
            )
    columns = [table[name].to_pylist() for name in fields]
    words = [
        [_NO_VALUE if cell in (None, "") else text_of(cell) for cell in column]
        for column in columns
    ]
    joined = [", ".join(cells) for cells in zip(*words, strict=True)]
    return dict(zip(table["item_id"].to_pylist(), joined, strict=True))


def _needs(project: Project, known: Knowledge, settings: Mapping[str, Any]) -> dict[str, Need]:
    from benchprism.annotate.review.planning.queue import Need, doubts
    from benchprism.cli.gather import project_attribute_table

    items = known.items
    found = doubts(items, known.values, known.said, known.failed, below=settings["confidence"])
    unsure = {item_id: Need(own).attributes for item_id, own in found.items()}
    decided: dict[str, dict[str, frozenset[str]]] = {}
    table = project_attribute_table(project) if settings["subsets"] else None
    for name in dict.fromkeys(settings["subsets"]):
        for item_id, attributes in _consequences(project, name, table, known, unsure).items():
            decided.setdefault(item_id, {})[name] = attributes
    return {
        item_id: Need(found.get(item_id, {}), decided.get(item_id, {}))
        for item_id in {**found, **decided}
    }


def _consequences(
    project: Project,
    name: str,
    table: pa.Table,
    known: Knowledge,
    unsure: Mapping[str, frozenset[str]],
) -> dict[str, frozenset[str]]:
    from benchprism.cli.gather import earlier_compositions, evidence_for
    from benchprism.compose.screening import screen
    from benchprism.compose.store import read_subset
    from benchprism.reviewing.consequence import consequences

    # What is not calibrated yet is what is reviewed: that criteria ask for it stops nothing here.
    criteria = read_subset(project.subsets / name).criteria
    criteria = criteria.model_copy(update={"require_calibrated": False})
    screening = screen(
        criteria,
        table,
        catalogue=known.catalogue,
        seed=project.settings.seed,
        evidence=evidence_for(project, criteria),
        earlier=earlier_compositions(project, criteria),
    )
    return consequences(screening, known.items["item_id"].to_pylist(), known.said, unsure)
