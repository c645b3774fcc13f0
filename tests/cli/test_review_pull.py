"""``review pull`` and ``review status`` against the real server, with two people's responses."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
import urllib.request
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from benchprism.annotate.ledger.outcome import Reply, Usage, Verdict
from benchprism.annotate.ledger.store import Ledger
from benchprism.annotate.review.planning.plan_store import (
    PLAN_SCHEMA,
    STRATA_SCHEMA,
    Plan,
    write_plan,
)
from benchprism.prompts.catalogue import Value
from benchprism.prompts.library import load_catalogue
from benchprism.records.items.record import Item, choice_set_hash, content_hash, items_table
from benchprism.records.items.store import project_items, write_items

CORE = load_catalogue("core")
BENCHPRISM = Path(sys.executable).with_name("benchprism")
CHOICES = ("one", "two")
Answers = dict[str, Any]
"""Wire values by question."""


def item(benchmark: str, row: int, question: str) -> Item:
    return Item(
        item_id=f"{benchmark}/test/{row}",
        benchmark=benchmark,
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


@dataclass
class Review:
    """A project of items that a model has annotated, beside the shared server."""

    benchprism: Callable[..., Any]
    server: Any
    root: Path
    name: str
    """Of the benchmark, and of the review."""
    logged_in: dict[str, Any] = field(default_factory=dict)

    def write(self, questions: Sequence[str]) -> None:
        table = items_table(item(self.name, *pair) for pair in enumerate(questions))
        write_items(self.root / "items" / f"{self.name}.parquet", table, {})

    def annotate(self, values: Sequence[dict[str, Value]], model: str = "llm:main") -> None:
        """Let a model say something of each item."""
        with Ledger(self.root / "ledger.sqlite", write=True) as ledger:
            ledger.remember(CORE)
            ledger.add(
                (self._reply(row, model), [Verdict(*pair, "ok") for pair in said.items()])
                for row, said in enumerate(values)
            )

    def _reply(self, row: int, model: str) -> Reply:
        return Reply(
            request_key=f"{model}-{row}",
            item_id=f"{self.name}/test/{row}",
            content_hash=content_hash(f"Question {row}?", "", CHOICES),
            annotator=model,
            model="m",
            prompt_hash="p",
            catalogue_hash=CORE.hash,
            status="ok",
            reason="",
            body="",
            usage=Usage(),
            price=None,
            time="2026-11-01T10:00:00.000000+00:00",
            seconds=0.0,
            attempts=1,
        )

    def run(self, command: str, *options: object, code: int = 0) -> Any:
        place = ("--project", self.root, "--home", self.server.home, "--json")
        ran = self.benchprism("review", command, *place, *options)
        assert ran.code == code, ran.err
        return ran.data

    def push(self, *options: object) -> None:
        self.run("push", "--name", self.name, *options)

    def dataset(self, suffix: str = "") -> str:
        listed = self.server.owner("GET", "me/datasets")["items"]
        return next(str(one["id"]) for one in listed if one["name"] == self.name + suffix)

    def records(self, suffix: str = "") -> dict[int, dict[str, Any]]:
        """By the item's row."""
        path = f"datasets/{self.dataset(suffix)}/records?limit=1000&include=responses"
        listed = self.server.owner("GET", path)["items"]
        return {int(one["external_id"].rsplit("/", 1)[1]): one for one in listed}

    def log_in(self, user: str) -> Any:
        if user not in self.logged_in:
            self.logged_in[user] = self.server.log_in(user)
        return self.logged_in[user]

    def respond(
        self, user: str, answers: dict[int, Answers], status: str = "submitted", suffix: str = ""
    ) -> None:
        records, reviewer = self.records(suffix), self.log_in(user)
        items = [
            {
                "record_id": records[row]["id"],
                "status": status,
                "values": {name: {"value": value} for name, value in given.items()},
            }
            for row, given in answers.items()
        ]
        for start in range(0, len(items), 100):
            made = reviewer("POST", "me/responses/bulk", {"items": items[start : start + 100]})
            assert all(one["item"] for one in made["items"]), made

    def responses(self) -> list[tuple[Any, ...]]:
        """What the ledger has of people: row, annotator, status, attribute, value."""
        with Ledger(self.root / "ledger.sqlite") as ledger:
            return [
                (int(one.item_id.rsplit("/", 1)[1]), one.annotator, one.status, one.attribute,
                 one.value, one.reason)
                for one in ledger.annotations()
                if one.annotator.startswith("human:")
            ]  # fmt: skip

    def people(self, query: str) -> list[tuple[Any, ...]]:
        with Ledger(self.root / "ledger.sqlite") as ledger:
            return [*ledger.query(f"{query} FROM reply WHERE annotator GLOB 'human:*'")]


@pytest.fixture
def review(tmp_path: Path, benchprism: Callable[..., Any], review_server: Any) -> Review:
    name = f"pull{uuid.uuid4().hex[:8]}"
    root = tmp_path / name
    assert benchprism("init", root).code == 0
    made = Review(benchprism, review_server, root, name)
    made.write([f"Question {row}?" for row in range(40)])
    return made


def test_two_people_on_forty_items_agree_as_worked_by_hand(review: Review) -> None:
    """Two questions, both people on every item without suggestions, and a model.

    uses_negation: both true on 16 items, both false on 16, alice alone true on 4, bob alone on 4.
    Raw 32/40; each says true of half, so by chance 1/2 and kappa (.8 - .5) / .5 = .6; of 80
    ratings 40 are of each value, and alpha is 1 - .2 / (2 * 40 * 40 / (80 * 79)) = .605.

    clarity: alice 0, 3, 1, 2 and bob 0, 3, 2, 2 on ten items each. Squared differences: 10 of 40
    are 1, mean 1/4. By chance any of alice's 0, 1, 2, 3 (ten each) meets any of bob's 0, 2, 2, 3:
    (0 + 4 + 4 + 9) + (1 + 1 + 1 + 4) + (4 + 0 + 0 + 1) + (9 + 1 + 1 + 0) = 40 over 16 pairs.
    Weighted kappa is 1 - (1/4) / (40/16) = .9.

    The model says true of the first 20: people settle on true where both say so, and on false where
    they differ, so it is right on the first 16, wrong on the next 4 and right on the other 20. It
    says clarity 2 of all: people's median, the lower of two, is 0, 3, 1, 2, so 10 are right.
    """
    alice = [True] * 16 + [True] * 4 + [False] * 4 + [False] * 16
    bob = [True] * 16 + [False] * 4 + [True] * 4 + [False] * 16
    clear = [(0, 0)] * 10 + [(3, 3)] * 10 + [(1, 2)] * 10 + [(2, 2)] * 10
    review.annotate([{"uses_negation": row < 20, "clarity": 2} for row in range(40)])
    plan = ("--items", 40, "--calibration", 40, "--reviewer", "alice", "--reviewer", "bob")
    ran = review.benchprism("review", "plan", "--project", review.root, *plan, "--overlap", 2)
    assert ran.code == 0, ran.err
    review.push("--attribute", "uses_negation", "--attribute", "clarity")

    def answers(negated: bool, level: int) -> Answers:
        return {"uses_negation": "true" if negated else "false", "clarity": level}

    for user, said, who in (("alice", alice, 0), ("bob", bob, 1)):
        given = {row: answers(said[row], clear[row][who]) for row in range(40)}
        review.respond(user, given, suffix="-blind")
    pulled = review.run("pull")
    assert [one["dataset"] for one in pulled["datasets"]] == [f"{review.name}-blind"]
    assert pulled["datasets"][0]["recorded"]["new"] == {"submitted": 80}

    told = review.run("status", "--replicates", 200)
    [dataset] = told["datasets"]
    counts = {
        user["user"]: (user["submitted"], user["assigned"], user["remaining"])
        for user in dataset["users"]
    }
    assert counts == {"alice": (40, 40, 0), "bob": (40, 40, 0)}
    assert dataset["pending"] == 0
    everything, blind = told["answers"]
    assert (everything["mode"], blind["mode"]) == (None, "blind")
    assert told["acceptance"] == []
    assert everything["people"] == ["human:alice", "human:bob"]
    between = {one["attribute"]: one for one in everything["between_people"]}
    assert between.keys() == {"uses_negation", "clarity"}
    negation, clarity = between["uses_negation"], between["clarity"]
    assert negation["items"] == 40
    assert negation["raw_agreement"] == pytest.approx(0.8)
    assert negation["cohen_kappa"]["estimate"] == pytest.approx(0.6)
    assert negation["alpha"]["estimate"] == pytest.approx(0.605)
    assert negation["prevalence"] == {"false": 0.5, "true": 0.5}
    low, high = negation["alpha"]["interval"]
    assert low < 0.605 < high
    assert clarity["weighted_kappa"]["estimate"] == pytest.approx(0.9)
    assert clarity["raw_agreement"] == pytest.approx(0.75)

    models = {one["attribute"]: one for one in everything["models"]}
    assert [one["model"] for one in everything["models"]] == ["llm:main"] * 2
    assert models["uses_negation"]["accuracy"]["share"] == pytest.approx(36 / 40)
    assert models["clarity"]["accuracy"]["share"] == pytest.approx(10 / 40)
    # the other command that tells of agreement says the same
    ran = review.benchprism("annotate", "agreement", "--project", review.root, "--json")
    people = next(one for one in ran.data["comparisons"] if one["between"] == "people")
    again = next(one for one in people["attributes"] if one["attribute"] == "uses_negation")
    assert again["alpha"]["estimate"] == pytest.approx(0.605)


def test_every_decision_is_found_with_its_person_and_time(review: Review) -> None:
    review.annotate([{"uses_negation": False, "clarity": 1} for _ in range(40)])
    review.push("--attribute", "uses_negation", "--attribute", "clarity")
    before = datetime.now(UTC) - timedelta(seconds=1)
    review.respond("alice", {0: {"uses_negation": "true", "clarity": 1, "note": "Says 'not'."}})
    review.respond("alice", {1: {}}, "discarded")
    review.respond("alice", {2: {"clarity": 3}}, "discarded")
    review.respond("bob", {3: {"clarity": 0}}, "draft")
    review.respond("bob", {0: {"uses_negation": "false", "clarity": 1}})
    nothing = {"status": "discarded", "values": None, "record_id": review.records()[4]["id"]}
    review.log_in("bob")("POST", "me/responses/bulk", {"items": [nothing]})
    pulled = review.run("pull")["datasets"][0]
    assert pulled["recorded"]["new"] == {"submitted": 2, "discarded": 3, "draft": 1}
    assert (pulled["records"], pulled["missed"]) == (40, 0)
    assert sorted(review.responses()) == [
        (0, "human:alice", "ok", "clarity", 1, ""),
        (0, "human:alice", "ok", "uses_negation", True, ""),
        (0, "human:bob", "ok", "clarity", 1, ""),
        (0, "human:bob", "ok", "uses_negation", False, ""),
        (1, "human:alice", "abstained", "clarity", None, "discarded"),
        (1, "human:alice", "abstained", "uses_negation", None, "discarded"),
        (2, "human:alice", "abstained", "clarity", None, "discarded"),
        (2, "human:alice", "abstained", "uses_negation", None, "discarded"),
        (3, "human:bob", "abstained", "clarity", None, "draft"),
        (3, "human:bob", "abstained", "uses_negation", None, "draft"),
        (4, "human:bob", "abstained", "clarity", None, "discarded"),
        (4, "human:bob", "abstained", "uses_negation", None, "discarded"),
    ]
    times = [datetime.fromisoformat(time) for (time,) in review.people("SELECT time")]
    assert all(before < time < datetime.now(UTC) + timedelta(seconds=1) for time in times)
    with Ledger(review.root / "ledger.sqlite") as ledger:
        [body] = ledger.query("SELECT body FROM body WHERE body LIKE '%Says%'")
    assert "Says 'not'." in str(body[0])
    remarks = [{"item_id": f"{review.name}/test/0", "user": "alice", "note": "Says 'not'."}]
    assert review.run("status", "--replicates", 10)["remarks"] == remarks

    again = review.run("pull")["datasets"][0]["recorded"]
    assert (again["new"], again["known"]) == ({}, 6)
    # what is changed, withdrawn, or deleted later
    review.respond("alice", {0: {"uses_negation": "false", "clarity": 2}})
    review.respond("bob", {0: {"uses_negation": "false", "clarity": 1}}, "draft")
    review.respond("bob", {3: {"uses_negation": "false", "clarity": 0}})
    assert review.run("pull")["datasets"][0]["recorded"]["new"] == {"submitted": 2, "draft": 1}
    values = {(row, attribute): (value, source) for row, attribute, value, source in human(review)}
    assert values == {
        (0, "clarity"): (2, "human_majority"),
        (0, "uses_negation"): (False, "human_majority"),
        (3, "clarity"): (0, "human_majority"),
        (3, "uses_negation"): (False, "human_majority"),
    }
    kept = review.people("SELECT reply_id")
    review.server.owner("DELETE", f"datasets/{review.dataset()}")
    assert review.run("pull") == {"server": review.server.access["api_url"], "datasets": []}
    assert review.people("SELECT reply_id") == kept


def human(review: Review) -> Iterator[tuple[int, str, Value, str]]:
    import json

    from benchprism.annotate.consolidation.consolidate import consolidated_values
    from benchprism.records.items.store import project_items

    values = consolidated_values(
        review.root / "ledger.sqlite", CORE, project_items(review.root / "items")
    )
    for row in values.to_pylist():
        if row["provenance"].startswith("human"):
            number = int(row["item_id"].rsplit("/", 1)[1])
            yield number, row["attribute"], json.loads(row["value"]), row["provenance"]


def test_responses_to_another_text_are_kept_told_and_not_counted(review: Review) -> None:
    review.annotate([{"clarity": 1} for _ in range(40)])
    review.push("--attribute", "clarity")
    review.respond("alice", {row: {"clarity": 3} for row in range(3)})
    review.write(["Another question?", *(f"Question {row}?" for row in range(1, 2))])
    pulled = review.run("pull")["datasets"][0]
    assert (pulled["changed"], pulled["gone"], pulled["outdated"]) == (1, 1, 0)
    assert len(review.responses()) == 3
    assert [row[:3] for row in human(review)] == [(1, "clarity", 3)]
    assert review.run("status")["not_counted"] == {"changed": 1, "gone": 1}
    core = files("benchprism.prompts").joinpath("core.yaml").read_text()
    asked = CORE["clarity"].question
    assert asked in core
    (review.root / "own.yaml").write_text(core.replace(asked, "Something else?"))
    settings = review.root / "benchprism.yaml"
    settings.write_text(settings.read_text().replace("catalogue: core", "catalogue: own.yaml"))
    pulled = review.run("pull")["datasets"][0]
    assert (pulled["outdated"], pulled["recorded"]["known"]) == (3, 3)


def test_a_suggestion_that_came_later_was_not_seen(review: Review) -> None:
    review.annotate([{"clarity": 1} for _ in range(40)])
    review.push("--attribute", "clarity")
    review.respond("alice", {0: {"clarity": 1}, 1: {"clarity": 2}})
    review.annotate([{"clarity": 2} for _ in range(40)], "llm:other")
    review.annotate([{"clarity": 2} for _ in range(40)], "llm:third")
    review.push("--attribute", "clarity")
    review.respond("alice", {2: {"clarity": 2}})
    review.run("pull")
    [accepted] = review.run("status", "--replicates", 10)["acceptance"]
    assert (accepted["shown"], accepted["accepted"]["share"]) == (1, 1.0)


def test_blind_and_seen_are_told_apart(review: Review) -> None:
    """The model is right on all that people saw it say, and on half of what they did not."""
    review.write([f"Question {row}?" for row in range(20)])
    review.annotate([{"clarity": 1} for _ in range(20)])
    ids = [f"{review.name}/test/{row}" for row in range(20)]
    for name, part in (("seen", ids[:10]), ("blind", ids[10:])):
        (review.root / name).write_text("\n".join(part))
    review.push("--attribute", "clarity", "--only", review.root / "seen")
    review.push("--attribute", "clarity", "--only", review.root / "blind", "--blind")
    for user in ("alice", "bob"):
        review.respond(user, {row: {"clarity": 1} for row in range(10)})
        blind = {row: {"clarity": row % 2} for row in range(10, 20)}
        review.respond(user, blind, suffix="-blind")
    assert {one["dataset"] for one in review.run("pull")["datasets"]} == {
        review.name,
        f"{review.name}-blind",
    }
    told = review.run("status", "--replicates", 50)
    shares = {
        one["mode"]: (one["models"][0]["items"], one["models"][0]["accuracy"]["share"])
        for one in told["answers"]
    }
    assert shares == {None: (20, 0.75), "blind": (10, 0.5), "seen": (10, 1.0)}
    assert {one["shown"] for one in told["acceptance"]} == {10}
    assert any("blind" in note for note in told["notes"])


def test_what_is_assigned_remains_to_those_it_is_assigned_to(review: Review) -> None:
    review.write([f"Question {row}?" for row in range(12)])
    review.annotate([{"clarity": 1} for _ in range(12)])
    review.push("--attribute", "clarity")
    for row, record in review.records().items():
        reviewers = ["alice", "bob"] if row < 5 else ["alice"] if row < 10 else []
        metadata = {**record["metadata"], "reviewer": reviewers}
        review.server.owner("PATCH", f"records/{record['id']}", {"metadata": metadata})
    review.respond("alice", {row: {"clarity": 1} for row in range(3)})
    review.respond("alice", {3: {}}, "discarded")
    review.respond("alice", {4: {}}, "draft")
    told = review.run("status", "--dataset", review.name)
    [dataset] = told["datasets"]
    assert (dataset["records"], dataset["pending"]) == (12, 9)
    assert {user.pop("user"): [*user.values()] for user in dataset["users"]} == {
        "alice": [3, 1, 1, 10, 6],
        "bob": [0, 0, 0, 5, 5],
    }
    assert (
        f"5 responses in {review.name} are not pulled yet: benchprism review pull" in told["notes"]
    )


def write_rows(review: Review, rows: dict[int, tuple[str, list[str]]]) -> None:
    """Plan items by row: how they are reviewed, and by whom."""
    today = {
        one["item_id"]: one["content_hash"]
        for one in project_items(review.root / "items").to_pylist()
    }
    table = pa.Table.from_pylist(
        [
            {"item_id": f"{review.name}/test/{row}", "mode": mode, "rank": rank,
             "content_hash": today[f"{review.name}/test/{row}"], "stratum": "all", "weight": 1.0,
             "reasons": [], "attributes": [], "subsets": [], "reviewers": reviewers}
            for rank, (row, (mode, reviewers)) in enumerate(rows.items(), 1)
        ],
        schema=PLAN_SCHEMA,
    )  # fmt: skip
    write_plan(review.root / "review", Plan(table, table.select(STRATA_SCHEMA.names), {}))


def test_who_reviews_what_is_what_the_last_plan_says(review: Review) -> None:
    """Ten items for two people. Two then go over to the sample, a third leaves the plan, and the
    text of a fourth changes after alice has answered it: 7 of the records are still of the plan,
    and today's text of the fourth stands beside it."""
    review.write([f"Question {row}?" for row in range(12)])
    review.annotate([{"clarity": 1} for _ in range(12)])
    both = ["alice", "bob"]
    write_rows(review, dict.fromkeys(range(10), ("seen", both)))
    asked = ("--attribute", "clarity")
    review.push(*asked)
    review.respond("alice", {row: {"clarity": 2} for row in range(6)})
    review.respond("bob", {9: {"clarity": 3}})
    before = review.records()

    review.write([f"Question {row}?" if row != 5 else "Another 5?" for row in range(12)])
    seen = dict.fromkeys(range(1, 8), ("seen", both))
    write_rows(review, {0: ("blind", ["bob"]), 8: ("blind", both), **seen})
    tried = review.run("push", "--name", review.name, *asked, "--dry-run")
    counts = {
        one["mode"]: (one["left"], one["beside"], one["withdrawn"]) for one in tried["datasets"]
    }
    assert counts == {"blind": (0, 0, 0), "seen": (4, 1, 4)}
    sent = review.run("push", "--name", review.name, *asked)
    assert [one["withdrawn"] for one in sent["datasets"]] == [0, 4]
    path = f"datasets/{review.dataset()}/records?limit=100&include=responses,suggestions"
    after = {one["id"]: one for one in review.server.owner("GET", path)["items"]}
    reviewers = {row: after[before[row]["id"]]["metadata"].get("reviewer", []) for row in range(10)}
    assert reviewers == {row: both if row in {1, 2, 3, 4, 6, 7} else [] for row in range(10)}
    for row in (0, 5, 8, 9):
        record, was = after[before[row]["id"]], before[row]
        assert (record["responses"], record["fields"]) == (was["responses"], was["fields"])
        assert [one["value"] for one in record["suggestions"]] == [1]
        kept = {k: v for k, v in was["metadata"].items() if k not in {"reviewer", "state"}}
        assert kept.items() == {k: v for k, v in record["metadata"].items() if k != "state"}.items()
    again = review.run("push", "--name", review.name, *asked)
    assert [(one["changed"], one["withdrawn"]) for one in again["datasets"]] == [(0, 0)] * 2

    told = {one["dataset"]: one for one in review.run("status")["datasets"]}
    progress = {
        user["user"]: (user["submitted"], user["assigned"], user["remaining"])
        for user in told[review.name]["users"]
    }
    # of alice's six answers two are on records that are nobody's any more, as is bob's only one
    assert progress == {"alice": (6, 7, 3), "bob": (1, 7, 7)}

    write_rows(review, dict.fromkeys(range(9), ("blind", both)))  # nothing is seen any more
    sent = review.run("push", "--name", review.name, *asked)
    assert {one["mode"]: one["withdrawn"] for one in sent["datasets"]} == {"blind": 0, "seen": 7}
    told = {one["dataset"]: one for one in review.run("status")["datasets"]}
    assert [one["remaining"] for one in told[review.name]["users"]] == [0, 0]
    write_rows(review, {9: ("seen", both)})
    sent = review.run("push", "--name", review.name, *asked)
    assert {one["mode"]: (one["changed"], one["withdrawn"]) for one in sent["datasets"]} == {
        "blind": (0, 9), "seen": (1, 0),
    }  # fmt: skip
    again = {one["id"]: one for one in review.server.owner("GET", path)["items"]}
    assert again[before[9]["id"]]["metadata"]["reviewer"] == both

    # a new question makes a new version: nobody is to answer in the former one
    (review.root / "own.yaml").write_text(
        "catalogue: own\nversion: 1\nextends: core\n"
        "dimensions:\n  - id: context\n    attributes:\n"
        "      - {id: is_local, type: boolean, question: 'Is it local?'}\n"
    )
    settings = review.root / "benchprism.yaml"
    settings.write_text(settings.read_text().replace("catalogue: core", "catalogue: own.yaml"))
    [sent] = review.run("push", "--name", review.name)["datasets"]
    assert (sent["dataset"][-2:], sent["new"], sent["withdrawn"]) == ("-2", 1, 1)
    again = {one["id"]: one for one in review.server.owner("GET", path)["items"]}
    assert "reviewer" not in again[before[9]["id"]]["metadata"]


def test_a_dataset_of_another_project_is_left_alone(review: Review, tmp_path: Path) -> None:
    review.annotate([{"clarity": 1} for _ in range(40)])
    review.push("--attribute", "clarity", "--limit", 3)
    review.respond("alice", {0: {"clarity": 2}})
    own = (review.root / "review" / "project-id").read_text().strip()
    other = replace(review, root=tmp_path / "other")
    shutil.copytree(review.root, other.root)
    copied = other.run("push", "--name", review.name, "--attribute", "clarity", "--limit", 4)
    assert [(one["new"], one["unchanged"]) for one in copied["datasets"]] == [(1, 3)]

    (other.root / "review" / "project-id").unlink()
    words = ("--project", other.root, "--home", other.server.home, "--attribute", "clarity")
    for options in (["--dry-run"], []):
        ran = other.benchprism("review", "push", "--name", review.name, *words, *options)
        assert ran.code == 2
        assert f"is of another project ({own})" in ran.err
        assert "--name" in ran.err
        assert f"write {own} into that file" in ran.err
    assert other.run("pull")["datasets"] == []  # though it has the same items
    assert other.run("push", "--name", f"{review.name} of theirs", "--limit", 1)["sent"]
    ran = other.benchprism("review", "pull", *words[:4], "--json")
    assert [one["dataset"] for one in ran.data["datasets"]] == [f"{review.name} of theirs"]
    assert "not this project's" in ran.err
    named = other.run("pull", "--dataset", review.name)["datasets"]
    assert [one["recorded"]["new"] for one in named] == [{"submitted": 1}]
    assert [one["dataset"] for one in review.run("pull")["datasets"]] == [review.name]


@contextmanager
def stalling(server: Any, stalls: Callable[[str], bool]) -> Iterator[tuple[str, threading.Event]]:
    """The server behind an address that never answers some requests; says when one came."""
    stalled, over = threading.Event(), threading.Event()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if stalls(self.path):
                stalled.set()
                over.wait(60)
                return
            key = {"X-Argilla-Api-Key": self.headers["X-Argilla-Api-Key"]}
            request = urllib.request.Request(server.url + self.path, headers=key)
            with urllib.request.urlopen(request, timeout=60) as answer:
                body = answer.read()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            return

    proxy = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=proxy.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{proxy.server_port}", stalled
    finally:
        over.set()
        proxy.shutdown()
        thread.join()
        proxy.server_close()


def test_a_pull_that_is_killed_is_finished_by_the_next(review: Review) -> None:
    review.annotate([{"clarity": 1} for _ in range(40)])
    review.push("--attribute", "clarity", "--blind")
    review.push("--attribute", "clarity")
    for user in ("alice", "bob"):
        review.respond(user, {row: {"clarity": row % 4} for row in range(10)}, suffix="-blind")
        review.respond(user, {row: {"clarity": 1} for row in range(10)})
    path = f"datasets/{review.dataset('-blind')}/records"
    with stalling(review.server, lambda asked: path in asked and "limit=1000" in asked) as proxy:
        url, stalled = proxy
        access = {"ARGILLA_API_URL": url, "ARGILLA_API_KEY": review.server.access["api_key"]}
        command: list[str | Path] = [BENCHPRISM, "review", "pull", "--project", review.root]
        with subprocess.Popen(command, env={**os.environ, **access}) as pulling:
            assert stalled.wait(60)
            pulling.kill()
    assert pulling.returncode == -signal.SIGKILL
    assert review.people("SELECT count(*)") == [(20,)]
    counts = [one["recorded"] for one in review.run("pull")["datasets"]]
    assert sorted((sum(one["new"].values()), one["known"]) for one in counts) == [(0, 20), (20, 0)]
    assert review.people("SELECT count(*), count(DISTINCT request_key)") == [(40, 40)]


def test_what_cannot_be_pulled_is_said(review: Review) -> None:
    ran = review.benchprism(
        "review", "pull", "--project", review.root, "--home", review.server.home,
        "--dataset", "nothing",
    )  # fmt: skip
    assert ran.code == 2
    assert "no dataset 'nothing' of benchprism's" in ran.err
    review.annotate([{"clarity": 1} for _ in range(40)])
    review.push("--attribute", "clarity")
    review.respond("alice", {0: {"clarity": 1}})
    (review.root / "ledger.sqlite").unlink()
    pulled = review.run("pull", code=1)["datasets"][0]
    assert (pulled["unreadable"], pulled["recorded"]["new"]) == (1, {})


def test_status_without_a_server_tells_what_the_ledger_has(
    review: Review, benchprism: Callable[..., Any], tmp_path: Path
) -> None:
    ran = benchprism("review", "status", "--project", review.root)
    assert ran.err.startswith("Note: the datasets are not shown: no Argilla server is known")
    ran = benchprism("review", "status", "--project", review.root, "--json")
    assert ran.code == 0
    assert (ran.data["datasets"], ran.data["answers"]) == ([], [])
    assert "the datasets are not shown: no Argilla server is known" in ran.data["notes"][0]
    assert benchprism("review", "status", "--project", review.root, "--dataset", "d").code == 2
