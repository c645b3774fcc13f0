"""What is estimated before a run is what the run then takes."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from math import ceil
from pathlib import Path

import pyarrow as pa
import pytest
from aiohttp import web

from benchprism.annotate.asking.annotator import Annotator, run_annotator
from benchprism.annotate.asking.plan import Asking
from benchprism.annotate.ledger.store import Ledger
from benchprism.annotate.loopback import chat_completions_server
from benchprism.annotate.money.estimate import Calibration, Estimates, estimates
from benchprism.annotate.money.prices import Price
from benchprism.annotate.money.tokens import count_tokens
from benchprism.annotate.traffic.endpoint import EndpointSettings
from benchprism.prompts.catalogue import Catalogue
from benchprism.prompts.messages import item_message, make_prompt
from benchprism.records.items.record import item_from_row

MakeItems = Callable[..., pa.Table]

PRICE = Price(input=2.0, cached_input=0.5, output=8.0)


def reader(base_url: str = "http://127.0.0.1:1/v1", **options: object) -> Annotator:
    made = Annotator("llm:test", EndpointSettings("m", base_url, rung="json_schema"), price=PRICE)
    return replace(made, **options)  # type: ignore[arg-type]


@pytest.fixture
def ledger(tmp_path: Path) -> Path:
    return tmp_path / "ledger.sqlite"


@pytest.fixture
def narrow(core: Catalogue) -> Catalogue:
    """Two dimensions with one attribute each."""
    dimensions = [
        d.model_copy(update={"attributes": d.attributes[:1]}) for d in core.dimensions[:2]
    ]
    return core.model_copy(update={"dimensions": dimensions})


def estimated(
    annotator: Annotator, items: pa.Table, catalogue: Catalogue, ledger: Path, *others: Asking
) -> Estimates:
    with Ledger(ledger) as opened:
        return estimates(annotator, items, catalogue, [opened], others=others)


def test_tokens_and_calls_are_counted(
    make_items: MakeItems, narrow: Catalogue, ledger: Path
) -> None:
    items = make_items(7)
    found = estimated(reader(), items, narrow, ledger, Asking("all", 3), Asking("dimension", 1))
    prompt = make_prompt(narrow, "multiple_choice")
    messages = [count_tokens(item_message(item_from_row(row))) for row in items.to_pylist()]
    fixed = count_tokens(prompt.system) + count_tokens(json.dumps(prompt.schema))
    chosen = found.chosen
    assert (chosen.items, chosen.requests, chosen.calls, chosen.too_long) == (7, 7, 7, 0)
    assert chosen.prompt_tokens == 7 * fixed + sum(messages)
    assert chosen.shared_tokens == 6 * fixed
    three, dimension = found.others
    assert (three.requests, three.calls) == (7, ceil(7 / 3))
    assert (dimension.requests, dimension.calls) == (14, 14)
    assert three.completion_tokens == chosen.completion_tokens
    assert three.prompt_tokens < chosen.prompt_tokens < dimension.prompt_tokens
    assert three.asking == Asking("all", 3)


def test_a_price_range_is_worked_from_the_tokens(
    make_items: MakeItems, narrow: Catalogue, ledger: Path
) -> None:
    chosen = estimated(reader(), make_items(100), narrow, ledger).chosen
    assert chosen.price is not None
    # Without replies to compare with: prompts 20 % either way, replies 0.6 to 2.5 times as long.
    fresh = chosen.prompt_tokens - chosen.shared_tokens
    low = 0.8 * (fresh * 2.0 + chosen.shared_tokens * 0.5) + 0.6 * chosen.completion_tokens * 8.0
    high = 1.2 * chosen.prompt_tokens * 2.0 + 2.5 * chosen.completion_tokens * 8.0
    assert chosen.price == pytest.approx((low / 1e6, high / 1e6))


def test_no_reply_is_expected_to_pass_its_limit(
    make_items: MakeItems, narrow: Catalogue, ledger: Path
) -> None:
    endpoint = replace(reader().endpoint, max_output_tokens=10)
    chosen = estimated(reader(endpoint=endpoint), make_items(50), narrow, ledger).chosen
    assert chosen.completion_tokens == 500
    assert chosen.price is not None
    assert chosen.price[1] == pytest.approx((1.2 * chosen.prompt_tokens * 2 + 500 * 8) / 1e6)


def test_without_a_price_tokens_are_all_there_is(
    make_items: MakeItems, narrow: Catalogue, ledger: Path
) -> None:
    chosen = estimated(reader(price=None), make_items(5), narrow, ledger).chosen
    assert chosen.price is None
    assert chosen.prompt_tokens > 0


def test_what_is_too_long_costs_nothing(
    make_items: MakeItems, narrow: Catalogue, ledger: Path
) -> None:
    items = make_items(["short", "x" * 50_000, "short too"])
    both = estimated(reader(max_prompt_characters=30_000), items, narrow, ledger).chosen
    short = estimated(reader(), make_items(["short", "short too"]), narrow, ledger).chosen
    assert (both.too_long, both.calls) == (1, 2)
    assert both.prompt_tokens == pytest.approx(short.prompt_tokens, abs=2)


@contextmanager
def counting_server() -> Iterator[str]:
    """Answers every item well, and counts a token for three characters."""

    async def answer(request: web.Request) -> web.Response:
        body = await request.json()
        asked = body["response_format"]["json_schema"]["schema"]["properties"]["values"]
        values = {name: part["enum"][0] for name, part in asked["properties"].items()}
        content = json.dumps({"note": "Because.", "values": values, "doubt": []})
        characters = sum(len(message["content"]) for message in body["messages"])
        usage = {"prompt_tokens": characters // 3, "completion_tokens": 100}
        choice = {"index": 0, "finish_reason": "stop", "message": {"content": content}}
        return web.json_response({"choices": [choice], "usage": usage})

    with chat_completions_server(answer) as base_url:
        yield base_url


def test_the_ledger_corrects_the_count(
    make_items: MakeItems, narrow: Catalogue, ledger: Path
) -> None:
    items = make_items([f"What is {n} plus {'one and ' * (n % 7)}{n}?" for n in range(120)])
    with counting_server() as base_url:
        annotator = reader(base_url)
        run_annotator(annotator, items[:20], narrow, ledger)
        found = estimated(annotator, items, narrow, ledger, Asking("all", 5))
        summary = run_annotator(annotator, items, narrow, ledger)
    assert found.calibration.replies == 20
    assert (found.chosen.items, found.chosen.calls, summary.asked) == (100, 100, 100)
    assert found.chosen.prompt_tokens == pytest.approx(summary.prompt_tokens, rel=0.03)
    assert found.chosen.completion_tokens == pytest.approx(100 * 100, rel=0.001)
    assert found.chosen.price is not None
    assert summary.price is not None
    assert found.chosen.price[0] < summary.price < found.chosen.price[1]
    assert found.others[0].calls == 20


def test_a_few_replies_correct_nothing(
    make_items: MakeItems, narrow: Catalogue, ledger: Path
) -> None:
    items = make_items(20)
    with counting_server() as base_url:
        annotator = reader(base_url)
        run_annotator(annotator, items[:5], narrow, ledger)
        found = estimated(annotator, items, narrow, ledger)
    assert found.calibration == Calibration()
    assert found.chosen.items == 15


def test_nothing_missing_takes_nothing(
    make_items: MakeItems, narrow: Catalogue, ledger: Path
) -> None:
    with counting_server() as base_url:
        annotator = reader(base_url)
        run_annotator(annotator, make_items(3), narrow, ledger)
        chosen = estimated(annotator, make_items(3), narrow, ledger).chosen
    assert (chosen.requests, chosen.calls, chosen.price) == (0, 0, (0.0, 0.0))
