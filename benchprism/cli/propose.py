"""``benchprism annotate propose``: annotations that need no language model."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from benchprism.cli.chosen_items import chosen_items
from benchprism.cli.options import HERE, ProjectOption
from benchprism.cli.output import say
from benchprism.project import find_project


class By(StrEnum):
    """What proposes."""

    RULES = "rules"
    EMBEDDING = "embedding"


def propose(
    by: Annotated[By, typer.Argument(help="Fixed rules, or the extra 'embed'.")],
    benchmark: Annotated[
        list[str] | None,
        typer.Option("--benchmark", "-b", help="Only this benchmark; may be given again."),
    ] = None,
    limit: Annotated[
        int | None, typer.Option(min=1, help="At most so many items of each benchmark.")
    ] = None,
    project: ProjectOption = HERE,
) -> None:
    """Add what rules or an embedding can tell; each may abstain, and any model ranks above them.

    Example: benchprism annotate propose rules
    """
    from benchprism.annotate.claim import claimed
    from benchprism.annotate.keyless.embedding import EMBEDDING, propose_domain
    from benchprism.annotate.keyless.heuristics import HEURISTIC, propose_by_rule
    from benchprism.annotate.keyless.recording import record_proposals
    from benchprism.annotate.ledger import Ledger
    from benchprism.cli.gather import project_catalogue

    opened = find_project(project)
    catalogue = project_catalogue(opened)
    items = chosen_items(opened, benchmark or [], None, limit)
    name, make = (HEURISTIC, propose_by_rule) if by is By.RULES else (EMBEDDING, propose_domain)
    with claimed(opened.ledger), Ledger(opened.ledger, write=True) as ledger:
        proposals = make(items, catalogue)
        spoken = record_proposals(
            ledger, proposals, annotator=name, model=name, catalogue=catalogue
        )
    say(f"{name}: proposes something for {spoken} of {items.num_rows} items.")
    say("Next: benchprism annotate status")
