"""``review push``: the command, against the real server."""

from __future__ import annotations

import uuid
from collections.abc import Callable
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
from benchprism.records.items.store import write_items

CORE = load_catalogue("core")


def make_item(row: int) -> Item:
    question, choices = f"Is {row} even?", ("yes", "no")
    return Item(
        item_id=f"bench/{'low' if row < 3 else 'high'}/test/{row}",
        benchmark="bench",
        subset="low" if row < 3 else "high",
        split="test",
        row=row,
        revision="r1",
        question=question,
        context="",
        choices=choices,
        answer_index=row % 2,
        answer_text=choices[row % 2],
        accepted_answers=(),
        kind="multiple_choice",
        faults=(),
        source="{}",
        content_hash=content_hash(question, "", choices),
        choice_set_hash=choice_set_hash(question, "", choices),
    )


def say(root: Path, item: Item, annotator: str, **values: Value) -> None:
    """Let an annotator say something of an item."""
    reply = Reply(
        request_key=str(uuid.uuid4()),
        item_id=item.item_id,
        content_hash=item.content_hash,
        annotator=annotator,
        model="m",
        prompt_hash="p",
        catalogue_hash=CORE.hash,
        status="ok",
        reason="",
        body="{}",
        usage=Usage(),
        price=None,
        time="2026-01-01T00:00:00.000000+00:00",
        seconds=1.0,
        attempts=1,
    )
    verdicts = [Verdict(name, value, "ok", "", 0.5) for name, value in values.items()]
    with Ledger(root / "ledger.sqlite", write=True) as ledger:
        ledger.remember(CORE)
        ledger.add([(reply, verdicts)])


ITEMS = [make_item(row) for row in range(6)]


@pytest.fixture
def project(
    benchprism: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Path:
    """Six items, of which a model annotated all but the last."""
    root = tmp_path / "audit"
    assert benchprism("init", root).code == 0
    write_items(root / "items" / "bench.parquet", items_table(ITEMS), {})
    for item in ITEMS[:5]:
        say(root, item, "llm:main", clarity=3, setting="abstract")
    monkeypatch.chdir(root)
    return root


@pytest.fixture
def push(benchprism: Callable[..., Any], project: Path, review_server: Any) -> Callable[..., Any]:
    name = f"cli {uuid.uuid4()}"

    def run(*words: object) -> Any:
        return benchprism(
            "review", "push", "--json", "--name", name, "--home", review_server.home, *words
        )

    return run


def one(ran: Any) -> dict[str, Any]:
    assert ran.code == 0, ran.err
    [dataset] = ran.data["datasets"]
    return {key: dataset[key] for key in ("mode", "new", "changed", "unchanged", "left")}


def nothing(**counts: Any) -> dict[str, Any]:
    return {"mode": "seen", "new": 0, "changed": 0, "unchanged": 0, "left": 0, **counts}


def test_what_has_a_value_is_sent_once(push: Callable[..., Any], project: Path) -> None:
    tried = push("--dry-run")
    assert "1 item without any value" in tried.err
    assert (tried.data["sent"], one(tried)) == (False, nothing(new=5))
    assert one(push("--limit", 4)) == nothing(new=4)
    assert one(push()) == nothing(new=1, unchanged=4)
    assert one(push("--subset", "high")) == nothing(unchanged=2, left=3)
    say(project, ITEMS[0], "llm:other", clarity=0)
    assert one(push()) == nothing(changed=1, unchanged=4)


def test_an_empty_name_is_none(push: Callable[..., Any]) -> None:
    ran = push("--name", "")
    assert (ran.code, ran.err.startswith("benchprism: --name ''; wanted a name")) == (2, True)


def test_what_people_said_is_suggested_to_nobody(push: Callable[..., Any], project: Path) -> None:
    assert one(push()) == nothing(new=5)
    say(project, ITEMS[0], "human:alice", clarity=0)
    say(project, ITEMS[1], "adjudicator:lead", clarity=0)
    assert one(push()) == nothing(unchanged=5)


def test_a_plan_says_what_is_sent(push: Callable[..., Any], project: Path) -> None:
    planned = [(ITEMS[4], "seen"), (ITEMS[0], "seen"), (ITEMS[5], "blind")]
    rows = [
        {
            "item_id": item.item_id,
            "content_hash": item.content_hash,
            "mode": mode,
            "rank": rank,
            "stratum": "bench",
            "weight": 1.0,
            "reasons": ["calibration"],
            "attributes": [],
            "subsets": [],
            "reviewers": ["alice", "bob"],
        }
        for rank, (item, mode) in enumerate(planned, 1)
    ]
    gone = {**rows[0], "item_id": "bench/gone"}
    table = pa.Table.from_pylist([*rows, gone], schema=PLAN_SCHEMA)
    strata = table.select(STRATA_SCHEMA.names)
    write_plan(project / "review", Plan(table, strata, {}))
    ran = push()
    assert ran.code == 0, ran.err
    assert {d["mode"]: d["new"] for d in ran.data["datasets"]} == {"seen": 2, "blind": 1}
    assert "1 item of the plan that the project does not have" in ran.err
    refused = push("--limit", 1)
    assert (refused.code, "--no-plan" in refused.err) == (2, True)
    told = "says which items are reviewed, and which of them blind; --blind says otherwise"
    assert told in push("--blind").err
    assert "--limit and --blind say otherwise" in push("--blind", "--limit", 1).err
    assert one(push("--no-plan", "--limit", 1)) == nothing(changed=1, left=1)


def test_each_dimension_gets_a_dataset_when_asked(push: Callable[..., Any]) -> None:
    ran = push("--by-dimension", "--attribute", "clarity", "--attribute", "setting", "--limit", 1)
    names = [dataset["dataset"].rpartition("-")[2] for dataset in ran.data["datasets"]]
    assert names == ["language_and_content_quality", "context"]


def test_a_catalogue_change_that_cannot_be_taken_is_said(
    push: Callable[..., Any], project: Path
) -> None:
    one(push("--limit", 1))
    (project / "own.yaml").write_text(
        "catalogue: own\nversion: 1\nextends: core\n"
        "dimensions:\n  - id: context\n    attributes:\n"
        "      - {id: is_local, type: boolean, question: 'Is it local?'}\n"
    )
    settings = project / "benchprism.yaml"
    text = settings.read_text().replace("catalogue: core", "catalogue: own.yaml")
    settings.write_text(text if "own.yaml" in text else f"{text}\ncatalogue: own.yaml\n")
    ran = push("--limit", 1)
    assert ran.code == 0, ran.err
    [dataset] = ran.data["datasets"]
    assert (dataset["version"], dataset["dataset"][-2:]) == (2, "-2")
    assert "the question is_local is new" in ran.err


@pytest.mark.parametrize(
    ("url", "key", "told"),
    [
        ("http://127.0.0.1:9", "key", "no Argilla server answers at http://127.0.0.1:9"),
        ("somewhere", "key", "the address 'somewhere' of the Argilla server is none"),
        ("http://127.0.0.1:9", "kéy", "the API key has signs that no key has"),
    ],
)
def test_a_server_that_cannot_be_reached_is_told_in_a_sentence(
    benchprism: Callable[..., Any],
    project: Path,
    monkeypatch: pytest.MonkeyPatch,
    url: str,
    key: str,
    told: str,
) -> None:
    monkeypatch.setenv("ARGILLA_API_URL", url)
    monkeypatch.setenv("ARGILLA_API_KEY", key)
    ran = benchprism("review", "push")
    assert (ran.code, ran.out) == (2, "")
    assert f"benchprism: {told}" in ran.err
