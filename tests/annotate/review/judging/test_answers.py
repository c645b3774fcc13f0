"""What people's answers tell, worked out by hand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from benchprism.annotate.consolidation.agreement import Resampling
from benchprism.annotate.consolidation.policy import ConsolidationSettings, LevelPolicy
from benchprism.annotate.ledger.outcome import Reply, Usage, Verdict
from benchprism.annotate.ledger.store import Ledger
from benchprism.annotate.review.form import form_of
from benchprism.annotate.review.judging.answers import Answers, acceptance, answers
from benchprism.annotate.review.recording import record_responses
from benchprism.annotate.review.responses import Response
from benchprism.prompts.catalogue import Value
from benchprism.prompts.library import load_catalogue

CORE = load_catalogue("core")
FORM = form_of(CORE, ["clarity", "sensitive_topics"])
QUICK = Resampling(replicates=20)


class Panel:
    """A ledger in which people and models say something of simple items."""

    def __init__(self, path: Path, items: pa.Table) -> None:
        self.path, self.items, self._seconds = path, items, 0
        with Ledger(path, write=True) as ledger:
            ledger.remember(CORE)

    def person(self, user: str, item: int, values: dict[str, Value], **how: Any) -> Response:
        self._seconds += 1
        response = Response(
            item_id=self.items["item_id"][item].as_py(),
            content_hash=self.items["content_hash"][item].as_py(),
            user=user,
            status="submitted",
            values=values,
            note="",
            time=f"2026-11-29T10:{self._seconds // 60:02}:{self._seconds % 60:02}.000000+00:00",
            via="argilla",
            mode="seen",
            dataset="d",
            suggested={},
            raw="{}",
        )
        given = replace(response, **how)
        with Ledger(self.path, write=True) as ledger:
            record_responses(ledger, [given], FORM)
        return given

    def model(self, name: str, item: int, values: dict[str, Value]) -> None:
        reply = Reply(
            request_key=f"{name}-{item}",
            item_id=self.items["item_id"][item].as_py(),
            content_hash=self.items["content_hash"][item].as_py(),
            annotator=name,
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
        with Ledger(self.path, write=True) as ledger:
            ledger.add([(reply, [Verdict(*pair, "ok") for pair in values.items()])])

    def answers(self, **how: Any) -> list[Answers]:
        settings: dict[str, Any] = {"policy": ConsolidationSettings(), "resampling": QUICK} | how
        with Ledger(self.path) as ledger:
            return answers(ledger, CORE, self.items, **settings)


@pytest.fixture
def panel(tmp_path: Path, make_items: Callable[..., pa.Table]) -> Panel:
    return Panel(tmp_path / "l.sqlite", make_items(8))


def shares(found: Answers) -> dict[tuple[str, str], tuple[int, float]]:
    return {
        (one.agreement.attribute.id, one.model): (
            one.agreement.alpha.pairable,
            one.accuracy.share,
        )
        for one in found.models
    }


def test_nobody_answered(panel: Panel) -> None:
    panel.model("llm:a", 0, {"clarity": 1})
    assert panel.answers() == []


def test_models_stand_beside_what_people_settle_on(panel: Panel) -> None:
    """Settled: 1, 2 and, of 0 and 3, the lower median 0; the lead's word is not theirs."""
    for item, levels in enumerate([(1, 1, 3), (2, 2, 2), (0, 3, None)]):
        for user, level in zip(("ann", "bob", "cem"), levels, strict=True):
            if level is not None:
                panel.person(user, item, {"clarity": level})
    panel.person("lead", 2, {"clarity": 3}, mode="adjudication")
    for item, level in enumerate([1, 2, 3, 3]):
        panel.model("llm:a", item, {"clarity": level})
        panel.model("llm:a#2", item, {"clarity": 0})
        panel.model("embed:minilm", item, {"clarity": 0})
    panel.model("llm:b", 1, {"clarity": 2})
    everything, seen = panel.answers()
    assert (everything.mode, seen.mode) == (None, "seen")
    assert everything.people == ("human:ann", "human:bob", "human:cem")
    assert shares(everything) == {
        ("clarity", "llm:a"): (3, pytest.approx(2 / 3)),
        ("clarity", "llm:b"): (1, 1.0),
    }
    [between] = everything.between_people
    # of three pairs on the first item one agrees, of three on the second all, on the third none
    assert between.alpha.raw == pytest.approx((1 / 3 + 1 + 0) / 3)
    open_ = panel.answers(policy=ConsolidationSettings(level=LevelPolicy(ties="missing")))[0]
    assert shares(open_)["clarity", "llm:a"] == (2, 1.0)


def test_sets_that_only_the_vote_gives_are_compared_too(panel: Panel) -> None:
    for user, topics in (("ann", ["crime", "violence"]), ("bob", ["crime", "religion"]),
                         ("cem", ["violence", "crime", "religion"])):  # fmt: skip
        known = [label for label in CORE["sensitive_topics"].values if label in topics]
        panel.person(user, 0, {"sensitive_topics": [str(label) for label in known]})
    settled = [str(t) for t in CORE["sensitive_topics"].values
               if t in {"crime", "violence", "religion"}]  # fmt: skip
    panel.model("llm:a", 0, {"sensitive_topics": settled})
    panel.model("llm:b", 0, {"sensitive_topics": ["none"]})
    assert shares(panel.answers()[0]) == {
        ("sensitive_topics", "llm:a"): (1, 1.0),
        ("sensitive_topics", "llm:b"): (1, 0.0),
    }


def test_each_way_of_asking_has_its_own_answers(panel: Panel) -> None:
    """Ann saw the model's 1 and kept it; blind, and later again with it, she said otherwise."""
    panel.model("llm:a", 0, {"clarity": 1})
    panel.model("llm:a", 1, {"clarity": 1})
    panel.person("ann", 0, {"clarity": 3}, mode="blind", dataset="d-blind")
    panel.person("ann", 0, {"clarity": 1}, suggested={"clarity": 1})
    panel.person("ann", 1, {"clarity": 2}, mode="blind", dataset="d-blind")
    found = {one.mode: shares(one).get(("clarity", "llm:a")) for one in panel.answers()}
    assert found == {None: (2, 0.5), "blind": (2, 0.0), "seen": (1, 1.0)}
    assert all(one.between_people == () for one in panel.answers())
    [only] = panel.answers(attributes=["sensitive_topics"])[:1]
    assert only.models == ()


def test_only_what_was_seen_and_submitted_can_have_been_accepted(panel: Panel) -> None:
    shown: dict[str, Value] = {"clarity": 1}
    given = [
        panel.person("ann", 0, {"clarity": 1}, suggested=shown),
        panel.person("ann", 1, {"clarity": 2}, suggested=shown),
        panel.person("ann", 2, {}, suggested=shown),
        panel.person("ann", 3, {"clarity": 1}, suggested=shown, status="draft"),
        panel.person("ann", 4, {"clarity": 1}),
        panel.person("ann", 5, {"clarity": 1}, mode="adjudication", suggested=shown),
        panel.person("bob", 6, {"clarity": 1}, suggested=shown),
    ]
    found = {(one.attribute, one.user): one for one in acceptance(given)}
    assert {key: (one.shown, one.accepted.share) for key, one in found.items()} == {
        ("clarity", "ann"): (3, pytest.approx(1 / 3)),
        ("clarity", "bob"): (1, 1.0),
    }
    assert found["clarity", "bob"].accepted.low == pytest.approx(0.2065, abs=1e-4)
