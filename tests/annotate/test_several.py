"""One call may carry several items, or one dimension: each item still ends in its own state."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from aiohttp import web

from benchprism.annotate.asking.annotator import Annotator, run_annotator
from benchprism.annotate.asking.plan import Asking
from benchprism.annotate.ledger.standing import ItemCount, standing
from benchprism.annotate.ledger.store import Ledger
from benchprism.annotate.loopback import chat_completions_server
from benchprism.annotate.money.prices import Price
from benchprism.annotate.traffic.endpoint import EndpointSettings
from benchprism.annotate.traffic.patience import Patience
from benchprism.prompts.catalogue import Catalogue
from benchprism.prompts.messages import make_prompt, read_item_messages

Given = Mapping[str, Any]
MakeItems = Callable[..., pa.Table]


@dataclass
class ItemServer:
    """Answers each item of a request by its question."""

    says: Callable[[str], Given | None] = lambda _: {}
    """Question to changes of the reply about it; none leaves the item out."""
    of_all: Callable[[list[str]], Given | None] = lambda _: None
    """Questions to a message in place of a reply."""
    base_url: str = ""
    calls: list[list[str]] = field(default_factory=list)
    """The questions of each call."""
    tokens: Counter[str] = field(default_factory=Counter)

    async def answer(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        items = read_item_messages(body["messages"][-1]["content"])
        questions = [item.body.split("Question:\n")[1].split("\n")[0] for item in items]
        self.calls.append(questions)
        schema = body["response_format"]["json_schema"]["schema"]
        message = self.of_all(questions) or {
            "content": json.dumps(self._replies(schema, questions))
        }
        prompt, completion = 1000 + 7 * len(items), 10 * len(items) + 1
        usage = {
            "prompt_tokens": prompt,
            "prompt_tokens_details": {"cached_tokens": 900},
            "completion_tokens": completion,
        }
        self.tokens.update(prompt=prompt, completion=completion)
        finish = message.get("finish_reason", "stop")
        choice = {"index": 0, "finish_reason": finish, "message": message}
        return web.json_response({"choices": [choice], "usage": usage})

    def _replies(self, schema: dict[str, Any], questions: list[str]) -> dict[str, Any]:
        if "$defs" not in schema:
            return self._reply(schema, self.says(questions[0]) or {})
        assert list(schema["properties"]) == [str(n) for n in range(1, len(questions) + 1)]
        given = {str(n): self.says(question) for n, question in enumerate(questions, 1)}
        one = schema["$defs"]["item"]
        return {
            number: self._reply(one, says) for number, says in given.items() if says is not None
        }

    @staticmethod
    def _reply(schema: dict[str, Any], changes: Given) -> dict[str, Any]:
        asked = schema["properties"]["values"]["properties"]
        values = {name: _first(part) for name, part in asked.items()}
        return {"note": "", "values": {**values, **changes}, "doubt": []}


def _first(schema: dict[str, Any]) -> Any:
    if schema["type"] == "boolean":
        return False
    if schema["type"] == "array":
        return [schema["items"]["enum"][0]]
    return schema["enum"][0]


@contextmanager
def serving(**options: Any) -> Iterator[ItemServer]:
    server = ItemServer(**options)
    with chat_completions_server(server.answer) as server.base_url:
        yield server


def reader(server: ItemServer, *, ask: Any = "all", items: int = 1, **options: Any) -> Annotator:
    return Annotator(
        name="llm:test",
        endpoint=EndpointSettings("m", server.base_url, rung="json_schema"),
        concurrency=2,
        patience=Patience(attempts=2, first_wait=0.001),
        asking=Asking(ask, items),
        **options,
    )


@pytest.fixture
def ledger(tmp_path: Path) -> Path:
    return tmp_path / "ledger.sqlite"


def states(ledger: Path) -> list[tuple[object, ...]]:
    with Ledger(ledger) as opened:
        return [*opened.query("SELECT item_id, status FROM item_state ORDER BY item_id")]


def rows(ledger: Path, sql: str) -> list[tuple[object, ...]]:
    with Ledger(ledger) as opened:
        return [*opened.query(sql)]


def test_items_share_calls_and_tokens_are_shared_out(
    make_items: MakeItems, core: Catalogue, ledger: Path
) -> None:
    questions = [f"Number {n}?" for n in range(8)]
    price = Price(input=10.0, cached_input=1.0, output=100.0)
    with serving(says=lambda q: {"clarity": int(q[7]) % 4}) as server:
        annotator = reader(server, items=3, price=price)
        summary = run_annotator(annotator, make_items(questions), core, ledger)
        again = run_annotator(annotator, make_items(questions), core, ledger)
    assert sorted(map(len, server.calls)) == [2, 3, 3]
    assert summary.statuses == Counter(ok=8)
    assert (again.asked, again.already) == (0, 8)
    # Three calls: prompts 1021, 1021, 1014, of which 900 cached each; replies 31, 31, 21.
    # Fresh (121 + 121 + 114) x 10 + cached 2700 x 1 + written 83 x 100 = 3560 + 2700 + 8300.
    assert (summary.prompt_tokens, summary.cached_tokens) == (3056, 2700)
    assert summary.completion_tokens == 83
    assert summary.price == pytest.approx(14560 / 1e6)
    assert server.tokens == Counter(prompt=3056, completion=83)
    totals = "SELECT sum(prompt_tokens), sum(completion_tokens), sum(attempts), count(*) FROM reply"
    assert rows(ledger, totals) == [(3056, 83, 3, 8)]
    assert rows(ledger, "SELECT count(*) FROM body") == [(3,)]
    clarity = "SELECT item_id, value FROM annotation JOIN reply USING (reply_id)"
    found = list(rows(ledger, f"{clarity} WHERE attribute = 'clarity'"))
    assert sorted(found) == [(f"bench/test/{n}", str(n % 4)) for n in range(8)]


def test_one_bad_item_loses_no_other(make_items: MakeItems, core: Catalogue, ledger: Path) -> None:
    says: dict[str, Given | None] = {"left out": None, "out of range": {"clarity": 9}}
    questions = ["fine", "left out", "out of range", "also fine"]
    with serving(says=lambda q: says.get(q, {})) as server:
        annotator = reader(server, items=4)
        run_annotator(annotator, make_items(questions), core, ledger)
        assert [status for _, status in states(ledger)] == ["ok", "invalid", "invalid", "ok"]
        assert server.calls == [questions, ["left out"], ["out of range"]]
        says.clear()
        retried = run_annotator(annotator, make_items(questions), core, ledger, retry=["invalid"])
    assert (retried.statuses, retried.already) == (Counter(ok=2), 2)
    assert server.calls[3:] == [["left out"], ["out of range"]]
    assert {status for _, status in states(ledger)} == {"ok"}
    reasons = rows(ledger, "SELECT reason FROM reply WHERE status = 'invalid' ORDER BY item_id")
    assert (
        reasons
        == [("no reply about this item",)] * 2 + [("clarity: 9 is no level from 0 to 3",)] * 2
    )


def test_one_item_left_out_costs_neither_the_others_nor_the_rung(
    make_items: MakeItems, core: Catalogue, ledger: Path
) -> None:
    left_out = {"What is 1 plus 1?"}

    def says(question: str) -> Given | None:
        if question in left_out:
            left_out.clear()
            return None
        return {}

    with serving(says=says) as server:
        annotator = reader(server, items=5)
        free = replace(annotator, endpoint=replace(annotator.endpoint, rung=None))
        summary = run_annotator(free, make_items(10), core, ledger)
    assert [len(call) for call in server.calls] == [5, 5, 1] or [
        len(call) for call in server.calls
    ] == [5, 1, 5]
    assert summary.statuses == Counter(ok=10)
    assert summary.notes == []
    assert rows(ledger, "SELECT rung, items, final, count(*) FROM reply GROUP BY 1, 2, 3") == [
        ("json_schema", 1, 1, 1), ("json_schema", 5, 0, 1), ("json_schema", 5, 1, 9),
    ]  # fmt: skip
    assert summary.prompt_tokens == server.tokens["prompt"]


def test_an_item_answered_twice_spoils_no_other_and_a_foreign_key_says_nothing(
    make_items: MakeItems, core: Catalogue, ledger: Path
) -> None:
    def twice(questions: list[str]) -> Given | None:
        if len(questions) == 1:
            return None
        one, other = (
            json.dumps({"values": {"uses_negation": False, "clarity": level}}) for level in (1, 2)
        )
        return {"content": f'{{"1": {one}, "2": {one}, "2": {other}, "9": {other}}}'}

    attributes = [core["clarity"], core["uses_negation"]]
    dimension = core.dimensions[0].model_copy(update={"attributes": attributes})
    small = core.model_copy(update={"dimensions": [dimension]})
    with serving(of_all=twice) as server:
        summary = run_annotator(reader(server, items=2), make_items(2), small, ledger)
    assert summary.statuses == Counter(ok=2)
    assert server.calls == [["What is 0 plus 0?", "What is 1 plus 1?"], ["What is 1 plus 1?"]]
    replies = rows(ledger, "SELECT item_id, status, reason, items FROM reply ORDER BY 1, 4 DESC")
    assert replies == [
        ("bench/test/0", "ok", "", 2),
        ("bench/test/1", "invalid", "two replies that differ", 2),
        ("bench/test/1", "ok", "", 1),
    ]
    found = rows(
        ledger,
        "SELECT value, a.reason FROM annotation a JOIN reply USING (reply_id)"
        " WHERE item_id = 'bench/test/0' AND attribute = 'clarity'",
    )
    assert found == [("1", "beside replies to nothing that was asked: '9'")]


@pytest.mark.parametrize(
    ("message", "status"),
    [
        ({"content": None, "refusal": "I can't."}, "refused"),
        ({"content": "", "finish_reason": "content_filter"}, "filtered"),
        ({"content": '{"1": {"no', "finish_reason": "length"}, "truncated"),
        ({"content": "These are fine questions."}, "invalid"),
        ({"content": ""}, "empty"),
    ],
)
def test_items_that_fail_together_are_asked_about_alone(
    make_items: MakeItems, core: Catalogue, ledger: Path, message: Given, status: str
) -> None:
    questions = ["one", "bad", "three"]
    with serving(of_all=lambda asked: message if "bad" in asked else None) as server:
        annotator = reader(server, items=3)
        summary = run_annotator(annotator, make_items(questions), core, ledger)
        again = run_annotator(annotator, make_items(questions), core, ledger)
    assert summary.statuses == Counter({"ok": 2, status: 1})
    assert [found for _, found in states(ledger)] == ["ok", status, "ok"]
    assert again.asked == 0
    repeated = 1 if status == "truncated" else 0  # once more with more room
    assert len(server.calls) == 1 + 3 + repeated
    assert rows(ledger, "SELECT sum(prompt_tokens) FROM reply") == [(server.tokens["prompt"],)]
    assert summary.prompt_tokens == server.tokens["prompt"]


def test_what_was_said_of_several_is_asked_again_after_an_interruption(
    make_items: MakeItems, core: Catalogue, ledger: Path
) -> None:
    with serving(of_all=lambda asked: {"content": None, "refusal": "No."}) as server:
        annotator = reader(server, items=2)
        run_annotator(annotator, make_items(["one", "two"]), core, ledger)
    with Ledger(ledger, write=True) as opened:  # as if it had died after the shared call
        opened._database.execute("DELETE FROM reply WHERE items = 1")
    with serving() as server:
        annotator = replace(
            annotator, endpoint=replace(annotator.endpoint, base_url=server.base_url)
        )
        summary = run_annotator(annotator, make_items(["one", "two"]), core, ledger)
    assert summary.statuses == Counter(ok=2)
    assert sorted(server.calls) == [["one"], ["two"]]


def test_too_long_items_leave_their_call(
    make_items: MakeItems, core: Catalogue, ledger: Path
) -> None:
    questions = ["short", "x" * 30_000, "short too"]
    with serving() as server:
        annotator = reader(server, items=3, max_prompt_characters=30_000)
        run_annotator(annotator, make_items(questions), core, ledger)
    assert [status for _, status in states(ledger)] == ["ok", "too_long", "ok"]
    assert sorted(server.calls) == [["short"], ["short too"]]


def test_an_error_of_the_endpoint_is_an_error_of_each_item(
    make_items: MakeItems, core: Catalogue, ledger: Path
) -> None:
    async def down(_: web.Request) -> web.StreamResponse:
        return web.json_response({"error": {"message": "down"}}, status=503)

    with chat_completions_server(down) as base_url:
        annotator = reader(ItemServer(base_url=base_url), items=2)
        run_annotator(annotator, make_items(["one", "two"]), core, ledger)
    assert [status for _, status in states(ledger)] == ["error", "error"]
    assert rows(ledger, "SELECT sum(attempts), count(*) FROM reply") == [(2, 2)]


def test_one_dimension_after_the_other(
    make_items: MakeItems, core: Catalogue, ledger: Path
) -> None:
    bad: dict[str, Given] = {"odd": {"clarity": 9}}
    with serving(says=lambda q: bad.get(q, {})) as server:
        annotator = reader(server, ask="dimension")
        items = make_items(["plain", "odd"])
        assert annotator.plan(core).count(items) == 2 * len(core.dimensions)
        summary = run_annotator(annotator, items, core, ledger)
        assert summary.statuses == Counter(ok=9, invalid=1)
        assert [status for _, status in states(ledger)] == ["ok", "invalid"]
        bad.clear()
        retried = run_annotator(annotator, items, core, ledger, retry=["invalid"])
    assert retried.statuses == Counter(ok=1)
    assert len(server.calls) == 11
    with Ledger(ledger) as opened:
        now = standing(opened)
        values = [*opened.query("SELECT DISTINCT item_id, attribute FROM annotation JOIN reply"
                                " USING (reply_id)")]  # fmt: skip
    assert now.items == (ItemCount("llm:test", "bench", "ok", 2),)
    assert len(values) == 2 * len([*core])
    assert {count.values for count in now.values} == {2}


def test_dimensions_and_several_items_together(
    make_items: MakeItems, core: Catalogue, ledger: Path
) -> None:
    with serving() as server:
        annotator = reader(server, ask="dimension", items=2)
        summary = run_annotator(annotator, make_items(5), core, ledger)
    assert summary.statuses == Counter(ok=5 * len(core.dimensions))
    assert Counter(map(len, server.calls)) == {2: 2 * len(core.dimensions), 1: len(core.dimensions)}


def test_the_way_of_asking_that_came_last_counts(
    make_items: MakeItems, core: Catalogue, ledger: Path
) -> None:
    items = make_items(["odd"])
    with serving(says=lambda _: {"clarity": 9}) as server:
        run_annotator(reader(server), items, core, ledger)
    assert [status for _, status in states(ledger)] == ["invalid"]
    with serving() as server:
        run_annotator(reader(server, ask="dimension"), items, core, ledger)
    assert [status for _, status in states(ledger)] == ["ok"]


def test_calls_with_the_same_prefix_come_in_a_row(make_items: MakeItems, core: Catalogue) -> None:
    with serving() as server:
        plan = reader(server, ask="dimension", items=2).plan(core)
    hashes = [call.prompt.hash for call in plan.calls(make_items(5), [])]
    changes = sum(one != other for one, other in pairwise(hashes))
    assert changes == len(core.dimensions) - 1
    assert hashes[0] == make_prompt(
        core, "multiple_choice", part=core.dimensions[0].id, several=True
    ).hash  # fmt: skip
