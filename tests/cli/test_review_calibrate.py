"""``review calibrate``, and what ``compose`` and ``explain`` make of it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from benchprism.annotate.ledger.outcome import Reply, Usage, Verdict
from benchprism.annotate.ledger.store import Ledger
from benchprism.annotate.review.form import form_of
from benchprism.annotate.review.planning.plan_store import PLAN, PLAN_SCHEMA, Plan, write_plan
from benchprism.annotate.review.recording import record_responses
from benchprism.annotate.review.responses import Response, in_utc
from benchprism.compose.store import read_subset
from benchprism.prompts.catalogue import Value
from benchprism.prompts.library import load_catalogue
from benchprism.records.items.record import Item, choice_set_hash, content_hash, items_table
from benchprism.records.items.store import project_items, write_items

CORE = load_catalogue("core")
CHOICES = ("one", "two")
CRITERIA = """
name: clear
where:
  clarity: {min: 2}
"""


def item(row: int) -> Item:
    question = f"Question {row}?"
    return Item(
        item_id=f"bench/test/{row}", benchmark="bench", subset="", split="test", row=row,
        revision="r1", question=question, context="", choices=CHOICES, answer_index=1,
        answer_text="two", accepted_answers=(), kind="multiple_choice", faults=(), source="{}",
        content_hash=content_hash(question, "", CHOICES),
        choice_set_hash=choice_set_hash(question, "", CHOICES),
    )  # fmt: skip


def by_model(row: int) -> dict[str, Value]:
    return {"clarity": row % 4, "reasoning_depth": row % 4, "uses_negation": row % 3 == 0}


def by_person(row: int) -> dict[str, Value]:
    """The same depth, another clarity of every other item, and always no negation."""
    return {
        "clarity": (row + row % 2 * (row // 4 % 3)) % 4,
        "reasoning_depth": row % 4,
        "uses_negation": False,
    }


@pytest.fixture
def project(tmp_path: Path, benchprism: Callable[..., Any], monkeypatch: Any) -> Path:
    """100 items with values by a model, 60 of them planned to be answered blind."""
    root = tmp_path / "p"
    assert benchprism("init", root).code == 0
    write_items(root / "items" / "bench.parquet", items_table(map(item, range(100))), {})
    (root / "criteria").mkdir(exist_ok=True)
    (root / "criteria" / "clear.yaml").write_text(CRITERIA)
    annotate(root, "llm:main", range(100))
    draw(root)
    monkeypatch.chdir(root)
    return root


def annotate(root: Path, name: str, rows: range) -> None:
    with Ledger(root / "ledger.sqlite", write=True) as ledger:
        ledger.remember(CORE)
        for row in rows:
            reply = Reply(
                request_key=f"{name}-{row}", item_id=f"bench/test/{row}",
                content_hash=item(row).content_hash, annotator=name, model="m", prompt_hash="p",
                catalogue_hash=CORE.hash, status="ok", reason="", body="", usage=Usage(),
                price=None, time="2026-11-01T10:00:00.000000+00:00", seconds=0.0, attempts=1,
            )  # fmt: skip
            ledger.add([(reply, [Verdict(*pair, "ok") for pair in by_model(row).items()])])


def answer(root: Path, rows: range) -> None:
    responses = [
        Response(
            item_id=f"bench/test/{row}", content_hash=item(row).content_hash, user="ann",
            status="submitted", values=by_person(row), note="", time=in_utc("2026-11-29T10:00:00"),
            via="page", mode="blind", dataset="d-blind", suggested={}, raw="{}",
        )
        for row in rows
    ]  # fmt: skip
    with Ledger(root / "ledger.sqlite", write=True) as ledger:
        record_responses(ledger, responses, form_of(CORE, by_model(0)))


def draw(root: Path, strata: list[str] | None = None, blind: int = 60) -> None:
    """Plan the first 60 items, so many of them blind."""
    items = project_items(root / "items").select(["item_id", "content_hash"])
    table = items.append_column("stratum", pa.array(strata or ["bench"] * items.num_rows))
    planned = [
        {
            **row, "mode": "blind" if rank <= blind else "seen", "rank": rank,
            "weight": 2.0, "reasons": [], "attributes": [], "subsets": [], "reviewers": [],
        }
        for rank, row in enumerate(table.to_pylist()[:60], 1)
    ]  # fmt: skip
    write_plan(root / "review", Plan(pa.Table.from_pylist(planned, PLAN_SCHEMA), table, {}))


def test_the_gate_is_written_and_said(project: Path, benchprism: Callable[..., Any]) -> None:
    answer(project, range(60))
    ran = benchprism("review", "calibrate", "--json", "--replicates", 200)
    assert ran.code == 0, ran.err
    written = json.loads((project / "review" / "calibration.json").read_text())
    assert ran.data == written
    verdicts = {one["attribute"]: one["verdict"] for one in written["gate"]}
    assert verdicts == {
        "clarity": "not usable",
        "reasoning_depth": "usable",
        "uses_negation": "not usable",
    }
    attributes = {one["attribute"]: one for one in written["attributes"]}
    assert attributes["reasoning_depth"]["accuracy"]["estimate"] == 1
    # clarity is the same of even rows, and of odd ones where a third of the fours adds nothing
    assert attributes["clarity"]["accuracy"]["estimate"] == pytest.approx(40 / 60)
    assert sum(map(sum, attributes["clarity"]["confusion"])) == 60
    [depth] = [one for one in written["compositions"] if one["attribute"] == "reasoning_depth"]
    shares = {one["value"]: one for one in depth["estimates"]}
    assert shares["0"]["annotated"] == 0.25
    assert shares["0"]["corrected"]["estimate"] == pytest.approx(0.25)
    low, high = shares["0"]["corrected"]["interval"]
    assert 0 < low < 0.25 < high < 1
    assert written["settings"]["gate"] == {"alpha": 0.667, "alpha_low": 0.5, "min_items": 30}
    again = benchprism("review", "calibrate", "--json", "--replicates", 200)
    assert again.out == ran.out


def test_only_what_the_plan_drew_counts(project: Path, benchprism: Callable[..., Any]) -> None:
    answer(project, range(60))
    draw(project, ["low"] * 80 + ["high"] * 20, 40)
    ran = benchprism("review", "calibrate", "--json", "--replicates", 50)
    assert ran.code == 0, ran.err
    assert "no review plan" not in ran.err
    assert {one["items"] for one in ran.data["attributes"]} == {40}
    assert {(one["items"], one["labelled"]) for one in ran.data["compositions"]} == {(100, 40)}


def test_answers_to_what_no_plan_drew_are_no_sample(
    project: Path, benchprism: Callable[..., Any]
) -> None:
    answer(project, range(60))
    (project / "review" / PLAN).unlink()
    ran = benchprism("review", "calibrate", "--json", "--replicates", 50)
    assert ran.code == 0, ran.err
    assert {(one["verdict"], one["reason"]) for one in ran.data["gate"]} == {
        ("not enough evidence", "not drawn at random by a plan")
    }
    assert "Warning: no review plan drew the items that were answered blind" in ran.err
    assert {(one["reason"], len(one["estimates"])) for one in ran.data["compositions"]} == {
        ("no review plan drew the answered items at random", 0)
    }
    ran = benchprism("review", "calibrate", "--attribute", "clarity", "--replicates", 50)
    assert "no composition of bench: no review plan drew" in ran.err


def test_tables_are_for_people(project: Path, benchprism: Callable[..., Any]) -> None:
    answer(project, range(60))
    ran = benchprism("review", "calibrate", "--attribute", "clarity", "--replicates", 200)
    assert "Annotations beside 1 person, who saw no suggestion" in ran.out
    assert "clarity: composition of each benchmark" in ran.out
    assert "reasoning_depth" not in ran.out
    assert "not usable as a hard criterion" in ran.err
    assert "Wrote review/calibration.json" in ran.err


def test_a_composition_of_too_few_items_is_a_sentence(
    project: Path, benchprism: Callable[..., Any]
) -> None:
    answer(project, range(9))
    ran = benchprism("review", "calibrate", "--attribute", "clarity", "--replicates", 50)
    assert ran.code == 0, ran.err
    assert "composition" not in ran.out
    assert "clarity: no composition of bench: 9 of the items have values by people" in ran.err


def test_without_blind_answers_there_is_nothing_to_calibrate(
    project: Path, benchprism: Callable[..., Any]
) -> None:
    ran = benchprism("review", "calibrate")
    assert ran.code == 2
    assert "nobody has answered blind yet" in ran.err
    assert not (project / "review" / "calibration.json").exists()


def test_thresholds_are_the_projects(project: Path, benchprism: Callable[..., Any]) -> None:
    answer(project, range(60))
    with (project / "benchprism.yaml").open("a") as file:
        file.write("review: {gate: {min_items: 61}}\n")
    ran = benchprism("review", "calibrate", "--json", "--replicates", 50)
    assert {one["verdict"] for one in ran.data["gate"]} == {"not enough evidence"}


def test_compose_and_explain_say_what_a_condition_rests_on(
    project: Path, benchprism: Callable[..., Any]
) -> None:
    before = benchprism("compose", "criteria/clear.yaml")
    assert before.code == 0
    assert "Warning" not in before.err
    answer(project, range(60))
    assert benchprism("review", "calibrate", "--replicates", 200).code == 0
    checked = benchprism("compose", "criteria/clear.yaml", "--check")
    assert checked.code == 1
    assert "the calibration of clarity changed" in checked.out

    ran = benchprism("compose", "criteria/clear.yaml", "--json")
    assert "Warning: clarity: alpha 0." in ran.err
    assert ran.data["calibration"]["clarity"]["verdict"] == "not usable"
    stored = read_subset(project / "subsets" / "clear").lock["calibration"]
    assert stored == ran.data["calibration"]
    told = benchprism("explain", "clear", "bench/test/0", "--json")
    assert told.data["cautions"] == [stored["clarity"]["sentence"]]
    assert f"Warning: {stored['clarity']['sentence']}." in told.err


def test_values_of_an_annotator_that_came_later_are_not_vouched_for(
    project: Path, benchprism: Callable[..., Any]
) -> None:
    answer(project, range(60))
    assert benchprism("review", "calibrate", "--replicates", 200).code == 0
    assert "has not seen" not in benchprism("compose", "criteria/clear.yaml").err
    annotate(project, "llm:other", range(100))
    ran = benchprism("compose", "criteria/clear.yaml")
    assert "the calibration has not seen values by llm:other (m, prompt p)" in ran.err


def test_criteria_may_ask_for_usable_attributes(
    project: Path, benchprism: Callable[..., Any]
) -> None:
    path = project / "criteria" / "clear.yaml"
    path.write_text(f"require_calibrated: true{CRITERIA}")
    ran = benchprism("compose", path)
    assert ran.code == 2
    assert "clear.yaml, line 4, column 13: clarity: not calibrated" in ran.err
    answer(project, range(60))
    assert benchprism("review", "calibrate", "--replicates", 200).code == 0
    ran = benchprism("compose", path)
    assert ran.code == 2
    assert "line 4, column 13: clarity: alpha 0." in ran.err
    assert not (project / "subsets" / "clear").exists()
    path.write_text(f"require_calibrated: true{CRITERIA.replace('clarity', 'reasoning_depth')}")
    ran = benchprism("compose", path)
    assert ran.code == 0, ran.err
    assert "Warning" not in ran.err


def test_the_report_tells_of_it(project: Path, benchprism: Callable[..., Any]) -> None:
    answer(project, range(60))
    assert benchprism("review", "calibrate", "--replicates", 200).code == 0
    ran = benchprism("report", "--json", "--out", project / "page.html")
    assert ran.code == 0, ran.err
    [worst, *_] = ran.data["calibration"]
    assert worst["verdict"] == "not usable"
    assert "not usable as a hard criterion" in worst["sentence"]
    page = (project / "page.html").read_text()
    assert "Calibrated by people" in page
    assert f"{worst['interval'][0]:.2f} to {worst['interval'][1]:.2f}" in page
