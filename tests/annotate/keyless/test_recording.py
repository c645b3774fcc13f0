from __future__ import annotations

from pathlib import Path

import pyarrow as pa

from benchprism.annotate.consolidation.consolidate import consolidated_values
from benchprism.annotate.keyless.heuristics import HEURISTIC, propose_by_rule
from benchprism.annotate.keyless.proposals import Proposal
from benchprism.annotate.keyless.recording import record_proposals
from benchprism.annotate.ledger.store import Ledger
from benchprism.prompts.catalogue import Catalogue


def test_what_rules_decide_stands_in_the_ledger_once(
    items: pa.Table, core: Catalogue, tmp_path: Path
) -> None:
    proposals = list(propose_by_rule(items, core))
    with Ledger(tmp_path / "ledger.sqlite", write=True) as ledger:
        for _ in range(2):
            number = record_proposals(
                ledger, proposals, annotator=HEURISTIC, model="rules", catalogue=core
            )
            assert number == 4
        said = {(a.item_id, a.attribute): a for a in ledger.annotations()}
        ((replies,),) = ledger.query("SELECT count(*) FROM reply")

    assert replies == 4
    assert len(said) == len(proposals)
    negation = said["made/test/0", "uses_negation"]
    assert (negation.value, negation.annotator, negation.status) == (True, "heuristic", "ok")
    assert ("made/test/3", "task_kind") not in said


def test_what_is_said_last_counts(items: pa.Table, core: Catalogue, tmp_path: Path) -> None:
    name, content = items["item_id"][0].as_py(), items["content_hash"][0].as_py()
    sure = Proposal(name, content, "uses_negation", True, 0.6)
    unsure = Proposal(name, content, "uses_negation", None, None)
    path = tmp_path / "ledger.sqlite"
    found = []
    for said in (sure, sure, unsure, sure):
        with Ledger(path, write=True) as ledger:
            spoken = record_proposals(
                ledger, [said], annotator="score:m", model="m", catalogue=core
            )
            ((replies,),) = ledger.query("SELECT count(*) FROM reply")
        found.append((spoken, replies, consolidated_values(path, core, items)["value"].to_pylist()))

    assert found == [(1, 1, ["true"]), (1, 1, ["true"]), (0, 2, []), (1, 3, ["true"])]
