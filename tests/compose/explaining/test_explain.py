from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from benchprism.compose.composer import compose
from benchprism.compose.explaining.explain import FieldValue, RuleVerdict, explain
from benchprism.compose.language.criteria import Criteria
from benchprism.compose.locking.lock import lock
from benchprism.compose.store import Subset, read_subset, write_subset
from benchprism.records.errors import InputError


@pytest.fixture
def subset(table: pa.Table, tmp_path: Path) -> Subset:
    parts: dict[str, Any] = {
        "name": "deep",
        "from": ["arc", "gsm"],
        "where": {"depth": {"min": 2}, "any": [{"negation": True}, {"domain": "maths"}]},
        "sample": {"size": 2, "seed": 0},
    }
    composition = compose(Criteria.model_validate(parts), table)
    write_subset(tmp_path / "deep", composition, lock(composition))
    return read_subset(tmp_path / "deep")


DEPTH = "depth >= 2"
ANY = "negation = true or domain = maths"


def test_an_item_that_a_rule_left_out(subset: Subset, table: pa.Table) -> None:
    answer = explain(subset, "arc/0", table)
    assert (answer.chosen, answer.rule) == (False, ANY)
    assert answer.verdicts == (
        RuleVerdict(
            ANY,
            "not met",
            (
                FieldValue("negation", False, "computed", None),
                FieldValue("domain", "science", "computed", None),
            ),
        ),
        RuleVerdict(DEPTH, "not met", (FieldValue("depth", 0, "llm_single", 0.75),)),
    )
    assert not answer.outdated


def test_a_missing_value_is_a_verdict_of_its_own(subset: Subset, table: pa.Table) -> None:
    answer = explain(subset, "arc/3", table)
    assert answer.detail == f"negation is missing, domain is missing; wanted {ANY}"
    assert [verdict.outcome for verdict in answer.verdicts] == ["missing", "missing"]
    assert answer.verdicts[1].values == (FieldValue("depth", None, None, None),)


def test_a_faulty_item_names_its_fault_first(subset: Subset, table: pa.Table) -> None:
    answer = explain(subset, "arc/4", table)
    assert answer.rule == answer.verdicts[0].rule == "fault: bad_key"
    assert answer.verdicts[0].values == (FieldValue("faults", ["bad_key"], "item", None),)


def test_a_chosen_item_and_one_that_was_not_drawn(subset: Subset, table: pa.Table) -> None:
    # three meet the conditions (arc/2, gsm/0, gsm/1) and two are drawn
    answers = [explain(subset, item, table) for item in ("arc/2", "gsm/0", "gsm/1")]
    assert sorted(answer.chosen for answer in answers) == [False, True, True]
    assert {verdict.outcome for answer in answers for verdict in answer.verdicts} == {"met"}
    [undrawn] = [answer for answer in answers if not answer.chosen]
    assert undrawn.rule == "sample: size 2, seed 0"
    assert undrawn.detail == "its turn is 3 of 3, wanted the first 2"
    assert not any(answer.outdated for answer in answers)


def test_values_that_have_changed_since_are_noticed(subset: Subset, table: pa.Table) -> None:
    position = table.schema.get_field_index("negation")
    changed = table.set_column(position, "negation", pa.array([True] * 12))
    assert explain(subset, "arc/0", changed).outdated
    assert not explain(subset, "arc/4", changed).outdated


def test_another_value_that_leaves_the_item_out_too_is_told(
    subset: Subset, table: pa.Table
) -> None:
    position = table.schema.get_field_index("domain")
    words = pa.array(["history"] * 12, table.schema.field("domain").type)
    answer = explain(subset, "arc/0", table.set_column(position, "domain", words))
    assert answer.detail == f"negation is false, domain is science; wanted {ANY}"
    assert answer.today == f"negation is false, domain is history; wanted {ANY}"
    assert answer.outdated
    assert explain(subset, "arc/0", table).today is None


def test_an_item_that_was_no_candidate(subset: Subset, table: pa.Table) -> None:
    with pytest.raises(InputError, match="wanted an item of arc, gsm"):
        explain(subset, "law/0", table)
    with pytest.raises(InputError, match=r"did you mean 'gsm/\d'"):
        explain(subset, "gsm/11", table)
    with pytest.raises(InputError, match="its items are of arc, gsm"):
        explain(subset, "zzz", table)
    extra = pa.concat_tables([table.slice(0, 1).set_column(0, "item_id", [["arc/9"]]), table])
    with pytest.raises(InputError, match="was added after 'deep' was composed"):
        explain(subset, "arc/9", extra)


def test_a_field_that_is_gone_is_one_sentence(subset: Subset, table: pa.Table) -> None:
    with pytest.raises(InputError, match="the unknown field 'depth'"):
        explain(subset, "arc/0", table.drop_columns(["depth"]))
