from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pyarrow as pa

from benchprism.annotate.asking.annotator import Annotator, run_annotator
from benchprism.annotate.ledger.standing import (
    AnnotatorStanding,
    ItemCount,
    Standing,
    ValueCount,
    declined_clusters,
    standing,
)
from benchprism.annotate.ledger.store import Ledger
from benchprism.prompts.catalogue import Catalogue


def test_each_item_counts_by_its_latest_reply_and_each_token_counts(
    fault_server: Callable[..., AbstractContextManager[Any]],
    make_items: Callable[..., pa.Table],
    annotator_at: Callable[..., Annotator],
    core: Catalogue,
    tmp_path: Path,
) -> None:
    cut = ("message", {"content": "{", "finish_reason": "length"})
    scripts = {"cut": [cut] * 2, "late": ["reset"]}
    with fault_server(scripts=scripts) as server:
        annotator = annotator_at(server.base_url)
        items = make_items(["well", "cut", "late"])
        run_annotator(annotator, items, core, tmp_path / "l.sqlite")
        with Ledger(tmp_path / "l.sqlite") as ledger:
            first = standing(ledger)
        run_annotator(annotator, items, core, tmp_path / "l.sqlite", retry=["truncated"])
    with Ledger(tmp_path / "l.sqlite") as ledger:
        second = standing(ledger)
    assert first.items == (
        ItemCount("llm:test", "bench", "ok", 2),
        ItemCount("llm:test", "bench", "truncated", 1),
    )
    assert second.items == (ItemCount("llm:test", "bench", "ok", 3),)
    assert second.annotators == (
        AnnotatorStanding("llm:test", "m", 5, 35, 25, 15, None, repeated=2),
    )
    assert len(second.values) == 24
    assert set(second.values) >= {ValueCount("llm:test", "clarity", "bench", "ok", 3)}
    assert not second.annotators[0].replayed


def test_an_empty_ledger_stands_nowhere(tmp_path: Path) -> None:
    with Ledger(tmp_path / "none.sqlite") as ledger:
        assert standing(ledger) == Standing((), (), ())


def test_what_is_declined_in_one_place_is_not_missing_at_random(core: Catalogue) -> None:
    values = [
        ValueCount("llm:a", "harm_potential", "bench", "ok", 90),
        ValueCount("llm:a", "harm_potential", "bench", "refused", 6),
        ValueCount("llm:a", "ethical_sensitivity", "bench", "filtered", 4),
        ValueCount("llm:a", "clarity", "bench", "ok", 99),
        ValueCount("llm:a", "clarity", "bench", "refused", 1),
        ValueCount("llm:b", "clarity", "bench", "invalid", 50),
        ValueCount("llm:b", "harm_potential", "bench", "refused", 4),
    ]
    (found,) = declined_clusters(values, core)
    assert (found.annotator, found.kind) == ("llm:a", "dimension")
    assert found.name == "ethics_safety_and_fairness"
    assert (found.here, found.elsewhere) == (0.1, 0.01)
    assert str(found) == (
        "llm:a declines 10.0% of the values in the dimension 'Ethics, safety and fairness' and 1.0%"
        " elsewhere: what is missing there is not missing at random"
    )


def test_refusals_that_are_spread_evenly_are_no_cluster(core: Catalogue) -> None:
    values = [
        count
        for attribute in ("clarity", "harm_potential")
        for benchmark in ("one", "two")
        for count in (
            ValueCount("llm:a", attribute, benchmark, "ok", 90),
            ValueCount("llm:a", attribute, benchmark, "refused", 10),
        )
    ]
    assert declined_clusters(values, core) == []
