from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from benchprism.compose.composer import Composition, compose
from benchprism.compose.language.criteria import Criteria
from benchprism.compose.screening import Step
from benchprism.prompts.catalogue import Catalogue
from benchprism.records.errors import InputError

WHERE = {
    "all": [{"depth": {"min": 2}}, {"not": {"kinds": {"contains": "none"}}}],
    "word_count": {"max": 55},
}


def criteria(**parts: Any) -> Criteria:
    return Criteria.model_validate({"name": "x", **parts})


def chosen(composition: Composition) -> list[str]:
    return [str(item) for item in composition.chosen["item_id"].to_pylist()]


def test_the_twelve_items_by_hand(table: pa.Table, catalogue: Catalogue) -> None:
    composition = compose(criteria(where=WHERE), table, catalogue=catalogue)
    assert chosen(composition) == ["arc/2", "gsm/0", "gsm/1"]
    out = {
        row["item_id"]: (row["benchmark"], row["rule"], row["detail"])
        for row in composition.excluded.to_pylist()
    }
    none, kinds = "not (kinds contains none)", "kinds"
    assert out == {
        "arc/0": ("arc", "depth >= 2", "depth is 0, wanted at least 2"),
        "arc/1": ("arc", "depth >= 2", "depth is 1, wanted at least 2"),
        "arc/3": ("arc", "depth >= 2", "depth is missing, wanted at least 2"),
        "arc/4": ("arc", "fault: bad_key", "faulty: bad_key, wanted an item without faults"),
        "gsm/2": ("gsm", "word_count <= 55", "word_count is 60, wanted at most 55"),
        "gsm/3": (
            "gsm",
            "fault: no_gold",
            "faulty: no_gold, bad_key, wanted an item without faults",
        ),
        "law/0": ("law", none, f"{kinds} is none; wanted {none}"),
        "law/1": ("law", none, f"{kinds} is missing; wanted {none}"),
        "law/2": ("law", "depth >= 2", "depth is 1, wanted at least 2"),
    }
    assert composition.available == {"arc": 5, "gsm": 4, "law": 3}
    assert composition.steps == (
        Step("fault: bad_key", 1, 0, {"arc": 4, "gsm": 4, "law": 3}),
        Step("fault: no_gold", 1, 0, {"arc": 4, "gsm": 3, "law": 3}),
        Step("depth >= 2", 4, 1, {"arc": 1, "gsm": 3, "law": 2}),
        Step(none, 2, 1, {"arc": 1, "gsm": 3, "law": 0}),
        Step("word_count <= 55", 1, 0, {"arc": 1, "gsm": 2, "law": 0}),
    )
    assert composition.counts == {"arc": 1, "gsm": 2, "law": 0}


def test_the_chosen_rows_are_the_tables_own(table: pa.Table) -> None:
    composition = compose(criteria(where=WHERE), table)
    assert composition.chosen.schema == table.schema
    assert composition.chosen.to_pylist() == table.take([2, 5, 6]).to_pylist()


def test_faulty_items_stay_when_asked(table: pa.Table) -> None:
    composition = compose(criteria(faults="keep", where={"depth": 3}), table)
    assert chosen(composition) == ["arc/4", "gsm/1", "gsm/2", "law/1"]


def test_only_the_named_benchmarks_are_candidates(table: pa.Table) -> None:
    composition = compose(criteria(**{"from": ["law", "gsm"]}), table)
    assert chosen(composition) == ["gsm/0", "gsm/1", "gsm/2", "law/0", "law/1", "law/2"]
    assert composition.excluded["item_id"].to_pylist() == ["gsm/3"]
    assert composition.available == {"gsm": 4, "law": 3}


def test_a_balanced_draw_with_a_short_benchmark(table: pa.Table) -> None:
    # after depth >= 2 there are arc 1, gsm 3, law 2; five places: 1, then 4 = 2 + 2
    sample = {"size": 5, "balance": "benchmark", "seed": 4}
    composition = compose(criteria(where={"depth": {"min": 2}}, sample=sample), table)
    assert composition.counts == {"arc": 1, "gsm": 2, "law": 2}
    last = composition.steps[-1]
    assert last.rule == "sample: size 5, seed 4, balance benchmark"
    assert last.left_out == 1
    [undrawn] = [r for r in composition.excluded.to_pylist() if r["rule"] == last.rule]
    assert undrawn["benchmark"] == "gsm"
    assert undrawn["detail"] == "its turn is 3 of 3 (gsm), wanted the first 2"


def test_a_plain_draw_says_whose_turn_it_was(table: pa.Table) -> None:
    composition = compose(criteria(sample={"size": 9}), table, seed=11)
    assert composition.criteria.sample is not None
    assert composition.criteria.sample.seed == 11
    [row] = [r for r in composition.excluded.to_pylist() if r["rule"].startswith("sample: ")]
    assert (row["rule"], row["detail"]) == (
        "sample: size 9, seed 11",
        "its turn is 10 of 10, wanted the first 9",
    )


def test_an_item_without_a_value_cannot_be_balanced(table: pa.Table) -> None:
    composition = compose(criteria(sample={"size": 3, "balance": "domain"}), table)
    out = {r["item_id"]: r["detail"] for r in composition.excluded.to_pylist()}
    assert out["gsm/2"] == "domain is missing, wanted a value"
    assert sorted(composition.chosen["domain"].to_pylist()) == ["law", "maths", "science"]


def test_a_shortage_is_refused_or_allowed(table: pa.Table) -> None:
    sample = {"size": 200, "balance": "benchmark"}
    with pytest.raises(InputError) as error:
        compose(criteria(where=WHERE, sample=sample), table)
    assert str(error.value) == (
        "3 items are left to draw from (arc 1, gsm 2); wanted 200; no single change is"
        " enough (without 'depth >= 2' gives 5); or change sample.size, or take what there is with"
        " if_short: take_all"
    )
    allowed = compose(criteria(where=WHERE, sample={**sample, "if_short": "take_all"}), table)
    assert chosen(allowed) == ["arc/2", "gsm/0", "gsm/1"]
    assert allowed.steps[-1].left_out == 0


def test_no_item_left_is_refused(table: pa.Table) -> None:
    with pytest.raises(InputError, match=r"no item is left; .*; word_count >= 60 gives 1"):
        compose(criteria(where={"word_count": {"min": 99}}), table)
    with pytest.raises(InputError, match="there are no items"):
        compose(criteria(), table.slice(0, 0))
    with pytest.raises(InputError, match="'arc/0' stands twice"):
        compose(criteria(), pa.concat_tables([table, table.slice(0, 1)]))


@settings(
    deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60
)
@given(
    size=st.integers(1, 15),
    seed=st.integers(0, 9),
    balance=st.sampled_from([None, "benchmark", "domain", "negation", "depth"]),
    order=st.permutations(range(12)),
)
def test_every_item_is_chosen_or_excluded_once(
    size: int, seed: int, balance: str | None, order: list[int], table: pa.Table
) -> None:
    sample = {"size": size, "seed": seed, "balance": balance, "if_short": "take_all"}
    wanted = criteria(where={"word_count": {"min": 10}}, sample=sample)
    composition = compose(wanted, table.take(order))
    ids = [*chosen(composition), *composition.excluded["item_id"].to_pylist()]
    assert sorted(ids) == sorted(table["item_id"].to_pylist())
    left_before = composition.steps[-2].left
    assert composition.chosen.num_rows == min(size, sum(left_before.values()))
    assert composition.chosen == compose(wanted, table).chosen
    assert composition.excluded == compose(wanted, table).excluded
    per_rule = {step.rule: step.left_out for step in composition.steps if step.left_out}
    rules, counts = np.unique(composition.excluded["rule"].to_pylist(), return_counts=True)
    assert per_rule == dict(zip(rules.tolist(), counts.tolist(), strict=True))
