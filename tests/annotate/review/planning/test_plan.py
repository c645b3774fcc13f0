"""The plan: sample and queue, and what stays when it is made again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from benchprism.annotate.review.planning.plan import (
    Answered,
    Budget,
    answered,
    assigned_counts,
    make_plan,
    reason_counts,
    require_same_sampling,
)
from benchprism.annotate.review.planning.plan_store import PLAN, Plan, read_plan, write_plan
from benchprism.annotate.review.planning.queue import Need
from benchprism.annotate.review.responses import Response
from benchprism.records.errors import InputError

BUDGET = Budget(items=30, calibration=12, reviewers=("ann", "bob"))
LOW = Need({"low_confidence": frozenset({"clarity"})})
URGENT = Need({"failed": frozenset({"clarity"})}, {"s": frozenset({"clarity"})})
MakePlan = Callable[..., Any]
Rows = Mapping[str, Mapping[str, Any]]


def name(row: int) -> str:
    return f"bench/test/{row}"


@pytest.fixture
def items(make_items: Callable[..., pa.Table]) -> pa.Table:
    return make_items(100)


@pytest.fixture
def plan(items: pa.Table) -> MakePlan:
    """A plan of 100 items in two strata, of which the even ones have a reason."""

    def make(former: Plan | None = None, budget: Budget = BUDGET, **other: Any) -> Any:
        table = other.pop("items", items)
        ids = table["item_id"].to_pylist()
        needs = {name(row): URGENT if row % 10 == 0 else LOW for row in range(0, 100, 2)}
        given: dict[str, Any] = {
            "strata": {one: "low" if len(one) < 13 else "high" for one in ids},
            "needs": {one: need for one, need in needs.items() if one in ids},
            "answers": {},
            "settings": {"seed": budget.seed, "strata": ["benchmark"]},
            **other,
        }
        return make_plan(
            table, given.pop("strata"), given.pop("needs"), budget, former=former, **given
        )

    return make


def rows(plan: Plan, mode: str) -> Rows:
    return {row["item_id"]: row for row in plan.table.to_pylist() if row["mode"] == mode}


def assigned(plan: Plan) -> dict[str, list[str]]:
    return {row["item_id"]: row["reviewers"] for row in plan.table.to_pylist()}


def test_the_sample_comes_first_then_the_most_urgent(plan: MakePlan) -> None:
    made = plan()
    table = made.plan.table.to_pylist()
    assert [row["rank"] for row in table] == [*range(1, 31)]
    assert [row["mode"] for row in table] == ["blind"] * 12 + ["seen"] * 18
    assert Counter(row["stratum"] for row in table[:12]) == {"low": 6, "high": 6}
    assert {row["stratum"]: row["weight"] for row in table[:12]} == {"low": 10 / 6, "high": 90 / 6}
    assert all(row["reasons"] == ["calibration"] for row in table[:12])
    drawn = {row["item_id"] for row in table[:12]}
    urgent = {name(row) for row in range(0, 100, 10)} - drawn
    assert {row["item_id"] for row in table[12 : 12 + len(urgent)]} == urgent
    first, last = table[12], table[-1]
    assert (first["reasons"], first["subsets"]) == (["consequence", "failed"], ["s"])
    assert (last["reasons"], last["attributes"]) == (["low_confidence"], ["clarity"])
    assert last["weight"] is None
    even = {name(row) for row in range(0, 100, 2)}
    assert made.left == len(even - drawn) - 18
    counts = dict(reason_counts(made.plan))
    assert counts["low"]["calibration"] == 6
    assert sum(own["items"] for own in counts.values()) == 30
    assert Counter(names[0] for names in assigned(made.plan).values()) == {"ann": 15, "bob": 15}


def test_the_same_again_is_the_same(plan: MakePlan) -> None:
    first = plan().plan
    assert plan(first).plan.table == first.table
    assert plan().plan.table == first.table


def test_more_items_and_more_reviewers_leave_what_is_there(plan: MakePlan) -> None:
    first = plan().plan
    budget = Budget(items=60, calibration=20, reviewers=("ann", "bob", "cem"))
    second = plan(first, budget).plan
    assert second.table.num_rows == 60
    before, after = assigned(first), assigned(second)
    assert {one: after[one] for one in before} == before
    assert Counter(names[0] for names in after.values()) == {"ann": 20, "bob": 20, "cem": 20}
    assert rows(first, "blind").keys() <= rows(second, "blind").keys()
    assert len(rows(second, "blind")) == 20
    # a smaller budget takes nothing away
    assert assigned(plan(second, replace(budget, items=10, calibration=4)).plan) == after


def test_an_item_of_the_queue_that_is_drawn_changes_over_to_who_has_not_seen_it(
    plan: MakePlan,
) -> None:
    first = plan().plan
    larger = replace(BUDGET, items=60, calibration=40)
    moving = sorted(rows(first, "seen").keys() & rows(plan(first, larger).plan, "blind").keys())
    assert len(moving) > 1
    seen, unseen = moving[0], moving[1]
    [who] = rows(first, "seen")[seen]["reviewers"]
    second = plan(first, larger, answers={seen: Answered(seen={who})}).plan
    assert rows(second, "blind")[unseen]["reviewers"] == rows(first, "seen")[unseen]["reviewers"]
    assert not {seen, unseen} & rows(second, "seen").keys()
    assert rows(second, "blind")[seen]["reviewers"] == [*{"ann", "bob"} - {who}]


def test_what_people_answered_outside_the_plan_is_not_queued(plan: MakePlan) -> None:
    drawn = rows(plan().plan, "blind")
    others = [one for one in (name(row) for row in range(0, 100, 2)) if one not in drawn]
    answers = {one: Answered(seen={"zoe"}) for one in [*others[:5], *drawn]}
    made = plan(answers=answers)
    assert made.answered == 5
    assert not rows(made.plan, "seen").keys() & set(others[:5])
    assert rows(made.plan, "blind").keys() == drawn.keys()  # or it would be no random sample


def test_who_answered_counts_as_reviewer_and_is_not_asked_again(plan: MakePlan) -> None:
    open_ = plan(budget=replace(BUDGET, reviewers=())).plan
    assert all(names == [] for names in assigned(open_).values())
    drawn = [*rows(open_, "blind")]
    answers = {drawn[0]: Answered(blind={"zoe"}), drawn[1]: Answered(blind={"ann"})}
    both = replace(BUDGET, overlap=2)
    after = rows(plan(open_, both, answers=answers).plan, "blind")
    assert after[drawn[0]]["reviewers"][0] == "zoe"
    assert after[drawn[1]]["reviewers"] == ["ann", "bob"]
    assert all(len(set(row["reviewers"])) == 2 for row in after.values())
    counts = assigned_counts(plan(open_, both, answers=answers).plan, answers)
    assert (counts["zoe"]["answered"], counts["ann"]["answered"]) == (1, 1)
    assert counts["bob"]["answered"] == 0


def test_reasons_are_those_of_today_and_stay_when_they_are_gone(plan: MakePlan) -> None:
    first = plan().plan
    [kept, other, *_] = rows(first, "seen")
    both = Need({"failed": frozenset({"setting"})})
    second = rows(plan(first, needs={other: both}).plan, "seen")
    assert second[kept]["reasons"] == rows(first, "seen")[kept]["reasons"]
    assert (second[other]["reasons"], second[other]["attributes"]) == (["failed"], ["setting"])


def test_items_that_are_gone_or_changed_leave_the_plan(
    plan: MakePlan, items: pa.Table, make_items: Callable[..., pa.Table]
) -> None:
    first = plan().plan
    gone, changed = [*rows(first, "blind")][:2]
    texts = items["question"].to_pylist()
    ids = items["item_id"].to_pylist()
    other = make_items([f"{t}!" if i == changed else t for t, i in zip(texts, ids, strict=True)])
    left = other.filter(pa.array([one != gone for one in ids]))
    second = plan(first, items=left).plan
    assert gone not in assigned(second)
    assert gone not in second.strata["item_id"].to_pylist()
    assert changed in rows(second, "blind")  # its turn is still the same
    assert len(rows(second, "blind")) == 12


def test_strata_are_those_in_which_items_were_drawn(plan: MakePlan, items: pa.Table) -> None:
    first = plan().plan
    moved = dict.fromkeys(items["item_id"].to_pylist(), "other")
    second = plan(first, strata=moved).plan
    assert second.strata == first.strata
    assert Counter(second.strata_of(items)) == {"low": 10, "high": 90}
    assert second.strata_of(items[:1].set_column(0, "item_id", pa.array(["x"]))) == [None]


def test_drawing_on_in_another_way_is_refused(plan: MakePlan) -> None:
    first = plan().plan
    require_same_sampling(first, {"seed": 0, "strata": ["benchmark"]})
    require_same_sampling(None, {"seed": 1, "strata": ["kind"]})
    for other in ({"seed": 1, "strata": ["benchmark"]}, {"seed": 0, "strata": ["kind"]}):
        with pytest.raises(InputError, match="no random sample any more"):
            require_same_sampling(first, other)
    empty = plan(budget=replace(BUDGET, calibration=0)).plan
    require_same_sampling(empty, {"seed": 1, "strata": ["kind"]})


def test_only_submitted_answers_about_todays_text_count() -> None:
    def response(user: str, **other: Any) -> Response:
        given: dict[str, Any] = {
            "item_id": "a", "content_hash": "h", "user": user, "status": "submitted", "values": {},
            "note": "", "time": "2026-11-29T10:00:00.000000+00:00", "via": "page", "mode": "seen",
            "dataset": "d", "suggested": {}, "raw": "{}", **other,
        }  # fmt: skip
        return Response(**given)

    responses: Iterable[Response] = [
        response("ann"), response("bob", mode="blind"), response("cem", status="draft"),
        response("dot", status="discarded"), response("eve", content_hash="old"),
        response("fay", item_id="gone"),
    ]  # fmt: skip
    assert answered(responses, {"a": "h"}) == {"a": Answered(blind={"bob"}, seen={"ann"})}


def test_a_plan_is_read_as_it_was_written(plan: MakePlan, tmp_path: Path) -> None:
    made = plan().plan
    assert read_plan(tmp_path) is None
    write_plan(tmp_path, made)
    back = read_plan(tmp_path)
    assert back is not None
    assert back.table == made.table
    assert (back.strata, back.settings) == (made.strata, made.settings)
    assert back.sample == [*rows(made, "blind")]


def test_damaged_files_are_told(plan: MakePlan, tmp_path: Path) -> None:
    write_plan(tmp_path, plan().plan)
    write_plan(tmp_path, plan(strata={name(1): "x"}, needs={}).plan)
    [strata] = tmp_path.glob("strata-*.parquet")
    strata.unlink()
    with pytest.raises(InputError, match=r"strata-.*\.parquet cannot be read \(No such file"):
        read_plan(tmp_path)
    pq.write_table(pa.table({"item_id": ["a"]}), tmp_path / PLAN)
    with pytest.raises(InputError, match="not the columns of a plan"):
        read_plan(tmp_path)
    (tmp_path / PLAN).write_text("no table")
    with pytest.raises(InputError, match=r"plan\.parquet cannot be read"):
        read_plan(tmp_path)
