"""``review adjudicate`` against the real server: two people differ, a third decides."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from benchprism.annotate.consolidation.consolidate import consolidated_values
from benchprism.annotate.ledger.outcome import Reply, Usage, Verdict
from benchprism.annotate.ledger.store import Ledger
from benchprism.prompts.catalogue import Value
from benchprism.prompts.library import load_catalogue
from benchprism.records.items.record import Item, choice_set_hash, content_hash, items_table
from benchprism.records.items.store import project_items, write_items

CORE = load_catalogue("core")
CHOICES = ("one", "two")
ASKED = ("--attribute", "uses_negation", "--attribute", "clarity")
Answers = dict[str, Any]


def item(benchmark: str, row: int) -> Item:
    question = f"Question {row}?"
    return Item(
        item_id=f"{benchmark}/test/{row}", benchmark=benchmark, subset="", split="test", row=row,
        revision="r1", question=question, context="", choices=CHOICES, answer_index=1,
        answer_text="two", accepted_answers=(), kind="multiple_choice", faults=(), source="{}",
        content_hash=content_hash(question, "", CHOICES),
        choice_set_hash=choice_set_hash(question, "", CHOICES),
    )  # fmt: skip


@dataclass
class Review:
    """A project of ten items beside the shared server."""

    benchprism: Callable[..., Any]
    server: Any
    root: Path
    name: str

    def annotate(self, row: int, values: dict[str, Value]) -> None:
        """Let a model say something of an item."""
        reply = Reply(
            request_key=f"main-{row}", item_id=f"{self.name}/test/{row}",
            content_hash=item(self.name, row).content_hash, annotator="llm:main", model="m",
            prompt_hash="p", catalogue_hash=CORE.hash, status="ok", reason="", body="",
            usage=Usage(), price=None, time="2026-11-01T10:00:00.000000+00:00", seconds=0.0,
            attempts=1,
        )  # fmt: skip
        with Ledger(self.root / "ledger.sqlite", write=True) as ledger:
            ledger.remember(CORE)
            ledger.add([(reply, [Verdict(*pair, "ok") for pair in values.items()])])

    def run(self, command: str, *options: object) -> Any:
        place = ("--project", self.root, "--home", self.server.home, "--json")
        ran = self.benchprism("review", command, *place, *options)
        assert ran.code == 0, ran.err
        return ran.data

    def adjudicate(self, *options: object) -> Any:
        return self.run("adjudicate", "--name", self.name, *options)

    def records(self, suffix: str) -> dict[int, dict[str, Any]]:
        """The records of a dataset, by the item's row."""
        listed = self.server.owner("GET", "me/datasets")["items"]
        dataset = next(one["id"] for one in listed if one["name"] == self.name + suffix)
        path = f"datasets/{dataset}/records?limit=1000&include=responses,suggestions"
        found = self.server.owner("GET", path)["items"]
        return {int(one["external_id"].rsplit("/", 1)[1]): one for one in found}

    def respond(self, user: str, suffix: str, answers: dict[int, Answers]) -> None:
        records, reviewer = self.records(suffix), self.server.log_in(user)
        items = [
            {
                "record_id": records[row]["id"],
                "status": "submitted",
                "values": {name: {"value": value} for name, value in given.items()},
            }
            for row, given in answers.items()
        ]
        made = reviewer("POST", "me/responses/bulk", {"items": items})
        assert all(one["item"] for one in made["items"]), made

    def values(self) -> dict[tuple[int, str], tuple[Value, str]]:
        """What consolidation makes of it: value and provenance by row and attribute."""
        items = project_items(self.root / "items")
        table = consolidated_values(self.root / "ledger.sqlite", CORE, items)
        return {
            (int(row["item_id"].rsplit("/", 1)[1]), row["attribute"]): (
                json.loads(row["value"]),
                row["provenance"],
            )
            for row in table.to_pylist()
        }


@pytest.fixture
def review(tmp_path: Path, benchprism: Callable[..., Any], review_server: Any) -> Review:
    name = f"decide{uuid.uuid4().hex[:8]}"
    root = tmp_path / name
    assert benchprism("init", root).code == 0
    table = items_table(item(name, row) for row in range(10))
    write_items(root / "items" / f"{name}.parquet", table, {})
    return Review(benchprism, review_server, root, name)


def test_a_lead_decides_where_two_people_differ(review: Review) -> None:
    for row in range(10):
        review.annotate(row, {"uses_negation": row == 7, "clarity": 3})
    review.run("push", "--name", review.name, "--blind", *ASKED)
    alike = {row: {"uses_negation": "false", "clarity": 3} for row in range(10)}
    review.respond("alice", "-blind", alike)
    other = {
        2: {"uses_negation": "true", "clarity": 1},
        5: {"uses_negation": "false", "clarity": 0},
    }
    review.respond("bob", "-blind", {**alike, **other})
    review.run("pull")
    place = ("--project", review.root, "--json", "--replicates", 50)
    calibrated = review.benchprism("review", "calibrate", *place).data["attributes"]
    assert {one["attribute"]: (one["items"], one["responses"]) for one in calibrated} == {
        "clarity": (10, 20), "uses_negation": (10, 20),
    }  # fmt: skip

    listed = review.adjudicate("--dry-run")
    assert [(one["item"][-1], one["attribute"]) for one in listed] == [
        ("2", "clarity"), ("2", "uses_negation"), ("5", "clarity"),
    ]  # fmt: skip
    assert listed[0]["said"] == [
        {"value": 1, "by": ["human:bob"]},
        {"value": 3, "by": ["human:alice", "llm:main"]},
    ]
    server = ("--project", review.root, "--home", review.server.home, "--name", review.name)
    for lead in ("carol", "zed"):
        ran = review.benchprism("review", "adjudicate", "--dry-run", "--lead", lead, *server)
        told = "Note: items are assigned to 'zed', who is no user of the server."
        assert (ran.code, told in ran.err) == (0, lead == "zed")
    [sent] = review.adjudicate("--lead", "carol")["datasets"]
    assert (sent["dataset"], sent["mode"]) == (f"{review.name}-conflicts", "adjudication")
    assert (sent["records"], sent["new"]) == (2, 2)
    records = review.records("-conflicts")
    assert [*records] == [2, 5]
    assert records[2]["fields"]["said"] == (
        "Clarity\n  1: bob\n  3: alice, llm:main\n\nUses negation\n  true: bob\n"
        "  false: alice, llm:main"
    )
    assert records[5]["fields"]["said"] == "Clarity\n  0: bob\n  3: alice, llm:main"
    assert records[2]["metadata"]["reviewer"] == ["carol"]
    assert records[2]["suggestions"] == []
    [again] = review.adjudicate("--lead", "carol")["datasets"]
    assert (again["new"], again["changed"], again["unchanged"]) == (0, 0, 2)

    users = review.run("status", "--dataset", f"{review.name}-conflicts")["datasets"][0]["users"]
    assert [(one["user"], one["assigned"]) for one in users] == [("carol", 2)]
    ran = review.benchprism("review", "adjudicate", "--lead", "zed", *server)
    assert told in ran.err
    assert review.adjudicate("--lead", "carol")["datasets"][0]["changed"] == 2

    decided = {"clarity": 1, "uses_negation": "true", "decision": "done"}
    review.respond("carol", "-conflicts", {2: decided, 5: {"decision": "undecidable"}})
    review.run("pull")
    values = review.values()
    assert values[2, "clarity"] == (1, "human_adjudicated")
    assert values[2, "uses_negation"] == (True, "human_adjudicated")
    assert values[3, "clarity"] == (3, "human_majority")
    assert values[5, "uses_negation"] == (False, "human_majority")
    assert values[5, "clarity"][1] == "human_majority"
    [left] = review.adjudicate("--dry-run")
    assert (left["item"][-1], left["attribute"]) == ("5", "clarity")


def test_what_a_lead_is_shown_is_chosen(review: Review) -> None:
    for row in range(10):
        review.annotate(row, {"uses_negation": row == 7, "clarity": 3})
    review.run("push", "--name", review.name, "--blind", *ASKED)
    alike = {row: {"uses_negation": "false", "clarity": 3} for row in range(10)}
    review.respond("alice", "-blind", alike)
    review.run("pull")
    assert review.adjudicate() == []

    [sent] = review.adjudicate("--with-models", "--anonymous", "--suggest")["datasets"]
    assert sent["records"] == 1
    [(row, record)] = review.records("-conflicts").items()
    assert row == 7
    assert record["fields"]["said"] == "Uses negation\n  true: 1 model\n  false: 1 person"
    assert [one["value"] for one in record["suggestions"]] == ["false"]
    assert review.adjudicate("--with-models", "--attribute", "clarity") == []


def test_an_unknown_attribute_is_refused(review: Review) -> None:
    ran = review.benchprism(
        "review", "adjudicate", "--project", review.root, "--attribute", "charity"
    )
    assert ran.code == 2
    assert "'charity'" in ran.err
