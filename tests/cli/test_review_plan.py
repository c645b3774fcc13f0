"""``review plan``: the command, and what push and export make of its plan."""

from __future__ import annotations

import csv
import uuid
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from benchprism.annotate.ledger.outcome import Reply, Usage, Verdict
from benchprism.annotate.ledger.store import Ledger
from benchprism.annotate.review.form import form_of
from benchprism.annotate.review.planning.plan_store import read_plan
from benchprism.annotate.review.recording import record_responses
from benchprism.annotate.review.responses import Response
from benchprism.prompts.library import load_catalogue
from benchprism.records.items.record import Item, choice_set_hash, content_hash, items_table
from benchprism.records.items.store import write_items

CORE = load_catalogue("core")
CHOICES = ("one", "two")
CRITERIA = "name: clear\nwhere:\n  clarity: {min: 2}\n"


def item(benchmark: str, row: int) -> Item:
    question = f"Question {row} of {benchmark}?"
    return Item(
        item_id=f"{benchmark}/test/{row}", benchmark=benchmark, subset="", split="test", row=row,
        revision="r1", question=question, context="", choices=CHOICES, answer_index=1,
        answer_text="two", accepted_answers=(), kind="multiple_choice", faults=(), source="{}",
        content_hash=content_hash(question, "", CHOICES),
        choice_set_hash=choice_set_hash(question, "", CHOICES),
    )  # fmt: skip


ITEMS = {
    name: [item(name, row) for row in range(size)] for name, size in (("one", 20), ("two", 40))
}


def entry(one: Item) -> tuple[Reply, list[Verdict]]:
    """What a model says of an item's clarity."""
    reply = Reply(
        request_key=one.item_id, item_id=one.item_id, content_hash=one.content_hash,
        annotator="llm:main", model="m", prompt_hash="p", catalogue_hash=CORE.hash, status="ok",
        reason="", body="{}", usage=Usage(), price=None, time="2026-01-01T00:00:00.000000+00:00",
        seconds=1.0, attempts=1,
    )  # fmt: skip
    if one.row in (2, 3):
        return reply, [Verdict("clarity", None, "refused")]
    sure = 0.5 if one.row < 2 else 0.9
    return reply, [Verdict("clarity", 1 if one.row < 10 else 3, "ok", "", sure)]


@pytest.fixture
def project(
    benchprism: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Path:
    """60 items. Of each benchmark 0 and 1 are unsure, 2 and 3 were refused, 4 to 9 have clarity 1,
    the others 3."""
    root = tmp_path / "audit"
    assert benchprism("init", root).code == 0
    for name, items in ITEMS.items():
        write_items(root / "items" / f"{name}.parquet", items_table(items), {})
    with Ledger(root / "ledger.sqlite", write=True) as ledger:
        ledger.remember(CORE)
        ledger.add([entry(one) for items in ITEMS.values() for one in items])
    (root / "criteria" / "clear.yaml").write_text(CRITERIA)
    monkeypatch.chdir(root)
    assert benchprism("compose", "criteria/clear.yaml").code == 0
    return root


@pytest.fixture
def plan(benchprism: Callable[..., Any], project: Path) -> Callable[..., Any]:
    def run(*words: object) -> Any:
        return benchprism("review", "plan", "--json", *words)

    return run


def answer(
    root: Path,
    item_ids: list[str],
    user: str,
    mode: Any,
    every: int = 30,
    clarity: Callable[[Item], int] = lambda _: 2,
) -> None:
    known = {one.item_id: one for items in ITEMS.values() for one in items}
    responses = [
        Response(
            item_id=item_id, content_hash=known[item_id].content_hash, user=user,
            status="submitted", values={"clarity": clarity(known[item_id])}, note="", via="page",
            mode=mode, dataset="d",
            time=f"2026-11-29T1{n * every // 3600}:{n * every // 60 % 60:02}:{n * every % 60:02}"
            ".000000+00:00", suggested={}, raw="{}",
        )
        for n, item_id in enumerate(item_ids)
    ]  # fmt: skip
    with Ledger(root / "ledger.sqlite", write=True) as ledger:
        record_responses(ledger, responses, form_of(CORE, ["clarity"]))


def of_mode(ran: Any, mode: str) -> dict[str, Any]:
    assert ran.code == 0, ran.err
    return {row["item_id"]: row for row in ran.data["items"] if row["mode"] == mode}


def test_reasons_and_their_order(plan: Callable[..., Any]) -> None:
    ran = plan("--items", 60, "--calibration", 0, "--subset", "clear")
    rows = of_mode(ran, "seen")
    ends = {row: sorted({tuple(r["reasons"]) for i, r in rows.items() if i.endswith(f"/{row}")})
            for row in range(10)}  # fmt: skip
    assert ends[0] == [("consequence", "low_confidence")]
    assert ends[2] == [("consequence", "failed")]
    assert ends[4] == [("consequence",)]
    assert set(rows) == {f"{name}/test/{row}" for name in ITEMS for row in range(10)}
    first = sorted(rows.values(), key=lambda row: row["rank"])[:8]
    assert {row["item_id"].rpartition("/")[2] for row in first} == {"0", "1", "2", "3"}
    assert all(row["attributes"] == ["clarity"] and row["subsets"] == ["clear"] for row in first)
    assert "20 items of 60: no other item has a reason" in ran.err
    assert [(one["stratum"], one["items"], one["failed"]) for one in ran.data["strata"]] == [
        ("one", 10, 2),
        ("two", 10, 2),
    ]
    assert "the last plan was made with --subset clear" in plan("--items", 60).err
    assert "the last plan" not in plan("--items", 60, "--anew").err
    plain = of_mode(plan("--calibration", 0, "--anew"), "seen")
    assert set(plain) == {f"{name}/test/{row}" for name in ITEMS for row in range(4)}


def test_the_plan_is_written_and_made_again_alike(
    plan: Callable[..., Any], benchprism: Callable[..., Any], project: Path
) -> None:
    words = ("--items", 20, "--reviewer", "alice", "--reviewer", "bob")
    tried = plan(*words, "--dry-run")
    assert not (project / "review" / "plan.parquet").exists()
    first = plan(*words)
    assert first.out == tried.out
    assert Counter(one["stratum"] for one in of_mode(first, "blind").values()) == {
        "one": 3,
        "two": 3,
    }
    assert plan(*words).out == first.out
    assert plan("--items", 20).out == first.out  # reviewers are remembered
    answered = [*of_mode(first, "blind")][:4]
    answer(project, answered, "zoe", "blind")
    more = plan("--items", 30, "--calibration", 10, "--reviewer", "alice", "--reviewer", "carol")
    before = {row["item_id"]: row["reviewers"] for row in first.data["items"]}
    after = {row["item_id"]: row["reviewers"] for row in more.data["items"]}
    assert {one: after[one] for one in before} == before
    assert "bob" not in {names[0] for one, names in after.items() if one not in before}
    written = read_plan(project / "review")
    assert written is not None
    assert (written.settings["items"], written.settings["strata"]) == (30, ["benchmark"])
    assert len(written.sample) == 10
    shown = benchprism("review", "plan", "--items", 30)
    assert "Items to review; one may have several reasons" in shown.out
    assert "Next: benchprism review push" in shown.err


def test_minutes_are_items(plan: Callable[..., Any], project: Path) -> None:
    ran = plan("--minutes", 30, "--dry-run")
    assert "30 minutes are 20 items, at 90 seconds an item (presumed)" in ran.err
    assert len(ran.data["items"]) == 6 + 8  # no more have a reason
    two = ("--reviewer", "alice", "--reviewer", "bob", "--overlap", 2)
    ran = plan("--minutes", 30, "--seconds-per-item", 60, *two, "--dry-run")
    assert "are 15 items, each by 2 reviewers, at 60 seconds an item (as given)" in ran.err
    answer(project, [one.item_id for one in ITEMS["two"][10:35]], "zoe", "seen", every=30)
    ran = plan("--minutes", 30, "--dry-run")
    assert "1 minute is 2 items, at 30 seconds an item" in plan("--minutes", 1, "--dry-run").err
    ran = plan("--minutes", 30, "--dry-run")
    assert "60 items, at 30 seconds an item (the median of 24 times between responses)" in ran.err


def test_what_people_answered_is_not_planned(plan: Callable[..., Any], project: Path) -> None:
    answer(project, ["one/test/0", "one/test/2"], "zoe", "seen")
    ran = plan("--calibration", 0)
    assert not {"one/test/0", "one/test/2"} & of_mode(ran, "seen").keys()
    assert "Left out: 2 items that people have answered already" in ran.err


def test_strata_may_be_any_field(plan: Callable[..., Any]) -> None:
    ran = plan("--items", 12, "--calibration", 12, "--strata", "benchmark", "--strata", "clarity")
    strata = Counter(row["stratum"] for row in of_mode(ran, "blind").values())
    assert strata.keys() == {
        f"{name}, {value}" for name in ("one", "two") for value in ("1", "3", "(none)")
    }
    assert set(strata.values()) == {2}
    refused = plan("--items", 12)
    assert refused.code == 0
    refused = plan("--items", 12, "--strata", "benchmark")
    assert (refused.code, "no random sample any more" in refused.err) == (2, True)
    assert plan("--items", 12, "--strata", "benchmark", "--anew").code == 0
    few = plan("--items", 12, "--calibration", 3, "--strata", "clarity", "--strata", "benchmark",
               "--anew")  # fmt: skip
    assert "Note: 3 strata without an item of the sample" in few.err


def test_the_sample_is_of_what_models_have_seen(plan: Callable[..., Any], project: Path) -> None:
    """Rules know all 90 items, the model those of two benchmarks; of each it refused two."""
    rules = [item("rules", row) for row in range(30)]
    write_items(project / "items" / "rules.parquet", items_table(rules), {})
    known = [*rules, *ITEMS["one"], *ITEMS["two"]]
    made = [entry(one) for one in known]
    by_rule = [
        (replace(reply, annotator="embed:minilm", request_key=f"rule {reply.item_id}"),
         [Verdict("setting", "abstract", "ok")])
        for reply, _ in made
    ]  # fmt: skip
    with Ledger(project / "ledger.sqlite", write=True) as ledger:
        ledger.add(by_rule)
    ran = plan("--items", 60, "--calibration", 60)
    assert Counter(one["stratum"] for one in of_mode(ran, "blind").values()) == {
        "one": 20,
        "two": 40,
    }
    assert ran.data["sampled_without_value"] == 4
    assert "Note: 4 of 60 sampled items have no value by a model" in ran.err
    ran = plan("--items", 9, "--calibration", 9, "--benchmark", "rules", "--anew")
    assert of_mode(ran, "blind").keys() <= {one.item_id for one in rules}
    assert (ran.data["sampled_without_value"], "no value by" in ran.err) == (0, False)


def test_what_was_shown_blind_before_is_the_sample(
    plan: Callable[..., Any], benchprism: Callable[..., Any]
) -> None:
    ran = benchprism("review", "export", "--blind", "--limit", 6, "--csv", "--json")
    assert ran.code == 0, ran.err
    with Path(ran.data["sheet"]).open(encoding="utf-8-sig", newline="") as file:
        shown = {row["item_id"] for row in csv.DictReader(file)}
    assert len(shown) == 12
    assert of_mode(plan("--items", 12, "--calibration", 12), "blind").keys() == shown


def test_calibration_weights_what_was_drawn_by_strata(
    plan: Callable[..., Any], benchprism: Callable[..., Any], project: Path
) -> None:
    few = plan("--items", 20, "--calibration", 7, "--dry-run").err
    assert "too few sampled items for the composition of" in few
    assert "one (3 of 10)" in few or "one (4 of 10)" in few
    planned = plan("--items", 20, "--calibration", 20)
    assert "too few" not in planned.err
    drawn = of_mode(planned, "blind")
    assert {row["stratum"]: row["weight"] for row in drawn.values()} == {"one": 2, "two": 4}

    def by_person(one: Item) -> int:
        """As the model has it of the one benchmark, and never of the other."""
        as_model = 1 if one.row < 10 else 3
        return as_model if one.benchmark == "one" else 0

    unasked = [one.item_id for one in ITEMS["one"] if one.item_id not in drawn]
    answer(project, [*drawn, *unasked], "zoe", "blind", clarity=by_person)
    ran = benchprism("review", "calibrate", "--json", "--replicates", 20)
    assert ran.code == 0, ran.err
    [clarity] = [one for one in ran.data["attributes"] if one["attribute"] == "clarity"]
    assert clarity["items"] + clarity["missing"] == 20  # who was not drawn does not count
    # 18 of 56 items with a value are of the benchmark in which the model is right
    assert clarity["accuracy"]["estimate"] == pytest.approx(18 / 56)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--items", 9, "--minutes", 9], "both --items and --minutes are given"),
        (["--calibration", "1.5"], "--calibration '1.5' of 200 items"),
        (["--calibration", "half"], "--calibration 'half'"),
        (["--calibration", "nan."], "--calibration 'nan.'"),
        (["--items", 10, "--calibration", "11"], "--calibration '11' of 10 items"),
        (["--strata", "benchmrk"], "no field 'benchmrk' to draw by"),
        (["--strata", "choices"], "the field 'choices' has several values an item"),
        (["--subset", "cleer"], "no subset 'cleer'"),
        (["--benchmark", "onee"], "no item of 'onee' can be reviewed"),
        (["--attribute", "claritee"], "claritee"),
        (["--overlap", 2], "an overlap of 2 with 0 reviewers"),
        (["--minutes", "inf"], "a budget without an end"),
        (["--minutes", 1], "there is nothing to review"),
        (["--reviewer", "a", "--reviewer", "a"], "a reviewer is named twice"),
        (["--reviewer", " a"], "no reviewer's name (' a')"),
    ],
)
def test_what_cannot_be_planned_is_told_in_a_sentence(
    plan: Callable[..., Any], project: Path, words: list[object], told: str
) -> None:
    ran = plan(*words)
    assert (ran.code, ran.out) == (2, "")
    assert told in ran.err
    assert not (project / "review").exists() or not [*(project / "review").iterdir()]


def test_everyone_finds_exactly_what_is_theirs(
    plan: Callable[..., Any],
    benchprism: Callable[..., Any],
    project: Path,
    review_server: Any,
) -> None:
    three = ("--reviewer", "alice", "--reviewer", "bob", "--reviewer", "carol", "--overlap", 2)
    made = plan("--items", 24, "--calibration", 0.5, "--subset", "clear", *three)
    name = f"plan {uuid.uuid4()}"
    words = ("--json", "--name", name, "--home", review_server.home)
    pushed = benchprism("review", "push", *words)
    assert pushed.code == 0, pushed.err
    names = {one["mode"]: one["dataset"] for one in pushed.data["datasets"]}
    assert names == {"blind": f"{name}-blind", "seen": name}
    owner = review_server.owner
    ids = {one["name"]: one["id"] for one in owner("GET", "me/datasets")["items"]}

    def found(mode: str, metadata: str, value: str, user: Any) -> list[str]:
        scope = {"entity": "metadata", "metadata_property": metadata}
        wanted = {"filters": {"and": [{"type": "terms", "scope": scope, "values": [value]}]}}
        path = f"me/datasets/{ids[names[mode]]}/records/search?limit=100"
        return sorted(one["record"]["external_id"] for one in user("POST", path, wanted)["items"])

    total = 0
    for mode in ("blind", "seen"):
        rows = of_mode(made, mode)
        for reviewer in ("alice", "bob", "carol"):
            own = sorted(i for i, row in rows.items() if reviewer in row["reviewers"])
            assert found(mode, "reviewer", reviewer, review_server.log_in(reviewer)) == own
            total += len(own)
        for reason in {reason for row in rows.values() for reason in row["reasons"]}:
            due = sorted(i for i, row in rows.items() if reason in row["reasons"])
            assert found(mode, "reason", reason, owner) == due
    assert total == 2 * 24
    assert [len(row["reviewers"]) for row in made.data["items"]] == [2] * 24
    counts = [one["blind"] + one["seen"] for one in made.data["reviewers"]]
    assert counts == [16, 16, 16]
    for dataset in names.values():
        settings = owner("GET", f"datasets/{ids[dataset]}")
        assert settings["distribution"]["min_submitted"] == 2
    again = benchprism("review", "push", *words)
    assert {one["unchanged"] for one in again.data["datasets"]} == {12}
    assert "no user of the server" not in pushed.err
    exported = benchprism("review", "export", "--json", "--reviewer", "carol")
    assert exported.data["items"] == 16
    assert pq.read_table(project / "review" / "plan.parquet").num_rows == 24


def test_a_reviewer_who_cannot_log_in_is_told(
    plan: Callable[..., Any], benchprism: Callable[..., Any], review_server: Any
) -> None:
    assert plan("--items", 4, "--reviewer", "alice", "--reviewer", "alcie").code == 0
    words = ("--json", "--name", f"plan {uuid.uuid4()}", "--home", review_server.home)
    ran = benchprism("review", "push", "--dry-run", *words)
    assert (ran.code, ran.err.count("no user of the server")) == (0, 1)
    assert "items are assigned to 'alcie'" in ran.err
