"""What a push delivers: which items, to which datasets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from ....prompts.catalogue import Catalogue
from ...consolidation.consolidate import consolidate
from ...consolidation.policy import ConsolidationSettings
from ...ledger.current import Current, current_annotations
from ...ledger.panel import PEOPLE
from ...ledger.store import Ledger
from ..case import Errand, cases
from ..form import Mode, ReviewForm, form_of, forms_by_dimension
from .comparison import Delivery, Encoder

_SUFFIXES: Mapping[Mode, str] = {"seen": "", "blind": "-blind", "adjudication": "-adjudication"}


@dataclass(frozen=True, slots=True, eq=False)
class Standpoint:
    """What a project knows: its items, and what annotators other than people made of them."""

    items: pa.Table
    """All of the project's items, with ``ITEM_SCHEMA``."""
    ledger: Path
    catalogue: Catalogue
    values: pa.Table
    """The consolidated values, with ``VALUES_SCHEMA``."""


@dataclass(frozen=True, slots=True, eq=False)
class Task:
    """Some of the items, to be reviewed in one mode."""

    items: pa.Table
    """In the order in which they are sent."""
    mode: Mode
    errands: Mapping[str, Errand]
    """By item id; whoever is not there is reviewed by anyone."""
    whole: bool = False
    """Whether nothing else is to be reviewed in this mode."""


def standpoint(
    items: pa.Table, ledger: Path, catalogue: Catalogue, settings: ConsolidationSettings
) -> Standpoint:
    """Consolidate what annotators other than people say about a project's items.

    What one person answered is not suggested to the next: their agreement would mean nothing.
    """
    columns = _said(ledger, catalogue, items)
    return Standpoint(items, ledger, catalogue, consolidate(columns, items, settings).values)


def with_values(items: pa.Table, known: Standpoint) -> pa.Table:
    """Those of the items that have any value."""
    return items.filter(pc.is_in(items["item_id"], pc.unique(known.values["item_id"])))


def tasks_of(plan: pa.Table, items: pa.Table) -> list[Task]:
    """The tasks of a plan, one a mode, in the plan's order; one may be without items.

    Args:
        plan: A table with ``PLAN_SCHEMA``.
        items: The project's items; what the plan has besides them is left out.
    """
    modes: list[Mode] = ["blind", "seen"]
    return [
        _task(plan.filter(pc.equal(plan["mode"], mode)).sort_by("rank"), items, mode)
        for mode in modes
    ]


def deliveries(
    name: str,
    known: Standpoint,
    tasks: Sequence[Task],
    *,
    by_dimension: bool = False,
    attributes: Sequence[str] | None = None,
    encoder: Encoder | None = None,
    dimensions: int | None = None,
) -> list[Delivery]:
    """Say what goes into which dataset.

    Args:
        name: The name of the review; ``-blind`` and a dimension's id are added.
        known: What the project knows.
        tasks: What is to be reviewed.
        by_dimension: Whether each dimension has a dataset of its own.
        attributes: The only attributes that are asked; all when none.
        encoder: Makes vectors, when there are to be some.
        dimensions: Of the vectors.
    """
    if by_dimension:
        forms = forms_by_dimension(known.catalogue, attributes)
    else:
        forms = [form_of(known.catalogue, attributes)]
    return [
        delivery
        for task in tasks
        if task.items.num_rows or task.whole
        for delivery in _of_task(name, known, task, forms, encoder, dimensions)
    ]


def _of_task(
    name: str,
    known: Standpoint,
    task: Task,
    forms: Sequence[ReviewForm],
    encoder: Encoder | None,
    dimensions: int | None,
) -> list[Delivery]:
    said = _said(known.ledger, known.catalogue, task.items)
    base = name + _SUFFIXES[task.mode]
    assigned = [len(errand.reviewers) for errand in task.errands.values()]
    return [
        Delivery(
            name=f"{base}-{form.dimension}" if form.dimension else base,
            form=form,
            mode=task.mode,
            cases=partial(
                cases,
                task.items,
                known.values,
                said=said,
                errands=task.errands,
                attributes=[question.name for question in form],
                blind=task.mode == "blind",
            ),
            overlap=max([1, *assigned]),
            encoder=encoder,
            dimensions=dimensions,
            whole=task.whole,
        )
        for form in forms
    ]


def _task(plan: pa.Table, items: pa.Table, mode: Mode) -> Task:
    rows = pc.index_in(plan["item_id"], items["item_id"].combine_chunks())
    known = pc.is_valid(rows)
    chosen = items.take(rows.filter(known))
    errands = {
        row["item_id"]: Errand(tuple(row["reasons"]), tuple(row["reviewers"]))
        for row in plan.select(["item_id", "reasons", "reviewers"]).to_pylist()
    }
    return Task(chosen, mode, errands, whole=True)


def _said(ledger: Path, catalogue: Catalogue, items: pa.Table) -> list[Current]:
    with Ledger(ledger) as opened:
        columns = current_annotations(opened, catalogue, items)
    return [column.without(PEOPLE) for column in columns]
