"""``benchprism annotate propose``: annotations that need no language model that writes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from benchprism.cli.chosen_items import chosen_items
from benchprism.cli.options import HERE, BenchmarkOption, LimitOption, ProjectOption
from benchprism.cli.output import progress, say, this_command
from benchprism.project import find_project
from benchprism.records.errors import InputError

if TYPE_CHECKING:
    import pyarrow as pa

    from benchprism.annotate.keyless.local_server import LocalServer
    from benchprism.annotate.ledger.store import Ledger
    from benchprism.prompts.catalogue import Catalogue


class By(StrEnum):
    """What proposes."""

    RULES = "rules"
    EMBEDDING = "embedding"
    SCORES = "scores"


def propose(
    by: Annotated[
        By,
        typer.Argument(
            help="Fixed rules; the extra 'embed'; or how likely a local model finds each value."
        ),
    ],
    benchmark: BenchmarkOption = None,
    limit: LimitOption = None,
    gguf: Annotated[
        Path | None,
        typer.Option(help="Scores: serve this GGUF model on this machine; extra 'local'."),
    ] = None,
    base_url: Annotated[
        str | None, typer.Option(help="Scores: the address of a llama.cpp server that is running.")
    ] = None,
    model: Annotated[
        str | None, typer.Option(help="Scores: the name of that server's model.")
    ] = None,
    concurrency: Annotated[
        int | None, typer.Option(min=1, max=64, help="Scores: requests in flight at once.")
    ] = None,
    confidence: Annotated[
        float | None,
        typer.Option(min=0, max=1, help="Scores: abstain where the likeliest value has less; 0.5."),
    ] = None,
    project: ProjectOption = HERE,
) -> None:
    """Add what rules, an embedding or scores tell; each may abstain, and any model ranks above.

    Example: benchprism annotate propose rules
    """
    _check(by, gguf=gguf, base_url=base_url, model=model,
           concurrency=concurrency, confidence=confidence)  # fmt: skip
    from benchprism.annotate.ledger.claim import claimed
    from benchprism.annotate.ledger.store import Ledger
    from benchprism.cli.gather import project_catalogue

    opened = find_project(project)
    catalogue = project_catalogue(opened)
    items = chosen_items(opened, benchmark or [], None, limit)
    with claimed(opened.ledger), Ledger(opened.ledger, write=True) as ledger:
        if by is By.SCORES:
            with _server(gguf, base_url, model, concurrency or 1) as server:
                _score(ledger, items, catalogue, server, concurrency or 1, confidence)
        else:
            _propose(by, ledger, items, catalogue)
    say("Next: benchprism annotate status")


def _check(by: By, **options: object) -> None:
    given = [f"--{name.replace('_', '-')}" for name, value in options.items() if value is not None]
    if by is not By.SCORES:
        if given:
            raise InputError(
                f"{given[0]} for {by.value}",
                wanted="an option of scores beside scores",
                mend="leave it out, or run 'benchprism annotate propose scores'",
            )
        return
    named = options["base_url"] is not None and options["model"] is not None
    either = options["base_url"] is not None or options["model"] is not None
    if (options["gguf"] is None) != named or (options["gguf"] is not None and either):
        raise InputError(
            "scores without one model" if not given else f"scores with {' and '.join(given)}",
            wanted="--gguf FILE, or --base-url URL and --model NAME",
            mend="name the file of a model, or a llama.cpp server and its model",
        )


def _propose(by: By, ledger: Ledger, items: pa.Table, catalogue: Catalogue) -> None:
    from benchprism.annotate.keyless.embedding import EMBEDDING, propose_domain
    from benchprism.annotate.keyless.heuristics import HEURISTIC, propose_by_rule
    from benchprism.annotate.keyless.recording import record_proposals

    name, make = (HEURISTIC, propose_by_rule) if by is By.RULES else (EMBEDDING, propose_domain)
    proposed = make(items, catalogue)
    spoken = record_proposals(ledger, proposed, annotator=name, model=name, catalogue=catalogue)
    say(f"{name}: proposes something for {spoken} of {items.num_rows} items.")


@contextmanager
def _server(
    gguf: Path | None, base_url: str | None, model: str | None, concurrency: int
) -> Iterator[LocalServer]:
    from benchprism.annotate.keyless.local_server import LocalServer, local_server

    if gguf is not None:
        with local_server(gguf, parallel=concurrency) as server:
            yield server
    else:
        yield LocalServer(str(base_url), str(model))


def _score(
    ledger: Ledger,
    items: pa.Table,
    catalogue: Catalogue,
    server: LocalServer,
    concurrency: int,
    confidence: float | None,
) -> None:
    from benchprism.annotate.keyless.label_scoring import CONFIDENCE_TO_PROPOSE
    from benchprism.annotate.keyless.scoring_run import annotate_by_score, scores_to_make

    name = f"score:{server.model}"
    with progress(name, scores_to_make(items, catalogue)) as step:
        try:
            made = annotate_by_score(
                ledger,
                items,
                catalogue,
                base_url=server.base_url,
                model=server.model,
                parallel=concurrency,
                confidence_to_propose=CONFIDENCE_TO_PROPOSE if confidence is None else confidence,
                progress=step,
            )
        except KeyboardInterrupt:
            say(f"Interrupted; what came is saved. To go on: {this_command()}")
            raise typer.Exit(130) from None
    say(
        f"{name}: proposes something for {made.items} of {items.num_rows} items;"
        f" {made.asked} scores asked, {made.already} were in the ledger;"
        f" {made.usage.prompt_tokens} prompt tokens ({made.usage.cached_tokens} cached)"
    )
    if made.too_long:
        say(f"  {made.too_long} × it does not fit the server's context")
