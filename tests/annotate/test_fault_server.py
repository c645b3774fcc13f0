"""Five thousand items against a server on which everything goes wrong, without and with kills."""

from __future__ import annotations

import json
import multiprocessing
import signal
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from benchprism.annotate.asking.annotator import Annotator, run_annotator
from benchprism.annotate.ledger.store import Ledger
from benchprism.prompts.catalogue import Catalogue

from .fault_server import ENDS, PER_THOUSAND, UnreliableServer, expected_ends, unreliable_server

ITEMS = 5_000
CONCURRENCY = 32
KILLS = 10
VALUES = {"clarity": 3, "uses_negation": False}


@pytest.fixture
def small(core: Catalogue) -> Catalogue:
    """Two attributes: most of what takes time in this test is not what is tested."""
    attributes = [core[name] for name in VALUES]
    dimension = core.dimensions[0].model_copy(update={"attributes": attributes})
    return core.model_copy(update={"dimensions": [dimension]})


@pytest.fixture
def annotator(annotator_at: Callable[..., Annotator]) -> Callable[[str], Annotator]:
    """An annotator that is patient with faults that pass."""
    patience = {"errors": None, "refusals": 1000}
    return lambda url: annotator_at(url, concurrency=CONCURRENCY, timeout=6.0, patience=patience)


def rows(ledger: Path, sql: str) -> list[tuple[Any, ...]]:
    with Ledger(ledger) as opened:
        return [*opened.query(sql)]


def stored(ledger: Path) -> dict[str, str]:
    """The question of the item of each answer that is stored, by the answer's id."""
    found = {}
    sql = "SELECT body, item_id FROM reply JOIN body USING (body_hash) WHERE body LIKE '%answer-%'"
    for body, item_id in rows(ledger, sql):
        row = str(item_id).rsplit("/", 1)[1]
        found[str(json.loads(body)["id"])] = f"What is {row} plus {row}?"
    return found


def settled(ledger: Path) -> set[str]:
    """The questions of the items that are done."""
    found = rows(ledger, "SELECT item_id FROM latest_reply WHERE final")
    return {f"What is {row} plus {row}?" for (name,) in found for row in [name.rsplit("/")[-1]]}


def check_account(ledger: Path, server: UnreliableServer) -> set[str]:
    """Check what is stored against what was delivered; tell which deliveries are not stored."""
    ids = stored(ledger)
    assert ids.keys() <= server.deliveries.keys()
    assert all(server.deliveries[name].question == asked for name, asked in ids.items())
    ((prompt, cached, completion, answers),) = rows(
        ledger,
        "SELECT sum(prompt_tokens), sum(cached_tokens), sum(completion_tokens),"
        " count(prompt_tokens) FROM reply",
    )
    kept = [server.deliveries[name] for name in ids]
    assert answers == len(ids)
    assert prompt == sum(one.prompt_tokens for one in kept)
    assert cached == sum(one.cached_tokens for one in kept)
    assert completion == sum(one.completion_tokens for one in kept)
    return server.deliveries.keys() - ids.keys()


def check_states(ledger: Path, server: UnreliableServer) -> None:
    """Check that every item is in one state, and in the one that its last answer puts it in."""
    states = rows(ledger, "SELECT item_id, status FROM item_state")
    assert len(states) == len({item for item, _ in states}) == ITEMS
    expected = {asked: ENDS[acts[-1]] for asked, acts in server.acts.items()}
    found = {f"What is {row} plus {row}?": status
             for item, status in states for row in [item.rsplit("/")[-1]]}  # fmt: skip
    wrong = {q: (found[q], server.acts[q]) for q in found if found[q] != expected[q]}
    assert not wrong
    half_valued = "SELECT count(*) FROM annotation WHERE (value IS NULL) = (status = 'ok')"
    assert rows(ledger, half_valued) == [(0,)]
    assert rows(ledger, "PRAGMA integrity_check") == [("ok",)]


def test_every_item_ends_in_one_state_and_every_token_is_counted(
    make_items: Callable[..., pa.Table],
    annotator: Callable[[str], Annotator],
    small: Catalogue,
    tmp_path: Path,
) -> None:
    ledger = tmp_path / "ledger.sqlite"
    with unreliable_server(VALUES) as server:
        items = make_items(ITEMS)
        summary = run_annotator(annotator(server.base_url), items, small, ledger)
        again = run_annotator(annotator(server.base_url), items, small, ledger)
    met = Counter(act for acts in server.acts.values() for act in acts)
    assert met.keys() == {*PER_THOUSAND, "hang", "well"}
    assert summary.statuses == expected_ends(server)
    assert (again.asked, again.already) == (0, ITEMS)
    check_states(ledger, server)
    assert check_account(ledger, server) == set()
    assert summary.prompt_tokens == sum(d.prompt_tokens for d in server.deliveries.values())
    answered = Counter(d.question for d in server.deliveries.values())
    assert all(
        count == 1 + (server.acts[question].count("truncated") > 0)
        for question, count in answered.items()
    )
    assert server.most_at_once <= CONCURRENCY


def test_kills_lose_no_more_than_what_is_in_flight(
    make_items: Callable[..., pa.Table],
    annotator: Callable[[str], Annotator],
    small: Catalogue,
    tmp_path: Path,
) -> None:
    ledger = tmp_path / "ledger.sqlite"
    items = make_items(ITEMS)
    processes = multiprocessing.get_context("forkserver")
    processes.set_forkserver_preload(["benchprism.annotate.asking.annotator", "openai", "aiohttp"])
    lost: set[str] = set()
    with unreliable_server(VALUES) as server:
        for deliveries in [*range(400, 400 + KILLS), None]:
            before = settled(ledger)
            run = processes.Process(
                target=run_annotator, args=(annotator(server.base_url), items, small, ledger)
            )
            server.kill_after(deliveries, run.kill)
            run.start()
            run.join()
            assert run.exitcode == (0 if deliveries is None else -signal.SIGKILL)
            assert not before & server.asked
            unstored = check_account(ledger, server)
            assert lost <= unstored
            assert len(unstored - lost) <= (0 if deliveries is None else CONCURRENCY)
            lost = unstored
    check_states(ledger, server)
    assert len(lost) <= KILLS * CONCURRENCY
