"""A budget is never passed, and none is left that another request could have used."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from benchprism.annotate.annotator import Annotator, run_annotator
from benchprism.annotate.budget import Budget, Metered, WorstCase, spent
from benchprism.annotate.faults import Fault, Response
from benchprism.annotate.ledger import Ledger
from benchprism.annotate.outcome import Usage
from benchprism.annotate.pace import Halted
from benchprism.annotate.prices import Price
from benchprism.prompts.catalogue import Catalogue
from benchprism.prompts.messages import make_prompt
from benchprism.records.errors import BudgetReached, InputError

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
    most = worst.of(prompt, "é" * 50, 1000)
    fixed = most * 1e6 - 100 - 10_000
    assert fixed == pytest.approx(fixed // 1)
    assert fixed > len(prompt.system.encode())
    worst.saw(prompt, Usage(3000, None, 5))
    worst.saw(prompt, Usage(2000, None, 5))
    worst.saw(prompt, Usage())
    # 3000 tokens seen, 100 bytes of the item, 1000 tokens of the reply at 10
    assert worst.of(prompt, "é" * 50, 1000) * 1e6 == pytest.approx(3000 + 100 + 10_000)
    assert worst.of(prompt, "", 0, batch=True) * 1e6 == pytest.approx(3000)


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
    (asyncio.CancelledError(), 1.0),
]


@pytest.mark.parametrize(("end", "cost"), ENDS)
def test_what_an_attempt_takes_from_the_budget(
    end: Response | Fault | BaseException, cost: float
) -> None:
    budget = Budget(10.0)
    metered = Metered(Answering(end), budget, PRICE, 1.0, lambda: False)

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
    slow = {f"What is {n} plus {n}?": [("hang", {"seconds": 5.0})] for n in range(20)}
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
