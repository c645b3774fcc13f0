from __future__ import annotations

from pathlib import Path

import pytest

from benchprism.annotate.asking.capabilities import (
    RUNGS,
    Capability,
    Rung,
    capability_of,
    keep,
    learned,
    next_rung,
    recall,
)
from benchprism.annotate.ledger.store import Ledger
from benchprism.annotate.traffic.faults import Fault, Response, fault_of

SENT = ("max_tokens", "temperature", "seed")


def rejection(status: int, body: str) -> Fault:
    fault = fault_of(Response(status, {}, body), endpoint="http://e/v1", model="m")
    assert fault is not None
    return fault


def after(rung: Rung, status: int, body: str, sent: tuple[str, ...] = SENT) -> Capability | None:
    return learned(Capability(rung), rejection(status, body), sent=sent, ladder=RUNGS)


@pytest.mark.parametrize(
    ("body", "parameter"),
    [
        (
            '{"error": {"message": "Unsupported value: \'temperature\' does not support 0.5 with'
            ' this model. Only the default (1) value is supported.",'
            ' "param": "temperature", "code": "unsupported_value"}}',
            "temperature",
        ),
        ('{"error": {"message": "Unrecognized request argument supplied: seed"}}', "seed"),
        (
            '{"detail": [{"type": "extra_forbidden", "loc": ["body", "seed"],'
            ' "msg": "Extra inputs are not permitted", "input": {"temperature": 1}}]}',
            "seed",
        ),
    ],
)
def test_a_rejected_parameter_is_left_out(body: str, parameter: str) -> None:
    for status in (400, 422):
        found = after("json_schema", status, body)
        assert found is not None
        assert (found.rung, found.left_out) == ("json_schema", (parameter,))
        assert found.notes[0].startswith(f"{parameter} is left out (HTTP {status}: ")


def test_a_limit_is_tried_under_its_other_name_and_then_left_out() -> None:
    message = (
        "Unsupported parameter: 'max_tokens' is not supported with this model."
        " Use 'max_completion_tokens' instead."
    )
    first = after("text", 400, f'{{"error": {{"message": "{message}", "param": "max_tokens"}}}}')
    assert first is not None
    assert (first.limit, first.left_out) == ("max_completion_tokens", ("max_tokens",))
    unknown = rejection(422, '{"detail": "unknown field max_completion_tokens"}')
    second = learned(first, unknown, sent=["max_completion_tokens"], ladder=RUNGS)
    assert second is not None
    assert second.limit == ""


@pytest.mark.parametrize(
    ("rung", "status", "body", "lower"),
    [
        ("decisions", 404, "404: Not Found", "json_schema"),
        ("decisions", 405, '{"detail": "Method Not Allowed"}', "json_schema"),
        ("decisions", 400, '{"error": {"message": "model m is not supported"}}', "json_schema"),
        ("decisions", 403, '{"error": {"message": "no access to the beta"}}', "json_schema"),
        (
            "json_schema",
            400,
            '{"error": {"message": "This response_format type is unavailable now"}}',
            "json_object",
        ),
        (
            "json_schema",
            500,
            '{"error": {"message": "[{\'loc\': (\'body\', \'response_format\', \'type\'),'
            " 'msg': \\\"Input should be 'text' or 'json_object'\\\"}]\"}}",
            "json_object",
        ),
        ("json_schema", 400, '{"error": {"message": "Failed to compile the grammar"}}',
         "json_object"),
        ("json_object", 422, '{"detail": "response_format is not supported"}', "tool"),
        ("tool", 400, '{"error": {"message": "this model does not support tools"}}', "text"),
    ],
)  # fmt: skip
def test_a_rejected_rung_gives_way_to_the_next(
    rung: Rung, status: int, body: str, lower: Rung
) -> None:
    found = after(rung, status, body)
    assert found is not None
    assert (found.rung, found.hold) == (lower, "open")
    noted = [f"{lower} in place of {rung} (HTTP {status}"] if status not in {404, 405} else []
    assert [note.partition(":")[0] for note in found.notes] == noted


def test_a_schema_beside_json_object_is_given_up_before_the_rung() -> None:
    body = '{"error": {"message": "Unknown parameter: \'response_format.schema\'."}}'
    found = after("json_object", 400, body, ("max_tokens", "schema"))
    assert found is not None
    assert (found.rung, found.left_out) == ("json_object", ("schema",))


@pytest.mark.parametrize(
    ("rung", "status", "body"),
    [
        ("json_schema", 401, '{"error": {"message": "bad key"}}'),
        ("json_schema", 404, '{"error": {"message": "no such model"}}'),
        ("json_schema", 400, '{"error": {"message": "bad request"}}'),
        ("json_schema", 400, '{"error": {"message": "no", "code": "content_filter"}}'),
        ("json_schema", 400, '{"error": {"message": "max_tokens is too large: 9000"}}'),
        ("json_schema", 429, '{"error": {"message": "temperature is too high for this tier"}}'),
        ("json_schema", 500, '{"error": {"message": "the schema service crashed"}}'),
        (
            "json_schema", 400,
            '{"error": {"message": "maximum context length is 8192 tokens, max_tokens included",'
            ' "code": "context_length_exceeded"}}',
        ),
        ("text", 400, '{"error": {"message": "response_format is not supported"}}'),
        ("decisions", 401, '{"error": {"message": "bad key"}}'),
        ("decisions", 429, '{"error": {"message": "slow down"}}'),
        ("decisions", 503, "busy"),
    ],
)  # fmt: skip
def test_nothing_is_learned_from_other_faults(rung: Rung, status: int, body: str) -> None:
    assert after(rung, status, body) is None


def test_an_item_does_not_spoil_decisions_that_have_held() -> None:
    held = Capability("decisions", hold="holds")
    fault = rejection(400, '{"error": {"message": "bad input"}}')
    assert learned(held, fault, sent=(), ladder=RUNGS) is None


def test_a_forced_rung_is_kept() -> None:
    fault = rejection(400, '{"error": {"message": "response_format is not supported"}}')
    ladder: tuple[Rung, ...] = ("json_schema",)
    assert learned(Capability("json_schema"), fault, sent=(), ladder=ladder) is None
    assert next_rung("json_schema", ladder) is None
    missing = rejection(404, "Not Found")
    assert learned(Capability("decisions"), missing, sent=(), ladder=("decisions",)) is None


def test_what_is_known_is_kept_by_endpoint_model_and_ladder(tmp_path: Path) -> None:
    known = Capability("json_object", "max_tokens", ("seed",), "holds", ("seed is left out (é)",))
    assert capability_of(known.text()) == known
    with Ledger(tmp_path / "l.sqlite", write=True) as ledger:
        keep(ledger, "http://e/v1", "m", RUNGS, Capability("json_schema"))
        keep(ledger, "http://e/v1", "m", RUNGS, known)
        keep(ledger, "http://e/v1", "m", ["text"], Capability("text"))
    with Ledger(tmp_path / "l.sqlite") as ledger:
        assert recall([ledger], "http://e/v1", "m", RUNGS) == known
        assert recall([ledger], "http://e/v1", "m", ["text"]) == Capability("text")
        assert recall([ledger], "http://e/v1", "other", RUNGS) is None
        assert recall([ledger], None, "m", RUNGS) is None
