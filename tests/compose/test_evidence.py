from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from benchprism.compose.composer import compose
from benchprism.compose.evidence import STATISTICS, Evidence, with_evidence
from benchprism.compose.language.criteria import Criteria
from benchprism.metrics.scorecard import Model
from benchprism.records.errors import InputError
from benchprism.records.results.matrix import Outcomes

MODELS = ("big", "lone", "mid", "small")
DECLARED = (Model("big", "F", 70), Model("mid", "F", 13), Model("small", "F", 7), Model("lone"))
NAN = float("nan")


@pytest.fixture
def evidence() -> Evidence:
    """Four models on the items of arc and gsm; none on law."""
    arc = np.array(
        [
            [1, 1, 1, 1],
            [1, 0, 0, 0],
            [0, 0, 1, 1],  # the big model fails where both smaller ones succeed
            [1, NAN, 1, 0],
            [0, 0, 0, 0],
        ]
    )
    gsm = np.array([[1, 1, 0, 1], [NAN, NAN, NAN, NAN]])
    return Evidence(
        (
            Outcomes("arc", tuple(f"arc/{n}" for n in range(5)), MODELS, arc),
            Outcomes("gsm", ("gsm/0", "gsm/1"), MODELS, gsm),
        ),
        DECLARED,
    )


def column(table: pa.Table, field: str, evidence: Evidence) -> dict[str, float | None]:
    found = with_evidence(table, {field: ("where", field)}, evidence)
    values = found[field].to_pylist()
    return dict(zip(table["item_id"].to_pylist(), values, strict=True))


def test_statistics_by_hand(table: pa.Table, evidence: Evidence) -> None:
    difficulty = column(table, "difficulty", evidence)
    assert difficulty["arc/0"] == 0
    assert difficulty["arc/1"] == 0.75
    assert difficulty["arc/3"] == 0.333333333  # 1 of 3 with a score; nine decimals
    assert difficulty["gsm/1"] is None
    assert difficulty["law/0"] is None
    rates = column(table, "inversion_rate", evidence)
    # big under mid and under small, of three pairs
    assert rates["arc/2"] == 0.666666667
    assert rates["arc/1"] == 0
    # small over mid: one of three
    assert rates["gsm/0"] == 0.333333333
    cad = column(table, "cad", evidence)
    assert cad["arc/2"] == round(np.exp(-12 * 2 / 3), 9)
    assert column(table, "variance", evidence)["arc/1"] == 0.1875
    assert column(table, "discrimination", evidence)["arc/0"] is None


def test_a_model_s_score_is_a_field(table: pa.Table, evidence: Evidence) -> None:
    found = column(table, "outcome:lone", evidence)
    assert [found[f"arc/{n}"] for n in range(5)] == [1, 0, 0, None, 0]
    where = {"outcome:big": 1, "not": {"outcome:small": 1}, "difficulty": {"min": 0.4}}
    criteria = Criteria.model_validate({"name": "x", "faults": "keep", "where": where})
    composition = compose(criteria, table, evidence=evidence)
    assert composition.chosen_ids == ["arc/1"]
    assert {"outcome:big", "outcome:small", "difficulty"} <= {*composition.chosen.column_names}
    reasons = {r["item_id"]: r["detail"] for r in composition.excluded.to_pylist()}
    assert reasons["law/0"] == "outcome:small is missing; wanted not (outcome:small = 1)"


def test_only_what_is_asked_for_is_added(table: pa.Table, evidence: Evidence) -> None:
    criteria = Criteria.model_validate({"name": "x"})
    assert compose(criteria, table, evidence=evidence).chosen.schema == table.schema


@pytest.mark.parametrize("field", [*STATISTICS, "outcome:big"])
def test_without_results_there_is_nothing_to_ask(field: str, table: pa.Table) -> None:
    criteria = Criteria.model_validate({"name": "x", "where": {field: {"min": 0}}})
    with pytest.raises(InputError, match=r"which needs results; .* 'benchprism results add FILE'"):
        compose(criteria, table)


@pytest.mark.parametrize(
    "parts",
    [
        {"where": {"outcome:bigg": 1}},
        {"prefer": [{"highest": "outcome:bigg"}], "sample": {"size": 1}},
        {"expect": [{"mean": "outcome:bigg", "min": 0}]},
    ],
)
def test_an_unknown_model(parts: dict[str, Any], table: pa.Table, evidence: Evidence) -> None:
    criteria = Criteria.model_validate({"name": "x", **parts})
    with pytest.raises(InputError, match=r"the unknown model 'bigg'; .* did you mean 'big'"):
        compose(criteria, table, evidence=evidence)


def test_the_last_bits_of_a_score_decide_nothing(table: pa.Table) -> None:
    third = Outcomes("arc", ("arc/0", "arc/1"), ("m",), np.array([[1 / 3], [1 / 3 + 1e-15]]))
    found = column(table, "difficulty", Evidence((third,), ()))
    assert found["arc/0"] == found["arc/1"]
