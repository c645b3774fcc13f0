"""People's names, which an export does not tell unless it is asked to."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from benchprism.compose.export.assembly import assemble
from benchprism.compose.export.folder import LOCK, export_subset
from benchprism.compose.export.names import without_names
from benchprism.compose.store import Subset
from benchprism.prompts.catalogue import Catalogue
from benchprism.records.items.record import Item

ANNOTATORS = [
    "adjudicator:bo",
    "human:ann",
    "human:bo",
    "human:cy:d",
    "llm:human:x",
    "embed:minilm",
]


@pytest.fixture
def subset(composed: Callable[..., Subset], make_choice: Callable[..., Item]) -> Subset:
    made = composed([make_choice("b", 0, "Which?", "x", "y", key=0)])
    told = [{"annotator": name, "model": "page", "prompt_hash": None} for name in ANNOTATORS]
    return replace(made, lock={**made.lock, "annotators": told})


def told(lock: Any) -> list[str]:
    return [annotator["annotator"] for annotator in lock["annotators"]]


def test_people_are_numbered_alike_in_every_role(subset: Subset) -> None:
    lock = without_names(subset.lock)
    assert told(lock) == [
        "adjudicator:2", "human:1", "human:2", "human:3", "llm:human:x", "embed:minilm",
    ]  # fmt: skip
    assert lock["annotators"][0]["model"] == "page"
    assert told(subset.lock) == ANNOTATORS
    assert without_names(lock) == lock
    assert {**lock, "annotators": subset.lock["annotators"]} == subset.lock


def test_an_export_names_people_only_when_asked(
    subset: Subset, catalogue: Catalogue, tmp_path: Path
) -> None:
    export_subset(assemble(subset, catalogue), tmp_path / "out")
    written = b"".join(path.read_bytes() for path in tmp_path.glob("out/**/*") if path.is_file())
    assert b"human:3" in written
    assert b"cy:d" not in written
    export_subset(assemble(subset, catalogue, names=True), tmp_path / "named")
    lock = json.loads((tmp_path / "named" / LOCK).read_text(encoding="utf-8"))
    assert told(lock) == ANNOTATORS
