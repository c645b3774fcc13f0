"""Push 20,000 items to the server of ``benchprism review serve``, again, and with a change.

Every item has 1 KB of text and a suggestion to each attribute of the core catalogue that it is
asked. Afterwards the records are read as pull reads them.

Run: python benchmarks/review_push.py [--items 20000] [--attributes 4]
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa

from benchprism.annotate.consolidation.consolidate import VALUES_SCHEMA
from benchprism.annotate.review.argilla.client import Argilla
from benchprism.annotate.review.argilla.comparison import Delivery, compare
from benchprism.annotate.review.argilla.push import send
from benchprism.annotate.review.case import cases
from benchprism.annotate.review.form import ReviewForm, form_of
from benchprism.annotate.review.server import (
    ARGILLA,
    ServeOptions,
    ServerHome,
    cache_folder,
    environment_python,
    find_access,
    review_server,
)
from benchprism.prompts.library import load_catalogue
from benchprism.records.items.record import Item, choice_set_hash, content_hash, items_table

CHOICES = ("one", "two", "three", "four")


def make_item(row: int) -> Item:
    """An item of 1 KB."""
    question = f"Question {row}: " + "what does the passage say about it? " * 28
    return Item(
        item_id=f"bench/test/{row}",
        benchmark="bench",
        subset="",
        split="test",
        row=row,
        revision="r1",
        question=question,
        context="",
        choices=CHOICES,
        answer_index=1,
        answer_text="two",
        accepted_answers=(),
        kind="multiple_choice",
        faults=(),
        source="{}",
        content_hash=content_hash(question, "", CHOICES),
        choice_set_hash=choice_set_hash(question, "", CHOICES),
    )


def make_values(items: pa.Table, form: ReviewForm, *, changed: int) -> pa.Table:
    """A value for each question; those of the first ``changed`` items are others."""
    ids = items["item_id"].to_pylist()
    parts = []
    for question in form:
        wire = [option.value for option in question.options]
        values = [wire[row < changed] for row in range(len(ids))]
        listed = question.kind == "labels"
        parts.append(
            pa.table(
                {
                    "item_id": ids,
                    "attribute": [question.name] * len(ids),
                    "value": [json.dumps([v] if listed else v) for v in values],
                    "provenance": ["llm_single"] * len(ids),
                    "confidence": [0.8] * len(ids),
                    "confidence_source": [None] * len(ids),
                    "annotators": [1] * len(ids),
                },
                schema=VALUES_SCHEMA,
            )
        )
    return pa.concat_tables(parts)


@contextmanager
def timed(name: str) -> Iterator[None]:
    """Print how long something took, and the most memory that this process has had."""
    start = time.monotonic()
    yield
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{name}: {time.monotonic() - start:.1f} s, at most {most:.0f} MB", flush=True)


def push(argilla: Argilla, delivery: Delivery) -> None:
    """Compare and send."""
    [found] = compare(argilla, [delivery])
    send(argilla, found, lambda _: None)
    print(f"  {dict(found.counts)}", flush=True)


def run(argilla: Argilla, items: pa.Table, form: ReviewForm) -> None:
    """Push, push again, push a change, and read."""

    def deliver(values: pa.Table) -> Delivery:
        read: Callable[[], Any] = partial(cases, items, values)
        return Delivery("benchmark", form, "seen", read)

    values = make_values(items, form, changed=0)
    with timed("push"):
        push(argilla, deliver(values))
    with timed("push again"):
        push(argilla, deliver(values))
    with timed("push 1,000 changes"):
        push(argilla, deliver(make_values(items, form, changed=1000)))
    [dataset] = argilla.datasets()
    with timed("read"):
        read = argilla.records(dataset["id"], ["responses", "suggestions"])
        print(f"  {sum(1 for _ in read)} records", flush=True)


def main() -> int:
    """Run it and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=int, default=20_000)
    parser.add_argument("--attributes", type=int, default=4)
    arguments = parser.parse_args()
    catalogue = load_catalogue("core")
    form = form_of(catalogue, [a.id for a in catalogue][: arguments.attributes])
    python = environment_python(
        cache_folder(), ARGILLA, progress=lambda *_: nullcontext(lambda: None), say=print
    )
    items = items_table(make_item(row) for row in range(arguments.items))
    with tempfile.TemporaryDirectory() as folder:
        home = ServerHome(Path(folder) / "home")
        with (
            review_server(home, ServeOptions(port=0), python, os.environ),
            Argilla(find_access(home, {})) as argilla,
        ):
            run(argilla, items, form)
    return 0


if __name__ == "__main__":
    sys.exit(main())
