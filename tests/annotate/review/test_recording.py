"""Responses in the ledger: each state once, judged answer by answer."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from benchprism.annotate.consolidation.consolidate import consolidated_values
from benchprism.annotate.ledger.standing import standing
from benchprism.annotate.ledger.store import Ledger
from benchprism.annotate.review.form import form_of
from benchprism.annotate.review.recording import record_responses, recorded_responses
from benchprism.annotate.review.responses import Response, in_utc, read_answers
from benchprism.prompts.library import load_catalogue

CORE = load_catalogue("core")
FORM = form_of(CORE, ["clarity", "answerability", "distractor_quality", "sensitive_topics"])
MakeItems = Callable[..., pa.Table]


@pytest.fixture
def respond(make_items: MakeItems) -> Callable[..., Response]:
    """Make a response of ann about an item; its answers are as they travel."""
    items = make_items(2000)

    def make(item: int, second: float, answers: dict[str, object], **changes: Any) -> Response:
        values, invalid = read_answers(FORM, answers)
        made = Response(
            item_id=items["item_id"][item].as_py(),
            content_hash=items["content_hash"][item].as_py(),
            user="ann",
            status="submitted",
            values=values,
            note="",
            time=in_utc(f"2026-11-29T10:{int(second) // 60:02}:{int(second) % 60:02}"),
            via="argilla",
            mode="seen",
            dataset="d",
            suggested={},
            raw=json.dumps(answers),
            invalid=invalid,
        )
        return replace(made, **changes)

    return make


def verdicts(path: Path) -> list[tuple[Any, ...]]:
    with Ledger(path) as ledger:
        return [
            (one.annotator, one.attribute, one.value, one.status, one.reason)
            for one in ledger.annotations()
        ]


def record(path: Path, *responses: Response) -> Any:
    with Ledger(path, write=True) as ledger:
        return record_responses(ledger, responses, FORM)


def test_every_answer_is_judged_and_nothing_is_dropped(
    tmp_path: Path, respond: Callable[..., Response]
) -> None:
    answers = {
        "clarity": 7,
        "answerability": "wrong_key",
        "sensitive_topics": ["none", "crime"],
        "unheard_of": 1,
    }
    given = respond(0, 1, answers, note="Odd 😀 \ud83d note", user="bob")
    made = record(tmp_path / "l", given)
    assert (made.new, made.known, made.invalid) == (Counter(submitted=1), 0, 2)
    assert verdicts(tmp_path / "l") == [
        ("human:bob", "answerability", "wrong_key", "ok", ""),
        ("human:bob", "clarity", None, "invalid", "'7' is none of 0, 1, 2, 3"),
        ("human:bob", "distractor_quality", None, "abstained", "left open"),
        ("human:bob", "sensitive_topics", None, "invalid", "'none' together with other labels"),
    ]
    with Ledger(tmp_path / "l") as ledger:
        assert [*recorded_responses(ledger)] == [given]
        states = [*ledger.query("SELECT status, reason, model FROM reply")]
    assert states == [("invalid", "no value of clarity, sensitive_topics", "argilla")]


@pytest.mark.parametrize("status", ["draft", "discarded"])
@pytest.mark.parametrize("answers", [{}, {"clarity": 2}])
def test_drafts_and_discards_say_nothing_and_are_kept(
    tmp_path: Path, respond: Callable[..., Response], status: Any, answers: dict[str, object]
) -> None:
    given = respond(0, 1, answers, status=status)
    assert record(tmp_path / "l", given).new == Counter({status: 1})
    assert verdicts(tmp_path / "l") == [
        ("human:ann", question, None, "abstained", status)
        for question in sorted(q.name for q in FORM)
    ]
    with Ledger(tmp_path / "l") as ledger:
        assert [*recorded_responses(ledger)] == [given]


def test_what_an_item_of_its_kind_is_not_asked_is_neither_open_nor_a_value(
    tmp_path: Path, respond: Callable[..., Response]
) -> None:
    record(tmp_path / "a", respond(0, 1, {"clarity": 2}, kind="generative"))
    assert "distractor_quality" not in {row[1] for row in verdicts(tmp_path / "a")}
    record(tmp_path / "b", respond(0, 1, {"distractor_quality": 2}, kind="generative"))
    assert (
        "human:ann",
        "distractor_quality",
        None,
        "invalid",
        "not asked of an item that is generative",
    ) in verdicts(tmp_path / "b")


def test_each_state_is_there_once_and_the_latest_counts(
    tmp_path: Path, make_items: MakeItems, respond: Callable[..., Response]
) -> None:
    items, path = make_items(2), tmp_path / "l"
    first, second = respond(0, 1, {"clarity": 1}), respond(1, 2, {"clarity": 3})
    assert record(path, first, second).new.total() == 2
    # what was suggested may be another by now, and is what it was
    again = record(path, replace(first, suggested={"clarity": 0}, raw="{}"), second)
    assert (again.new.total(), again.known) == (0, 2)
    changed = respond(0, 60, {"clarity": 0})
    withdrawn = respond(1, 61, {"clarity": 3}, status="draft")
    assert record(path, first, changed, second, withdrawn).new.total() == 2
    values = consolidated_values(path, CORE, items)
    assert [(row["item_id"], row["value"], row["provenance"]) for row in values.to_pylist()] == [
        (items["item_id"][0].as_py(), "0", "human_majority")
    ]
    with Ledger(path) as ledger:
        latest = sorted(recorded_responses(ledger), key=lambda one: one.item_id)
        assert latest == [changed, withdrawn]
        counts = {one.status: one.items for one in standing(ledger).items}
    assert counts == {"ok": 1, "abstained": 1}


def test_the_same_person_elsewhere_is_another_response(
    tmp_path: Path, respond: Callable[..., Response]
) -> None:
    blind = respond(0, 1, {"clarity": 1}, mode="blind", dataset="d-blind")
    seen = respond(0, 2, {"clarity": 2})
    lead = respond(0, 3, {"clarity": 3}, mode="adjudication", user="lead")
    record(tmp_path / "l", blind, seen, lead)
    with Ledger(tmp_path / "l") as ledger:
        assert len([*recorded_responses(ledger)]) == 3
        assert {one.annotator for one in ledger.annotations()} == {"human:ann", "adjudicator:lead"}


def test_what_came_before_a_crash_is_kept_and_the_rest_comes_later(
    tmp_path: Path, respond: Callable[..., Response]
) -> None:
    class Crash(Exception):
        pass

    given = [respond(item, item, {"clarity": 1}) for item in range(1200)]

    def until_crash() -> Any:
        yield from given[:1100]
        raise Crash

    with Ledger(tmp_path / "l", write=True) as ledger, pytest.raises(Crash):
        record_responses(ledger, until_crash(), FORM)
    made = record(tmp_path / "l", *given)
    assert (made.new.total(), made.known) == (200, 1000)
    with Ledger(tmp_path / "l") as ledger:
        assert [*ledger.query("SELECT count(*), count(DISTINCT item_id) FROM reply")] == [
            (1200, 1200)
        ]


RECORD_MANY = """
import sys
from pathlib import Path
from benchprism.annotate.ledger.store import Ledger
from benchprism.annotate.review.form import form_of
from benchprism.annotate.review.recording import record_responses
from benchprism.annotate.review.responses import Response
from benchprism.prompts.library import load_catalogue

def responses():
    for number in range(10_000):
        if number == 1001:
            print("two batches are in", flush=True)
        yield Response(
            item_id=f"bench/test/{number}", content_hash="c", user="ann", status="submitted",
            values={"clarity": number % 4}, note="", time="2026-11-29T10:00:00.000000+00:00",
            via="argilla", mode="seen", dataset="d", suggested={}, raw="{}",
        )

with Ledger(Path(sys.argv[1]), write=True) as ledger:
    record_responses(ledger, responses(), form_of(load_catalogue("core"), ["clarity"]))
"""


def test_a_process_that_is_killed_leaves_whole_batches(tmp_path: Path) -> None:
    command = [sys.executable, "-c", RECORD_MANY, str(tmp_path / "l")]
    count = "SELECT (SELECT count(*) FROM reply), (SELECT count(*) FROM annotation)"
    with subprocess.Popen(command, stdout=subprocess.PIPE) as recording:
        assert recording.stdout is not None
        recording.stdout.readline()
        recording.kill()
    assert recording.returncode == -signal.SIGKILL
    with Ledger(tmp_path / "l") as ledger:
        [(replies, annotations)] = ledger.query(count)
    assert replies == annotations
    assert isinstance(replies, int)
    assert 1000 <= replies < 10_000
    assert replies % 500 == 0
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    with Ledger(tmp_path / "l") as ledger:
        assert [*ledger.query(count)] == [(10_000, 10_000)]


def test_a_time_without_a_zone_is_in_utc() -> None:
    assert in_utc("2026-11-29T10:00:00.25Z") == "2026-11-29T10:00:00.250000+00:00"
    with pytest.raises(ValueError, match="Invalid isoformat"):
        in_utc("yesterday")
