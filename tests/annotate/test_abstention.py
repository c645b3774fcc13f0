"""An annotator that may abstain leaves a value out, and that is no failure."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from benchprism.annotate.asking.annotator import Annotator, run_annotator
from benchprism.annotate.consolidation.consolidate import consolidated_values
from benchprism.annotate.ledger.outcome import FAILURES
from benchprism.annotate.ledger.standing import standing
from benchprism.annotate.ledger.store import Ledger
from benchprism.annotate.reading.parsing import read_values
from benchprism.prompts.catalogue import Catalogue
from benchprism.prompts.library import load_catalogue
from benchprism.prompts.templates import Wording

CORE = load_catalogue("core")


def test_null_is_an_abstention_only_where_it_was_offered() -> None:
    reply = {"values": {"clarity": None, "uses_negation": True}}
    asked = [CORE["clarity"], CORE["uses_negation"], CORE["task_kind"]]
    offered = read_values(reply, asked, may_abstain=True)
    assert [one.status for one in offered] == ["abstained", "ok", "invalid"]
    assert offered[0].value is None
    assert [one.status for one in read_values(reply, asked)] == ["invalid", "ok", "invalid"]


def test_it_is_counted_as_what_it_is_and_not_asked_again(
    fault_server: Callable[..., AbstractContextManager[Any]],
    make_items: Callable[..., pa.Table],
    annotator_at: Callable[..., Annotator],
    core: Catalogue,
    tmp_path: Path,
) -> None:
    first = {a.id: next(iter(a.values)) for a in core} | {"uses_negation": False}
    kinds = {a.id: [first[a.id]] if a.type == "labels" else first[a.id] for a in core}
    reply = {"note": "", "values": {**kinds, "clarity": None}, "doubt": []}
    ledger, items = tmp_path / "l.sqlite", make_items(["unsure", "sure"])
    scripts = {
        question: [("message", {"content": json.dumps(values)})]
        for question, values in (("unsure", reply), ("sure", {**reply, "values": kinds}))
    }
    with fault_server(scripts=scripts) as server:
        annotator = replace(annotator_at(server.base_url), wording=Wording(may_abstain=True))
        summary = run_annotator(annotator, items, core, ledger)
        again = run_annotator(annotator, items, core, ledger, retry=FAILURES)
    assert dict(summary.statuses) == {"ok": 2}
    assert again.asked == 0
    with Ledger(ledger) as opened:
        counts = {
            count.status: count.values
            for count in standing(opened).values
            if count.attribute == "clarity"
        }
    assert counts == {"ok": 1, "abstained": 1}
    values = consolidated_values(ledger, core, items).to_pylist()
    assert [v["item_id"] for v in values if v["attribute"] == "clarity"] == ["bench/test/1"]
