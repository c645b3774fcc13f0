from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest

from benchprism.annotate.traffic.faults import Fault, Response, fault_of, fault_of_silence
from benchprism.records.errors import BudgetReached, EndpointError


def fault(status: int, error: Any = None, **headers: str) -> Fault | None:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    text = error if isinstance(error, str) else json.dumps({"error": error})
    return fault_of(Response(status, named, text), endpoint="http://e/v1", model="m")


def test_an_answer_is_no_fault() -> None:
    assert fault_of(Response(200, {}, '{"choices": []}'), endpoint="e", model="m") is None
    assert fault_of(Response(200, {}, "[]"), endpoint="e", model="m") is None


@pytest.mark.parametrize(
    ("status", "error", "remedy", "item_status"),
    [
        (429, {"message": "slow down", "code": "rate_limit_exceeded"}, "wait", "error"),
        (429, {"message": "no money", "code": "insufficient_quota"}, "stop", "error"),
        (429, {"message": "no money", "type": "insufficient_quota", "code": None}, "stop", "error"),
        (402, {"message": "pay"}, "stop", "error"),
        (400, {"message": "no", "code": "content_filter"}, "settle", "filtered"),
        (403, {"message": "no", "code": "content_policy_violation"}, "settle", "filtered"),
        (400, {"message": "long", "code": "context_length_exceeded"}, "settle", "too_long"),
        (400, {"message": "exceeds the available context size"}, "settle", "too_long"),
        (413, "Payload too large", "settle", "too_long"),
        (
            403,
            {"message": "Your chosen model requires moderation and your input was flagged"},
            "settle",
            "filtered",
        ),
        (400, {"message": "The prompt was flagged by our safety system."}, "settle", "filtered"),
        (403, {"message": "Your account was flagged"}, "stop", "error"),
        (400, {"message": "bad parameter"}, "settle", "error"),
        (422, {"message": "unprocessable"}, "settle", "error"),
        (401, {"message": "bad key"}, "stop", "error"),
        (403, {"message": "not yours"}, "stop", "error"),
        (404, {"message": "no such model"}, "stop", "error"),
        (408, "", "again", "error"),
        (409, "", "again", "error"),
        (500, {"message": "oops"}, "again", "error"),
        (502, "<html>bad gateway</html>", "again", "error"),
        (529, {"message": "overloaded"}, "again", "error"),
        (200, {"message": "overloaded", "code": 529}, "again", "error"),
        (200, {"message": "slow down", "code": 429}, "wait", "error"),
        (200, {"message": "no money", "code": "insufficient_quota"}, "stop", "error"),
        (200, '{"id": "c", "choi', "again", "error"),
    ],
)
def test_each_fault_has_its_remedy(status: int, error: Any, remedy: str, item_status: str) -> None:
    found = fault(status, error)
    assert found is not None
    assert (found.remedy, found.status) == (remedy, item_status)
    assert found.reason.startswith(f"HTTP {status}")
    assert (found.error is not None) == (remedy == "stop" or error == {"message": "bad parameter"})


def test_what_ends_a_run_is_a_sentence_with_the_mend() -> None:
    money, key, model = fault(429, {"code": "insufficient_quota"}), fault(401, {}), fault(404, {})
    assert money is not None
    assert key is not None
    assert model is not None
    assert isinstance(money.error, BudgetReached)
    assert money.error.exit_code == 4
    assert "saved" in money.error.mend
    assert isinstance(key.error, EndpointError)
    assert "OPENAI_API_KEY" in key.error.mend
    assert isinstance(model.error, EndpointError)
    assert "'m'" in model.error.found


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry_after": "20"}, 20.0),
        ({"retry_after": "0.5"}, 0.5),
        ({"retry_after_ms": "300"}, 0.3),
        ({"retry_after_ms": "300", "retry_after": "20"}, 0.3),
        ({"retry_after": "soon"}, None),
        ({"retry_after": "-5"}, None),
        ({"retry_after": "nan"}, None),
        ({}, None),
    ],
)
def test_the_wait_that_is_asked_for(headers: dict[str, str], seconds: float | None) -> None:
    found = fault(429, {"message": "slow down"}, **headers)
    assert found is not None
    assert found.seconds == seconds


@pytest.mark.parametrize(
    ("body", "named"),
    [
        ({"error": {"message": "no seed", "param": "seed"}}, "seed no seed"),
        ({"error": "no seed"}, "no seed"),
        ({"detail": "no seed"}, "no seed"),
        (
            {"detail": [{"loc": ["body", "seed"], "msg": "extra", "input": {"stop": 1}}, 7]},
            "['body', 'seed']: extra",
        ),
        ({"detail": []}, '{"detail": []}'),
    ],
)
def test_what_an_error_names(body: Any, named: str) -> None:
    found = fault_of(Response(422, {}, json.dumps(body)), endpoint="e", model="m")
    assert found is not None
    assert found.names.strip() == named
    assert found.code == 422


def test_an_overloaded_endpoint_that_names_a_pause_slows_everyone() -> None:
    named, plain = fault(503, {}, retry_after="7"), fault(503, {})
    assert named is not None
    assert plain is not None
    assert (named.remedy, named.seconds) == ("wait", 7.0)
    assert plain.remedy == "again"


@pytest.mark.parametrize(("ahead", "least", "most"), [(60, 55, 61), (-60, 0, 0)])
def test_a_wait_as_a_date(ahead: int, least: float, most: float) -> None:
    date = datetime.now(UTC) + timedelta(seconds=ahead)
    found = fault(429, {}, retry_after=format_datetime(date, usegmt=True))
    assert found is not None
    assert found.seconds is not None
    assert least <= found.seconds <= most


def test_an_endpoint_that_is_not_there_is_asked_whether_it_runs() -> None:
    refused = ConnectionRefusedError("refused")
    never = fault_of_silence(refused, endpoint="http://e/v1", reached=False)
    assert never.remedy == "again"
    assert isinstance(never.error, EndpointError)
    assert "is it running?" in str(never.error)
    assert fault_of_silence(TimeoutError(), endpoint="e", reached=True).error is None


def test_a_message_is_one_line_that_can_be_stored() -> None:
    found = fault(500, {"message": "a\nb \ud800" + "x" * 5000})
    assert found is not None
    assert "\n" not in found.reason
    assert len(found.reason) < 300
    found.reason.encode("utf-8")


def test_a_mark_of_the_byte_order_is_no_part_of_the_json() -> None:
    response = Response(200, {}, '\ufeff{"choices": []}')
    assert fault_of(response, endpoint="e", model="m") is None
    assert response.content == {"choices": []}
