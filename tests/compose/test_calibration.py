from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from benchprism.annotate.review.judging.gate import Judgement, Verdict
from benchprism.compose.composer import Composition, compose
from benchprism.compose.language.criteria import Criteria
from benchprism.compose.language.errors import CriteriaError
from benchprism.compose.locking.lock import lock
from benchprism.compose.locking.moved import moved
from benchprism.prompts.catalogue import Catalogue

DEEP = {"depth": {"min": 2}}


def judged(verdict: Verdict, attribute: str = "depth") -> dict[str, Judgement]:
    sentence = f"{attribute}: alpha 0.38 [0.21, 0.52], {verdict} as a hard criterion"
    judgement = Judgement(
        attribute=attribute, verdict=verdict, sentence=sentence, alpha=0.38, interval=(0.21, 0.52),
        items=40, meaning="",
    )  # fmt: skip
    return {attribute: judgement}


@pytest.fixture
def made(table: pa.Table, catalogue: Catalogue) -> Any:
    def make(where: Any, gate: dict[str, Judgement] | None, **keys: Any) -> Composition:
        criteria = Criteria.model_validate({"name": "deep", "where": where, **keys})
        return compose(criteria, table, catalogue=catalogue, gate=gate)

    return make


@pytest.mark.parametrize("where", [DEEP, {"any": [DEEP, {"negation": True}]}, {"not": DEEP}])
def test_a_condition_on_an_attribute_is_judged(made: Any, where: Any) -> None:
    assert [*made(where, judged("not usable")).screening.calibration] == ["depth"]


@pytest.mark.parametrize(
    "where",
    [
        {"word_count": {"max": 30}},
        {"depth": {"missing": False}},
        {"depth.confidence": {"min": 0.5}},
    ],
)
def test_what_no_value_of_an_annotator_decides_is_not_judged(made: Any, where: Any) -> None:
    for required in (False, True):
        found = made(where, judged("not usable"), require_calibrated=required)
        assert found.screening.calibration == {}


def test_values_by_people_need_no_proof(table: pa.Table, catalogue: Catalogue) -> None:
    source = table.column_names.index("depth.source")
    people = pa.array([s and "human_majority" for s in table["depth.source"].to_pylist()])
    by_people = table.set_column(source, "depth.source", people)
    where = {"depth": {"min": 2, "human_only": True}}
    criteria = Criteria.model_validate({"name": "deep", "require_calibrated": True, "where": where})
    found = compose(criteria, by_people, catalogue=catalogue, gate=judged("not usable"))
    assert found.screening.calibration == {}


@pytest.mark.parametrize(
    ("gate", "found"),
    [
        (judged("not usable"), "depth: alpha 0.38"),
        (judged("not enough evidence"), "depth: alpha 0.38"),
        (judged("usable", "other"), "depth: not calibrated"),
        (None, "depth: not calibrated"),
    ],
)
def test_what_is_not_usable_is_refused_on_demand(made: Any, gate: Any, found: str) -> None:
    made(DEEP, gate)
    with pytest.raises(CriteriaError, match=found) as error:
        made(DEEP, gate, require_calibrated=True)
    assert error.value.place == ("where", "depth", "min")


def test_what_is_usable_composes(made: Any) -> None:
    assert len(made(DEEP, judged("usable"), require_calibrated=True).rows) > 0


def test_the_lock_keeps_the_judgement(made: Any) -> None:
    without, with_ = (lock(made(DEEP, gate)) for gate in (None, judged("not usable")))
    assert without["calibration"] == {}
    assert with_["calibration"]["depth"] == {
        "verdict": "not usable",
        "sentence": "depth: alpha 0.38 [0.21, 0.52], not usable as a hard criterion",
        "alpha": 0.38,
        "interval": [0.21, 0.52],
        "items": 40,
    }
    assert moved(without, with_) == ["the calibration of depth changed"]
    assert moved({k: v for k, v in without.items() if k != "calibration"}, with_) == [
        "the calibration of depth changed"
    ]


def test_the_demand_is_part_of_the_criteria(made: Any) -> None:
    plain = made(DEEP, judged("usable"), require_calibrated=True).criteria.plain()
    assert plain["require_calibrated"] is True
    assert "require_calibrated" not in made(DEEP, None).criteria.plain()
