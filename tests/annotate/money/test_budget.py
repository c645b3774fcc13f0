"""A budget is never passed, and none is left that another request could have used."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from aiohttp import web

from benchprism.annotate.asking.annotator import Annotator, run_annotator
from benchprism.annotate.asking.capabilities import RUNGS, Capability, Rung
from benchprism.annotate.asking.request_form import request_form
from benchprism.annotate.ledger.outcome import Usage
from benchprism.annotate.ledger.store import Ledger
from benchprism.annotate.loopback import chat_completions_server
from benchprism.annotate.money.budget import Budget, Metered, WorstCase, most_on_any_rung, spent
from benchprism.annotate.money.prices import Price, Rate
from benchprism.annotate.traffic.faults import Fault, Response
from benchprism.annotate.traffic.pace import Halted
from benchprism.prompts.catalogue import Catalogue
from benchprism.prompts.messages import make_prompt
from benchprism.records.errors import BudgetReached, EndpointError, InputError

from ..conftest import FaultServer

Start = Callable[..., AbstractContextManager[Any]]
MakeItems = Callable[..., pa.Table]
MakeAnnotator = Callable[..., Annotator]

PRICE = Price(input=1.0, cached_input=0.1, output=100.0)
EACH = (2 * 1.0 + 5 * 0.1 + 3 * 100.0) / 1e6
"""The fault server counts 7 tokens of a request, 5 of them cached, and 3 of a reply."""


@pytest.fixture
def ledger(tmp_path: Path) -> Path:
    return tmp_path / "ledger.sqlite"


def bill(ledger: Path) -> float:
    with Ledger(ledger) as opened:
        return spent(opened)


def test_requests_wait_for_those_in_flight_and_not_longer() -> None:
    async def story() -> None:
        budget = Budget(10.0, spent=1.0)
        await budget.reserve(4.0)
        await budget.reserve(4.0)
        assert (budget.spent, budget.reserved) == (1.0, 8.0)
        third = asyncio.create_task(budget.reserve(4.0))
        await asyncio.sleep(0)
        assert not third.done()
        budget.settle(4.0, 0.5)  # 1.5 spent, 4 in flight: 4 more fit
        await third
        assert (budget.spent, budget.reserved) == (1.5, 8.0)
        budget.settle(4.0, None)  # never answered: counts in full
        budget.settle(4.0, 1.0)
        assert (budget.spent, budget.reserved) == (6.5, 0.0)
        with pytest.raises(BudgetReached, match=r"budget of 10.00 is reached: 6.5000 is spent"):
            await budget.reserve(4.0)
        await budget.reserve(3.5)

    asyncio.run(story())


def test_a_run_that_ends_wakes_those_who_wait() -> None:
    async def story() -> None:
        budget, halted = Budget(1.0), False
        await budget.reserve(1.0)
        waiting = asyncio.create_task(budget.reserve(1.0, lambda: halted))
        await asyncio.sleep(0)
        halted = True
        budget.settle(1.0, 0.0)
        with pytest.raises(Halted):
            await waiting
        assert budget.reserved == 0.0

    asyncio.run(story())


def test_the_worst_case_of_a_request_is_its_bytes_and_a_reply_that_is_cut_off(
    core: Catalogue, ledger: Path
) -> None:
    prompt = make_prompt(core, "generative")
    with Ledger(ledger) as opened:
        worst = WorstCase(Price(input=1.0, output=10.0), "m", opened)

    def tokens(rung: Rung, body: int = 9000, *, batch: bool = False) -> float:
        most = worst.of(prompt, "é" * 50, 1000, body=body, rung=rung, batch=batch)
        return most * 1e6 - 1000 * 10 * (0.5 if batch else 1)

    # every byte may be a token, and the endpoint may add a frame
    assert tokens("json_schema") == pytest.approx(9000 + 200)
    for usage in (Usage(3000, None, 5), Usage(2000, None, 5), Usage()):
        worst.saw(prompt, usage, "json_schema")
        worst.saw(prompt, usage, "decisions")
    # 3000 tokens seen, 100 bytes of the item
    assert tokens("json_schema") == pytest.approx(3000 + 100)
    assert tokens("json_schema", body=2000) == pytest.approx(2000 + 200)
    # nothing was seen on another rung, and typed questions may count an item more than once
    assert tokens("text") == pytest.approx(9000 + 200)
    assert tokens("decisions") == pytest.approx(9000 + 200)
    largest = most_on_any_rung(Price(input=1.0, output=10.0), prompt, "é" * 50, 1000)
    known = [Capability(rung) for rung in RUNGS]
    forms = [request_form(prompt, "m", one, limit=1000, parameters={}) for one in known]
    for form in forms:
        body = len(form.body("é" * 50))
        assert worst.of(prompt, "é" * 50, 1000, body=body, rung="text") < largest


class Dear:
    """An endpoint on one rung that counts the most tokens that a request can have."""

    def __init__(self, rung: Rung) -> None:
        self.rung = rung
        self.billed = 0.0

    async def answer(self, request: web.Request) -> web.Response:
        body = await request.read()
        asked = json.loads(body)
        typed = request.path.endswith("/decisions")
        form = asked.get("response_format", {}).get("type", "text")
        if ("decisions" if typed else form) != self.rung:
            return web.json_response({"error": {"message": f"{form} is not supported"}}, status=404)
        if typed:
            return web.json_response({"answers": [], "usage": self.bill(len(body), 0)})
        contents = len("".join(one["content"] for one in asked["messages"]).encode())
        schema = len(json.dumps(asked.get("response_format", "")))
        message = {"content": "{}", "role": "assistant"}
        usage = self.bill(contents + schema, asked["max_tokens"])
        choice = {"message": message, "finish_reason": "stop"}
        return web.json_response({"choices": [choice], "usage": usage})

    def bill(self, prompt: int, completion: int) -> dict[str, int]:
        self.billed += PRICE.of_tokens(prompt, 0, completion)
        return {"prompt_tokens": prompt, "completion_tokens": completion}


@pytest.mark.parametrize("rung", ["decisions", "json_schema", "json_object", "text"])
@pytest.mark.parametrize("budget", [0.05, 0.2])
def test_no_endpoint_can_bill_more_than_the_budget(
    make_items: MakeItems, annotator_at: MakeAnnotator, core: Catalogue, ledger: Path,
    rung: Rung, budget: float,
) -> None:  # fmt: skip
    server = Dear(rung)
    items = make_items([f"What is {'é' * (7 * n % 50)} {n}?" for n in range(40)])
    with chat_completions_server(server.answer, paths=["/chat/completions", "/decisions"]) as url:
        made = annotator_at(url, concurrency=8, max_output_tokens=20, rung=rung)
        with pytest.raises(BudgetReached):
            run_annotator(replace(made, price=PRICE), items, core, ledger, budget=budget)
    assert budget / 2 < server.billed <= budget
    assert bill(ledger) == pytest.approx(server.billed)


class Answering:
    """An endpoint that gives one answer."""

    def __init__(self, end: Response | Fault | BaseException) -> None:
        self.end = end

    async def send(self, body: bytes, path: str) -> Response | Fault:
        if isinstance(self.end, BaseException):
            raise self.end
        return self.end


BODY = '{"choices": [], "usage": {"prompt_tokens": 1000, "completion_tokens": 10}}'
ENDS = [
    (Response(200, {}, BODY), (1000 + 10 * 100) / 1e6),
    (Response(200, {}, '{"choices": []}'), 1.0),  # no usage: it may have cost the most
    (Response(200, {}, "[]"), 1.0),
    (Fault("again", "HTTP 500", code=500), 0.0),
    (Fault("again", "ReadTimeout"), 1.0),  # the endpoint may have done the work
    (Fault("again", "refused", error=EndpointError("no", wanted="one", mend="run it")), 0.0),
    (asyncio.CancelledError(), 1.0),
]


@pytest.mark.parametrize(("end", "cost"), ENDS)
def test_what_an_attempt_takes_from_the_budget(
    end: Response | Fault | BaseException, cost: float
) -> None:
    budget = Budget(10.0)
    metered = Metered(Answering(end), budget, PRICE, lambda _: 1.0, lambda: False)

    async def story() -> None:
        sending = metered.send(b"", "/chat/completions")
        if isinstance(end, BaseException):
            with pytest.raises(asyncio.CancelledError):
                await sending
        else:
            assert await sending is end

    asyncio.run(story())
    assert budget.spent == pytest.approx(cost)
    assert budget.reserved == 0.0


@pytest.mark.parametrize("concurrency", [1, 16])
def test_a_run_ends_before_its_budget_and_goes_on_with_a_larger_one(
    fault_server: Start, make_items: MakeItems, annotator_at: MakeAnnotator, core: Catalogue,
    ledger: Path, concurrency: int,
) -> None:  # fmt: skip
    items = make_items(200)
    with fault_server() as server:
        made = annotator_at(server.base_url, concurrency=concurrency, max_output_tokens=100)
        annotator = replace(made, price=PRICE)
        with pytest.raises(BudgetReached) as error:
            run_annotator(annotator, items, core, ledger, budget=0.05)
        assert error.value.exit_code == 4
        first = bill(ledger)
        # The next request might have cost 100 tokens of a reply at 100, and up to 500 of an item.
        assert 0.05 - (100 * 100 + 500) / 1e6 < first <= 0.05
        asked = round(first / EACH)
        assert first == pytest.approx(asked * EACH)
        assert server.asked.total() == asked
        with pytest.raises(BudgetReached):
            run_annotator(annotator, items, core, ledger, budget=0.05)
        assert bill(ledger) == first
        summary = run_annotator(annotator, items, core, ledger, budget=1.0)
    assert (summary.asked, summary.already) == (200 - asked, asked)
    assert summary.price == pytest.approx((200 - asked) * EACH)
    assert bill(ledger) == pytest.approx(200 * EACH)


def test_a_budget_below_one_request_sends_none(
    fault_server: Start, make_items: MakeItems, annotator_at: MakeAnnotator, core: Catalogue,
    ledger: Path,
) -> None:  # fmt: skip
    with fault_server() as server:
        annotator = replace(annotator_at(server.base_url), price=PRICE)
        with pytest.raises(BudgetReached, match=r"the next request may cost 0\.2"):
            run_annotator(annotator, make_items(3), core, ledger, budget=0.1)
        assert server.asked.total() == 0


def test_an_attempt_that_is_never_answered_counts_in_full(
    fault_server: Start, make_items: MakeItems, annotator_at: MakeAnnotator, core: Catalogue,
    ledger: Path,
) -> None:  # fmt: skip
    slow = {f"What is {n} plus {n}?": [("hang", {"seconds": 5.0})] * 9 for n in range(20)}
    with fault_server(scripts=slow) as server:
        made = annotator_at(
            server.base_url, concurrency=1, max_output_tokens=100, timeout=0.05,
            patience={"attempts": 1},
        )  # fmt: skip
        with pytest.raises(BudgetReached):
            run_annotator(replace(made, price=PRICE), make_items(20), core, ledger, budget=0.1)
        most = (100 * 100 + 18_000) / 1e6
        assert 0.1 / most - 1 < server.asked.total() <= 5
    assert bill(ledger) == 0.0


def test_a_budget_needs_a_price(
    make_items: MakeItems, annotator_at: MakeAnnotator, core: Catalogue, ledger: Path
) -> None:
    annotator = annotator_at("http://127.0.0.1:1/v1")
    with pytest.raises(InputError, match="a budget, and no price for the model 'm' of llm:test"):
        run_annotator(annotator, make_items(1), core, ledger, budget=5.0)


def test_a_budget_needs_a_bound_on_replies(
    make_items: MakeItems, annotator_at: MakeAnnotator, core: Catalogue, ledger: Path
) -> None:
    asked = 0

    async def answer(request: web.Request) -> web.StreamResponse:
        nonlocal asked
        body = await request.json()
        for name in ("max_tokens", "max_completion_tokens"):
            if name in body:
                error = {"message": f"Unknown parameter: '{name}'", "param": name}
                return web.json_response({"error": error}, status=400)
        asked += 1
        message = {"role": "assistant", "content": FaultServer.reply_to(body)}
        return web.json_response({"choices": [{"finish_reason": "stop", "message": message}]})

    with chat_completions_server(answer) as url:
        annotator = replace(annotator_at(url), price=PRICE)
        for _ in range(2):  # it is learned in the first run, and known in the second
            with pytest.raises(InputError, match="takes no limit of its replies' length"):
                run_annotator(annotator, make_items(3), core, ledger, budget=5.0)
        assert asked == 0
        summary = run_annotator(annotator, make_items(3), core, ledger)
    assert summary.statuses == Counter(ok=3)


def test_tokens_and_price_are_kept_when_nothing_can_be_read(
    fault_server: Start, make_items: MakeItems, annotator_at: MakeAnnotator, core: Catalogue,
    ledger: Path,
) -> None:  # fmt: skip
    scripts = {"prose": [("message", {"content": "It is clear."})]}
    with fault_server(scripts=scripts) as server:
        annotator = replace(annotator_at(server.base_url), price=PRICE)
        run_annotator(annotator, make_items(["well", "prose"]), core, ledger)
    with Ledger(ledger) as opened:
        columns = "status, prompt_tokens, cached_tokens, completion_tokens, price"
        kept = [*opened.query(f"SELECT {columns} FROM reply ORDER BY item_id")]
    assert kept == [("ok", 7, 5, 3, pytest.approx(EACH)), ("invalid", 7, 5, 3, pytest.approx(EACH))]


def test_what_an_endpoint_does_not_count_is_kept_at_its_most(
    fault_server: Start, make_items: MakeItems, annotator_at: MakeAnnotator, core: Catalogue,
    ledger: Path,
) -> None:  # fmt: skip
    class Silent:
        asked = 0

        async def answer(self, request: web.Request) -> web.Response:
            self.asked += 1
            choice = {"message": {"content": "{}"}, "finish_reason": "stop"}
            usage = {"prompt_tokens": -5, "completion_tokens": 10**30}
            return web.json_response({"choices": [choice], "usage": usage})

    server = Silent()
    with chat_completions_server(server.answer) as url:
        made = annotator_at(url, concurrency=1, max_output_tokens=100, rung="json_schema")
        for _ in range(2):  # a second run does not start from nothing
            with pytest.raises(BudgetReached):
                run_annotator(replace(made, price=PRICE), make_items(50), core, ledger, budget=0.2)
    asked = server.asked
    # a request may cost 100 tokens of a reply at 100 and the bytes of the rubric
    assert 2 <= asked <= 0.2 / ((100 * 100 + 8000) / 1e6)
    with Ledger(ledger) as opened:
        kept = [*opened.query("SELECT prompt_tokens, completion_tokens, price > 0 FROM reply")]
    assert kept == [(None, None, 1)] * asked
    assert bill(ledger) > asked * (100 * 100 + 8000) / 1e6


def test_what_batches_may_cost_is_no_longer_there_to_spend() -> None:
    budget = Budget(1.0, spent=0.2, promised=0.5)
    assert not budget.take(0.31)
    assert budget.take(0.3)
    budget.settle(0.3, 0.0)
    with pytest.raises(
        BudgetReached, match=r"0\.2000 is spent, what is not back yet may cost 0\.5"
    ):
        asyncio.run(budget.reserve(0.4))


def silent_endpoint(usage: dict[str, int] | None) -> Callable[[web.Request], Any]:
    async def answer(request: web.Request) -> web.Response:
        choice = {"message": {"content": "{}"}, "finish_reason": "stop"}
        return web.json_response({"choices": [choice], **({"usage": usage} if usage else {})})

    return answer


@pytest.mark.parametrize("priced_before", [True, False])
def test_no_later_run_spends_what_an_earlier_one_may_have_spent(
    make_items: MakeItems, annotator_at: MakeAnnotator, core: Catalogue, ledger: Path,
    priced_before: bool,
) -> None:  # fmt: skip
    most = (100 * 100 + 4 * 30_000) / 1e6
    with chat_completions_server(silent_endpoint(None)) as url:
        made = annotator_at(
            url, concurrency=1, max_output_tokens=50, rung="json_schema",
            max_prompt_characters=30_000,
        )  # fmt: skip
        priced = replace(made, price=PRICE)
        run_annotator(priced if priced_before else made, make_items(3), core, ledger)
        with Ledger(ledger) as opened:
            ((known,),) = opened.query("SELECT total(price) FROM reply")
        assert isinstance(known, float)
        assert (known > 0) is priced_before
        before = known if priced_before else 3 * most
        for _ in range(3):
            with pytest.raises(BudgetReached, match="is spent"):
                run_annotator(priced, make_items(50), core, ledger, budget=before + 0.05)
    with Ledger(ledger) as opened:
        ((asked, later),) = opened.query("SELECT count(*) - 3, total(price) - ? FROM reply", known)
        mine = {"m": Rate(PRICE, 30_000, 100)}
        assert spent(opened, mine) == pytest.approx(before + float(str(later)))
        assert spent(opened, {"other": mine["m"]}) == pytest.approx(known + float(str(later)))
    # the first run has used what there is: one more might have passed the budget
    each = float(str(later)) / int(str(asked))
    assert 2 * each <= float(str(later)) <= 0.05 < float(str(later)) + 1.01 * each
    # each may cost 50 tokens of a reply at 100, and the bytes of a request at 1
    assert each > (50 * 100 + 8_000) / 1e6


def test_replies_that_came_before_their_price_count_by_their_tokens(
    make_items: MakeItems, annotator_at: MakeAnnotator, core: Catalogue, ledger: Path
) -> None:
    counted = {"prompt_tokens": 1000, "completion_tokens": 20}
    with chat_completions_server(silent_endpoint(counted)) as url:
        made = annotator_at(url, concurrency=1, max_output_tokens=50, rung="json_schema")
        run_annotator(made, make_items(4), core, ledger)
        priced = replace(made, price=PRICE)
        with pytest.raises(BudgetReached, match=r"budget of 0\.013 is reached: 0\.0120 is spent"):
            run_annotator(priced, make_items(9), core, ledger, budget=0.013)
    other, none = {"m": Rate(PRICE, 1, 1)}, ledger.with_name("none.sqlite")
    with Ledger(ledger) as opened, Ledger(none) as empty:
        assert spent(opened, other) == pytest.approx(4 * (1000 + 20 * 100) / 1e6)
        assert spent(opened, other, besides=empty) == spent(opened, other)
        assert spent(opened, other, besides=opened) == 0.0


def test_small_amounts_are_written_with_all_that_they_have() -> None:
    budget = Budget(0.0015, spent=0.00002)
    assert str(budget.reached(0.0014851)).startswith(
        "the budget of 0.0015 is reached: 0.000020 is spent, and the next request may cost 0.0015;"
    )
