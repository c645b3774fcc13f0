"""Subsets that are composed of given items, and exported."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from benchprism.annotate.attribute_table import attribute_table
from benchprism.annotate.consolidation.consolidate import VALUES_SCHEMA
from benchprism.compose.composer import compose
from benchprism.compose.language.criteria import Criteria
from benchprism.compose.locking.lock import lock
from benchprism.compose.store import Subset, read_subset, write_subset
from benchprism.prompts.catalogue import Catalogue
from benchprism.records.documents import parse_document
from benchprism.records.items.record import Item, choice_set_hash, content_hash, items_table

Provenances = Mapping[str, Mapping[str, Any]]
COMPOSED = "name: mixed\nfaults: keep\n"


@pytest.fixture
def composed(tmp_path: Path, catalogue: Catalogue) -> Callable[..., Subset]:
    """Compose all of some items: ``composed(items, provenance, values, text)``."""

    def make(
        items: Sequence[Item],
        provenance: Provenances | None = None,
        values: Sequence[tuple[Any, ...]] = (),
        text: str = COMPOSED,
    ) -> Subset:
        rows = [dict(zip(VALUES_SCHEMA.names, value, strict=True)) for value in values]
        given = pa.Table.from_pylist(rows, schema=VALUES_SCHEMA)
        table = attribute_table(items_table(items), given, catalogue)
        criteria = parse_document(text, Criteria, name="mixed.yaml")
        composition = compose(criteria, table, catalogue=catalogue)
        folder = tmp_path / "subsets" / criteria.name
        write_subset(folder, composition, lock(composition, catalogue=catalogue,
                                               provenance=provenance))  # fmt: skip
        return read_subset(folder)

    return make


@pytest.fixture
def reload(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[Path], dict[str, Any]]:
    """Read an exported folder by the real ``datasets``: its rows, by item id."""
    import datasets

    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")
    monkeypatch.setattr(datasets.config, "HF_HUB_OFFLINE", True)
    datasets.disable_progress_bars()

    def read(folder: Path) -> dict[str, Any]:
        rows = [
            row
            for config in datasets.get_dataset_config_names(str(folder))
            for row in datasets.load_dataset(str(folder), config, split="test")
        ]
        return {row["item_id"]: row for row in rows}

    return read


def open_question(benchmark: str, row: int, question: str, answer: str | None, **more: Any) -> Item:
    """An item without choices; ``more`` are fields of the record."""
    item = Item(
        item_id=f"{benchmark}/test/{row}", benchmark=benchmark, subset="", split="test", row=row,
        revision="sha256:0", question=question, context="", choices=(), answer_index=None,
        answer_text=answer, accepted_answers=(), kind="generative", faults=(), source="{}",
        content_hash="", choice_set_hash="",
    )  # fmt: skip
    item = replace(item, **more)
    parts = item.question, item.context, item.choices
    return replace(item, content_hash=content_hash(*parts), choice_set_hash=choice_set_hash(*parts))


def choice(benchmark: str, row: int, question: str, *choices: str, key: int, **more: Any) -> Item:
    """An item with choices; ``more`` are fields of the record."""
    made: dict[str, Any] = {
        "choices": choices, "answer_index": key, "kind": "multiple_choice", **more,
    }  # fmt: skip
    return open_question(benchmark, row, question, choices[key], **made)


@pytest.fixture(scope="session")
def make_open() -> Callable[..., Item]:
    """An item without choices: ``make_open(benchmark, row, question, answer)``."""
    return open_question


@pytest.fixture(scope="session")
def make_choice() -> Callable[..., Item]:
    """An item with choices: ``make_choice(benchmark, row, question, *choices, key=0)``."""
    return choice
