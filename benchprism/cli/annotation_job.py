"""What one call of ``benchprism annotate`` is about: items, ledgers, annotators and money."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from benchprism.cli.estimates import other_askings
from benchprism.cli.output import say
from benchprism.project import Project
from benchprism.records.errors import InputError

if TYPE_CHECKING:
    import pyarrow as pa

    from benchprism.annotate.asking.annotator import Annotator
    from benchprism.annotate.ledger.outcome import Status
    from benchprism.annotate.ledger.shards import Shard
    from benchprism.annotate.money.estimate import Estimates
    from benchprism.prompts.catalogue import Catalogue


@dataclass(frozen=True, slots=True)
class Job:
    """What is to be annotated, and where it is kept."""

    project: Project
    catalogue: Catalogue
    items: pa.Table
    ledger: Path
    known: tuple[Path, ...]
    """Other ledgers; what they have is not asked again."""
    retry: frozenset[Status]
    budget: float | None
    ray: str = ""
    """The address of the Ray cluster that does it; empty for this process."""


def make_job(
    project: Project,
    items: pa.Table,
    *,
    ledger: Path | None,
    shard: Shard | None,
    retry: frozenset[Status],
    budget: float | None,
    ray: str = "",
) -> Job:
    """Decide where it is kept, and divide items and budget when it is a shard.

    Args:
        project: The project.
        items: The items that were chosen.
        ledger: The ledger that was named.
        shard: The shard that was named.
        retry: How requests must have ended before to be made again.
        budget: The cap that was named; the lower one holds when the project has one too.
        ray: The address of the Ray cluster that does it.
    """
    from benchprism.cli.gather import project_catalogue

    caps = [cap for cap in (budget, project.settings.budget) if cap is not None]
    cap = min(caps, default=None)
    if cap is not None and not math.isfinite(cap):
        raise InputError(
            f"a budget of {cap}", wanted="an amount of money", mend="pass one such as --budget 5.00"
        )
    if shard is not None:
        items = shard.items(items)
        ledger = ledger or project.root / "shards" / f"{shard.name}.sqlite"
    target = ledger or project.ledger
    if cap is not None:
        cap = _left(project, target, cap) / (shard.of if shard else 1)
    known = () if target.resolve() == project.ledger.resolve() else (project.ledger,)
    return Job(project, project_catalogue(project), items, target, known, retry, cap, ray)


def _left(project: Project, ledger: Path, cap: float) -> float:
    """What is left of a cap for another ledger: what the project's has spent otherwise is gone."""
    from benchprism.annotate.ledger.store import Ledger
    from benchprism.annotate.money.budget import promised, spent
    from benchprism.cli.annotators import project_rates

    if ledger.resolve() == project.ledger.resolve():
        return cap
    with Ledger(project.ledger) as whole, Ledger(ledger) as own:
        rates = project_rates(project)
        gone = spent(whole, rates, besides=own) + promised(whole, rates)
        return max(0.0, cap - gone)


def check(job: Job, annotators: Iterable[Annotator]) -> None:
    """Refuse what cannot work before anything is asked, and say what nobody can know.

    Raises:
        InputError: the catalogue's names clash with columns, a budget lacks a price, or a model
            lacks the cluster that serves it.
    """
    from benchprism.annotate.asking.annotator import no_price
    from benchprism.annotate.attribute_table import check_names
    from benchprism.annotate.ledger.store import Ledger

    check_names(job.catalogue)
    with Ledger(job.ledger) as ledger:
        waiting = len(ledger.waiting())
    if waiting:
        say(f"{waiting} requests wait in batches and are left to them.")
    for annotator in annotators:
        if annotator.price is None and job.budget is not None:
            raise no_price(annotator)
        if annotator.vllm is not None and not job.ray:
            raise InputError(
                f"the model of {annotator.name} is served by a Ray cluster",
                wanted="the address of one",
                mend="pass --ray ADDRESS, or set base_url in place of vllm",
            )
        hosted = annotator.endpoint.base_url is None and annotator.vllm is None
        if annotator.price is None and hosted:
            model = annotator.endpoint.model
            say(
                f"{annotator.name}: no price for {model!r} in benchprism.yaml, costs are not known."
            )


def job_estimates(
    job: Job, annotators: Iterable[Annotator], *, others: bool = False, batch: bool = False
) -> Iterator[tuple[str, Estimates]]:
    """Estimate what is missing, annotator by annotator.

    Args:
        job: What is to be annotated.
        annotators: Who is asked.
        others: Whether other ways of asking are estimated, too.
        batch: Whether it goes as batches.
    """
    from benchprism.annotate.ledger.store import Ledger
    from benchprism.annotate.money.estimate import estimates

    with ExitStack() as opened:
        ledgers = [opened.enter_context(Ledger(path)) for path in (job.ledger, *job.known)]
        for annotator in annotators:
            askings = other_askings(annotator.asking) if others else []
            found = estimates(
                annotator,
                job.items,
                job.catalogue,
                ledgers,
                others=askings,
                retry=job.retry,
                batch=batch,
            )
            yield annotator.name, found
