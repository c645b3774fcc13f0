"""Calibration on a blind sample, with numbers worked by hand."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from benchprism.annotate.consolidation.agreement import Resampling
from benchprism.annotate.consolidation.policy import ConsolidationSettings
from benchprism.annotate.ledger.outcome import Reply, Usage, Verdict
from benchprism.annotate.ledger.store import Ledger
from benchprism.annotate.review.form import form_of
from benchprism.annotate.review.judging.calibration import (
    AttributeCalibration,
    Calibration,
    calibrate,
)
from benchprism.annotate.review.recording import record_responses
from benchprism.annotate.review.responses import Response, in_utc
from benchprism.prompts.catalogue import Value
from benchprism.prompts.library import load_catalogue

CORE = load_catalogue("core")
ATTRIBUTES = ("clarity", "uses_negation", "sensitive_topics", "distractor_quality")
FORM = form_of(CORE, ATTRIBUTES)
MakeItems = Callable[..., pa.Table]


class Review:
    """A ledger under test."""

    def __init__(self, path: Path, items: pa.Table) -> None:
        self.items = items
        self.ledger = Ledger(path, write=True)
        self.ledger.remember(CORE)
        self.ids = items["item_id"].to_pylist()
        self.contents = items["content_hash"].to_pylist()

    def model(self, item: int, values: Mapping[str, Value], name: str = "llm:main") -> None:
        reply = Reply(
            request_key=f"{name}-{item}", item_id=self.ids[item],
            content_hash=self.contents[item], annotator=name, model="m", prompt_hash="p",
            catalogue_hash=CORE.hash, status="ok", reason="", body="", usage=Usage(), price=None,
            time="2026-11-29T09:00:00.000000+00:00", seconds=0.0, attempts=1,
        )  # fmt: skip
        self.ledger.add([(reply, [Verdict(a, v, "ok") for a, v in values.items()])])

    def person(self, item: int, values: Mapping[str, Value], user: str = "ann", **how: Any) -> None:
        response = Response(
            item_id=self.ids[item], content_hash=self.contents[item], user=user,
            status="submitted", values=values, note="", time=in_utc("2026-11-29T10:00:00"),
            via="argilla", mode="blind", dataset="d-blind", suggested={}, raw="{}",
        )  # fmt: skip
        record_responses(self.ledger, [replace(response, **how)], FORM)

    def calibrated(self, *attributes: str, **more: Any) -> Calibration:
        return calibrate(
            self.ledger, CORE, self.items, settings=ConsolidationSettings(),
            resampling=Resampling(replicates=200), attributes=attributes, **more,
        )  # fmt: skip

    def attribute(self, name: str) -> AttributeCalibration:
        return self.calibrated(name).attributes[0]


@pytest.fixture
def review(tmp_path: Path, make_items: MakeItems) -> Review:
    return Review(tmp_path / "ledger.sqlite", make_items(100))


def test_levels_beside_those_of_a_person(review: Review) -> None:
    # The model says 0 1 2 3 in turn; the person the same, but 1 for each of five 0.
    for item in range(100):
        review.model(item, {"clarity": item % 4})
    for item in range(40):
        review.person(item, {"clarity": 1 if item < 20 and item % 4 == 0 else item % 4})
    found = review.attribute("clarity")
    assert (found.items, found.missing, found.responses) == (40, 0, 40)
    assert found.people == ("human:ann",)
    assert found.confusion is not None
    assert found.confusion.tolist() == [[5, 0, 0, 0], [5, 10, 0, 0], [0, 0, 10, 0], [0, 0, 0, 10]]
    assert found.accuracy.value == pytest.approx(35 / 40)
    assert found.accuracy.interval.low < 0.8 < 0.9 < found.accuracy.interval.high
    assert found.bias["mean level"].value == pytest.approx(-5 / 40)
    assert found.bias["mean level"].interval.high < 0
    assert found.alpha.raw == pytest.approx(35 / 40)
    assert found.alpha.pairable == 40


def test_a_value_is_corrected_where_the_model_gives_it_too_often(review: Review) -> None:
    # 40 of 100 by the model; of the 40 sampled 16, of which 8 are right, and no other one.
    for item in range(100):
        review.model(item, {"uses_negation": item % 5 < 2})
    for item in range(40):
        review.person(item, {"uses_negation": item % 5 == 0})
    calibration = review.calibrated("uses_negation")
    bias = calibration.attributes[0].bias
    assert bias["true"].value == pytest.approx(0.2)
    assert bias["false"].value == pytest.approx(-0.2)
    (composition,) = calibration.compositions
    assert (composition.benchmark, composition.items, composition.labelled) == ("bench", 100, 40)
    share = {one.value: one.found for one in composition.estimates}["true"]
    assert share.predicted == pytest.approx(0.4)
    assert share.estimate == pytest.approx(0.2)
    assert share.labels_only.value == pytest.approx(0.2)
    assert share.interval.low < 0.2 < share.interval.high < 0.4


def test_two_people_count_half_each(review: Review) -> None:
    for item in range(4):
        review.model(item, {"uses_negation": True})
        review.person(item, {"uses_negation": True})
        review.person(item, {"uses_negation": item < 2}, user="ben")
    found = review.attribute("uses_negation")
    assert found.people == ("human:ann", "human:ben")
    assert (found.items, found.responses) == (4, 8)
    assert found.confusion is not None
    assert found.confusion.tolist() == [[0, 1], [0, 3]]
    assert found.accuracy.value == pytest.approx(3 / 4)
    assert found.bias["true"].value == pytest.approx(1 / 4)


def test_only_blind_submitted_answers_count(review: Review) -> None:
    for item in range(10):
        review.model(item, {"uses_negation": True})
    review.person(0, {"uses_negation": False}, mode="seen", dataset="d")
    review.person(1, {"uses_negation": False}, mode="adjudication", dataset="d-conflicts")
    review.person(2, {"uses_negation": False}, status="draft")
    review.person(3, {"uses_negation": False}, status="discarded")
    review.person(4, {"uses_negation": True})
    review.person(4, {"uses_negation": False}, mode="seen", dataset="d", time=in_utc("2026-11-30"))
    found = review.attribute("uses_negation")
    assert found.items == 1
    assert found.accuracy.value == 1


def test_what_was_not_drawn_at_random_is_left_out(review: Review) -> None:
    for item in range(20):
        review.model(item, {"uses_negation": True})
        review.person(item, {"uses_negation": item < 10})
    found = review.calibrated("uses_negation", sample=review.ids[:10]).attributes[0]
    assert (found.items, found.responses, found.accuracy.value) == (10, 10, 1)


def test_a_missing_value_is_not_wrong(review: Review) -> None:
    for item in range(20):
        review.person(item, {"uses_negation": item < 10})
        if item % 2:
            review.model(item, {"uses_negation": item < 10})
    calibration = review.calibrated("uses_negation")
    found = calibration.attributes[0]
    assert (found.items, found.missing) == (10, 10)
    assert found.accuracy.value == 1
    estimate = {one.value: one for one in calibration.compositions[0].estimates}["true"]
    share = estimate.found
    # Five of the ten with a value; without one an item is predicted to have none: 5 of 100 items.
    assert estimate.annotated == pytest.approx(0.5)
    assert share.predicted == pytest.approx(0.05)
    assert share.labels_only.value == pytest.approx(0.5)
    assert share.interval.low < share.estimate < share.interval.high


def test_labels_are_compared_one_by_one(review: Review) -> None:
    for item in range(20):
        review.model(item, {"sensitive_topics": ["religion", "politics"][: 1 + item % 2]})
        review.person(item, {"sensitive_topics": ["religion"]})
    found = review.attribute("sensitive_topics")
    assert found.confusion is None
    assert found.accuracy.value == pytest.approx(0.5)
    assert found.bias["politics"].value == pytest.approx(0.5)
    assert found.bias["religion"].value == 0


def test_strata_count_by_their_size(review: Review) -> None:
    # 20 of 80 items of the one stratum, all right; 10 of 20 of the other, all wrong.
    strata = ["large"] * 80 + ["small"] * 20
    for item in range(100):
        review.model(item, {"uses_negation": True})
    for item in (*range(20), *range(80, 90)):
        review.person(item, {"uses_negation": item < 80})
    found = review.calibrated("uses_negation", strata=strata)
    assert found.attributes[0].accuracy.value == pytest.approx(0.8)
    share = {one.value: one.found for one in found.compositions[0].estimates}["true"]
    assert share.estimate == pytest.approx(0.8)
    assert share.predicted == 1


def test_what_could_not_be_drawn_is_not_told_of(review: Review) -> None:
    for item in range(100):
        review.model(item, {"uses_negation": item >= 50})
        if item < 20:
            review.person(item, {"uses_negation": False})
    found = review.calibrated("uses_negation", strata=["drawn"] * 50 + [None] * 50)
    (composition,) = found.compositions
    assert (composition.items, composition.labelled) == (50, 20)
    assert [one.annotated for one in composition.estimates] == [1, 0]


def test_a_stratum_with_too_few_joins_another(review: Review) -> None:
    strata = ["large"] * 80 + ["small"] * 20
    for item in range(100):
        review.model(item, {"uses_negation": True})
    for item in (*range(20), 80):
        review.person(item, {"uses_negation": item < 80})
    share = review.calibrated("uses_negation", strata=strata).compositions[0].estimates[1].found
    assert (share.labelled, share.items) == (21, 100)
    assert share.estimate == pytest.approx(20 / 21)


def test_what_is_undefined_says_why(review: Review) -> None:
    review.model(0, {"uses_negation": True})
    review.person(1, {"uses_negation": True})
    calibration = review.calibrated()
    assert [one.attribute.id for one in calibration.attributes] == [a.id for a in CORE]
    found = {one.attribute.id: one for one in calibration.attributes}["uses_negation"]
    assert (found.items, found.missing) == (0, 1)
    assert math.isnan(found.accuracy.value)
    assert found.accuracy.reason == found.alpha.reason == "no item has values of both"
    (composition,) = calibration.compositions
    assert composition.estimates == ()
    assert composition.reason == "1 of the items has values by people, fewer than 10"
    nothing = {one.attribute.id: one for one in calibration.attributes}["sensitive_topics"]
    assert nothing.alpha.reason == "no item has values of both"


def test_a_rule_is_calibrated_where_there_is_no_model(review: Review) -> None:
    for item in range(10):
        review.model(item, {"uses_negation": True}, name="rule:words")
        review.person(item, {"uses_negation": True})
    assert review.attribute("uses_negation").items == 10


def test_replies_that_are_no_json_are_not_blind(review: Review) -> None:
    review.model(0, {"uses_negation": True})
    review.model(0, {"uses_negation": True}, name="human:table")
    assert review.attribute("uses_negation").items == 0
