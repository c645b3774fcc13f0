from __future__ import annotations

import socket
from collections import Counter
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from benchprism.annotate.asking.annotator import Annotator, run_annotator
from benchprism.annotate.asking.recorder import Summary
from benchprism.annotate.asking.request_form import bounded
from benchprism.annotate.ledger.store import Ledger
from benchprism.prompts.catalogue import Catalogue
from benchprism.prompts.messages import make_prompt
from benchprism.records.errors import BudgetReached, EndpointError, InputError

Start = Callable[..., AbstractContextManager[Any]]
MakeItems = Callable[..., pa.Table]
MakeAnnotator = Callable[..., Annotator]


@pytest.fixture
def ledger(tmp_path: Path) -> Path:
    return tmp_path / "ledger.sqlite"


def replies(ledger: Path, columns: str = "item_id, status") -> list[tuple[Any, ...]]:
    with Ledger(ledger) as opened:
        return [*opened.query(f"SELECT {columns} FROM latest_reply ORDER BY item_id")]


def test_every_item_is_asked_once_and_known_after(
    fault_server: Start, make_items: MakeItems, annotator_at: MakeAnnotator, core: Catalogue,
    ledger: Path,
) -> None:  # fmt: skip
    items = make_items(40)
    slow = {f"What is {n} plus {n}?": [("hang", {"seconds": 0.02})] for n in range(40)}
    with fault_server(scripts=slow) as server:
        annotator = annotator_at(server.base_url, concurrency=7)
        first = run_annotator(annotator, items, core, ledger)
        again = run_annotator(annotator, items, core, ledger)
    assert first.statuses == Counter(ok=40)
    assert (first.prompt_tokens, first.cached_tokens, first.completion_tokens) == (280, 200, 120)
    assert (again.asked, again.already) == (0, 40)
    assert set(server.asked.values()) == {1}
    assert server.most_at_once == 7
    with Ledger(ledger) as opened:
        annotations = list(opened.annotations())
    assert len(annotations) == 40 * 24
    assert {(a.status, a.annotator, a.catalogue_hash) for a in annotations} == {
        ("ok", "llm:test", core.hash)
    }


def test_the_request_is_what_an_endpoint_expects(
    fault_server: Start, make_items: MakeItems, annotator_at: MakeAnnotator, core: Catalogue,
    ledger: Path,
) -> None:  # fmt: skip
    with fault_server() as server:
        annotator = annotator_at(server.base_url, api_key="sk-secret", temperature=0.5)
        run_annotator(annotator, make_items(1), core, ledger)
    (body,) = server.bodies
    prompt = make_prompt(core, "multiple_choice")
    assert body["model"] == "m"
    assert body["temperature"] == 0.5
    assert body["max_tokens"] == 2000
    assert [message["role"] for message in body["messages"]] == ["system", "user"]
    assert body["messages"][0]["content"] == prompt.system
    assert body["response_format"]["json_schema"]["schema"] == bounded(prompt.schema)
    assert body["response_format"]["json_schema"]["strict"] is True
    assert server.headers[0]["Authorization"] == "Bearer sk-secret"


SCRIPTS: dict[str, tuple[list[Any], str, int]] = {
    "busy": ([("status", {"status": 429, "headers": {"retry-after-ms": "5"}})] * 2, "ok", 3),
    "filter": ([("status", {"status": 400, "code": "content_filter"})], "filtered", 1),
    "down": (["html", ("status", {"status": 500})], "ok", 3),
    "long": ([("status", {"status": 400, "code": "context_length_exceeded"})], "too_long", 1),
    "odd": ([("status", {"status": 422})], "error", 1),
    "reset": (["reset"], "ok", 2),
    "refuses": ([("message", {"content": None, "refusal": "I can't."})], "refused", 1),
    "sorry": ([("message", {"content": "I'm sorry, I can't do that."})], "refused", 1),
    "cut": (["cut"], "ok", 2),
    "half": ([("message", {"content": "{", "finish_reason": "length"})], "ok", 2),
    "cropped": ([("message", {"content": "{", "finish_reason": "length"})] * 2, "truncated", 2),
    "disguised": ([("error200", {"code": 529})], "ok", 2),
    "silent": ([("message", {"content": ""})], "empty", 1),
    "nothing": (["no_choices"], "empty", 1),
    "gone": ([("status", {"status": 503})] * 3, "error", 3),
    "prose": ([("message", {"content": "It is clear."})], "invalid", 1),
    "range": ([("message", {"content": '{"values": {"clarity": 9}}'})], "invalid", 1),
    "fine": ([], "ok", 1),
}
"""Question to what it meets, how it ends, and how often it is asked among others that are answered:
where three fail in a row it is an outage."""


def test_each_fault_ends_in_its_state_and_is_asked_as_often_as_it_should(
    fault_server: Start, make_items: MakeItems, annotator_at: MakeAnnotator, core: Catalogue,
    ledger: Path,
) -> None:  # fmt: skip
    well: tuple[list[Any], str, int] = ([], "ok", 1)
    between = {f"{question} {n}": well for question in SCRIPTS for n in range(6)}
    met = dict(sorted((SCRIPTS | between).items()))
    items = make_items([*met])
    scripts = {question: script for question, (script, _, _) in met.items()}
    with fault_server(scripts=scripts) as server:
        annotator = annotator_at(server.base_url)
        summary = run_annotator(annotator, items, core, ledger)
        again = run_annotator(annotator, items, core, ledger)
    states = sorted(replies(ledger), key=lambda row: int(row[0].rsplit("/")[-1]))
    assert dict(zip(met, (status for _, status in states), strict=True)) == {
        question: status for question, (_, status, _) in met.items()
    }
    assert server.asked == {question: asked for question, (_, _, asked) in met.items()}
    assert summary.asked == len(items)
    assert again.asked == 0
    with Ledger(ledger) as opened:
        tokens = [*opened.query("SELECT sum(prompt_tokens) FROM reply")]
        valued = [
            *opened.query("SELECT count(*) FROM annotation WHERE (value IS NULL) = (status = 'ok')")
        ]
    assert tokens == [(server.prompt_tokens,)]
    assert valued == [(0,)]


def test_a_slow_endpoint_is_given_up_in_bounded_time(
    fault_server: Start, make_items: MakeItems, annotator_at: MakeAnnotator, core: Catalogue,
    ledger: Path,
) -> None:  # fmt: skip
    script = [("hang", {"seconds": 30.0})] * 2
    with fault_server(scripts={"slow": script}) as server:
        annotator = annotator_at(server.base_url, timeout=0.2, patience={"attempts": 2})
        run_annotator(annotator, make_items(["fast", "slow"]), core, ledger)
    assert replies(ledger) == [("bench/test/0", "ok"), ("bench/test/1", "error")]


@pytest.mark.parametrize(
    ("options", "wanted"),
    [
        ({"status": 401, "message": "bad key"}, "rejects the key"),
        ({"status": 404, "message": "no such model"}, "refuses the request for 'm'"),
        ({"status": 400, "message": "unknown parameter"}, "unknown parameter"),
    ],
)
def test_an_endpoint_that_will_not_serve_ends_the_run_after_one_request(
    fault_server: Start, make_items: MakeItems, annotator_at: MakeAnnotator, core: Catalogue,
    ledger: Path, options: dict[str, Any], wanted: str,
) -> None:  # fmt: skip
    items = make_items(20)
    scripts = {f"What is {n} plus {n}?": [("status", options)] for n in range(20)}
    with fault_server(scripts=scripts) as server, pytest.raises(EndpointError, match=wanted):
        run_annotator(annotator_at(server.base_url), items, core, ledger)
    assert server.asked.total() == 1
    assert replies(ledger) == []


def test_an_endpoint_that_has_answered_may_err_once(
    fault_server: Start, make_items: MakeItems, annotator_at: MakeAnnotator, core: Catalogue,
    tmp_path: Path,
) -> None:  # fmt: skip
    once = [("status", {"status": code}) for code in (401, 404)]
    with fault_server(scripts={"third": [*once], "fourth": [once[1]]}) as server:
        annotator = annotator_at(server.base_url, concurrency=1)
        summary = run_annotator(
            annotator, make_items(["first", "second", "third", "fourth"]), core, tmp_path / "l"
        )
        assert summary.statuses == Counter(ok=4)
        lasting = [("status", {"status": 401, "message": "revoked"})] * 9
        server.scripts = {"sixth": lasting}
        with pytest.raises(EndpointError, match="rejects the key"):
            run_annotator(annotator, make_items(["fifth", "sixth"]), core, tmp_path / "m")
        assert server.asked["sixth"] == 3


def test_an_endpoint_that_is_not_there_is_one_sentence(
    make_items: MakeItems, annotator_at: MakeAnnotator, core: Catalogue, ledger: Path
) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    annotator = annotator_at(f"http://127.0.0.1:{port}/v1")
    with pytest.raises(EndpointError, match="is it running"):
        run_annotator(annotator, make_items(3), core, ledger)


def test_quota_that_runs_out_stops_the_run_and_keeps_what_came(
    fault_server: Start, make_items: MakeItems, annotator_at: MakeAnnotator, core: Catalogue,
    ledger: Path,
) -> None:  # fmt: skip
    out = ("status", {"status": 429, "code": "insufficient_quota"})
    scripts = {f"What is {n} plus {n}?": [out] for n in range(10, 40)}
    items = make_items(40)
    with fault_server(scripts=scripts) as server:
        annotator = annotator_at(server.base_url, concurrency=4)
        with pytest.raises(BudgetReached) as error:
            run_annotator(annotator, items, core, ledger)
        assert error.value.exit_code == 4
        kept = len(replies(ledger))
        assert 7 <= kept <= 10
        assert server.asked.total() <= kept + 4
        server.scripts.clear()
        rest = run_annotator(annotator, items, core, ledger)
    assert rest.statuses == Counter(ok=40 - kept)


def test_an_endpoint_that_accepts_no_item_ends_the_run(
    fault_server: Start, make_items: MakeItems, annotator_at: MakeAnnotator, core: Catalogue,
    ledger: Path,
) -> None:  # fmt: skip
    broken = {f"What is {n} plus {n}?": [("status", {"status": 422})] for n in range(100)}
    with fault_server(scripts=broken) as server:
        annotator = annotator_at(server.base_url, patience={"errors": 5})
        with pytest.raises(EndpointError, match="5 items in a row ended in an error"):
            run_annotator(annotator, make_items(100), core, ledger)
    assert 5 <= len(replies(ledger)) <= 9


def test_one_refusal_slows_every_worker(
    fault_server: Start, make_items: MakeItems, annotator_at: MakeAnnotator, core: Catalogue,
    ledger: Path,
) -> None:  # fmt: skip
    busy = ("status", {"status": 429, "headers": {"retry-after-ms": "20"}})
    scripts = {f"What is {n} plus {n}?": [busy] for n in range(1, 9)}
    with fault_server(scripts=scripts) as server:
        annotator = annotator_at(server.base_url, concurrency=8)
        summary = run_annotator(annotator, make_items(30), core, ledger)
    assert summary.statuses == Counter(ok=30)
    assert server.asked.total() == 38


def test_only_failures_that_are_named_are_asked_again(
    fault_server: Start, make_items: MakeItems, annotator_at: MakeAnnotator, core: Catalogue,
    ledger: Path,
) -> None:  # fmt: skip
    scripts = {
        "prose": [("message", {"content": "It is clear."})],
        "half": [("message", {"content": "{", "finish_reason": "length"})] * 2,
        "silent": [("message", {"content": ""})],
    }
    items = make_items(["well", *scripts])
    with fault_server(scripts=scripts) as server:
        small = annotator_at(server.base_url, max_output_tokens=10)
        run_annotator(small, items, core, ledger)
        larger = annotator_at(server.base_url, max_output_tokens=99)
        second = run_annotator(larger, items, core, ledger, retry=["truncated", "invalid"])
    assert (second.statuses, second.already) == (Counter(ok=2), 2)
    assert server.asked == {"well": 1, "prose": 2, "half": 3, "silent": 1}
    assert [status for _, status in replies(ledger)] == ["ok", "ok", "ok", "empty"]


@pytest.mark.parametrize(
    "changes", [{"name": "llm:other"}, {"temperature": 1.0}, {"max_output_tokens": 5}]
)
def test_a_request_is_the_same_as_long_as_its_reply_may_be(
    fault_server: Start, make_items: MakeItems, annotator_at: MakeAnnotator, core: Catalogue,
    ledger: Path, changes: dict[str, Any],
) -> None:  # fmt: skip
    items = make_items(3)
    with fault_server() as server:
        run_annotator(annotator_at(server.base_url), items, core, ledger)
        changed = run_annotator(annotator_at(server.base_url, **changes), items, core, ledger)
    assert changed.asked == (0 if "max_output_tokens" in changes else 3)


def test_a_new_key_of_an_item_is_a_new_request(
    fault_server: Start, make_items: MakeItems, annotator_at: MakeAnnotator, core: Catalogue,
    ledger: Path,
) -> None:  # fmt: skip
    items = make_items(2)
    place = items.schema.get_field_index("answer_index")
    mended = items.set_column(place, "answer_index", pa.array([0, 1], pa.int32()))
    with fault_server() as server:
        annotator = annotator_at(server.base_url)
        run_annotator(annotator, items, core, ledger)
        assert run_annotator(annotator, mended, core, ledger).asked == 1


def test_an_item_that_is_too_long_is_not_sent(
    fault_server: Start, make_items: MakeItems, annotator_at: MakeAnnotator, core: Catalogue,
    ledger: Path,
) -> None:  # fmt: skip
    items = make_items(["short", "x" * 200_000])
    with fault_server() as server:
        run_annotator(annotator_at(server.base_url), items, core, ledger)
    assert [status for _, status in replies(ledger)] == ["ok", "too_long"]
    assert server.asked.total() == 1


def test_the_key_does_not_reach_the_ledger(
    fault_server: Start, make_items: MakeItems, annotator_at: MakeAnnotator, core: Catalogue,
    ledger: Path,
) -> None:  # fmt: skip
    scripts = {
        "echo": [("message", {"content": "your key is sk-secret-key"})],
        "error": [("status", {"status": 422, "message": "key sk-secret-key"})],
    }
    with fault_server(scripts=scripts) as server:
        annotator = annotator_at(server.base_url, api_key="sk-secret-key")
        run_annotator(annotator, make_items(["well", *scripts]), core, ledger)
    assert "sk-secret-key" not in repr(annotator)
    stored = repr(replies(ledger, "*"))
    assert "your key is ***" in stored
    assert "sk-secret" not in stored


@pytest.mark.parametrize("key", ["sk-\u2013dash", "sk-a\nb"])
def test_a_key_that_cannot_be_sent_is_one_sentence(
    make_items: MakeItems, annotator_at: MakeAnnotator, core: Catalogue, ledger: Path, key: str
) -> None:
    annotator = annotator_at("http://127.0.0.1:1/v1", api_key=key)
    with pytest.raises(InputError, match="characters that no key has"):
        run_annotator(annotator, make_items(1), core, ledger)


@pytest.mark.parametrize(
    "address", ["localhost:8000/v1", "ftp://host/v1", "what", "http://u:pw@host/v1"]
)
def test_an_address_that_is_none_is_one_sentence(
    make_items: MakeItems, annotator_at: MakeAnnotator, core: Catalogue, ledger: Path, address: str
) -> None:
    with pytest.raises(InputError, match="base_url"):
        run_annotator(annotator_at(address), make_items(1), core, ledger)


def test_no_items_is_no_request(
    fault_server: Start, make_items: MakeItems, annotator_at: MakeAnnotator, core: Catalogue,
    ledger: Path,
) -> None:  # fmt: skip
    with fault_server() as server:
        summary = run_annotator(annotator_at(server.base_url), make_items(0), core, ledger)
    assert summary == Summary("llm:test")


def test_an_endpoint_on_this_machine_needs_no_proxy(
    fault_server: Start, make_items: MakeItems, annotator_at: MakeAnnotator, core: Catalogue,
    ledger: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    with fault_server() as server:
        summary = run_annotator(annotator_at(server.base_url), make_items(2), core, ledger)
    assert summary.statuses == Counter(ok=2)


def test_a_kind_of_item_that_no_attribute_asks_about_is_not_sent(
    fault_server: Start, make_items: MakeItems, annotator_at: MakeAnnotator, core: Catalogue,
    ledger: Path,
) -> None:  # fmt: skip
    only = core["clarity"].model_copy(update={"applies_to": "generative"})
    dimension = core.dimensions[0].model_copy(update={"attributes": [only]})
    narrow = core.model_copy(update={"dimensions": [dimension]})
    with fault_server() as server:
        summary = run_annotator(annotator_at(server.base_url), make_items(2), narrow, ledger)
    assert (summary.asked, server.asked.total()) == (0, 0)
