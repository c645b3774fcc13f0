from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from benchprism.compose.composer import Composition, compose
from benchprism.compose.evidence import Evidence
from benchprism.compose.language.criteria import Criteria, Select
from benchprism.compose.selection import held_in_families
from benchprism.metrics.scorecard import Model
from benchprism.records.errors import InputError
from benchprism.records.results.matrix import Outcomes

FAMILIES = {"A": ("a1", "a2"), "B": ("b1", "b2"), "C": ("c1", "c2")}
DECLARED = tuple(
    Model(name, family, float(name[1])) for family, names in FAMILIES.items() for name in names
)
NAMES = tuple(model.name for model in DECLARED)
ARC = np.array(
    # a1 a2 b1 b2 c1 c2
    [
        [0, 1, 0, 1, 1, 1],  # the larger of A and B succeed
        [0, 1, 0, 1, 0, 0],
        [1, 0, 0, 0, 0, 0],  # turned round in A
        [1, 1, 1, 1, 1, 1],  # everyone: nothing to tell apart
        [0, 0, 1, 1, 0, 1],  # solved by B alone, which is the weaker family elsewhere
    ]
)


@pytest.fixture
def evidence() -> Evidence:
    items = tuple(f"arc/{n}" for n in range(5))
    return Evidence((Outcomes("arc", items, NAMES, ARC.astype(float)),), DECLARED)


def composed(table: pa.Table, evidence: Evidence | None, **select: Any) -> Composition:
    parts = {"name": "x", "from": ["arc"], "faults": "keep", "select": select}
    return compose(Criteria.model_validate(parts), table, evidence=evidence)


AB = {"held_in": ["A", "B"], "seed": 0}


def test_cad_then_the_most_discriminating_share(table: pa.Table, evidence: Evidence) -> None:
    composition = composed(table, evidence, share=0.4, **AB)
    # CAD on A and B: arc/2 has one of two pairs turned round, exp(-6); all others have none
    first, second = composition.steps
    assert (first.rule, first.left_out) == ("select: cad > 0.15 on held-in families", 1)
    assert (second.rule, second.left_out) == (
        "select: first 40 % of each benchmark by discrimination", 2,
    )  # fmt: skip
    assert composition.chosen_ids == ["arc/0", "arc/1"]
    why = {r["item_id"]: r["detail"] for r in composition.excluded.to_pylist()}
    assert why["arc/2"] == "its CAD on held-in families is 0.002, wanted above 0.15"
    assert why["arc/3"] == (
        "its discrimination on held-in models is missing, no turn of 5 (arc), wanted the first 2"
    )
    assert why["arc/4"].endswith(", its turn is 3 of 5 (arc), wanted the first 2")
    chosen = composition.chosen
    assert chosen["held_in.cad"].to_pylist() == [1, 1]
    assert all(value > 0 for value in chosen["held_in.discrimination"].to_pylist())


def test_held_out_models_have_no_say(table: pa.Table, evidence: Evidence) -> None:
    before = composed(table, evidence, share=0.4, **AB)
    scores = ARC.astype(float)
    scores[:, 4:] = 1 - scores[:, 4:]
    turned = Evidence((Outcomes("arc", evidence.outcomes[0].item_ids, NAMES, scores),), DECLARED)
    after = composed(table, turned, share=0.4, **AB)
    assert after.chosen == before.chosen
    assert after.selection is not None
    assert after.selection.held_in == {"A": ("a1", "a2"), "B": ("b1", "b2")}
    assert after.selection.held_out == {"C": ("c1", "c2")}


def test_half_the_families_by_seed() -> None:
    def key(seed: int, family: str) -> bytes:
        return hashlib.blake2b(family.encode(), key=str(seed).encode(), digest_size=8).digest()

    for seed in range(4):
        order = sorted(FAMILIES, key=lambda family: key(seed, family))
        found = held_in_families(Select(seed=seed), DECLARED)
        assert found == sorted(order[:2])  # two of three: the half, rounded up
    assert held_in_families(Select(held_in="all"), DECLARED) == ["A", "B", "C"]


def test_variance_without_cad(table: pa.Table, evidence: Evidence) -> None:
    composition = composed(table, evidence, cad_above=None, by="variance", share=0.6, **AB)
    # of four held-in models two, two, one, four and two solve the items: p (1 - p) decides
    assert composition.chosen_ids == ["arc/0", "arc/1", "arc/4"]
    assert len(composition.steps) == 1


def test_ties_are_settled_by_the_seed(table: pa.Table, evidence: Evidence) -> None:
    select = {"cad_above": None, "by": "variance", "share": 0.2, "held_in": ["A", "B"]}
    found = {composed(table, evidence, **select, seed=seed).chosen_ids[0] for seed in range(12)}
    assert found == {"arc/0", "arc/1", "arc/4"}


@pytest.mark.parametrize(
    ("select", "sentence"),
    [
        ({"held_in": ["D"]}, "the unknown family 'D'"),
        ({"held_in": ["a"]}, "use one of A, B, C"),
    ],
)
def test_an_unknown_family(
    select: dict[str, Any], sentence: str, table: pa.Table, evidence: Evidence
) -> None:
    with pytest.raises(InputError, match=sentence):
        composed(table, evidence, **select)


def test_what_a_selection_needs(table: pa.Table, evidence: Evidence) -> None:
    with pytest.raises(InputError, match="'select', which needs results"):
        composed(table, None)
    unknown = Evidence(evidence.outcomes, ())
    with pytest.raises(InputError, match="no model with results has a family"):
        composed(table, unknown)
    equal = Evidence(evidence.outcomes, tuple(Model(m.name, m.family, 7) for m in DECLARED))
    with pytest.raises(InputError, match="no item has a CAD"):
        composed(table, equal)


def test_items_without_results_are_left_out_as_missing(table: pa.Table, evidence: Evidence) -> None:
    parts = {"name": "x", "faults": "keep", "select": {**AB, "share": 0.4}}
    composition = compose(Criteria.model_validate(parts), table, evidence=evidence)
    assert composition.chosen_ids == ["arc/0", "arc/1"]
    assert (composition.steps[0].left_out, composition.steps[0].missing) == (8, 7)


def test_the_share_may_be_chosen_by_its_trade_off(table: pa.Table, evidence: Evidence) -> None:
    weights = {"consistency": 1, "stability": 0, "discriminability": 0, "shares": [1, 0.2, 0.4]}
    composition = composed(table, evidence, cad_above=None, tradeoff=weights, **AB)
    selection = composition.selection
    assert selection is not None
    assert [point.share for point in selection.curve] == [0.2, 0.4, 1]
    # a1 and b1 solve two of five, a2 three and b2 four; arc/3 has no turn. The best one or two
    # items, which a2 and b2 solve, leave a1 = b1 < a2 = b2: four pairs are ordered, all of them
    # alike, of the five that all items order; tau-b is 4 / sqrt(5 * 4)
    assert selection.curve[1].consistency == pytest.approx(4 / np.sqrt(5 * 4))
    assert selection.share == 1
    assert composition.chosen_ids == ["arc/0", "arc/1", "arc/2", "arc/4"]


def test_no_share_can_be_judged_without_a_ranking(table: pa.Table, evidence: Evidence) -> None:
    alike = Evidence((replace(evidence.outcomes[0], scores=np.ones((5, 6))),), DECLARED)
    with pytest.raises(InputError, match="no share can be judged"):
        composed(table, alike, cad_above=None, by="variance", tradeoff={}, **AB)
