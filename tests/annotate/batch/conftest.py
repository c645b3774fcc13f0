"""A server of batches, an annotator that uses it, and its ledger."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from benchprism.annotate.asking.annotator import Annotator
from benchprism.annotate.traffic.endpoint import EndpointSettings
from benchprism.annotate.traffic.patience import Patience

from .batch_server import (
    PRICE,
    BatchServer,
    serving,
)


@pytest.fixture
def server() -> Iterator[BatchServer]:
    with serving(BatchServer()) as server:
        yield server


@pytest.fixture
def annotator(server: BatchServer) -> Annotator:
    settings = EndpointSettings("m", server.base_url, max_output_tokens=100, rung="json_schema")
    patience = Patience(first_wait=0.001, longest_wait=0.01)
    return Annotator("llm:test", settings, price=PRICE, patience=patience)


@pytest.fixture
def ledger(tmp_path: Path) -> Path:
    return tmp_path / "ledger.sqlite"
