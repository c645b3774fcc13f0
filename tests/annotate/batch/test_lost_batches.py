"""A batch that cannot be collected: nothing is lost by it, nobody waits for it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from benchprism.annotate.asking.annotator import Annotator
from benchprism.annotate.asking.plan import Asking
from benchprism.annotate.batch.batches import Limits
from benchprism.annotate.batch.collecting import (
    BatchReport,
    collect,
    forget,
    forget_orphan,
    orphans,
)
from benchprism.prompts.catalogue import Catalogue
from benchprism.records.errors import (
    EndpointError,
    InputError,
)

from .batch_server import (
    HTML,
    BatchServer,
    Body,
    MakeItems,
    started,
    states,
)

# aiohttp's own reader of uploads warns about itself.
pytestmark = pytest.mark.filterwarnings("ignore:unread_data:DeprecationWarning")


def test_a_batch_that_cannot_be_collected_keeps_nobody_else_waiting_and_is_let_go(
    server: BatchServer, annotator: Annotator, make_items: MakeItems, core: Catalogue, ledger: Path
) -> None:
    assert started(annotator, make_items(6), core, ledger, limits=Limits(calls=2)) == [2, 2, 2]
    for name in server.batches:
        server.end(name)
    del server.batches["batch-0"]
    server.batches["batch-1"]["request_counts"] = {"total": 2, "completed": 2, "failed": 0}
    output = server.batches["batch-1"]["output_file_id"]
    whole, server.files[output] = server.files[output], b"<html>error</html>"

    def found(reports: Iterator[BatchReport]) -> list[tuple[str, str, int, int]]:
        return [(r.batch_id, r.state, r.statuses.total(), r.missing) for r in reports]

    gone = ("batch-0", "unknown to the endpoint", 0, 0)
    assert found(collect(annotator, ledger)) == [
        gone, ("batch-1", "incomplete", 0, 0), ("batch-2", "completed", 2, 0),
    ]  # fmt: skip
    assert started(annotator, make_items(6), core, ledger) == []
    server.files[output] = whole
    assert found(collect(annotator, ledger)) == [gone, ("batch-1", "completed", 2, 0)]
    assert found(forget(annotator, ledger, "batch-1")) == []
    assert found(forget(annotator, ledger, "batch-0")) == [("batch-0", "forgotten", 0, 2)]
    assert [*collect(annotator, ledger)] == []
    assert started(annotator, make_items(6), core, ledger) == [2]
    assert states(ledger) == ["ok"] * 4


def test_a_batch_that_runs_is_let_go_when_it_is_named(
    server: BatchServer, annotator: Annotator, make_items: MakeItems, core: Catalogue, ledger: Path
) -> None:
    together = replace(annotator, asking=Asking("all", 3))
    assert started(together, make_items(6), core, ledger, limits=Limits(calls=1)) == [1, 1]
    (gone,) = forget(together, ledger, "batch-1")
    assert (gone.batch_id, gone.state, gone.missing) == ("batch-1", "forgotten", 3)
    assert server.batches["batch-1"]["status"] == "cancelling"
    assert server.batches["batch-0"]["status"] == "in_progress"
    assert started(together, make_items(6), core, ledger) == [1]
    server.end("batch-0")
    (kept,) = forget(together, ledger, "batch-0")
    assert (kept.state, kept.statuses) == ("completed", Counter(ok=3))


def test_a_batch_of_an_endpoint_that_is_gone_is_let_go_when_it_is_named(
    server: BatchServer, annotator: Annotator, make_items: MakeItems, core: Catalogue, ledger: Path
) -> None:
    started(annotator, make_items(2), core, ledger)
    moved = replace(annotator.endpoint, base_url="http://127.0.0.1:1/v1")
    elsewhere = replace(annotator, endpoint=moved)
    with pytest.raises(EndpointError, match="no answer from"):
        [*collect(elsewhere, ledger)]
    (gone,) = forget(elsewhere, ledger, "batch-0")
    assert (gone.state, gone.missing) == ("forgotten", 2)
    assert "no answer from http://127.0.0.1:1/v1" in gone.problem


def test_a_batch_whose_annotator_is_gone_is_named_and_let_go(
    server: BatchServer, annotator: Annotator, make_items: MakeItems, core: Catalogue, ledger: Path
) -> None:
    started(annotator, make_items(2), core, ledger)
    assert orphans(ledger, ["llm:test"]) == []
    (found,) = orphans(ledger, ["llm:other"])
    assert (found.batch_id, found.state) == ("batch-0", "without its annotator")
    with pytest.raises(InputError, match=r"no open batch 'batch-1'.*'batch-0'"):
        forget_orphan(ledger, "batch-1")
    assert forget_orphan(ledger, "batch-0").missing == 2
    assert orphans(ledger, ["llm:other"]) == []
    assert started(annotator, make_items(2), core, ledger) == [2]


@pytest.mark.parametrize(
    ("counts", "output"),
    [
        ({"total": 3, "completed": 3, "failed": 0}, None),  # the file is not there yet
        (None, None),
        ({"total": 0, "completed": 0, "failed": 0}, HTML),  # nobody counts
        ({"total": 3, "completed": 3, "failed": 0}, '{"custom_id"'),
        ({"total": 3, "completed": 3, "failed": 0}, "FIRST\nFIRST\nFIRST"),  # one, three times
    ],
)
def test_a_batch_is_not_over_while_answers_lack(
    server: BatchServer, annotator: Annotator, make_items: MakeItems, core: Catalogue, ledger: Path,
    counts: Body | None, output: str | None,
) -> None:  # fmt: skip
    started(annotator, make_items(3), core, ledger)
    server.end("batch-0")
    batch = server.batches["batch-0"]
    name = batch["output_file_id"]
    whole, batch["request_counts"] = server.files[name], counts
    if output is None:
        batch["output_file_id"] = None
    else:
        server.files[name] = output.encode().replace(b"FIRST", whole.splitlines()[0])
    (report,) = collect(annotator, ledger)
    assert (report.state, report.missing, report.complete) == ("incomplete", 0, False)
    lost = 2 if report.statuses else 3
    assert report.problem.startswith(f"{lost} answers that are said to be there")
    assert started(annotator, make_items(3), core, ledger) == []
    server.files[name], batch["output_file_id"] = whole, name
    (report,) = collect(annotator, ledger)
    assert (report.state, report.statuses, report.complete) == ("completed", Counter(ok=3), True)


def test_a_download_that_breaks_off_is_made_again(
    server: BatchServer, annotator: Annotator, make_items: MakeItems, core: Catalogue, ledger: Path
) -> None:
    started(annotator, make_items(3), core, ledger)
    server.end("batch-0")
    server.breaks_off = 3
    assert [report.statuses for report in collect(annotator, ledger)] == [Counter(ok=3)]


def test_a_batch_that_cannot_be_read_is_one_sentence_when_the_others_are_collected(
    server: BatchServer, annotator: Annotator, make_items: MakeItems, core: Catalogue, ledger: Path
) -> None:
    started(annotator, make_items(4), core, ledger, limits=Limits(calls=2))
    for name in server.batches:
        server.end(name)
    server.breaks_off = 4
    reports: list[BatchReport] = []
    with pytest.raises(EndpointError, match="run the same command again"):
        reports += collect(annotator, ledger)
    assert states(ledger) == ["ok"] * 2
    (report,) = collect(annotator, ledger)
    assert (report.batch_id, report.statuses) == ("batch-0", Counter(ok=2))
