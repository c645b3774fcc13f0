from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from benchprism.compose.composer import compose
from benchprism.compose.evidence import Evidence
from benchprism.compose.explaining.explain import Explanation, explain
from benchprism.compose.language.criteria import Criteria
from benchprism.compose.locking.lock import lock
from benchprism.compose.store import read_subset, write_subset
from benchprism.metrics.scorecard import Model
from benchprism.records.results.matrix import Outcomes


def explained(
    table: pa.Table, item: str, folder: Path, evidence: Evidence | None = None, **parts: Any
) -> Explanation:
    criteria = Criteria.model_validate({"name": "x", **parts})
    composition = compose(criteria, table, evidence=evidence)
    write_subset(folder / "x", composition, lock(composition))
    return explain(read_subset(folder / "x"), item, table, evidence)


@pytest.mark.parametrize(
    ("item", "where", "changes"),
    [
        ("arc/1", {"depth": {"min": 2}}, ["depth at least 2 (it is 1)"]),
        ("arc/3", {"depth": {"min": 2}}, ["depth at least 2 (it is missing)"]),
        (
            "arc/0",
            {"depth": {"min": 2}, "kinds": {"contains": "causal"}, "word_count": {"max": 50}},
            ["depth at least 2 (it is 0)", "kinds causal in it (it is none)"],
        ),
        (
            "arc/1",
            {"any": [{"depth": 3}, {"domain": "law", "negation": False}]},
            ["depth 3 (it is 1) or domain law (it is science)"],
        ),
        (
            "law/0",
            {"not": {"domain": "law"}},
            ["that it is false that domain = law (domain is law)"],
        ),
        ("arc/4", {"depth": 3}, ["no fault bad_key in the source, or 'faults: keep'"]),
    ],
)
def test_every_unmet_rule_says_what_it_needs(
    item: str, where: dict[str, Any], changes: list[str], table: pa.Table, tmp_path: Path
) -> None:
    answer = explained(table, item, tmp_path, where=where)
    assert list(answer.changes) == changes
    assert not answer.outdated


def test_a_value_that_does_not_count_needs_another_annotator(
    table: pa.Table, tmp_path: Path
) -> None:
    sources = pa.array(["human_majority" if n == 5 else "llm_single" for n in range(12)])
    position = table.schema.get_field_index("depth.source")
    table = table.set_column(position, "depth.source", sources)
    where = {"depth": {"min": 2, "human_only": True}}
    answer = explained(table, "arc/2", tmp_path, where=where)
    assert answer.changes == ("depth at least 2, by people (it is 2 (llm_single, 0.75))",)


def test_what_comes_after_the_rules_is_said(table: pa.Table, tmp_path: Path) -> None:
    sample = {"size": 2, "seed": 0}
    answer = explained(
        table, "arc/1", tmp_path, where={"depth": {"min": 2}}, deduplicate="exact", sample=sample
    )
    assert answer.changes[-1] == (
        "after that, to pass deduplicate: exact, then sample: size 2, seed 0"
    )


def test_a_copy_needs_its_original_to_go(table: pa.Table, tmp_path: Path) -> None:
    hashes = table["content_hash"].to_pylist()
    hashes[5] = hashes[0]
    position = table.schema.get_field_index("content_hash")
    table = table.set_column(position, "content_hash", pa.array(hashes))
    answer = explained(table, "gsm/0", tmp_path, deduplicate="exact")
    assert answer.detail == "a copy of arc/0"
    assert answer.changes == (
        "that arc/0, of which it is a copy, is left out before, or comes after it by 'keep' of"
        " 'deduplicate'",
    )
    assert not answer.outdated


@pytest.mark.parametrize("how", [{}, {"balance": "benchmark"}, {"stratify": "benchmark"}])
def test_the_size_that_would_draw_an_item_does(
    how: dict[str, Any], table: pa.Table, tmp_path: Path
) -> None:
    sample = {"size": 4, "seed": 0, **how}
    composition = compose(Criteria.model_validate({"name": "x", "sample": sample}), table)
    undrawn = [r for r in composition.excluded.to_pylist() if r["rule"].startswith("sample")]
    assert len(undrawn) == 6
    for row in undrawn:
        [change] = explained(table, row["item_id"], tmp_path, sample=sample).changes
        assert change.endswith(" items (it has 4), or another seed")
        size = int(change.split()[3])
        for other, inside in ((size, True), (size - 1, False)):
            wanted = {"name": "x", "sample": {**sample, "size": other}}
            found = compose(Criteria.model_validate(wanted), table)
            assert (row["item_id"] in found.chosen_ids) == inside


def test_more_than_the_size_may_decide(table: pa.Table, tmp_path: Path) -> None:
    sample = {"size": 4, "seed": 0, "balance": "benchmark", "quotas": {"benchmark": {"arc": 1}}}
    composition = compose(Criteria.model_validate({"name": "x", "sample": sample}), table)
    undrawn = [r["item_id"] for r in composition.excluded.to_pylist() if r["turn"]]
    answer = explained(table, undrawn[0], tmp_path, sample=sample)
    assert answer.changes == ("a larger sample (it has 4), or another seed",)


def test_a_selection_names_what_was_wanted(table: pa.Table, tmp_path: Path) -> None:
    scores = np.array([[0, 1], [1, 0], [0, 1], [1, 1], [0, 1]], dtype=float)
    ids = tuple(f"arc/{n}" for n in range(5))
    models = (Model("s", "F", 1), Model("l", "F", 2))
    evidence = Evidence((Outcomes("arc", ids, ("s", "l"), scores),), models)
    select = {"held_in": "all", "by": "variance", "share": 1}
    parts = {"from": ["arc"], "faults": "keep", "select": select}
    answer = explained(table, "arc/1", tmp_path, evidence, **parts)
    assert answer.changes == (
        "other scores of the held-in models, or a looser 'select' (its CAD on held-in families"
        " is 0, wanted above 0.15)",
    )
    assert not answer.outdated
