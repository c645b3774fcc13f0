"""Which items are reviewed: those of the plan, or those that the options of a command name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from benchprism.cli.chosen_items import chosen_items
from benchprism.cli.output import counted, say
from benchprism.project import Project
from benchprism.records.errors import InputError

if TYPE_CHECKING:
    from benchprism.annotate.review.argilla.deliveries import Standpoint, Task

AttributeOption = Annotated[
    list[str] | None, typer.Option(help="Ask this attribute only; may be given again.")
]
BlindOption = Annotated[
    bool, typer.Option("--blind", help="Show no suggestions, so that nobody just accepts.")
]
NoPlanOption = Annotated[
    bool, typer.Option("--no-plan", help="Take no notice of the project's review plan.")
]


@dataclass(frozen=True, slots=True)
class Choice:
    """Which items are reviewed without a plan."""

    benchmarks: Sequence[str]
    subsets: Sequence[str]
    only: Path | None
    limit: int | None
    blind: bool

    @property
    def given(self) -> list[str]:
        """The options that say something."""
        options = {
            "--benchmark": self.benchmarks,
            "--subset": self.subsets,
            "--only": self.only,
            "--limit": self.limit,
            "--blind": self.blind,
        }
        return [name for name, value in options.items() if value]


def review_tasks(
    project: Project, choice: Choice, *, no_plan: bool
) -> tuple[Standpoint, list[Task]]:
    """Read what the project knows, and what of it is to be reviewed.

    Args:
        project: The project.
        choice: What the options say.
        no_plan: Take no notice of the project's review plan.

    Raises:
        InputError: plan and options both say it, the plan cannot be read, a name is unknown, or no
            item has a value to suggest.
    """
    from benchprism.annotate.review.argilla.deliveries import Task, standpoint
    from benchprism.annotate.review.planning.plan_store import PLAN, read_plan
    from benchprism.prompts.library import load_catalogue
    from benchprism.records.items.store import project_items

    items = project_items(project.items)
    catalogue = load_catalogue(project.settings.catalogue, folder=project.root)
    known = standpoint(items, project.ledger, catalogue, project.settings.consolidation)
    plan = None if no_plan else read_plan(project.review)
    if plan is not None:
        if choice.given:
            raise InputError(
                f"{project.review / PLAN} says which items are reviewed, and which of them blind;"
                f" {' and '.join(choice.given)} {'says' if len(choice.given) == 1 else 'say'}"
                " otherwise",
                wanted="the plan, or options in its place",
                mend=f"leave {' and '.join(choice.given)} out, or add --no-plan",
            )
        return known, _planned(plan.table, items)
    chosen = _in_subsets(
        chosen_items(project, choice.benchmarks, choice.only, None), choice.subsets
    )
    if choice.blind:
        return known, [Task(_drawn(chosen, choice.limit, project.settings.seed), "blind", {})]
    return known, [Task(_limited(_valued(chosen, known), choice.limit), "seen", {})]


def _planned(plan: Any, items: Any) -> list[Task]:
    from benchprism.annotate.review.argilla.deliveries import tasks_of

    tasks = tasks_of(plan, items)
    missing = plan.num_rows - sum(task.items.num_rows for task in tasks)
    if missing:
        say(f"Left out: {counted(missing, 'item')} of the plan that the project does not have.")
    return tasks


def _drawn(items: Any, limit: int | None, seed: int) -> Any:
    """At most so many items of each benchmark, drawn at random, and in random order.

    The first of a file may be all of one subject; so may those that a reviewer gets done.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    from benchprism.annotate.review.planning.sample import draw

    strata = dict(zip(*(items[n].to_pylist() for n in ("item_id", "benchmark")), strict=True))
    sizes = Counter(strata.values())
    number = sum(size if limit is None else min(size, limit) for size in sizes.values())
    sample = [one.item_id for one in draw(strata, number, seed, ())]
    return items.take(pc.index_in(pa.array(sample, pa.string()), items["item_id"].combine_chunks()))


def _limited(items: Any, limit: int | None) -> Any:
    """At most so many items of each benchmark."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if limit is None:
        return items
    names = pc.unique(items["benchmark"])
    parts = [items.filter(pc.equal(items["benchmark"], name))[:limit] for name in names]
    return pa.concat_tables(parts) if parts else items


def _in_subsets(items: Any, subsets: Sequence[str]) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    from benchprism.records.errors import suggestion

    if not subsets:
        return items
    known = {name for name in pc.unique(items["subset"]).to_pylist() if name}
    for name in subsets:
        if name not in known:
            raise InputError(
                f"no item is in the subset {name!r}",
                wanted="a subset of the chosen benchmarks",
                mend=suggestion(name, known) if known else "leave --subset out",
            )
    return items.filter(pc.is_in(items["subset"], pa.array(list(subsets), pa.string())))


def _valued(items: Any, known: Standpoint) -> Any:
    from benchprism.annotate.review.argilla.deliveries import with_values

    valued = with_values(items, known)
    if not valued.num_rows:
        raise InputError(
            f"none of {counted(items.num_rows, 'item')} has a value to suggest",
            wanted="items that were annotated",
            mend="run 'benchprism annotate' first, or review them with --blind",
        )
    if valued.num_rows < items.num_rows:
        missing = items.num_rows - valued.num_rows
        say(f"Left out: {counted(missing, 'item')} without any value; --blind takes them too.")
    return valued
