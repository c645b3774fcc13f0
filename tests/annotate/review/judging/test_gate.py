from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from benchprism.annotate.review.judging.gate import gate_data, judge, meaning, read_gate
from benchprism.annotate.review.settings import GateSettings
from benchprism.metrics.raters.agreement import Agreement
from benchprism.metrics.raters.patterns import UNBOUNDED, Bounds
from benchprism.prompts.library import load_catalogue
from benchprism.records.errors import InputError

CORE = load_catalogue("core")
CLARITY = CORE["clarity"]


def alpha(
    estimate: float, low: float, high: float, items: int = 60, reason: str | None = None
) -> Agreement:
    interval = UNBOUNDED if math.isnan(low) else Bounds(low, high)
    return Agreement(estimate, interval, 0.9, (0.5, 0.5), items, 2, items, reason)


@pytest.mark.parametrize(
    ("found", "sentence"),
    [
        (alpha(0.38, 0.21, 0.52), "alpha 0.38 [0.21, 0.52], not usable as a hard criterion"),
        (alpha(0.81, 0.70, 0.90), "alpha 0.81 [0.70, 0.90], usable as a hard criterion"),
        (
            alpha(0.70, 0.45, 0.86),
            "alpha 0.70 [0.45, 0.86], not enough evidence for a hard criterion (60 items)",
        ),
        (
            alpha(0.60, 0.51, 0.68),
            "alpha 0.60 [0.51, 0.68], not enough evidence for a hard criterion (60 items)",
        ),
        (
            alpha(0.95, 0.85, 1.0, items=12),
            "alpha 0.95 [0.85, 1.00], not enough evidence for a hard criterion (12 items)",
        ),
        (
            alpha(math.nan, math.nan, math.nan, 40, "every rating has the same value"),
            "no alpha, not enough evidence for a hard criterion (40 items, every rating has the"
            " same value)",
        ),
        (
            alpha(math.nan, math.nan, math.nan, 0, "no item has values of both"),
            "no alpha, not enough evidence for a hard criterion (0 items)",
        ),
    ],
)
def test_the_verdict_is_a_sentence(found: Agreement, sentence: str) -> None:
    judged = judge(CLARITY, found, GateSettings())
    assert judged.sentence == f"clarity: {sentence}"
    assert judged.verdict in judged.sentence


def test_thresholds_are_settings() -> None:
    found = alpha(0.81, 0.70, 0.90)
    assert judge(CLARITY, found, GateSettings(alpha=0.9)).verdict == "not enough evidence"
    assert judge(CLARITY, found, GateSettings(alpha=0.91)).verdict == "not usable"
    assert judge(CLARITY, found, GateSettings(alpha_low=0.75)).verdict == "not enough evidence"
    assert judge(CLARITY, found, GateSettings(min_items=61)).verdict == "not enough evidence"


def test_items_that_nobody_drew_prove_nothing() -> None:
    for found in (alpha(0.95, 0.90, 1.0), alpha(0.1, 0.0, 0.2)):
        assert judge(CLARITY, found, GateSettings()).verdict != "not enough evidence"
        judged = judge(CLARITY, found, GateSettings(), drawn=False)
        assert judged.verdict == "not enough evidence"
        assert judged.sentence.endswith("(60 items, not drawn at random by a plan)")


def test_judgements_are_read_as_written(tmp_path: Path) -> None:
    path = tmp_path / "calibration.json"
    assert read_gate(path, CORE) is None
    judged = judge(CLARITY, alpha(0.38, 0.21, 0.52), GateSettings())
    path.write_text(json.dumps(gate_data({"clarity": judged})))
    assert read_gate(path, CORE) == {"clarity": judged}


def test_a_judgement_lapses_with_the_meaning(tmp_path: Path) -> None:
    path = tmp_path / "calibration.json"
    judged = judge(CLARITY, alpha(0.38, 0.21, 0.52), GateSettings())
    path.write_text(json.dumps(gate_data({"clarity": judged})))
    for change, kept in (({"title": "Other"}, True), ({"question": "Other?"}, False)):
        other = CLARITY.model_copy(update=change)
        assert (meaning(other) == meaning(CLARITY)) is kept
        dimensions = [
            d.model_copy(
                update={"attributes": [other if a.id == "clarity" else a for a in d.attributes]}
            )
            for d in CORE.dimensions
        ]
        catalogue = CORE.model_copy(update={"dimensions": dimensions})
        assert read_gate(path, catalogue) == ({"clarity": judged} if kept else {})


@pytest.mark.parametrize("text", ["{", "[]", '{"format": 2, "gate": []}', '{"format": 1}',
                                  '{"format": 1, "gate": [{"attribute": "clarity"}]}'])  # fmt: skip
def test_a_file_that_cannot_be_read_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "calibration.json"
    path.write_text(text)
    with pytest.raises(InputError, match=r"calibration\.json cannot be read"):
        read_gate(path, CORE)
