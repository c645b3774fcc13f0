"""Batches against a real server: what is sent, and what is kept of what comes."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from benchprism.annotate.asking.annotator import Annotator, run_annotator
from benchprism.annotate.asking.plan import Asking
from benchprism.annotate.batch.batches import Limits, submit
from benchprism.annotate.batch.collecting import (
    BatchReport,
    collect,
)
from benchprism.annotate.ledger.store import Ledger
from benchprism.prompts.catalogue import Catalogue
from benchprism.records.errors import (
    BudgetReached,
    EndpointError,
)

from .batch_server import (
    EACH,
    BatchServer,
    MakeItems,
    questions,
    rows,
    started,
    states,
)

# aiohttp's own reader of uploads warns about itself.
pytestmark = pytest.mark.filterwarnings("ignore:unread_data:DeprecationWarning")


def test_what_is_missing_is_sent_and_what_came_is_kept(
    server: BatchServer, annotator: Annotator, make_items: MakeItems, core: Catalogue, ledger: Path
) -> None:
    items = make_items(12)
    run_annotator(annotator, items[:2], core, ledger)
    assert started(annotator, items, core, ledger) == [10]
    (lines,) = server.uploaded
    assert {(line["method"], line["url"]) for line in lines} == {("POST", "/v1/chat/completions")}
    assert len({line["custom_id"] for line in lines}) == 10
    assert all(len(line["custom_id"]) < 64 for line in lines)
    assert lines[0]["body"]["max_tokens"] == 100
    (waiting,) = collect(annotator, ledger)
    assert (waiting.state, waiting.batch_id, states(ledger)) == (
        "in_progress",
        "batch-0",
        ["ok"] * 2,
    )
    server.end("batch-0")
    (asked_only,) = collect(annotator, ledger, wait=True)
    assert (asked_only.state, asked_only.completed, states(ledger)) == ("completed", 10, ["ok"] * 2)
    assert [*collect(annotator, ledger)] == [
        BatchReport("llm:test", "batch-0", "completed", 10, 10, 0, Counter({"ok": 10}), 0, "")
    ]
    assert states(ledger) == ["ok"] * 12
    batch = rows(ledger, "SELECT sum(prompt_tokens), sum(price), count(*) FROM reply WHERE"
                         " time > '2030'")  # fmt: skip
    assert batch == [(70, pytest.approx(10 * EACH), 10)]
    assert [*collect(annotator, ledger)] == []
    assert started(annotator, items, core, ledger) == []


def test_what_waits_in_a_batch_is_not_asked_otherwise(
    server: BatchServer, annotator: Annotator, make_items: MakeItems, core: Catalogue, ledger: Path
) -> None:
    started(annotator, make_items(5), core, ledger)
    assert started(annotator, make_items(5), core, ledger) == []
    assert run_annotator(annotator, make_items(6), core, ledger).asked == 1
    assert server.asked.total() == 1


@pytest.mark.parametrize(
    ("limits", "calls"),
    [(Limits(calls=5), [5, 5, 2]), (Limits(bytes=1), [1] * 12), (Limits(calls=12), [12])],
)
def test_files_are_split(
    server: BatchServer, annotator: Annotator, make_items: MakeItems, core: Catalogue, ledger: Path,
    limits: Limits, calls: list[int],
) -> None:  # fmt: skip
    assert started(annotator, make_items(12), core, ledger, limits=limits) == calls
    sent = [line["custom_id"] for lines in server.uploaded for line in lines]
    assert len(sent) == len(set(sent)) == 12
    for name in server.batches:
        server.end(name)
    assert sum(report.statuses.total() for report in collect(annotator, ledger)) == 12
    assert states(ledger) == ["ok"] * 12


def test_no_file_passes_its_size(
    server: BatchServer, annotator: Annotator, make_items: MakeItems, core: Catalogue, ledger: Path
) -> None:
    started(annotator, make_items(9), core, ledger, limits=Limits(bytes=60_000))
    assert len(server.files) > 1
    assert all(len(content) <= 60_000 for content in server.files.values())


EXPIRED = {"error": {"code": "batch_expired", "message": "could not be executed in time"}}
LINES: dict[str, tuple[Mapping[str, Any] | None, str | None]] = {
    "fine": ({}, "ok"),
    "left out": (None, None),
    "expired": (EXPIRED, None),
    "busy": ({"status_code": 429, "body": {"error": {"message": "slow down"}}}, None),
    "down": ({"status_code": 500, "body": {"error": {"message": "oops"}}}, None),
    "filter": ({"status_code": 400, "body": {"error": {"code": "content_filter"}}}, "filtered"),
    "long": ({"status_code": 400, "body": {"error": {"code": "context_length_exceeded"}}},
             "too_long"),
    "refuses": ({"message": {"content": None, "refusal": "No."}}, "refused"),
    "half": ({"message": {"content": "{", "finish_reason": "length"}}, "truncated"),
    "prose": ({"message": {"content": "It is clear."}}, "invalid"),
    "also fine": ({}, "ok"),
}  # fmt: skip


@pytest.mark.parametrize("ending", ["completed", "expired", "cancelled"])
def test_every_line_ends_in_its_state_or_is_sent_again(
    server: BatchServer, annotator: Annotator, make_items: MakeItems, core: Catalogue, ledger: Path,
    ending: str,
) -> None:  # fmt: skip
    items = make_items(list(LINES))
    server.outcome = lambda question: LINES[question][0]
    started(annotator, items, core, ledger)
    server.end("batch-0", ending)
    (report,) = collect(annotator, ledger)
    kept = [status for _, status in LINES.values() if status]
    assert report.statuses == Counter(kept)
    assert (report.state, report.missing) == (ending, len(LINES) - len(kept))
    assert states(ledger) == kept
    assert started(annotator, items, core, ledger) == [4]
    sent_again = sorted(
        question for line in server.uploaded[1] for question in questions(line["body"])
    )
    assert sent_again == ["busy", "down", "expired", "left out"]
    server.outcome = lambda _: {}
    server.end("batch-1")
    assert [report.statuses for report in collect(annotator, ledger)] == [Counter(ok=4)]
    assert [status or "ok" for _, status in LINES.values()] == states(ledger)


def test_a_batch_that_fails_as_a_whole_says_why_and_is_missing_again(
    server: BatchServer, annotator: Annotator, make_items: MakeItems, core: Catalogue, ledger: Path
) -> None:
    started(annotator, make_items(3), core, ledger)
    server.outcome = lambda _: None
    server.end("batch-0", "failed")
    server.batches["batch-0"]["errors"] = {
        "object": "list", "data": [{"code": "invalid", "message": "line 1 is no JSON"}]
    }  # fmt: skip
    (report,) = collect(annotator, ledger)
    assert (report.state, report.missing, report.problem) == ("failed", 3, "line 1 is no JSON")
    assert started(annotator, make_items(3), core, ledger) == [3]


def test_an_error_file_alone_is_read(
    server: BatchServer, annotator: Annotator, make_items: MakeItems, core: Catalogue, ledger: Path
) -> None:
    started(annotator, make_items(3), core, ledger)
    server.outcome = lambda _: {"status_code": 404, "body": {"error": {"message": "no model 'm'"}}}
    server.end("batch-0")
    assert "output_file_id" not in server.batches["batch-0"]
    (report,) = collect(annotator, ledger)
    assert (report.statuses, report.missing, report.failed) == (Counter(), 3, 3)
    assert report.problem == "HTTP 404: no model 'm'"


def test_lines_that_say_nothing_are_passed_over(
    server: BatchServer, annotator: Annotator, make_items: MakeItems, core: Catalogue, ledger: Path
) -> None:
    started(annotator, make_items(3), core, ledger)
    server.end("batch-0")
    name = server.batches["batch-0"]["output_file_id"]
    first = server.files[name].split(b"\n")[0]
    foreign = json.dumps({"custom_id": "x" * 99, "response": {"status_code": 200, "body": {}}})
    odd = [b"", b"{not json", b"[1]", foreign.encode(), first, b'{"custom_id": 7}']
    server.files[name] += b"\n" + b"\n".join(odd)
    (report,) = collect(annotator, ledger)
    assert (report.statuses, report.missing) == (Counter(ok=3), 0)
    assert rows(ledger, "SELECT count(*) FROM reply") == [(3,)]


def test_a_batch_that_started_unnoticed_is_found(
    server: BatchServer, annotator: Annotator, make_items: MakeItems, core: Catalogue, ledger: Path
) -> None:
    for number in range(3):
        server.batches[f"other-{number}"] = {
            "id": f"other-{number}", "object": "batch", "status": "completed", "errors": None,
            "created_at": 1_900_000_500 + number, "endpoint": "/v1/chat/completions",
            "input_file_id": "f", "completion_window": "24h", "metadata": None,
        }  # fmt: skip
    server.dies = True
    with pytest.raises(EndpointError, match="what was sent is known"):
        started(annotator, make_items(4), core, ledger)
    server.dies = False
    assert len(server.batches) == 4
    assert len(server.uploaded) == 1
    assert started(annotator, make_items(4), core, ledger) == []
    (name,) = (name for name in server.batches if name.startswith("batch"))
    server.end(name)
    assert [report.statuses for report in collect(annotator, ledger)] == [Counter(ok=4)]


def test_a_batch_that_never_started_is_given_up(
    server: BatchServer, annotator: Annotator, make_items: MakeItems, core: Catalogue, ledger: Path
) -> None:
    server.dies = True
    with pytest.raises(EndpointError):
        started(annotator, make_items(4), core, ledger)
    server.batches.clear()
    server.dies = False
    assert [report.state for report in collect(annotator, ledger)] == ["abandoned"]
    assert started(annotator, make_items(4), core, ledger) == [4]


def test_collecting_goes_on_where_it_died(
    server: BatchServer, annotator: Annotator, make_items: MakeItems, core: Catalogue, ledger: Path
) -> None:
    started(annotator, make_items(6), core, ledger)
    server.end("batch-0")
    [*collect(annotator, ledger)]
    before = rows(ledger, "SELECT * FROM reply ORDER BY reply_id")
    with Ledger(ledger, write=True) as opened:  # as if it had died before the end was kept
        opened._database.execute("DELETE FROM batch_event WHERE event = 'ended'")
    (report,) = collect(annotator, ledger)
    assert report.statuses == Counter(ok=6)
    assert rows(ledger, "SELECT * FROM reply ORDER BY reply_id") == before


def test_items_that_failed_together_are_sent_again_alone(
    server: BatchServer, annotator: Annotator, make_items: MakeItems, core: Catalogue, ledger: Path
) -> None:
    together = replace(annotator, asking=Asking("all", 3))
    items = make_items(["one", "bad", "three", "four"])
    refusal = {"message": {"content": None, "refusal": "No."}}
    server.outcome = lambda asked: refusal if "bad" in asked else {}
    assert started(together, items, core, ledger) == [2]
    server.end("batch-0")
    (report,) = collect(together, ledger)
    assert (report.statuses, report.missing) == (Counter(ok=1), 3)
    assert started(together, items, core, ledger) == [3]
    server.end("batch-1")
    (report,) = collect(together, ledger)
    assert report.statuses == Counter(ok=2, refused=1)
    assert states(ledger) == ["ok", "refused", "ok", "ok"]
    assert started(together, items, core, ledger) == []


def test_dimensions_have_lines_of_their_own(
    server: BatchServer, annotator: Annotator, make_items: MakeItems, core: Catalogue, ledger: Path
) -> None:
    by_dimension = replace(annotator, asking=Asking("dimension", 1))
    assert started(by_dimension, make_items(2), core, ledger) == [2 * len(core.dimensions)]
    server.end("batch-0")
    [*collect(by_dimension, ledger)]
    assert states(ledger) == ["ok", "ok"]
    assert rows(ledger, "SELECT count(*) FROM annotation") == [(2 * len([*core]),)]


def test_what_is_too_long_is_kept_as_such(
    server: BatchServer, annotator: Annotator, make_items: MakeItems, core: Catalogue, ledger: Path
) -> None:
    short = replace(annotator, max_prompt_characters=30_000)
    assert started(short, make_items(["short", "x" * 30_000]), core, ledger) == [1]
    assert states(ledger) == ["too_long"]
    assert started(short, make_items(["short", "x" * 30_000]), core, ledger) == []


def test_a_budget_counts_all_that_is_not_back_yet(
    server: BatchServer, annotator: Annotator, make_items: MakeItems, core: Catalogue, ledger: Path
) -> None:
    items = make_items(40)
    sending = submit(annotator, items, core, ledger, budget=0.1)
    first = next(sending).calls
    with pytest.raises(BudgetReached, match=r"what is not back yet may cost 0\.09") as error:
        next(sending)
    assert error.value.exit_code == 4
    ((most,),) = rows(ledger, "SELECT sum(most) FROM batch")
    assert isinstance(most, float)
    assert 0.1 - most / first < most <= 0.1
    with pytest.raises(BudgetReached):
        started(annotator, items, core, ledger, budget=0.1)
    server.end("batch-0")
    [*collect(annotator, ledger)]
    assert rows(ledger, "SELECT total(price) FROM reply") == [(pytest.approx(first * EACH),)]
    assert started(annotator, items, core, ledger, budget=0.1) == [40 - first]


def test_answers_without_tokens_are_kept_at_the_most_that_one_can_cost(
    server: BatchServer, annotator: Annotator, make_items: MakeItems, core: Catalogue, ledger: Path
) -> None:
    started(annotator, make_items(["short", "x" * 2000]), core, ledger)
    ((most,),) = rows(ledger, "SELECT most FROM batch")
    body = {"choices": [{"message": {"content": "{}"}, "finish_reason": "stop"}]}
    server.outcome = lambda question: {"body": body} if question == "short" else {}
    server.end("batch-0")
    [*collect(annotator, ledger)]
    sizes = [len(json.dumps(line["body"])) for line in server.uploaded[0]]
    worked = [(200 + size + 100 * 10) / 1e6 / 2 for size in sizes]
    prices = [row[0] for row in rows(ledger, "SELECT price FROM reply ORDER BY item_id")]
    assert prices == [pytest.approx(max(worked), rel=0.01), pytest.approx(EACH)]
    assert most == pytest.approx(sum(worked), rel=0.01)


def test_a_plain_run_does_not_spend_what_batches_may_cost(
    server: BatchServer, annotator: Annotator, make_items: MakeItems, core: Catalogue, ledger: Path
) -> None:
    started(annotator, make_items(4), core, ledger)
    ((most,),) = rows(ledger, "SELECT sum(most) FROM batch")
    cap = float(str(most)) + 0.001
    with pytest.raises(BudgetReached):
        run_annotator(annotator, make_items(8), core, ledger, budget=cap)
    assert not server.asked


def test_batches_that_were_sent_before_their_price_count_once_there_is_one(
    server: BatchServer, annotator: Annotator, make_items: MakeItems, core: Catalogue, ledger: Path
) -> None:
    bounded = replace(annotator, max_prompt_characters=30_000)
    together = replace(bounded, price=None, asking=Asking("all", 2))
    assert started(together, make_items(4), core, ledger) == [2]
    # each of 4 requests: 30,000 characters of 4 bytes at 1, and twice 100 tokens at 10
    most = 4 * (4 * 30_000 + 2 * 100 * 10) / 1e6
    with pytest.raises(BudgetReached, match=r"what is not back yet may cost 0\.4880"):
        run_annotator(bounded, make_items(6), core, ledger, budget=most)
    assert not server.asked
    server.end("batch-0")
    [*collect(annotator, ledger)]
    assert run_annotator(bounded, make_items(6), core, ledger, budget=most).asked == 6
