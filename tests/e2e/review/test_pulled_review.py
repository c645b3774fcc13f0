"""A whole review: 200 items are pushed, people decide in the web UI, and pull finds just that."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import uuid
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from benchprism.annotate.ledger.outcome import Reply, Usage, Verdict
from benchprism.annotate.ledger.store import Ledger
from benchprism.prompts.library import load_catalogue
from benchprism.records.items.record import Item, choice_set_hash, content_hash, items_table
from benchprism.records.items.store import write_items

BENCHPRISM = Path(sys.executable).with_name("benchprism")
CORE = load_catalogue("core")
ITEMS = 200
CHOICES = ("one", "two")


def run(project: Path, *words: str | Path) -> Any:
    command = [BENCHPRISM, *words, "--project", project]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout) if "--json" in words else done.stdout


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project of items in which a model found a clarity of 3 and code."""
    name = f"browse{uuid.uuid4().hex[:8]}"
    items = [item(name, row) for row in range(ITEMS)]
    subprocess.run([BENCHPRISM, "init", tmp_path / name], check=True, capture_output=True)
    write_items(tmp_path / name / "items" / f"{name}.parquet", items_table(items), {})
    verdicts = [Verdict("clarity", 3, "ok"), Verdict("task_kind", "code", "ok")]
    with Ledger(tmp_path / name / "ledger.sqlite", write=True) as ledger:
        ledger.remember(CORE)
        ledger.add((reply(one), verdicts) for one in items)
    return tmp_path / name


def item(benchmark: str, row: int) -> Item:
    question = f"Question {row}?"
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


def reply(about: Item) -> Reply:
    return Reply(
        request_key=about.item_id,
        item_id=about.item_id,
        content_hash=about.content_hash,
        annotator="llm:main",
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


def row_of(person: Any) -> int:
    """The item that is shown."""
    found = re.search(r"Question ([0-9]+)\?", "\n".join(person.texts))
    assert found is not None
    return int(found[1])


def test_what_people_decide_in_the_browser_is_what_the_ledger_has(
    project: Path, reviewer: Callable[[str], Any], review_server: Any
) -> None:
    at = ("--home", review_server.home, "--json")
    asked = ("--attribute", "clarity", "--attribute", "task_kind")
    run(project, "review", "push", *asked, *at)
    listed = review_server.owner("GET", "me/datasets")["items"]
    dataset = next(str(one["id"]) for one in listed if one["name"] == project.name)
    before = datetime.now(UTC) - timedelta(seconds=1)
    carol = reviewer("carol")
    rows = {}
    carol.open(dataset)
    rows["submitted"] = row_of(carol)
    carol.choose("task_kind", "ordering")
    carol.page.locator("[contenteditable=true]").first.fill("It lists steps.")
    carol.submit()
    carol.open(dataset)
    rows["discarded"] = row_of(carol)
    carol.discard()
    carol.open(dataset)
    rows["draft"] = row_of(carol)
    carol.choose("clarity", "1")
    carol.save_draft()
    carol.open(dataset)
    rows["accepted"] = row_of(carol)
    carol.submit()
    assert len(set(rows.values())) == 4

    [pulled] = run(project, "review", "pull", *at)["datasets"]
    assert pulled["records"] == ITEMS
    assert pulled["recorded"]["new"] == {"submitted": 2, "discarded": 1, "draft": 1}
    assert decisions(project) == {
        (rows["submitted"], "clarity"): ("ok", 3, ""),
        (rows["submitted"], "task_kind"): ("ok", "ordering", ""),
        (rows["discarded"], "clarity"): ("abstained", None, "discarded"),
        (rows["discarded"], "task_kind"): ("abstained", None, "discarded"),
        (rows["draft"], "clarity"): ("abstained", None, "draft"),
        (rows["draft"], "task_kind"): ("abstained", None, "draft"),
        (rows["accepted"], "clarity"): ("ok", 3, ""),
        (rows["accepted"], "task_kind"): ("ok", "code", ""),
    }
    with Ledger(project / "ledger.sqlite") as ledger:
        told = {
            body["item_id"]: body
            for (text,) in ledger.query("SELECT body FROM body WHERE body != ''")
            for body in [json.loads(str(text))]
        }
    assert {one["user"] for one in told.values()} == {"carol"}
    times = [datetime.fromisoformat(one["time"]) for one in told.values()]
    assert all(before < time < datetime.now(UTC) + timedelta(seconds=1) for time in times)
    submitted = told[f"{project.name}/test/{rows['submitted']}"]
    assert submitted["note"] == "It lists steps."
    assert submitted["suggested"] == {"clarity": 3, "task_kind": "code"}
    draft = told[f"{project.name}/test/{rows['draft']}"]
    assert draft["values"]["clarity"] == 1
    assert run(project, "review", "pull", *at)["datasets"][0]["recorded"]["new"] == {}
    shares = {
        (one["attribute"], one["user"]): (one["shown"], one["accepted"]["share"])
        for one in run(project, "review", "status", *at)["acceptance"]
    }
    assert shares == {("clarity", "carol"): (2, 1.0), ("task_kind", "carol"): (2, 0.5)}


def decisions(project: Path) -> dict[tuple[int, str], tuple[Any, ...]]:
    with Ledger(project / "ledger.sqlite") as ledger:
        return {
            (int(one.item_id.rsplit("/", 1)[1]), one.attribute): (one.status, one.value, one.reason)
            for one in ledger.annotations()
            if one.annotator == "human:carol"
        }
