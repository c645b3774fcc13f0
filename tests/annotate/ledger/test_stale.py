"""After a change of the catalogue or of an item it is said what does not count any more."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pyarrow as pa

from benchprism.annotate.asking.annotator import Annotator, run_annotator
from benchprism.annotate.ledger.current import current_annotations
from benchprism.annotate.ledger.stale import Stale, stale
from benchprism.annotate.ledger.store import Ledger
from benchprism.annotate.money.estimate import estimates
from benchprism.prompts.catalogue import Catalogue

MakeItems = Callable[..., pa.Table]


def test_what_an_earlier_catalogue_said_is_counted_as_a_dry_run_counts_it(
    fault_server: Callable[..., AbstractContextManager[Any]], make_items: MakeItems,
    annotator_at: Callable[..., Annotator], core: Catalogue, tmp_path: Path,
) -> None:  # fmt: skip
    items, path = make_items(["one", "two", "three", "broken"]), tmp_path / "l.sqlite"
    asked_otherwise = core.model_copy(deep=True)
    (dimension, place), = [
        (d, n) for d in asked_otherwise.dimensions for n, a in enumerate(d.attributes)
        if a.id == "clarity"
    ]  # fmt: skip
    changed = dimension.attributes[place].model_copy(update={"question": "Is it clear now?"})
    dimension.attributes[place] = changed
    renumbered = core.model_copy(update={"version": 99})

    with fault_server(scripts={"broken": [("message", {"content": "prose"})]}) as server:
        annotator = annotator_at(server.base_url)
        run_annotator(annotator, items, core, path)

        def found(catalogue: Catalogue, items: pa.Table = items) -> list[Stale]:
            with Ledger(path) as ledger:
                said = stale(ledger, catalogue, items)
                missing = estimates(annotator, items, catalogue, [ledger]).chosen.items
                counting = current_annotations(ledger, catalogue, items)
            assert sum(one.asked_again for one in said) == missing
            with Ledger(path) as ledger:
                ((given,),) = ledger.query(
                    "SELECT count(*) FROM (SELECT DISTINCT item_id, attribute FROM annotation"
                    " JOIN reply USING (reply_id) WHERE annotation.status = 'ok'"
                    " AND item_id IN (SELECT value FROM json_each(?)))",
                    json.dumps(items["item_id"].to_pylist()),
                )
            assert sum(len(one.codes) for one in counting) + sum(o.values for o in said) == given
            return said

        assert found(core) == []
        # the item without values has none that are stale, and is asked about again
        assert found(asked_otherwise) == [Stale("llm:test", 3, 3, 4)]
        assert found(renumbered) == [Stale("llm:test", 0, 0, 4)]
        other = make_items(["one", "another two", "three", "broken"])
        assert found(core, other) == [Stale("llm:test", 24, 1, 1)]
        # items that are not in the project any more have no meaning that changed
        assert found(asked_otherwise, items[:1]) == [Stale("llm:test", 1, 1, 1)]

        run_annotator(annotator, items[:2], asked_otherwise, path)
        assert found(asked_otherwise) == [Stale("llm:test", 1, 1, 2)]
        assert found(core) == []
    assert str(Stale("llm:test", 3, 3, 4)) == (
        "3 values of llm:test, of 3 items, are stale: the catalogue or the item has changed, and"
        " they do not count; 4 items are asked about again"
    )
