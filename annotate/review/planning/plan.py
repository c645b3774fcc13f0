"""The plan: a random sample that is reviewed blind, a queue for the rest, and who reviews what.

A plan can be made again at any time: what it holds stays in it, with the reviewers that it has.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, cast

import pyarrow as pa

from ....records.errors import InputError
from ..responses import Response
from .assignment import Charge, assign
from .plan_store import PLAN_SCHEMA, STRATA_SCHEMA, Plan
from .queue import REASONS, Need, queue
from .sample import Drawn, draw

CALIBRATION = "calibration"
"""The reason of the sample's items. They carry no other: it would tell what to expect."""
PLANNED_REASONS = (CALIBRATION, *REASONS)
_SAMPLING = {"seed": "--seed", "strata": "--strata"}

_PlanMode = Literal["blind", "seen"]
_Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Budget:
    """How much is reviewed, and by whom."""

    items: int
    """Items in all."""
    calibration: int
    """Of them, in the random sample."""
    reviewers: tuple[str, ...] = ()
    """Who may get items; with none, they are for anyone."""
    overlap: int = 1
    """How many people review an item."""
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Answered:
    """Who has submitted an answer about an item, on its text of today."""

    blind: set[str] = field(default_factory=set)
    seen: set[str] = field(default_factory=set)


@dataclass(frozen=True, slots=True, eq=False)
class Planned:
    """A plan, and what is not in it."""

    plan: Plan
    left: int
    """Items with a reason that the budget has no room for."""
    answered: int
    """Items with a reason that people have answered already, outside the plan."""


def answered(responses: Iterable[Response], contents: Mapping[str, str]) -> dict[str, Answered]:
    """Find who has submitted answers, by item id.

    Args:
        responses: What people said.
        contents: The content hash of each item of today.
    """
    found: dict[str, Answered] = {}
    for one in responses:
        if one.status == "submitted" and contents.get(one.item_id) == one.content_hash:
            own = found.setdefault(one.item_id, Answered())
            (own.blind if one.mode == "blind" else own.seen).add(one.user)
    return found


def require_same_sampling(former: Plan | None, settings: Mapping[str, Any]) -> None:
    """Refuse to draw on in another way than the sample was drawn in.

    Raises:
        InputError: seed or strata are others.
    """
    for key, option in _SAMPLING.items():
        if former is not None and former.sample and former.settings.get(key) != settings[key]:
            raise InputError(
                f"the sample of the plan was drawn with {key} {former.settings.get(key)!r},"
                f" not {settings[key]!r}",
                wanted="the same, or it would be no random sample any more",
                mend=f"leave {option} out, or begin again with --anew",
            )


def make_plan(
    items: pa.Table,
    strata: Mapping[str, str],
    needs: Mapping[str, Need],
    budget: Budget,
    *,
    answers: Mapping[str, Answered],
    former: Plan | None = None,
    settings: Mapping[str, Any],
) -> Planned:
    """Make a plan, or make it again.

    Args:
        items: The project's items, with ``ITEM_SCHEMA``.
        strata: The items that may be reviewed, each with its stratum, by item id.
        needs: Why a person should look at an item, by item id.
        budget: How much, and by whom.
        answers: Who has answered what; see ``answered``.
        former: The plan that there is. Its items stay, as long as the project has them as they
            were; so do their strata and reviewers.
        settings: What it is made with; stored in it.

    Raises:
        InputError: an item needs more reviewers than there are.
    """
    ids, contents = items["item_id"].to_pylist(), items["content_hash"].to_pylist()
    content = dict(zip(ids, contents, strict=True))
    kept = _kept(former, content)
    frame = {**strata, **_former_strata(former, content)}
    before = [item_id for item_id, mode in kept if mode == "blind"]
    sample = draw(frame, budget.calibration, budget.seed, before)
    drawn = {one.item_id for one in sample}
    stays = {item_id for item_id, mode in kept if mode == "seen"} - drawn
    open_ = {one: needs[one] for one in needs if one in strata and one not in drawn | stays}
    new = [item_id for item_id in queue(open_, budget.seed) if item_id not in answers]
    room = max(budget.items - len(drawn) - len(stays), 0)
    seen = queue({one: needs.get(one, Need()) for one in {*stays, *new[:room]}}, budget.seed)
    rows = [_drawn_row(one, needs.get(one.item_id, Need())) for one in sample]
    rows += [_seen_row(one, needs.get(one), kept.get((one, "seen")), frame) for one in seen]
    charges = [_charge(row, kept, answers, budget) for row in rows]
    reviewers = assign(charges, budget.reviewers, budget.overlap, budget.seed)
    for rank, (row, names) in enumerate(zip(rows, reviewers, strict=True), 1):
        row |= {"content_hash": content[row["item_id"]], "rank": rank, "reviewers": names}
    plan = Plan(pa.Table.from_pylist(rows, schema=PLAN_SCHEMA), _strata(frame, content), settings)
    return Planned(plan, max(len(new) - room, 0), len(open_) - len(new))


def reason_counts(plan: Plan) -> list[tuple[str, Counter[str]]]:
    """Count the items of each stratum by reason, and under ``items`` all of them."""
    counts: dict[str, Counter[str]] = {}
    for row in plan.table.select(["stratum", "reasons"]).to_pylist():
        counts.setdefault(row["stratum"], Counter()).update(["items", *row["reasons"]])
    return sorted(counts.items())


_Kept = dict[tuple[str, str], _Row]


def _kept(former: Plan | None, content: Mapping[str, str]) -> _Kept:
    """The former plan's rows, by item and mode, of items that are as they were."""
    rows = [] if former is None else former.table.to_pylist()
    return {
        (row["item_id"], row["mode"]): row
        for row in rows
        if content.get(row["item_id"]) == row["content_hash"]
    }


def _former_strata(former: Plan | None, content: Mapping[str, str]) -> dict[str, str]:
    rows = [] if former is None else former.strata.to_pylist()
    return {
        row["item_id"]: row["stratum"]
        for row in rows
        if content.get(row["item_id"]) == row["content_hash"]
    }


def _by(answers: Mapping[str, Answered], item_id: str, mode: _PlanMode) -> set[str]:
    found = answers.get(item_id, Answered())
    return found.blind if mode == "blind" else found.seen


def _drawn_row(one: Drawn, need: Need) -> _Row:
    row = {"item_id": one.item_id, "mode": "blind", "stratum": one.stratum, "weight": one.weight}
    return {**row, **_why(need), "reasons": [CALIBRATION]}


def _seen_row(
    item_id: str, need: Need | None, former: _Row | None, frame: Mapping[str, str]
) -> _Row:
    """A row of the queue; one whose reasons are gone keeps those that it was planned for."""
    row = {"item_id": item_id, "mode": "seen", "stratum": frame[item_id], "weight": None}
    if need is None and former is not None:
        return {**row, **{name: former[name] for name in ("reasons", "attributes", "subsets")}}
    return {**row, **_why(need or Need())}


def _why(need: Need) -> _Row:
    return {
        "reasons": list(need.reasons),
        "attributes": sorted(need.attributes),
        "subsets": sorted(need.decided),
    }


def _charge(row: _Row, kept: _Kept, answers: Mapping[str, Answered], budget: Budget) -> Charge:
    item_id, mode = row["item_id"], cast(_PlanMode, row["mode"])
    acquainted = _by(answers, item_id, "seen") if mode == "blind" else set()
    # an item of the queue may have moved into the sample
    was = kept.get((item_id, mode)) or kept.get((item_id, "seen"), {"reviewers": []})
    moved = was.get("mode") != mode
    reviewers = [name for name in was["reviewers"] if not (moved and name in acquainted)]
    if budget.reviewers:
        others = sorted(_by(answers, item_id, mode) - {*reviewers})
        reviewers += others[: max(budget.overlap - len(reviewers), 0)]
    return Charge(item_id, tuple(reviewers), tuple(sorted(acquainted)))


def _strata(frame: Mapping[str, str], content: Mapping[str, str]) -> pa.Table:
    ids = sorted(frame)
    columns = [ids, [content[one] for one in ids], [frame[one] for one in ids]]
    return pa.table([pa.array(column, pa.string()) for column in columns], schema=STRATA_SCHEMA)


def assigned_counts(plan: Plan, answers: Mapping[str, Answered]) -> dict[str, Counter[str]]:
    """Count each reviewer's items by mode, and under ``answered`` those that they have answered."""
    counts: dict[str, Counter[str]] = {}
    for row in plan.table.select(["item_id", "mode", "reviewers"]).to_pylist():
        done = _by(answers, row["item_id"], row["mode"])
        for name in row["reviewers"]:
            found = counts.setdefault(name, Counter())
            found.update([row["mode"], *["answered"] * (name in done)])
    return dict(sorted(counts.items()))
