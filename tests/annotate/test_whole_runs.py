"""Several passes, dimensions and shards over one endpoint that fails: the sums still hold."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from aiohttp import web

from benchprism.annotate.asking.annotator import Annotator, run_annotator
from benchprism.annotate.asking.plan import Asking
from benchprism.annotate.ledger.outcome import FAILURES, Status
from benchprism.annotate.ledger.panel import passes
from benchprism.annotate.ledger.shards import Shard
from benchprism.annotate.ledger.standing import declined_clusters, standing
from benchprism.annotate.ledger.store import Ledger
from benchprism.annotate.loopback import chat_completions_server
from benchprism.annotate.money.prices import Price
from benchprism.prompts.catalogue import Catalogue
from benchprism.prompts.messages import read_item_message

from .conftest import FaultServer

MakeItems = Callable[..., pa.Table]
MakeAnnotator = Callable[..., Annotator]
PRICE = Price(input=10.0, cached_input=10.0, output=100.0)


@dataclass
class Failing:
    """Fails at some dimensions of some items; a dimension is known by its first attribute."""

    fails: Callable[[str, str], str | None] = lambda _, __: None
    """Question and first attribute to a kind of failure."""
    asked: Counter[tuple[str, str]] = field(default_factory=Counter)
    tokens: Counter[str] = field(default_factory=Counter)
    base_url: str = ""

    async def answer(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        item = read_item_message(body["messages"][-1]["content"])
        assert item is not None
        question = item.body.split("Question:\n")[1].split("\n")[0]
        schema = body["response_format"]["json_schema"]["schema"]
        attribute = next(iter(schema["properties"]["values"]["properties"]))
        self.asked[question, attribute] += 1
        kind = self.fails(question, attribute)
        if kind in {"error", "filtered", "too_long"}:
            codes = {"filtered": "content_filter", "too_long": "context_length_exceeded"}
            error = {"message": kind, "code": codes.get(kind)}
            return web.json_response({"error": error}, status=422 if kind == "error" else 400)
        message: dict[str, Any] = {"role": "assistant", "content": FaultServer.reply_to(body)}
        if kind is not None:
            refusal = {"refusal": "I can't."} if kind == "refused" else {}
            content = {"refused": None, "empty": "", "invalid": "Well.", "truncated": "{"}[kind]
            message |= {"content": content, **refusal}
        finish = "length" if kind == "truncated" else "stop"
        usage = {"prompt_tokens": 100, "completion_tokens": 10}
        self.tokens.update(usage)
        choice = {"finish_reason": finish, "message": message}
        return web.json_response({"choices": [choice], "usage": usage})


@contextmanager
def failing(**options: Any) -> Iterator[Failing]:
    server = Failing(**options)
    with chat_completions_server(server.answer) as server.base_url:
        yield server


def query(ledger: Path, sql: str) -> list[tuple[Any, ...]]:
    with Ledger(ledger) as opened:
        return [*opened.query(sql)]


@pytest.mark.parametrize("status", FAILURES)
@pytest.mark.parametrize("ask", ["all", "dimension"])
def test_a_failed_request_alone_is_asked_again(
    ask: Any, status: Status, make_items: MakeItems, annotator_at: MakeAnnotator,
    core: Catalogue, tmp_path: Path,
) -> None:  # fmt: skip
    ledger = tmp_path / "l.sqlite"
    second = core.dimensions[1].attributes[0].id
    place = second if ask == "dimension" else core.dimensions[0].attributes[0].id
    bad = {("What is 2 plus 2?", place)}

    def fails(question: str, attribute: str) -> str | None:
        return status if (question, attribute) in bad else None

    parts = len(core.dimensions) if ask == "dimension" else 1
    with failing(fails=fails) as server:
        annotator = replace(
            annotator_at(server.base_url, rung="json_schema"), asking=Asking(ask, 1), price=PRICE
        )
        items = make_items(5)
        first = run_annotator(annotator, items, core, ledger)
        assert first.statuses == Counter({"ok": 5 * parts - 1, status: 1})
        assert query(ledger, "SELECT status, count(*) FROM item_state GROUP BY 1 ORDER BY 1") == (
            sorted([("ok", 4), (status, 1)])
        )
        values = query(ledger, "SELECT count(*) FROM annotation WHERE status = 'ok'")[0][0]
        lost = core.dimensions[1].attributes if ask == "dimension" else [*core]
        assert values == 5 * len([*core]) - len(lost)
        again = run_annotator(annotator, items, core, ledger)
        assert (again.asked, again.already) == (0, 5 * parts)
        others: list[Status] = [name for name in FAILURES if name != status]
        assert run_annotator(annotator, items, core, ledger, retry=others).asked == 0
        before = server.asked.copy()
        bad.clear()
        retried = run_annotator(annotator, items, core, ledger, retry=[status])
        assert retried.statuses == Counter(ok=1)
        assert server.asked - before == Counter({("What is 2 plus 2?", place): 1})
    assert query(ledger, "SELECT DISTINCT status FROM item_state") == [("ok",)]
    assert query(ledger, "SELECT sum(prompt_tokens), sum(completion_tokens) FROM reply") == [
        (server.tokens["prompt_tokens"], server.tokens["completion_tokens"])
    ]


def test_passes_over_shards_sum_up_after_merging_in_any_order(
    make_items: MakeItems, annotator_at: MakeAnnotator, core: Catalogue, tmp_path: Path
) -> None:
    items, whole = make_items(30), tmp_path / "l.sqlite"

    def fails(question: str, _: str) -> str | None:
        return {"What is 3 plus 3?": "refused", "What is 4 plus 4?": "truncated"}.get(question)

    with failing(fails=fails) as server:
        named = [
            replace(annotator_at(server.base_url, rung="json_schema", name=name), price=PRICE)
            for name in passes("llm:main", 2)
        ]
        shards = [tmp_path / f"{number}.sqlite" for number in (1, 2, 3)]
        for number, path in enumerate(shards, 1):
            for annotator in named:
                own = Shard(number, 3).items(items)
                run_annotator(annotator, own, core, path, known=[whole] if whole.exists() else [])
        with Ledger(whole, write=True) as opened:
            new = [opened.merge(path) for path in (*reversed(shards), *shards)]
            now = standing(opened)
        again = run_annotator(named[1], items, core, whole)
    assert new[3:] == [0, 0, 0]
    assert again.already == 30
    assert server.asked.total() == 2 * (30 + 1)
    for annotator in named:
        ends = {c.status: c.items for c in now.items if c.annotator == annotator.name}
        assert ends == {"ok": 28, "refused": 1, "truncated": 1}
        values = sum(count.values for count in now.values if count.annotator == annotator.name)
        assert values == 30 * len([*core])
    assert sum(one.prompt_tokens for one in now.annotators) == server.tokens["prompt_tokens"]
    assert sum(one.price or 0.0 for one in now.annotators) == pytest.approx(
        (10 * server.tokens["prompt_tokens"] + 100 * server.tokens["completion_tokens"]) / 1e6
    )
    assert sum(one.replies for one in now.annotators) == server.asked.total()
    assert json.dumps([one.repeated for one in now.annotators]) == "[0, 0]"


def test_refusals_of_one_dimension_are_not_missing_at_random(
    make_items: MakeItems, annotator_at: MakeAnnotator, core: Catalogue, tmp_path: Path
) -> None:
    ethics = core.dimensions[-1]

    def fails(question: str, attribute: str) -> str | None:
        return "refused" if attribute == ethics.attributes[0].id and "1" in question else None

    ledger = tmp_path / "l.sqlite"
    with failing(fails=fails) as server:
        annotator = annotator_at(server.base_url, rung="json_schema")
        one_by_one = replace(annotator, asking=Asking("dimension", 1))
        run_annotator(one_by_one, make_items(20), core, ledger)
    with Ledger(ledger) as opened:
        found = declined_clusters(standing(opened).values, core)
    declined = sum("1" in f"{n}" for n in range(20)) / 20
    assert [(cluster.name, cluster.here, cluster.elsewhere) for cluster in found] == [
        (ethics.id, declined, 0.0)
    ]
    assert str(found[0]).endswith("what is missing there is not missing at random")
