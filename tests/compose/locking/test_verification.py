from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from benchprism.compose.composer import compose
from benchprism.compose.evidence import Evidence
from benchprism.compose.explaining.explain import explain
from benchprism.compose.language.criteria import Criteria
from benchprism.compose.locking.lock import lock, lock_digest, lock_text
from benchprism.compose.locking.moved import moved
from benchprism.compose.locking.verification import Verification, verify
from benchprism.compose.store import read_lock, read_subset, write_subset
from benchprism.metrics.scorecard import Model
from benchprism.prompts.catalogue import Catalogue
from benchprism.records.errors import InputError
from benchprism.records.results.matrix import Outcomes

PARTS: dict[str, Any] = {
    "name": "x",
    "where": {"depth": {"min": 2, "min_confidence": 0.5}},
    "sample": {"size": 4, "seed": 0},
}
ANNOTATORS = [{"annotator": "llm:main", "model": "m", "prompt_hash": "p1", "catalogue_hash": "c"}]
SOURCES = {"arc": {"licence": "mit", "revision": "1"}}


def locked(
    table: pa.Table,
    parts: dict[str, Any] = PARTS,
    evidence: Evidence | None = None,
    **about: Any,
) -> dict[str, Any]:
    composition = compose(Criteria.model_validate(parts), table, evidence=evidence)
    return lock(composition, **{"annotators": ANNOTATORS, "provenance": SOURCES, **about})


def replaced(table: pa.Table, column: str, values: list[Any]) -> pa.Table:
    position = table.schema.get_field_index(column)
    return table.set_column(
        position, table.schema.field(position), pa.array(values, table.schema.field(position).type)
    )


def test_nothing_moves_when_nothing_changes(table: pa.Table) -> None:
    turned = table.take(pa.array(np.random.default_rng(0).permutation(12)))
    assert lock_text(locked(turned)) == lock_text(locked(table))
    assert moved(locked(table), locked(turned)) == []


def test_what_criteria_do_not_look_at_does_not_move_them(table: pa.Table) -> None:
    then, now = locked(table), locked(replaced(table, "negation", [True] * 12))
    assert then["values"] == now["values"]
    assert then["values"].keys() == {"depth", "depth.confidence", "depth.source", "faults"}
    # the chosen rows hold the other value, all the same
    assert moved(then, now) == ["content: other content"]


Change = Callable[[pa.Table], tuple[pa.Table, dict[str, Any], dict[str, Any]]]


@pytest.mark.parametrize(
    ("change", "sentences"),
    [
        (lambda t: (t, {**PARTS, "where": {"depth": {"min": 2}}}, {}),
         ["the criteria's where changed", "values of depth.confidence, depth.source changed"]),
        (lambda t: (t, {**PARTS, "sample": {"size": 4, "seed": 1}}, {}),
         ["the criteria's sample changed"]),
        (lambda t: (t, PARTS, {"annotators": [{**ANNOTATORS[0], "prompt_hash": "p2"}]}),
         ["llm:main (prompt p1) no longer gives values of chosen items",
          "llm:main (prompt p2) now gives values of chosen items"]),
        (lambda t: (t, PARTS, {"provenance": {"arc": {"licence": "mit", "revision": "2"}}}),
         ["arc: revision was '1' and is '2'"]),
        (lambda t: (replaced(t, "depth", [3, 3, 3, 3, 3, 1, 3, 3, 3, 3, 3, 3]), PARTS, {}),
         ["values of depth changed", " in: ", " out: "]),
        (lambda t: (t.filter(pc.not_equal(t["item_id"], "arc/0")), PARTS, {}),
         ["values of ", "arc had 5 candidates and has 4"]),
        (lambda t: (t, PARTS, {"earlier": {"old": "abc"}}),
         ["the earlier composition old changed"]),
        (lambda t: (replaced(t, "content_hash", [*"abcdefghijkl"]), PARTS, {}),
         ["4 items changed in content: "]),
    ],
)  # fmt: skip
def test_what_moved_is_said(change: Change, sentences: list[str], table: pa.Table) -> None:
    changed, parts, about = change(table)
    found = moved(locked(table), locked(changed, parts, **about))
    for sentence in sentences:
        assert any(sentence in line for line in found), (sentence, found)


def test_the_catalogue_and_its_prompts_are_locked(table: pa.Table, catalogue: Catalogue) -> None:
    other = catalogue.model_copy(update={"version": 2})
    then, now = locked(table, catalogue=catalogue), locked(table, catalogue=other)
    assert moved(then, now) == [
        f"the catalogue was small 1 ({catalogue.hash}) and is small 2 ({other.hash})"
    ]
    assert moved(locked(table), then)[0].startswith("the catalogue was none and is small 1")


def test_results_are_locked_where_they_are_asked_for(table: pa.Table) -> None:
    def evidence(score: float, size: float = 2) -> Evidence:
        scores = np.array([[0, 1], [1, score], [0, 1], [1, 1], [0, 1]], dtype=float)
        ids = tuple(f"arc/{n}" for n in range(5))
        models = (Model("s", "F", 1), Model("l", "F", size))
        return Evidence((Outcomes("arc", ids, ("s", "l"), scores),), models)

    assert locked(table, evidence=evidence(0))["results"] is None
    parts = {"name": "x", "from": ["arc"], "select": {"held_in": "all", "by": "variance"}}
    then = locked(table, parts, evidence(0))
    assert then["selection"]["held_in"] == {"F": ["l", "s"]}
    assert then["results"]["models"]["l"] == {"family": "F", "size": 2}
    assert moved(then, locked(table, parts, evidence(0))) == []
    found = moved(then, locked(table, parts, evidence(1)))
    assert found[0] == "scores on arc changed"
    assert moved(then, locked(table, parts, evidence(0, size=3)))[0] == (
        "what is known of the models l changed"
    )


def test_a_stored_subset_is_verified(table: pa.Table, tmp_path: Path) -> None:
    composition = compose(Criteria.model_validate(PARTS), table)
    now = lock(composition)
    assert verify(tmp_path / "x", now).moved == ("no subset 'x' has been composed yet",)
    write_subset(tmp_path / "x", composition, now)
    assert verify(tmp_path / "x", now) == Verification((), ())
    items = pq.read_table(tmp_path / "x" / "items.parquet")
    pq.write_table(items.slice(1), tmp_path / "x" / "items.parquet")
    (tmp_path / "x" / "excluded.parquet").unlink()
    (tmp_path / "x" / "criteria.yaml").write_text("name: y\n", encoding="utf-8")
    assert verify(tmp_path / "x", now).damaged == (
        "items.parquet is not what the lock says",
        "excluded.parquet is missing or damaged",
        "criteria.yaml is not what the lock says",
    )


def test_a_lock_of_another_version_is_refused(table: pa.Table, tmp_path: Path) -> None:
    composition = compose(Criteria.model_validate(PARTS), table)
    write_subset(tmp_path / "x", composition, {**lock(composition), "format": 1})
    with pytest.raises(InputError, match="has the format 1; wanted the format 2; compose it again"):
        read_lock(tmp_path / "x")
    with pytest.raises(InputError, match="compose it again"):
        explain(read_subset(tmp_path / "x"), "arc/0", table)


def test_a_lock_has_one_digest(table: pa.Table) -> None:
    assert lock_digest(locked(table)) == lock_digest(locked(table))
    assert lock_digest(locked(table)) != lock_digest(locked(table, {"name": "x"}))
