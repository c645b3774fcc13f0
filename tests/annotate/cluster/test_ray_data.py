"""Annotation on a real Ray cluster of two workers, one of which dies on the way."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import replace
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from benchprism.annotate.asking.annotator import Annotator, run_annotator
from benchprism.annotate.asking.recorder import Signs
from benchprism.annotate.cluster.ray_data import annotate_on_ray
from benchprism.annotate.consolidation.consolidate import consolidated_values
from benchprism.annotate.ledger.store import Ledger
from benchprism.annotate.money.prices import Price
from benchprism.prompts.catalogue import Catalogue
from benchprism.records.errors import BudgetReached, EndpointError, InputError

Start = Callable[..., AbstractContextManager[Any]]
MakeItems = Callable[..., pa.Table]
MakeAnnotator = Callable[..., Annotator]


def test_the_tests_of_ray_run_where_it_matters() -> None:
    """Elsewhere they may be skipped."""
    assert find_spec("ray") or os.environ.get("CI") != "true", "pip install 'benchprism[ray]'"


needs_ray = pytest.mark.skipif(not find_spec("ray"), reason="Ray is not installed")
# Ray leaves sockets and processes to the garbage collector.
pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning")


class TwoWorkers:
    """A cluster of two workers with one CPU each."""

    def __init__(self) -> None:
        self.cluster: Any = import_module("ray.cluster_utils").Cluster(
            initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False}
        )
        self.workers = [self.cluster.add_node(num_cpus=1) for _ in range(2)]

    @property
    def address(self) -> str:
        return str(self.cluster.address)

    def kill_one(self) -> None:
        self.cluster.remove_node(self.workers.pop(), allow_graceful=False)


@pytest.fixture(scope="module")
def cluster() -> Iterator[TwoWorkers]:
    logging.getLogger("ray").setLevel(logging.CRITICAL)
    started = TwoWorkers()
    yield started
    started.cluster.shutdown()


@pytest.fixture
def ledger(tmp_path: Path) -> Path:
    return tmp_path / "ledger.sqlite"


def rows(ledger: Path, sql: str) -> list[tuple[Any, ...]]:
    with Ledger(ledger) as opened:
        return [*opened.query(sql)]


SCRIPTS: dict[str, tuple[list[Any], str]] = {
    "down": (["html"], "ok"),
    "reset": (["reset"], "ok"),
    "filter": ([("status", {"status": 400, "code": "content_filter"})], "filtered"),
    "refuses": ([("message", {"content": None, "refusal": "I can't."})], "refused"),
    "cropped": ([("message", {"content": "{", "finish_reason": "length"})] * 2, "truncated"),
    "prose": ([("message", {"content": "It is clear."})], "invalid"),
    "gone": ([("status", {"status": 503})] * 3, "error"),
    "long" + "x" * 30_000: ([], "too_long"),
}


@needs_ray
def test_the_same_states_as_without_a_cluster(
    cluster: TwoWorkers, fault_server: Start, make_items: MakeItems, annotator_at: MakeAnnotator,
    core: Catalogue, ledger: Path, tmp_path: Path,
) -> None:  # fmt: skip
    items = make_items(["well", *SCRIPTS, *(f"Number {n}?" for n in range(40))])
    scripts = {question: script for question, (script, _) in SCRIPTS.items()}
    here = tmp_path / "here.sqlite"
    with fault_server(scripts=scripts) as server:
        annotator = annotator_at(server.base_url, max_prompt_characters=30_000)
        summary = annotate_on_ray(annotator, items, core, ledger, address=cluster.address)
        asked = server.asked.copy()
        again = annotate_on_ray(annotator, items, core, ledger, address=cluster.address)
        assert server.asked == asked
    with fault_server(scripts=scripts) as server:
        annotator = replace(
            annotator, endpoint=replace(annotator.endpoint, base_url=server.base_url)
        )
        alone = run_annotator(annotator, items, core, here)
        assert server.asked == asked
    assert summary.statuses == alone.statuses == Counter(
        {status: 1 for _, status in SCRIPTS.values()} | {"ok": 43}
    )  # fmt: skip
    assert (again.asked, again.already) == (0, len(items))
    by_item = (
        "SELECT item_id, status, reason FROM item_state JOIN latest_reply USING (item_id, status)"
    )
    assert sorted(rows(ledger, by_item)) == sorted(rows(here, by_item))
    assert consolidated_values(ledger, core, items) == consolidated_values(here, core, items)
    assert summary.prompt_tokens == alone.prompt_tokens


@needs_ray
def test_a_budget_holds(
    cluster: TwoWorkers, fault_server: Start, make_items: MakeItems, annotator_at: MakeAnnotator,
    core: Catalogue, ledger: Path,
) -> None:  # fmt: skip
    with fault_server() as server:
        made = annotator_at(server.base_url, max_output_tokens=3)
        annotator = replace(made, price=Price(input=0.0, output=100.0))
        with pytest.raises(BudgetReached):
            annotate_on_ray(
                annotator, make_items(30), core, ledger, address=cluster.address, budget=0.005
            )
        assert server.asked.total() < 30
    ((spent, replies),) = rows(ledger, "SELECT total(price), count(*) FROM reply")
    assert spent == pytest.approx(replies * 3 * 100.0 / 1e6)
    # The next call may be asked twice, for 3 and for 6 tokens.
    assert 0.005 - 9 * 100.0 / 1e6 < spent <= 0.005


@needs_ray
def test_an_endpoint_that_will_not_serve_ends_the_run(
    cluster: TwoWorkers, fault_server: Start, make_items: MakeItems, annotator_at: MakeAnnotator,
    core: Catalogue, ledger: Path,
) -> None:  # fmt: skip
    questions = [f"What is {n} plus {n}?" for n in range(20)]
    rejected = ("status", {"status": 401, "message": "bad key"})
    with fault_server(scripts={question: [rejected] for question in questions}) as server:
        annotator = annotator_at(server.base_url)
        with pytest.raises(EndpointError, match="rejects the key"):
            annotate_on_ray(annotator, make_items(20), core, ledger, address=cluster.address)
        assert server.asked.total() == 1
    quota = ("status", {"status": 429, "code": "insufficient_quota"})
    with fault_server(scripts={question: [quota] for question in questions[5:]}) as server:
        annotator = annotator_at(server.base_url)
        with pytest.raises(BudgetReached, match="no quota left"):
            annotate_on_ray(annotator, make_items(20), core, ledger, address=cluster.address)
    assert rows(ledger, "SELECT count(*) FROM reply WHERE status = 'ok'") == [(5,)]


@needs_ray
def test_a_worker_that_dies_loses_no_item(
    cluster: TwoWorkers, fault_server: Start, make_items: MakeItems, annotator_at: MakeAnnotator,
    core: Catalogue, ledger: Path,
) -> None:  # fmt: skip
    questions = [f"What is {n} plus {n}?" for n in range(200)]
    slow = {question: [("hang", {"seconds": 0.05})] * 3 for question in questions}
    done = Counter[str]()

    def progress() -> None:
        done["items"] += 1
        if done["items"] == 50:
            cluster.kill_one()

    with fault_server(scripts=slow) as server:
        annotator = annotator_at(server.base_url, concurrency=4)
        summary = annotate_on_ray(
            annotator, make_items(questions), core, ledger, address=cluster.address,
            signs=Signs(progress),
        )  # fmt: skip
    assert len(cluster.workers) == 1
    assert summary.statuses == Counter(ok=200)
    assert done["items"] == 200
    assert set(server.asked) == set(questions)
    # Two batches may have been with the worker that died.
    assert server.asked.total() <= 200 + 2 * 4 * 2
    assert rows(ledger, "SELECT count(*), count(DISTINCT item_id) FROM reply") == [(200, 200)]


def test_no_cluster_is_one_sentence(
    make_items: MakeItems, annotator_at: MakeAnnotator, core: Catalogue, ledger: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    annotator = annotator_at("http://127.0.0.1:1/v1")
    if find_spec("ray"):
        with pytest.raises(EndpointError, match=r"no Ray cluster at '127\.0\.0\.1:1'"):
            annotate_on_ray(annotator, make_items(1), core, ledger, address="127.0.0.1:1")
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(InputError, match="Ray is not installed"):
        annotate_on_ray(annotator, make_items(1), core, ledger, address="auto")


def test_ray_does_not_start_unless_it_is_asked_for() -> None:
    code = (
        "import sys, benchprism.annotate.cluster.ray_data, benchprism.cli.main;"
        "assert not {m for m in sys.modules if m.split('.')[0] == 'ray'}"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
