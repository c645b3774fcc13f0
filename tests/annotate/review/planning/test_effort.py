"""How long an item takes, learnt from the times of responses."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from benchprism.annotate.review.planning.effort import Effort, effort
from benchprism.annotate.review.responses import Response

START = datetime(2026, 11, 29, 10, tzinfo=UTC)


def response(user: str, seconds: float) -> Response:
    return Response(
        item_id="bench/1", content_hash="h", user=user, status="submitted", values={}, note="",
        time=(START + timedelta(seconds=seconds)).isoformat(timespec="microseconds"),
        via="argilla", mode="seen", dataset="d", suggested={}, raw="{}",
    )  # fmt: skip


def test_it_is_the_median_of_the_times_between_a_persons_responses() -> None:
    ann = [response("ann", 40.0 * n) for n in range(13)]  # 12 times of 40 seconds
    bob = [response("bob", 7 + 60.0 * n) for n in range(10)]  # 9 times of 60 seconds
    assert effort([*bob, *reversed(ann)]) == Effort(40.0, 21)


def test_pauses_sheets_drafts_and_what_came_at_once_do_not_count() -> None:
    ann = [response("ann", 40.0 * n) for n in range(21)]
    later = [response("ann", 5000.0), response("ann", 5000.5)]
    sheet = [replace(response("ann", 20 + 40.0 * n), via="sheet") for n in range(20)]
    drafts = [replace(one, status="draft") for one in sheet]
    assert effort([*ann, *later, *sheet, *drafts]) == Effort(40.0, 20)


def test_too_few_times_tell_nothing() -> None:
    assert effort(response("ann", 40.0 * n) for n in range(20)) == Effort(90.0, 0)
    assert effort([]) == Effort(90.0, 0)
