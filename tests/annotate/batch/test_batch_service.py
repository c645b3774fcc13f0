"""An endpoint that fails on the way: tried again, or one sentence."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from benchprism.annotate.asking.annotator import Annotator
from benchprism.annotate.batch.collecting import (
    collect,
)
from benchprism.prompts.catalogue import Catalogue
from benchprism.records.errors import (
    BudgetReached,
    EndpointError,
)

from .batch_server import (
    HTML,
    BatchServer,
    MakeItems,
    started,
)

# aiohttp's own reader of uploads warns about itself.
pytestmark = pytest.mark.filterwarnings("ignore:unread_data:DeprecationWarning")


PASSING = [
    [("POST /v1/files", 500, "oops")],
    [("POST /v1/batches", 503, "oops"), ("GET /v1/batches", 502, HTML)],
    [("POST /v1/batches", 200, HTML)],
    [("GET /v1/batches/", 200, HTML), ("GET /v1/batches/", 429, "slow down")],
    [("GET /v1/files/", 500, HTML)],
]


@pytest.mark.parametrize("odd", PASSING)
def test_passing_faults_are_met_again(
    server: BatchServer, annotator: Annotator, make_items: MakeItems, core: Catalogue, ledger: Path,
    odd: list[tuple[str, int, str]],
) -> None:  # fmt: skip
    server.odd = [*odd]
    assert started(annotator, make_items(3), core, ledger) == [3]
    assert len(server.batches) == 1
    server.end("batch-0")
    assert [report.statuses for report in collect(annotator, ledger)] == [Counter(ok=3)]
    assert server.odd == []


LASTING = [
    ("POST /v1/files", 500, "", "fails"),
    ("POST /v1/files", 200, HTML, "answers with what is no answer to that"),
    ("POST /v1/batches", 200, '{"id": null}', "answers with what is no answer to that"),
    ("POST /v1/batches", 413, "", "refuses it"),
]


@pytest.mark.parametrize(("start", "status", "text", "sentence"), LASTING)
def test_lasting_faults_are_one_sentence(
    server: BatchServer, annotator: Annotator, make_items: MakeItems, core: Catalogue, ledger: Path,
    start: str, status: int, text: str, sentence: str,
) -> None:  # fmt: skip
    server.odd = [(start, status, text)] * 4
    with pytest.raises(EndpointError, match=sentence):
        started(annotator, make_items(3), core, ledger)
    assert not server.batches


def test_an_account_without_money_is_not_a_wrong_address(
    server: BatchServer, annotator: Annotator, make_items: MakeItems, core: Catalogue, ledger: Path
) -> None:
    limit = '{"error": {"code": "billing_hard_limit_reached", "message": "Pay."}}'
    server.odd = [("POST /v1/batches", 400, limit)]
    with pytest.raises(BudgetReached, match="no quota left"):
        started(annotator, make_items(3), core, ledger)


def test_a_full_queue_is_no_wrong_address(
    server: BatchServer, annotator: Annotator, make_items: MakeItems, core: Catalogue, ledger: Path
) -> None:
    server.full = True
    with pytest.raises(EndpointError, match="collect what is done, then submit again"):
        started(annotator, make_items(3), core, ledger)
    server.full = False
    assert started(annotator, make_items(3), core, ledger) == [3]


def test_an_endpoint_without_batches_is_one_sentence(
    annotator: Annotator, make_items: MakeItems, core: Catalogue, ledger: Path, server: BatchServer
) -> None:
    nowhere = replace(annotator.endpoint, base_url=server.base_url.replace("/v1", "/v2"))
    with pytest.raises(EndpointError, match="wanted an endpoint with files and batches"):
        started(replace(annotator, endpoint=nowhere), make_items(2), core, ledger)
    down = replace(annotator.endpoint, base_url="http://127.0.0.1:1/v1")
    with pytest.raises(EndpointError, match=r"no answer from http://127\.0\.0\.1:1/v1"):
        started(replace(annotator, endpoint=down), make_items(2), core, ledger)
