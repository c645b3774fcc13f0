from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from benchprism.compose.composer import compose
from benchprism.compose.language.criteria import Criteria
from benchprism.compose.pool import pool_of
from benchprism.records.errors import InputError


@dataclass
class Earlier:
    contents: dict[str, str] = field(default_factory=dict)


@pytest.fixture
def parts(table: pa.Table) -> pa.Table:
    """The twelve items, those of arc in two parts: easy for rows 0 to 2, hard for 3 and 4."""
    names = ["easy"] * 3 + ["hard"] * 2 + [""] * 7
    return table.set_column(table.schema.get_field_index("subset"), "subset", pa.array(names))


def earlier(table: pa.Table, *ids: str) -> Earlier:
    hashes = dict(zip(table["item_id"].to_pylist(), table["content_hash"].to_pylist(), strict=True))
    return Earlier({item: hashes[item] for item in ids})


def candidates(table: pa.Table, sources: Any, **compositions: Earlier) -> str:
    criteria = Criteria.model_validate({"name": "x", "from": sources})
    pool = pool_of(criteria, table, compositions)
    return " ".join(pool.table["item_id"].take(pa.array(pool.order)).to_pylist())


def test_sources_are_benchmarks_parts_and_compositions(parts: pa.Table) -> None:
    old = earlier(parts, "gsm/2", "arc/4")
    assert candidates(parts, ["law"]) == "law/0 law/1 law/2"
    assert candidates(parts, ["arc/hard", "law"]) == "arc/3 arc/4 law/0 law/1 law/2"
    assert candidates(parts, ["subset:old"], old=old) == "arc/4 gsm/2"
    assert candidates(parts, ["arc/easy", "subset:old"], old=old) == (
        "arc/0 arc/1 arc/2 arc/4 gsm/2"
    )
    assert len(candidates(parts, "all").split()) == 12


def test_counts_are_of_the_benchmarks_that_sources_are_of(parts: pa.Table) -> None:
    criteria = Criteria.model_validate(
        {"name": "x", "from": ["subset:old", "law"], "where": {"depth": {"min": 2}}}
    )
    composition = compose(criteria, parts, earlier={"old": earlier(parts, "gsm/2", "gsm/3")})
    assert composition.available == {"gsm": 2, "law": 3}
    assert composition.chosen_ids == ["gsm/2", "law/0", "law/1"]
    assert composition.criteria.from_ == ["subset:old", "law"]


@pytest.mark.parametrize(
    ("sources", "sentence"),
    [
        (["acr"], "the unknown benchmark 'acr'; .* did you mean 'arc'"),
        (["arc/hrad"], "the unknown part 'hrad' of 'arc'; .* did you mean 'hard'"),
        (["law/civil"], "the unknown part 'civil' of 'law'; .* name 'law'"),
        (["subset:none"], "the composition 'none', which is not there"),
        (["subset:x"], "the composition 'x' itself"),
    ],
)
def test_a_source_that_is_not_there(sources: list[str], sentence: str, parts: pa.Table) -> None:
    with pytest.raises(InputError, match=sentence):
        candidates(parts, sources)


def test_an_earlier_composition_must_be_of_the_items_of_today(parts: pa.Table) -> None:
    changed = Earlier({**earlier(parts, "gsm/2", "arc/4").contents, "gsm/2": "other", "arc/99": ""})
    with pytest.raises(InputError, match=r"2 of the 3 items of 'old' are not .* compose 'old'"):
        candidates(parts, ["subset:old"], old=changed)


@pytest.mark.parametrize("column", ["row", "item_id"])
def test_the_order_is_that_of_the_sources(column: str, parts: pa.Table) -> None:
    if column == "item_id":  # rows that say nothing leave the order to the id
        zeros = pa.array(np.zeros(12, np.int64))
        parts = parts.set_column(parts.schema.get_field_index("row"), "row", zeros)
    turned = parts.take(pa.array(np.random.default_rng(0).permutation(12)))
    assert candidates(turned, "all") == " ".join(parts["item_id"].to_pylist())
